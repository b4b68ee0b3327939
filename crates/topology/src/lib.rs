//! The machine as hwloc sees it: CPUs, caches, NUMA nodes, binding.
