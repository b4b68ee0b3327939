//! Packets from a socket: any bytes, and nearly valid packets with a valid checksum.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::receive_packets(bytes);
});
