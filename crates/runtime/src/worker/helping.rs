//! The terms of a wait inside a task: what the waiting worker may run, and when it lends its place
//! ([`super::waiting`]).

use std::cell::Cell;

use raddle_trace::record::kind::Waiting;
use raddle_trace::{Counters, OuterWait, record};

use super::standstill::StandsStill;
use crate::pool::Mark;
use crate::task::{Kind, TaskCell};

/// The number of wake-ups that a sleep costs a worker for which another worker waits in turn: its
/// own, and that of the other worker. It applies to a worker that waits for a stolen fork, and to
/// all workers if there are other nodes. With 1, loops ended 0.1 ms after their last item on
/// 16 CPUs, and two nodes that exchanged 64 KB slept in every fourth exchange of 37 µs, and took up
/// to 57 µs.
pub(super) const WAKES_PER_SLEEP: u32 = 2;

/// The tasks that a waiting worker may run, and when it lends its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helping<'a> {
    /// The worker runs tasks below this frame.
    pub(crate) frame: &'a TaskCell,
    /// The worker also runs open tasks ([`crate::open`]).
    pub(crate) is_open: bool,
    /// Only the worker's own tasks from this mark on can be below the frame.
    pub(crate) mark: Mark,
    /// The time at which this worker lends its place to a compensating thread.
    pub(crate) lends: Lends,
    /// Set when the runtime stands still; the wait ends then. `None` if the wait cannot end early.
    pub(crate) gives_up: Option<&'a Cell<Option<StandsStill>>>,
}

impl Helping<'_> {
    /// Notes and records the wait, until the result is dropped. `thief` returns the worker that has
    /// the fork for which the worker waits.
    pub(super) fn note<'a>(
        &self,
        counters: &'a Counters,
        thief: &dyn Fn() -> Option<usize>,
    ) -> NotedWait<'a> {
        let reason = match (self.lends, self.frame.kind()) {
            (Lends::AtOnce, _) => Waiting::Handle,
            (_, Kind::Fork) => Waiting::Join,
            _ => Waiting::Scope,
        };
        let is_recorded = record::is_on();
        if is_recorded {
            let subject = thief().map_or(0, |thief| thief as u32 + 1);
            record::wait(reason, subject);
        }
        NotedWait {
            is_recorded,
            outer: counters.wait.begin(reason as u8),
            counters,
        }
    }
}

/// A wait that its worker has noted, which ends when this is dropped.
#[derive(Debug)]
pub(super) struct NotedWait<'a> {
    counters: &'a Counters,
    outer: OuterWait,
    is_recorded: bool,
}

impl Drop for NotedWait<'_> {
    fn drop(&mut self) {
        self.counters.wait.end(self.outer);
        if self.is_recorded {
            record::end_wait();
        }
    }
}

/// The time at which a waiting worker lends its place, so that other work continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lends {
    /// Before it sleeps: the wait may depend on any other work.
    AtOnce,
    /// After some time: the wait ends by itself, but its CPU is idle.
    Late,
    /// Never: the worker runs all open tasks meanwhile, and a compensating thread runs none.
    Never,
}
