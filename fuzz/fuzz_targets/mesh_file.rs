//! Any bytes under any name: decompression, format detection, and the reader that it selects.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 8] = [
    "it",
    "it.ply",
    "it.obj",
    "it.stl",
    "it.glb",
    "it.ply.gz",
    "it.stl.zst",
    "it.gz",
];

fuzz_target!(|bytes: &[u8]| {
    // The last byte chooses the name, so that a real file is a seed as it is.
    let choice = usize::from(bytes.last().copied().unwrap_or_default());
    raddle_fuzz::read_mesh(bytes, NAMES[choice % NAMES.len()]);
});
