//! Communication matrices: CSV, Matrix Market and Scotch graphs, plain and compressed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_matrix(bytes);
});
