//! The terms of a wait inside a task: what the waiting worker may run, and when it lends its place
//! ([`super::waiting`]).

use std::cell::Cell;

use super::standstill::StandsStill;
use crate::pool::Mark;
use crate::task::TaskCell;

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
