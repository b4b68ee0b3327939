//! PLY files: the first line is fixed, the rest of the header and the data are arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let file = [b"ply\n", bytes.strip_prefix(b"ply\n").unwrap_or(bytes)].concat();
    raddle_fuzz::read_mesh(&file, "it.ply");
});
