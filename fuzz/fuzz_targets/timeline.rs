//! Timelines: any bytes, with format detection, decompression and all readers.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_timeline(bytes);
});
