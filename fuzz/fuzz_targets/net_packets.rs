//! Packets as they come by a socket: any bytes, and such as are nearly right, the checksum included.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::receive_packets(bytes);
});
