//! Any bytes under any name: decompression, format detection, and the reader that it selects.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 10] = [
    "it",
    "it.nrrd",
    "it.mhd",
    "it.nii",
    "it.dcm",
    "it.vti",
    "it.den",
    "it_2x3x4_u8.raw",
    "it_2x3x4_i16.raw.gz",
    "it.zst",
];

fuzz_target!(|bytes: &[u8]| {
    // The last byte chooses the name, so that a real file is a seed as it is.
    let choice = usize::from(bytes.last().copied().unwrap_or_default());
    raddle_fuzz::read_volume(bytes, NAMES[choice % NAMES.len()]);
});
