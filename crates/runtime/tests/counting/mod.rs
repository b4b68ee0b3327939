//! A global allocator that counts. A test program that uses it counts all its threads together, so
//! it must contain nothing else that allocates meanwhile.

use std::alloc::System;

use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Starts to count: the region reports what the whole process allocates from now on.
pub(crate) fn start() -> Region<'static, System> {
    Region::new(ALLOCATOR)
}
