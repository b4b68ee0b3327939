//! Detects a runtime that stands still: all its workers wait, and no thread is left to run the
//! remaining work.
//!
//! A worker that waits for a handle lends its place to a compensating thread. That is impossible
//! when as many of them exist as there may be, or when the system refuses to start more threads. A
//! worker for which no compensating thread was available checks every [`LOOK_TIME`] whether the
//! runtime stands still. If it does for the first time, all compensating threads are called for
//! help ([`super::compensation`]), and get another [`LOOK_TIME`].
//!
//! If all workers wait for tasks of this runtime, no wait can ever end, so the wait for a handle
//! ends with a panic. If some worker waits for something else, such as a task of another runtime,
//! that may still happen. Then the panic hook reports the state, once for a runtime, and the waits
//! continue.

use std::fmt;
use std::panic::catch_unwind;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, Relaxed};

use crate::panics::discard;

/// The time for which no worker has run anything in a runtime that stands still.
pub(super) const LOOK_TIME: Duration = Duration::from_secs(1);

/// The state of a runtime that stands still, for the panic message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandsStill {
    pub(super) worker_count: usize,
    pub(super) compensating_count: usize,
    /// The largest number of compensating threads.
    pub(super) compensating_max: usize,
    /// True if no worker waits for anything from outside the runtime.
    pub(super) is_certain: bool,
}

impl fmt::Display for StandsStill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = if self.is_certain {
            "will never end"
        } else {
            "may never end"
        };
        let cause = if self.compensating_count < self.compensating_max {
            "the system gives no more threads"
        } else {
            "there can be no more"
        };
        write!(
            formatter,
            "the runtime stands still, which {ends}: all {} workers wait, and so do the {} \
             compensating threads that replace them; {cause}, and no thread is left to run the \
             remaining tasks. Have fewer tasks wait, each inside the one before, for handles, \
             blocking calls or other runtimes",
            self.worker_count, self.compensating_count
        )
    }
}

/// Reports the standstill of a runtime once.
#[derive(Debug, Default)]
pub(super) struct StandstillReport {
    is_done: AtomicBool,
}

impl StandstillReport {
    /// Reports `state`, unless a standstill of this runtime was reported before.
    pub(super) fn report_once(&self, state: &StandsStill) {
        // Relaxed: it only selects the one thread that reports.
        if !self.is_done.swap(true, Relaxed) {
            report(state);
        }
    }
}

/// Lets the panic hook print the state: a library does not print.
#[cold]
fn report(state: &StandsStill) {
    discard(catch_unwind(|| panic!("{state}")));
}
