//! Affinities as a user writes them: names and lists of CPUs.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    raddle_fuzz::read_affinity(text);
});
