//! A runtime that stands still: all its workers wait, and nobody is left to run the work that is
//! there.
//!
//! A worker that waits for a handle lends its place to a substitute. That ends when there are
//! [`SUBSTITUTES_MAX`] of them, or when the system gives no more threads. A worker that found no
//! substitute looks every [`LOOK_TIME`] whether the runtime stands still.
//!
//! If all workers wait for tasks of this runtime, nothing can ever go on: the wait for a handle
//! ends with a panic. If some wait for other things, such as a task of another runtime, these may
//! still come. Then the hook for panics says what is wrong, once for a runtime, and the waits go
//! on.

use std::cell::Cell;
use std::fmt;
use std::panic::catch_unwind;
use std::time::Duration;

use raddle_sync::prim::Relaxed;

use super::{SUBSTITUTES_MAX, Shared, Worker};
use crate::task::discard;

/// A runtime stands still when nobody has run anything for so long.
pub(super) const LOOK_TIME: Duration = Duration::from_secs(1);

/// What panics say about a runtime that stands still.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StandsStill {
    worker_count: usize,
    substitute_count: usize,
    /// No worker waits for anything from outside.
    is_certain: bool,
}

impl fmt::Display for StandsStill {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = if self.is_certain {
            "will never end"
        } else {
            "may never end"
        };
        let cause = if self.substitute_count < SUBSTITUTES_MAX {
            "the system gives no more threads"
        } else {
            "there can be no more"
        };
        write!(
            formatter,
            "the runtime stands still, which {ends}: all {} workers wait, and so do the {} threads that stand in for \
             them; {cause}, and nobody is left to run the tasks that are there. Have fewer tasks wait, each inside \
             of the one before, for handles, blocking calls or other runtimes",
            self.worker_count, self.substitute_count
        )
    }
}

impl Shared {
    /// Returns the state of a runtime in which every worker has waited inside of a task for
    /// [`LOOK_TIME`] although there is work.
    fn stands_still(&self) -> Option<StandsStill> {
        let idle = &self.idle;
        let has_work = self.has_work() || self.blocking.has_calls();
        if !has_work || self.blocking.is_busy() || idle.anyone_sleeps() || idle.anyone_searches() {
            return None;
        }
        let now_ns = self.age_ns();
        let present = self.present();
        let waits = self.tallies[..present]
            .iter()
            .filter(|tally| u128::from(tally.idle.open(now_ns)) >= LOOK_TIME.as_nanos())
            .count();
        (waits + self.substitutes.absent_count() >= present).then(|| StandsStill {
            worker_count: self.worker_count(),
            substitute_count: waits.saturating_sub(self.worker_count()),
            is_certain: !self.substitutes.any_foreign(),
        })
    }
}

impl Worker {
    /// Returns true if the wait shall end because the runtime stands still; `gives_up` says so
    /// then.
    ///
    /// `gives_up` is `None` for waits that cannot end before their time.
    pub(super) fn shall_give_up(&self, gives_up: Option<&Cell<Option<StandsStill>>>) -> bool {
        let Some(state) = self.shared.stands_still() else {
            return false;
        };
        match gives_up {
            Some(gives_up) if state.is_certain => {
                gives_up.set(Some(state));
                true
            }
            _ => {
                // Relaxed: said once.
                if !self.shared.is_still.swap(true, Relaxed) {
                    say(&state);
                }
                false
            }
        }
    }
}

/// The hook for panics prints it: a library does not print.
#[cold]
fn say(state: &StandsStill) {
    discard(catch_unwind(|| panic!("{state}")));
}
