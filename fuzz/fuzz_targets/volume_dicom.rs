//! DICOM files: the preamble and the magic bytes are fixed, the rest is arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = vec![0; 128];
    file.extend(b"DICM");
    file.extend(bytes.get(132..).unwrap_or(bytes));
    raddle_fuzz::read_volume(&file, "it.dcm");
});
