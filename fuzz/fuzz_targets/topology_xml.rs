//! XML topologies: our check, rewriting, and hwloc, which must accept everything that passed.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_topology_xml(bytes);
});
