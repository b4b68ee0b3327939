//! Raw voxels: the first byte chooses the size and the type in the name.
#![no_main]

use libfuzzer_sys::fuzz_target;

const NAMES: [&str; 6] = [
    "it_2x2x2_u8.raw",
    "it_2x3x2_i16be.raw",
    "it_2x2x2_f32.raw",
    "it_2x2x3_f64.raw",
    "it_3x2x2.raw",
    "it_2x2x2_u64be.raw",
];

fuzz_target!(|bytes: &[u8]| {
    if let Some((&choice, voxels)) = bytes.split_first() {
        raddle_fuzz::read_volume(voxels, NAMES[usize::from(choice) % NAMES.len()]);
    }
});
