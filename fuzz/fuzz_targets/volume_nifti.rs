//! NIfTI files: the magic bytes are fixed, the rest is arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    if let Some(magic) = file.get_mut(344..348) {
        magic.copy_from_slice(b"n+1\0");
    }
    raddle_fuzz::read_volume(&file, "it.nii");
});
