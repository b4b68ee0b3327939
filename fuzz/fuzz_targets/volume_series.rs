//! Folders of DICOM images: the preambles and the magic bytes are fixed, the rest is arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let files = raddle_fuzz::files_in(bytes);
    let files = files.map(|rest| [&[0; 128], &b"DICM"[..], rest].concat());
    raddle_fuzz::read_series(&files.collect::<Vec<_>>());
});
