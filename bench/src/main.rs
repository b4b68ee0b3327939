//! Raddle and its peers, measured in one interleaved run.
fn main() {}
