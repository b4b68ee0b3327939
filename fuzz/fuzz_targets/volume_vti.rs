//! VTK image data: any XML with its data.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_volume(bytes, "it.vti");
});
