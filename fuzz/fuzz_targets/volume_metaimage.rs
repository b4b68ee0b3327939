//! MetaImage files: the first line is fixed, the rest of the header and the data are arbitrary.
#![no_main]

use libfuzzer_sys::fuzz_target;

const START: &[u8] = b"ObjectType = Image\n";

fuzz_target!(|bytes: &[u8]| {
    let rest = bytes.strip_prefix(START).unwrap_or(bytes);
    raddle_fuzz::read_volume(&[START, rest].concat(), "it.mha");
});
