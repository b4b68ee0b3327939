//! A worker that waits inside a task, helping below what it waits for.
//!
//! A join and a scope wait for their own subtree. A handle, another runtime, or the end of one can wait for anything, through
//! threads that no lineage reaches: a worker that waits for one of these lends its place before it sleeps.

use std::cell::Cell;
use std::time::Duration;

use raddle_sync::prim::{LIGHT, heavy_fence, spin_loop, yield_now};

use super::Worker;
use super::raid::{PATIENCE, Stalls};
use super::standstill::{LOOK_TIME, StandsStill};
use super::substitutes::Lent;
use crate::clock::Instant;
use crate::config::IdlePolicy;
use crate::pool::{Mark, Wanted};
use crate::task::{Task, TaskCell};

/// What a waiting worker may run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Helping<'a> {
    /// Work below this frame.
    pub(crate) frame: &'a TaskCell,
    /// Of this worker's own tasks, those from here on can be below the frame.
    pub(crate) mark: Mark,
    /// When this worker lends its place to a substitute.
    pub(crate) lends: Lends,
    /// Set, and the wait ended, when the runtime stands still. `None` if the wait cannot end before
    /// its time.
    pub(crate) gives_up: Option<&'a Cell<Option<StandsStill>>>,
}

/// When a worker that waits lends its place, so that other work goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lends {
    /// Before it sleeps: the wait may need any other work.
    AtOnce,
    /// After [`LEND_TIME`]: the wait ends by itself, but its CPU is idle.
    Late,
}

/// A wait that takes longer has a substitute run other work meanwhile: several times what it costs
/// to start or wake one.
const LEND_TIME: Duration = Duration::from_micros(250);

/// The number of wake-ups that a sleep costs a worker that waits for a stolen fork: its own, and
/// that of a worker that waits for it in turn. With 1, loops ended 0.1 ms after their last item on
/// 16 CPUs.
pub(super) const WAKES_PER_SLEEP: u32 = 2;

/// Calls that a worker runs inside waits for them, one in the other: each takes stack.
const NESTED_MAX: u32 = 64;

/// Looks for the end between two looks for work: at first, and at most.
const SPINS_FIRST: u32 = if LIGHT { 1 } else { 4 };
const SPINS_MAX: u32 = if LIGHT { 2 } else { 256 };

impl Worker {
    /// Waits until `done`, running tasks as `helping` says.
    ///
    /// Whoever makes `done` true notifies this worker's wait cell after it. `thief` says which worker to ask for work
    /// first, if that is known.
    pub(crate) fn wait_until(
        &self,
        helping: Helping<'_>,
        thief: impl Fn() -> Option<usize>,
        done: impl Fn() -> bool,
    ) {
        if done() {
            return;
        }
        let mut gap_start = Instant::now();
        self.begin_gap();
        let mut spins = SPINS_FIRST;
        let mut victim = self.index;
        let mut lent = None::<Lent<'_>>;
        let mut stalls = Stalls::default();
        loop {
            let wanted = |task: &Task| task.is_within(helping.frame);
            let wanted = Wanted::Where(&wanted, helping.mark);
            // No other thread is there to make it done.
            self.shared.origin.expect_here();
            if let Some(task) = self.get(wanted) {
                self.count_gap();
                task.run(self);
                gap_start = Instant::now();
                self.begin_gap();
                spins = SPINS_FIRST;
            } else {
                victim = self.ask_thief_or_next(thief(), victim);
            }
            if self.forks().gates().are_closed() {
                self.answer();
            }
            for _ in 0..spins {
                if done() {
                    self.count_gap();
                    return;
                }
                spin_loop();
            }
            spins = (2 * spins).min(SPINS_MAX);
            if spins < SPINS_MAX {
                continue;
            }
            // What is published is found by the next look, if it is wanted.
            let now = Instant::now();
            let passed = now - gap_start;
            let is_long = self.is_long(passed);
            if !is_long && passed < PATIENCE {
                continue;
            }
            if self.raid_stalled(&mut stalls, thief(), now)
                || !is_long
                || (stalls.is_watching() && passed < PATIENCE * 2)
            {
                continue;
            }
            let lends_in = match helping.lends {
                // Exhaustive models have no substitutes, and no clock.
                _ if lent.is_some() || cfg!(loom) => None,
                Lends::AtOnce => Some(Duration::ZERO),
                Lends::Late => Some(LEND_TIME.saturating_sub(passed)),
            };
            let mut timeout = lends_in.filter(|time| !time.is_zero());
            if lends_in.is_some() && timeout.is_none() {
                let is_foreign = helping.lends == Lends::AtOnce && helping.gives_up.is_none();
                lent = Some(self.lend(is_foreign));
            }
            if lent.as_ref().is_some_and(Lent::is_empty) {
                if passed >= LOOK_TIME && self.shall_give_up(helping.gives_up) {
                    self.count_gap();
                    return;
                }
                timeout = Some(LOOK_TIME);
            }
            let task = match self.shared.policy {
                IdlePolicy::Spin => self.get_last(wanted),
                _ => self.sleep_until_told(thief(), wanted, timeout),
            };
            if let Some(task) = task {
                self.count_gap();
                task.run(self);
                gap_start = Instant::now();
                self.begin_gap();
            }
        }
    }

