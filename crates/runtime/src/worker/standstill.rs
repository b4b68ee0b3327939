//! Detects a runtime that stands still: all its workers wait, and no thread is left to run the
//! remaining work.
//!
//! A worker that waits for a handle lends its place to a compensating thread. That is impossible
//! when [`COMPENSATING_MAX`] of them exist, or when the system refuses to start more threads. A
//! worker for which no compensating thread was available checks every [`LOOK_TIME`] whether the
//! runtime stands still.
//!
//! If all workers wait for tasks of this runtime, no wait can ever end, so the wait for a handle
//! ends with a panic. If some worker waits for something else, such as a task of another runtime,
//! that may still happen. Then the panic hook reports the state, once for a runtime, and the waits
//! continue.

use std::cell::Cell;
use std::fmt;
use std::panic::catch_unwind;
use std::time::Duration;

use raddle_sync::prim::Relaxed;

use super::{COMPENSATING_MAX, Shared, Worker};
use crate::panics::discard;

/// A runtime stands still if no worker has run anything for this time.
pub(super) const LOOK_TIME: Duration = Duration::from_secs(1);

/// The state of a runtime that stands still, for the panic message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandsStill {
    worker_count: usize,
    compensating_count: usize,
    /// No worker waits for anything from outside the runtime.
    is_certain: bool,
}

impl fmt::Display for StandsStill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = if self.is_certain {
            "will never end"
        } else {
            "may never end"
        };
        let cause = if self.compensating_count < COMPENSATING_MAX {
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

impl Shared {
    /// Returns the state of a runtime in which every worker has waited inside a task for
    /// [`LOOK_TIME`] although there is work. Returns `None` if the runtime does not stand still.
    fn stands_still(&self) -> Option<StandsStill> {
        let idle = &self.idle;
        let has_work = self.has_work() || self.blocking.has_calls();
        if !has_work || self.blocking.is_busy() || idle.anyone_sleeps() || idle.anyone_searches() {
            return None;
        }
        let now_ns = self.age_ns();
        let present = self.present();
        let waits = self.counters[..present]
            .iter()
            .filter(|counters| u128::from(counters.idle.open(now_ns)) >= LOOK_TIME.as_nanos())
            .count();
        (waits + self.compensation.absent_count() >= present).then(|| StandsStill {
            worker_count: self.worker_count(),
            compensating_count: waits.saturating_sub(self.worker_count()),
            is_certain: !self.compensation.any_foreign(),
        })
    }
}

impl Worker {
    /// Returns true if the wait has to end because the runtime stands still, and stores the state
    /// in `gives_up`.
    ///
    /// `gives_up` is `None` for waits that cannot end early.
    pub(super) fn should_give_up(&self, gives_up: Option<&Cell<Option<StandsStill>>>) -> bool {
        let Some(state) = self.shared.stands_still() else {
            return false;
        };
        match gives_up {
            Some(gives_up) if state.is_certain => {
                gives_up.set(Some(state));
                true
            }
            _ => {
                // Relaxed: it only selects the one thread that reports.
                if !self.shared.is_still.swap(true, Relaxed) {
                    report(&state);
                }
                false
            }
        }
    }
}

/// Lets the panic hook print the state: a library does not print.
#[cold]
fn report(state: &StandsStill) {
    discard(catch_unwind(|| panic!("{state}")));
}
