//! Synthetic topologies: our check, and hwloc, which must accept everything that passed it.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    raddle_fuzz::read_topology_synthetic(text);
});