    /// True when one more call may be run inside the wait for it.
    pub(crate) fn may_nest(&self) -> bool {
        self.nested.get() < NESTED_MAX
    }

    /// Calls `call`, which runs inside the wait for it.
    pub(crate) fn nest<R>(&self, call: impl FnOnce() -> R) -> R {
        self.nested.set(self.nested.get() + 1);
        let result = call();
        self.nested.set(self.nested.get() - 1);
        result
    }

    /// How long it spins before it sleeps in a wait, by its policy and the gaps that it saw.
    pub(crate) fn spin_limit(&self) -> Duration {
        let budget = self.waits.borrow();
        self.spin_time(&budget).min(budget.spin())
    }

    fn count_gap(&self) {
        let gap = self.end_gap();
        self.waits.borrow_mut().observe(gap);
    }

    /// True when a wait that has taken so long is better slept through.
    fn is_long(&self, passed: Duration) -> bool {
        match self.shared.policy {
            IdlePolicy::Park => true,
            IdlePolicy::Adaptive if self.shared.is_crowded() => {
                yield_now();
                true
            }
            IdlePolicy::Adaptive | IdlePolicy::Spin => passed >= self.waits.borrow().spin(),
        }
    }

    fn ask_thief_or_next(&self, thief: Option<usize>, victim: usize) -> usize {
        match thief {
            Some(thief) if victim == self.index => {
                let gates = self.shared.forks[thief].gates();
                if !gates.are_closed() {
                    gates.close();
                }
                thief
            }
            _ => self.ask_next(victim),
        }
    }

    /// Sleeps until a token comes, or for `timeout`: what is waited for is done, or work has come that may be below it.
    ///
    /// A last look for work stands between saying so and sleeping, as in `IdleSet::sleep`; what it finds is returned.
    fn sleep_until_told(
        &self,
        thief: Option<usize>,
        wanted: Wanted<'_>,
        timeout: Option<Duration>,
    ) -> Option<Task> {
        let cell = self.shared.idle.cell(self.index);
        if cell.try_take() {
            return None;
        }
        // Asleep, this worker hears nobody who closes its gates: it keeps no fork to itself.
        while self.answer() {}
        self.shared.helpers.insert(self.index);
        for (index, forks) in self.shared.present_forks() {
            if thief.map_or(index != self.index, |thief| thief == index) {
                forks.gates().close_and_wait(self.index);
            }
        }
        // ORDERING: the bits are out before the last look; the partners are the fences in `IdleSet::work_came` and `Worker::put`.
        heavy_fence();
        let task = self.get_last(wanted);
        if task.is_none() {
            self.tally().parks.add(1);
            let watch = self.watch_time(&self.waits.borrow());
            let _is_told = cell.wait_for(watch, timeout);
        }
        self.shared.helpers.remove(self.index);
        task
    }
}
