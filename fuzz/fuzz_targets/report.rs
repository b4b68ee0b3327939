//! Reports of recordings: any events with our names, in any order.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::report(bytes);
});
