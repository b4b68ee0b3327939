//! NRRD files: the first line is fixed, the rest of the header and the data are arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let rest = bytes.strip_prefix(b"NRRD0004\n").unwrap_or(bytes);
    raddle_fuzz::read_volume(&[b"NRRD0004\n", rest].concat(), "it.nrrd");
});
