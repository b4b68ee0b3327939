//! Synthetic descriptions of topologies: the check, and hwloc, which must take everything that passed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    raddle_fuzz::read_topology_synthetic(text);
});
