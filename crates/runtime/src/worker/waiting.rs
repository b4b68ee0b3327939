//! A worker that waits inside a task, and runs tasks below the frame that it waits for.
//!
//! A join and a scope wait for their own subtree. A wait for a handle, another runtime, or the end
//! of one may depend on any work, through threads that no lineage connects. A worker that waits for
//! one of these lends its place before it sleeps.

use std::cell::Cell;
use std::time::Duration;

use raddle_sync::prim::{LIGHT, heavy_fence, spin_loop, yield_now};
use raddle_trace::record;
use raddle_trace::record::kind::Idling;

use super::Worker;
use super::compensation::Lent;
use super::helping::{Helping, Lends};
use super::raid::{PATIENCE, Stalls, can_raid};
use super::stall_watch::STALL_WATCH_TIME;
use super::standstill::{LOOK_TIME, StandsStill};
use crate::clock::Instant;
use crate::config::IdlePolicy;
use crate::pool::Wanted;
use crate::task::Task;

/// The time after which a compensating thread runs other work during a wait: several times the cost
/// of starting or waking such a thread.
const LEND_TIME: Duration = Duration::from_micros(250);

/// The limit of calls that a worker runs inside waits for them, nested in each other: each needs
/// stack space.
const NESTED_MAX: u32 = 64;

/// The number of checks for the end of the wait between two searches for work: at first, and at
/// most.
const SPINS_FIRST: u32 = if LIGHT { 1 } else { 4 };
const SPINS_MAX: u32 = if LIGHT { 2 } else { 256 };

impl Worker {
    /// Waits until `done` returns true, and meanwhile runs the tasks that `helping` allows.
    ///
    /// The thread that makes `done` true notifies this worker's wait cell afterwards. `thief`
    /// returns the worker to ask for work first, if it is known.
    #[inline]
    pub(crate) fn wait_until(
        &self,
        helping: Helping<'_>,
        thief: impl Fn() -> Option<usize>,
        done: impl Fn() -> bool,
    ) {
        if !done() {
            self.wait_longer_until(helping, &thief, &done);
        }
    }

