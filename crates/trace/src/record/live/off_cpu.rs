//! Finds times in which a thread had work, but was not on a CPU.
//!
//! The system knows the CPU time of a thread. Asking for it costs about 0.3 µs, so a thread asks
//! only after a long time without an event ([`LONG_NS`]), and after it has slept. The time between
//! two questions that is not CPU time was lost. The system also knows for how long the thread has
//! waited for a CPU: for that part it was preempted, for the rest it was blocked.

use std::cell::{Cell, RefCell};

use raddle_sync::prim::{QueueTime, thread_cpu_time};

/// The time without an event after which the system is asked.
pub(super) const LONG_NS: u64 = 50_000;
/// The shortest lost time that is recorded.
const LOST_NS_MIN: u64 = 20_000;

thread_local! {
    /// The time for which this thread has waited for a CPU. `None` before the first question.
    static QUEUE_TIME: RefCell<Option<QueueTime>> = const { RefCell::new(None) };
}

/// The last answers of the system to one thread.
#[derive(Debug)]
pub(super) struct OffCpu {
    cpu_ns: Cell<u64>,
    queue_ns: Cell<u64>,
    /// The time off the CPU since the queue time was asked for: of questions that found too little.
    small_ns: Cell<u64>,
}

/// The time that a thread has lost; zero for a part that is too short to be recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lost {
    /// The time in which it waited in the operating system.
    pub(super) blocked_ns: u64,
    /// The time in which it waited for a CPU.
    pub(super) preempted_ns: u64,
}

impl OffCpu {
    pub(super) const fn new() -> Self {
        Self {
            cpu_ns: Cell::new(0),
            queue_ns: Cell::new(0),
            small_ns: Cell::new(0),
        }
    }

    /// Notes the answers of the system, for the next question.
    pub(super) fn note(&self) {
        self.cpu_ns.set(thread_cpu_time().as_nanos() as u64);
        self.queue_ns.set(queue_ns().unwrap_or(0));
        self.small_ns.set(0);
    }

    /// Asks the system. `since_ns` is the time since the last question, of which the last
    /// `passed_ns` were without an event.
    pub(super) fn ask(&self, since_ns: u64, passed_ns: u64) -> Lost {
        let cpu_ns = thread_cpu_time().as_nanos() as u64;
        let used_ns = cpu_ns - self.cpu_ns.replace(cpu_ns).min(cpu_ns);
        let off_ns = since_ns.saturating_sub(used_ns);
        let lost_ns = off_ns.min(passed_ns);
        if lost_ns < LOST_NS_MIN {
            self.small_ns.set(self.small_ns.get() + off_ns);
            return Lost::default();
        }
        // The thread may have waited for a CPU in the other times, too.
        let other_ns = self.small_ns.replace(0) + (off_ns - lost_ns);
        let preempted_ns = match queue_ns() {
            Some(queue_ns) => queue_ns.saturating_sub(self.queue_ns.replace(queue_ns) + other_ns),
            None => lost_ns,
        };
        divided(lost_ns, preempted_ns)
    }
}

/// Divides a lost time. Short parts are left to the longer one.
fn divided(lost_ns: u64, preempted_ns: u64) -> Lost {
    let preempted_ns = preempted_ns.min(lost_ns);
    let blocked_ns = lost_ns - preempted_ns;
    if blocked_ns.min(preempted_ns) >= LOST_NS_MIN {
        return Lost {
            blocked_ns,
            preempted_ns,
        };
    }
    match blocked_ns > preempted_ns {
        true => Lost {
            blocked_ns: lost_ns,
            preempted_ns: 0,
        },
        false => Lost {
            blocked_ns: 0,
            preempted_ns: lost_ns,
        },
    }
}

/// Returns the time for which this thread has waited for a CPU, if the system says so.
fn queue_ns() -> Option<u64> {
    let ask = |own: &RefCell<Option<QueueTime>>| {
        let mut own = own.try_borrow_mut().ok()?;
        own.get_or_insert_with(QueueTime::of_this_thread).ns()
    };
    // A thread that is just ending does not ask.
    QUEUE_TIME.try_with(ask).ok().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lost_time_is_divided_and_short_parts_are_left_to_the_longer_one() {
        let lost = |blocked_ns, preempted_ns| Lost {
            blocked_ns,
            preempted_ns,
        };
        assert_eq!(divided(5_000_000, 0), lost(5_000_000, 0));
        assert_eq!(divided(5_000_000, 1_000), lost(5_000_000, 0));
        assert_eq!(divided(5_000_000, 2_000_000), lost(3_000_000, 2_000_000));
        assert_eq!(divided(5_000_000, 4_999_000), lost(0, 5_000_000));
        assert_eq!(divided(5_000_000, 9_000_000), lost(0, 5_000_000));
    }
}
