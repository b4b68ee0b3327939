//! Headers of NRRD or MetaImage, with the files of voxels that they may name.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let mut files = raddle_fuzz::files_in(bytes);
    let header = files.next().unwrap_or_default();
    raddle_fuzz::read_detached(header, &files.collect::<Vec<_>>());
});