    /// Waits as [`wait_until`](Self::wait_until) does. It is compiled once, and not for each
    /// closure of a program that waits.
    fn wait_longer_until(
        &self,
        helping: Helping<'_>,
        thief: &dyn Fn() -> Option<usize>,
        done: &dyn Fn() -> bool,
    ) {
        let _noted = helping.note(self.counters(), thief);
        // The clock is read only if there is no task: tasks may be as short as a reading.
        let mut gap = None::<Instant>;
        let mut spins = SPINS_FIRST;
        let mut victim = self.index;
        let mut lent = None::<Lent<'_>>;
        let mut stalls = Stalls::default();
        // A worker that lends its place leaves this to the compensating thread.
        let is_watch = helping.lends == Lends::Never && can_raid();
        let mut looks_in = is_watch.then_some(STALL_WATCH_TIME[0]);
        let is_below = |task: &Task| task.is_within(helping.frame);
        let mut wanted = match helping.is_open {
            true => Wanted::OpenOr(&is_below),
            false => Wanted::Where(&is_below, helping.mark),
        };
        loop {
            // In a child process no other thread exists that could make it done.
            self.shared.expect_here();
            if let Some(task) = self.get_assigned_or(wanted) {
                self.end_wait_gap(&mut gap);
                self.run(task);
                spins = SPINS_FIRST;
                looks_in = looks_in.map(|_| STALL_WATCH_TIME[0]);
                self.answer_if_asked();
                if done() {
                    return;
                }
                continue;
            }
            victim = self.ask_thief_or_next(thief(), victim);
            self.answer_if_asked();
            let gap_start = *gap.get_or_insert_with(|| {
                record::idle(Idling::Searches);
                self.begin_gap();
                Instant::now()
            });
            for _ in 0..spins {
                if done() {
                    self.end_wait_gap(&mut gap);
                    return;
                }
                spin_loop();
            }
            spins = (2 * spins).min(SPINS_MAX);
            if spins < SPINS_MAX {
                continue;
            }
            // The spins are used up: raid a stalled worker, or sleep. A fork that a raid publishes
            // is found by the next look if it is wanted.
            let now = Instant::now();
            let passed = now - gap_start;
            let is_long = self.is_long(passed);
            if !is_long && passed < PATIENCE {
                continue;
            }
            // Any worker may have an open task.
            let asked = thief().filter(|_| !helping.is_open);
            // A compensating thread that lends its place leaves raids to the next one.
            let leaves_raids = self.is_compensating
                && helping.lends == Lends::AtOnce
                && !lent.as_ref().is_some_and(Lent::is_empty);
            if !leaves_raids && self.raid_stalled(&mut stalls, asked, now)
                || !is_long
                || (stalls.any_suspect() && passed < PATIENCE * 2)
            {
                continue;
            }
            // Lend this place before sleeping, now or after a timeout.
            let lends_in = match helping.lends {
                // Exhaustive models have no compensating threads and no clock.
                _ if lent.is_some() || cfg!(loom) => None,
                Lends::AtOnce => Some(Duration::ZERO),
                Lends::Late => Some(LEND_TIME.saturating_sub(passed)),
                Lends::Never => None,
            };
            let mut timeout = lends_in.filter(|time| !time.is_zero());
            if lends_in.is_some() && timeout.is_none() {
                let is_foreign = helping.lends == Lends::AtOnce && helping.gives_up.is_none();
                lent = Some(self.lend(is_foreign));
                if !self.is_compensating {
                    // The compensating thread runs no open tasks, and perhaps no other worker is
                    // free.
                    wanted = Wanted::OpenOr(&is_below);
                }
            }
            let replaced = lent.as_ref().filter(|lent| self.is_replaced(lent));
            if let Some(lent) = replaced {
                if self.sleep_replaced(lent, helping.gives_up, done) {
                    self.end_wait_gap(&mut gap);
                    return;
                }
                continue;
            }
            if lent.as_ref().is_some_and(Lent::is_empty) {
                if passed >= LOOK_TIME && self.should_give_up(helping.gives_up) {
                    self.end_wait_gap(&mut gap);
                    return;
                }
                timeout = Some(LOOK_TIME);
            }
            let task = match self.shared.idle_policy() {
                IdlePolicy::Spin => self.get_last(wanted),
                _ => self.sleep_until_notified(asked, wanted, timeout, looks_in),
            };
            looks_in = looks_in.map(|time| STALL_WATCH_TIME[1].min(2 * time));
            if let Some(task) = task {
                self.end_wait_gap(&mut gap);
                self.run(task);
            }
        }
    }

    #[inline]
    fn answer_if_asked(&self) {
        if self.forks().gates().are_closed() {
            self.answer();
        }
    }

    /// Returns true if the wait has to end because the runtime stands still, and stores the state
    /// in `gives_up`.
    ///
    /// `gives_up` is `None` for waits that cannot end early.
    fn should_give_up(&self, gives_up: Option<&Cell<Option<StandsStill>>>) -> bool {
        let Some(state) = self.shared.stands_still() else {
            return false;
        };
        if !self.has_called_for_help() {
            return false;
        }
        match gives_up {
            Some(gives_up) if state.is_certain => {
                gives_up.set(Some(state));
                true
            }
            _ => {
                self.shared.report_standstill(&state);
                false
            }
        }
    }

    /// Returns true if one more call may run inside the wait for it.
    pub(crate) fn may_nest(&self) -> bool {
        self.nested.get() < NESTED_MAX
    }

    /// Calls `call` inside this worker's wait for its result.
    pub(crate) fn nest<R>(&self, call: impl FnOnce() -> R) -> R {
        self.nested.set(self.nested.get() + 1);
        let result = call();
        self.nested.set(self.nested.get() - 1);
        result
    }

    /// Returns how long this worker spins in a wait before it sleeps. It depends on the idle policy
    /// and on the durations of former waits.
    pub(crate) fn spin_limit(&self) -> Duration {
        let budget = self.waits.borrow();
        self.spin_time(&budget).min(budget.spin())
    }

    /// Ends the gap between two tasks of a wait, if one has begun, and learns from it.
    #[inline]
    fn end_wait_gap(&self, gap: &mut Option<Instant>) {
        if gap.take().is_some() {
            self.observe_wait_gap();
        }
    }

