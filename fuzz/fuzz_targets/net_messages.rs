//! Messages as stored in a lane: nearly valid descriptors, and any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::receive_messages(bytes);
});
