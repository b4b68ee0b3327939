//! STL files, ASCII and binary: the name makes every file one that says nothing else.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_mesh(bytes, "it.stl");
});
