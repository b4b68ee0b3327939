//! Density maps of SPLASH: the version is fixed, the rest is arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = [b"\x01\0", bytes.strip_prefix(b"\x01\0").unwrap_or(bytes)].concat();
    raddle_fuzz::read_volume(&file, "it.den");
});