    #[cold]
    fn observe_wait_gap(&self) {
        let passed = self.end_gap();
        self.waits.borrow_mut().observe(passed);
    }

    /// Returns true if a wait that has taken `passed` is better spent asleep.
    fn is_long(&self, passed: Duration) -> bool {
        match self.shared.idle_policy() {
            IdlePolicy::Park => true,
            IdlePolicy::Adaptive | IdlePolicy::Spin => {
                if self.shared.crowd().is_over() {
                    yield_now();
                }
                passed >= self.waits.borrow().spin()
            }
        }
    }

    fn ask_thief_or_next(&self, thief: Option<usize>, victim: usize) -> usize {
        match thief {
            Some(thief) if victim == self.index => {
                let gates = self.shared.forks_of(thief).gates();
                if !gates.are_closed() {
                    gates.close();
                }
                thief
            }
            _ => self.ask_next(victim),
        }
    }

    /// Sleeps until the wait of this compensating thread is over, or until it is called for help.
    /// Returns true if the wait is over, also if it has to end because the runtime stands still.
    ///
    /// Notifications meant for others, of which there are many, do not end the sleep: a search
    /// among a thousand threads takes long.
    fn sleep_replaced(
        &self,
        lent: &Lent<'_>,
        gives_up: Option<&Cell<Option<StandsStill>>>,
        done: &dyn Fn() -> bool,
    ) -> bool {
        while self.answer() {}
        let timeout = lent.is_empty().then_some(LOOK_TIME);
        let cell = self.shared.idle().cell(self.index);
        self.counters().parks.add(1);
        // A notification follows the change that it is about: if `done` or the call for help is not
        // seen here, the notification ends the sleep.
        while self.is_replaced(lent) {
            if done() {
                return true;
            }
            record::idle(Idling::Sleeps);
            let monitored = self.monitored_time(&self.waits.borrow());
            if !cell.wait_for(monitored, timeout) && self.should_give_up(gives_up) {
                return true;
            }
        }
        false
    }

    /// Sleeps until this worker is notified or `timeout` is over: the wait is over, or there is
    /// work that may be below its frame.
    ///
    /// If another worker has private forks, it may run a long leaf and never answer. Then this
    /// worker sleeps no longer than `looks_in`, to look for stalled workers.
    ///
    /// As in `IdleSet::sleep`, the worker announces its sleep, looks for work once more, and then
    /// sleeps. Returns the task that this last look finds.
    fn sleep_until_notified(
        &self,
        thief: Option<usize>,
        wanted: Wanted<'_>,
        timeout: Option<Duration>,
        looks_in: Option<Duration>,
    ) -> Option<Task> {
        let cell = self.shared.idle().cell(self.index);
        if cell.try_take() {
            return None;
        }
        // While it sleeps, this worker does not see that its gates are closed. So it publishes all
        // its forks.
        while self.answer() {}
        self.shared.add_helper(self.index);
        for (index, forks) in self.shared.present_forks() {
            if thief.map_or(index != self.index, |thief| thief == index) {
                forks.gates().close_and_wait(self.index);
            }
        }
        // ORDERING: the bits are visible before the last look; the partners are the fences in
        // `IdleSet::work_came` and `Worker::put`.
        heavy_fence();
        let task = self.get_last(wanted);
        let has_assigned = matches!(wanted, Wanted::OpenOr(_)) && self.has_assigned();
        if task.is_none() && !has_assigned {
            self.counters().parks.add(1);
            // A fork that is made from now on meets closed gates.
            let looks_in = looks_in.filter(|_| self.has_private_forks_elsewhere());
            let timeout = match (timeout, looks_in) {
                (Some(timeout), Some(looks_in)) => Some(timeout.min(looks_in)),
                (timeout, looks_in) => timeout.or(looks_in),
            };
            let monitored = self.monitored_time(&self.waits.borrow());
            record::idle(Idling::Sleeps);
            let _is_notified = cell.wait_for(monitored, timeout);
            record::idle(Idling::Searches);
        }
        self.shared.remove_helper(self.index);
        task
    }
}
