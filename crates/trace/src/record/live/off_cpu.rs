//! Finds times in which a thread had work, but was not on a CPU.
//!
//! The system knows the CPU time of a thread, and how often it has waited in the kernel. Asking it
//! costs about 0.5 µs, so a thread asks only after a long time without an event ([`LONG_NS`]), and
//! after it has slept. The time between two questions that is not CPU time was lost; if the thread
//! has waited in the kernel meanwhile, it was blocked, and otherwise preempted.

use std::cell::Cell;

use raddle_sync::prim::{thread_cpu_time, thread_waits};

use crate::record::kind::{BLOCKED, PREEMPTED};

/// The time without an event after which the system is asked.
pub(super) const LONG_NS: u64 = 50_000;
/// The shortest lost time that is recorded.
const LOST_NS_MIN: u64 = 20_000;

/// The last answer of the system to one thread.
#[derive(Debug)]
pub(super) struct OffCpu {
    cpu_ns: Cell<u64>,
    waits: Cell<u64>,
}

impl OffCpu {
    pub(super) const fn new() -> Self {
        Self {
            cpu_ns: Cell::new(0),
            waits: Cell::new(0),
        }
    }

    /// Asks the system. `since_ns` is the time since the last question, of which the last
    /// `passed_ns` were without an event. Returns the reason and the time lost, if any was.
    pub(super) fn ask(&self, since_ns: u64, passed_ns: u64) -> Option<(&'static str, u64)> {
        let cpu_ns = thread_cpu_time().as_nanos() as u64;
        let used_ns = cpu_ns - self.cpu_ns.replace(cpu_ns).min(cpu_ns);
        let lost_ns = since_ns.saturating_sub(used_ns).min(passed_ns);
        let waits = thread_waits();
        let has_waited = waits != self.waits.replace(waits);
        let reason = if has_waited { BLOCKED } else { PREEMPTED };
        (lost_ns >= LOST_NS_MIN).then_some((reason, lost_ns))
    }
}
