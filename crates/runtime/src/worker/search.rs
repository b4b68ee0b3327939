//! A worker without work: it searches, then sleeps.

use std::mem;
use std::time::Duration;

use raddle_sync::idle::Slept;
use raddle_sync::prim::{LIGHT, spin_loop, yield_now};
use raddle_sync::wait::{Monitor, SpinBudget};
use raddle_trace::record;
use raddle_trace::record::kind::Idling;

use super::Worker;
use super::helping::WAKES_PER_SLEEP;
use super::mail::ROUNDS_PER_NETWORK;
use super::raid::{PATIENCE, Stalls};
use super::stall_watch::StallWatchTurn;
use crate::clock::Instant;
use crate::config::IdlePolicy;
use crate::task::Task;

/// The largest number of looks into the pool between two readings of the clock. Each look is a
/// round, so a searching worker reads the clock at least as often as it receives from the network.
const LOOKS_PER_CLOCK: usize = if LIGHT {
    1
} else {
    ROUNDS_PER_NETWORK as usize
};
/// The number of workers that are looked at between two readings of the clock. With many workers
/// each look takes long, and the cost of a search must not grow with the square of their number.
const VICTIMS_PER_CLOCK: usize = LOOKS_PER_CLOCK * 64;
/// The divisor of the spin budget for a search on a processor that has a monitored wait (MWAIT): a
/// search there may take one part in `SEARCH_SHARE` of the budget.
const SEARCH_SHARE: u32 = 8;
/// The number of pauses between two looks into the pool, without other nodes. The worker looks into
/// its mailbox after each.
const PAUSES_PER_LOOK: usize = if LIGHT { 1 } else { 4 };
/// Of this many short searches for the next message, one is timed and counts for all of them:
/// reading the clock would take a large part of such a search.
const LINGERS_PER_CLOCK: u64 = 16;
/// A worker that never sleeps does a last look, as before sleeping, once in this many readings of
/// the clock.
const ROUNDS_PER_LAST_LOOK: u32 = 256;

impl Worker {
    /// Runs messages and tasks until the runtime ends.
    pub(crate) fn run_to_the_end(&self) {
        let mut budget = match self.shared.network() {
            Some(_) => SpinBudget::of_price(WAKES_PER_SLEEP),
            None => SpinBudget::default(),
        };
        let mut lingers = Lingers::default();
        let origin = self.shared.origin();
        loop {
            if self.should_rest() && !self.rest() {
                return;
            }
            let found = match self.next() {
                Some(task) => Searched::Found(task),
                None => self.search(&mut budget, &mut lingers),
            };
            match found {
                Searched::Found(task) => {
                    self.run(task);
                    origin.end_if_other_process();
                }
                Searched::End => return,
                Searched::Nothing => {}
            }
        }
    }

    /// Looks for work a few times before this worker counts as searching, if messages have arrived
    /// since its last search.
    ///
    /// The reply to a message often arrives within less than a microsecond. Handling it this way
    /// avoids the duties of a searching worker towards sleeping ones.
    fn linger(&self, lingers: &mut Lingers) -> Option<Task> {
        let messages = self.counters().messages.get();
        let has_received = mem::replace(&mut lingers.messages_seen, messages) != messages;
        let has_time =
            self.shared.idle_policy() != IdlePolicy::Park && !self.shared.crowd().is_over();
        if !has_received || !has_time || self.shared.idle().anyone_sleeps() {
            return None;
        }
        lingers.count += 1;
        let is_timed = lingers.count.is_multiple_of(LINGERS_PER_CLOCK);
        if is_timed {
            self.begin_gap();
        }
        let mut victim = self.index;
        let task = self.look_around(&mut victim)?;
        if is_timed {
            let idle = &self.counters().idle;
            idle.end_like(LINGERS_PER_CLOCK, self.shared.age_ns());
        }
        Some(task)
    }

    /// Looks into the pool a few times, and asks busy workers for work, beginning after `victim`.
    fn look_around(&self, victim: &mut usize) -> Option<Task> {
        let looks = VICTIMS_PER_CLOCK / self.shared.present();
        // Each look is a round, and rounds decide when the worker receives from the network.
        let pauses = match self.shared.network() {
            Some(_) => 1,
            None => PAUSES_PER_LOOK,
        };
        for look in 0..looks.clamp(1, LOOKS_PER_CLOCK) {
            if let Some(task) = self.next() {
                return Some(task);
            }
            if look % 4 == 0 {
                *victim = self.ask_next(*victim);
            }
            for _ in 0..pauses {
                spin_loop();
                if let Some(message) = self.next_message() {
                    return Some(message);
                }
            }
        }
        None
    }

