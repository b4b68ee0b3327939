//! A worker that waits inside a task, helping below what it waits for.
//!
//! A join and a scope wait for their own subtree, and run nothing else. A handle, another runtime, or the end of one can
//! wait for anything, through threads that no lineage reaches: a worker that waits for one of these prefers work below it,
//! and runs any other work rather than stand still.

use raddle_sync::prim::{LIGHT, SeqCst, fence, spin_loop, yield_now};

use super::Worker;
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
    /// Any other work, too, when there is none below the frame.
    pub(crate) anybody: bool,
}

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
        loop {
            let wanted = |task: &Task| task.is_within(helping.frame);
            let wanted = Wanted::Where(&wanted, helping.mark);
            if let Some(task) = self.get_helping(helping, wanted) {
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
            if spins == SPINS_MAX
                && self.shall_sleep(gap_start)
                && let Some(task) = self.sleep_until_told(thief(), helping, wanted)
            {
                self.count_gap();
                task.run(self);
                gap_start = Instant::now();
                self.begin_gap();
            }
        }
    }

    /// A task from below the frame, or else any, where the wait is for something that may need any.
    fn get_helping(&self, helping: Helping<'_>, wanted: Wanted<'_>) -> Option<Task> {
        self.get(wanted).or_else(|| {
            if helping.anybody {
                self.get(Wanted::Any)
            } else {
                None
            }
        })
    }

    fn count_gap(&self) {
        let gap = self.end_gap();
        self.waits.borrow_mut().observe(gap);
    }

    fn shall_sleep(&self, start: Instant) -> bool {
        match self.shared.policy {
            IdlePolicy::Spin => false,
            IdlePolicy::Park => true,
            IdlePolicy::Adaptive if self.shared.crowded => {
                yield_now();
                true
            }
            IdlePolicy::Adaptive => start.elapsed() >= self.waits.borrow().spin(),
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

    /// Sleeps until a token comes: what is waited for is done, or work has come that may be below it.
    ///
    /// A last look for work stands between saying so and sleeping, as in `IdleSet::sleep`; what it finds is returned.
    fn sleep_until_told(
        &self,
        thief: Option<usize>,
        helping: Helping<'_>,
        wanted: Wanted<'_>,
    ) -> Option<Task> {
        let cell = self.shared.idle.cell(self.index);
        if cell.try_take() {
            return None;
        }
        // Asleep, this worker hears nobody who closes its gates: it keeps no fork to itself.
        while self.answer() {}
        self.shared.helpers.insert(self.index);
        for (index, forks) in self.shared.forks.iter().enumerate() {
            if thief.map_or(index != self.index, |thief| thief == index) {
                forks.gates().close_and_wait(self.index);
            }
        }
        // ORDERING: the bits are out before the last look; the partner is the fence in `IdleSet::work_came`.
        fence(SeqCst);
        let task = self.get_helping(helping, wanted);
        if task.is_none() {
            self.tally().parks.add(1);
            cell.sleep(None);
        }
        self.shared.helpers.remove(self.index);
        task
    }
}