    /// Searches until there is a task or the runtime ends. A compensating thread that is not needed
    /// any more returns [`Searched::Nothing`].
    fn search(&self, budget: &mut SpinBudget, lingers: &mut Lingers) -> Searched {
        record::idle(Idling::Searches);
        if let Some(task) = self.linger(lingers) {
            budget.observe(Duration::ZERO);
            return Searched::Found(task);
        }
        let age_ns = self.begin_gap();
        if self.shared.placing().is_due(age_ns) {
            self.review_placement(age_ns);
        }
        let idle = self.shared.idle();
        idle.start_search();
        let mut stalls = Stalls::default();
        let mut turn = StallWatchTurn::start();
        let mut time = self.search_time(budget);
        let mut has_slept = false;
        let searched = loop {
            let searched = self.spin(time, &mut stalls);
            if !matches!(searched, Searched::Nothing) || self.is_surplus() {
                break searched;
            }
            if self.is_compensating && self.shared.has_work() {
                // The work may be open tasks, and this thread may have been woken for them.
                let _woken = self.shared.idle().wake_one(self.index);
                yield_now();
            }
            let timeout = turn.timeout(&stalls, &self.shared);
            let has_work = || {
                let has_work = self.has_mail()
                    || self.has_assigned()
                    || self.shared.has_work()
                    || self.shared.may_end();
                has_work || (timeout.is_none() && self.has_private_forks_elsewhere())
            };
            let before_sleep = || {
                self.counters().parks.add(1);
                record::idle(Idling::Sleeps);
                self.ask_everyone();
                if let Some(network) = self.shared.network() {
                    network.before_sleep();
                }
            };
            self.shared.placing().fall_asleep(self.index);
            let slept = self.shared.stall_watch().during(timeout, || {
                let monitored = match stalls.any_suspect() {
                    true => self.monitored_time(budget).max(PATIENCE),
                    false => self.monitored_time(budget),
                };
                let look = || turn.look(self, &mut stalls);
                idle.sleep(self.index, monitored, timeout, look, has_work, before_sleep)
            });
            self.shared.placing().wake_up(self.index);
            has_slept = slept != Slept::Not;
            if has_slept {
                record::idle(Idling::Searches);
            }
            time = match slept {
                Slept::TimedOut => Duration::ZERO,
                Slept::Woken | Slept::Not => {
                    turn = StallWatchTurn::start();
                    self.search_time(budget)
                }
            };
            // However the sleep has ended: `before_sleep` has run once for it.
            if has_slept && let Some(network) = self.shared.network() {
                network.after_sleep();
            }
            if slept == Slept::Woken {
                self.raid_caller();
            }
            if self.is_surplus() {
                break Searched::Nothing;
            }
        };
        budget.observe(self.end_gap());
        let woken = idle.found(self.index, has_slept, || self.shared.has_work());
        self.counters().wakes.add(woken as u64);
        if matches!(searched, Searched::Found(_)) && !idle.anyone_searches() && idle.anyone_sleeps()
        {
            // No searching worker is left that asks busy workers on behalf of the sleepers: the
            // busy workers wake them with their next fork.
            self.ask_everyone();
        }
        if matches!(searched, Searched::Found(_)) {
            self.begin_unrequested();
        }
        searched
    }

    /// Records that this worker has run out of work. Returns the time.
    pub(super) fn begin_gap(&self) -> u64 {
        let age_ns = self.shared.age_ns();
        self.counters().idle.begin(age_ns);
        age_ns
    }

    /// Records that this worker has work again. Returns how long it had none.
    pub(super) fn end_gap(&self) -> Duration {
        Duration::from_nanos(self.counters().idle.end(self.shared.age_ns()))
    }

    pub(super) fn spin_time(&self, budget: &SpinBudget) -> Duration {
        match self.shared.idle_policy() {
            IdlePolicy::Spin => Duration::MAX,
            IdlePolicy::Park => Duration::ZERO,
            IdlePolicy::Adaptive => budget.spin(),
        }
    }

    /// Returns how long this worker searches before it sleeps. The time is short if the processor
    /// has a monitored wait, during which a thread on the same core can use the core.
    fn search_time(&self, budget: &SpinBudget) -> Duration {
        let time = self.spin_time(budget);
        match self.shared.idle_policy() {
            IdlePolicy::Adaptive if Monitor::detect().is_some() => time / SEARCH_SHARE,
            _ => time,
        }
    }

    /// Returns how long this worker stays in a monitored wait for a notification before it sleeps
    /// in the kernel. Zero if the processor has no monitored wait.
    pub(super) fn monitored_time(&self, budget: &SpinBudget) -> Duration {
        match self.shared.idle_policy() {
            IdlePolicy::Adaptive if Monitor::detect().is_some() => self.spin_time(budget),
            _ => Duration::ZERO,
        }
    }

    /// Looks for work for `time`. Asks one busy worker after the other, and raids those that do not
    /// answer.
    fn spin(&self, time: Duration, stalls: &mut Stalls) -> Searched {
        let start = Instant::now();
        let mut victim = self.index;
        let mut rounds = 0_u32;
        loop {
            if self.shared.crowd().must_yield() {
                yield_now();
            }
            if let Some(task) = self.look_around(&mut victim) {
                return Searched::Found(task);
            }
            if self.shared.may_end() && !self.shared.has_work() {
                return Searched::End;
            }
            let now = Instant::now();
            let passed = now - start;
            // Not in a short search: reading lines that the other workers write all the time slows
            // them down.
            if passed >= time.min(PATIENCE)
                && self.raid_stalled(stalls, None, now)
                && let Some(task) = self.next()
            {
                return Searched::Found(task);
            }
            let is_over = passed >= time;
            rounds += 1;
            if (is_over || rounds.is_multiple_of(ROUNDS_PER_LAST_LOOK))
                && let Some(task) = self.get_last(self.wanted())
            {
                return Searched::Found(task);
            }
            if is_over {
                return Searched::Nothing;
            }
        }
    }

    /// Asks the worker after `victim` for work. Returns its index.
    pub(super) fn ask_next(&self, victim: usize) -> usize {
        let next = (victim + 1) % self.shared.present();
        let gates = self.shared.forks_of(next).gates();
        if next != self.index && !gates.are_closed() {
            gates.close();
        }
        next
    }

    pub(super) fn ask_everyone(&self) {
        for (index, forks) in self.shared.present_forks() {
            if index != self.index {
                forks.gates().close();
            }
        }
    }
}

/// The short searches of a worker for its next message.
#[derive(Default)]
struct Lingers {
    count: u64,
    /// The number of messages that had arrived at the last one.
    messages_seen: u64,
}

enum Searched {
    Found(Task),
    Nothing,
    End,
}
