//! The profile of one thread, while it runs.

use std::cell::Cell;

use raddle_sync::clock::{Instant, ticks};

use super::Profiler;
use super::cost::CallCost;
use super::function::{Activity, FUNCTIONS_MAX, Function};
use super::times::{FunctionTimes, ThreadTimes};

/// The sums of a function and its caller. Times are in ticks.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Sums {
    calls: Cell<u64>,
    /// The calls that are open.
    depth: Cell<u64>,
    /// The time without that of the functions that it has called.
    exclusive: Cell<u64>,
    /// The calls that it has made itself.
    called: Cell<u64>,
    /// The calls that are not inside another one of the same pair, their time, and the calls at any
    /// depth inside of them.
    outermost: Cell<u64>,
    inclusive: Cell<u64>,
    inside: Cell<u64>,
}

/// Adds to a sum, which may wrap around.
#[inline(always)]
fn add(sum: &Cell<u64>, more: u64) {
    sum.set(sum.get().wrapping_add(more));
}

/// Returns a sum that may be a little below zero: a function may seem shorter than those that it
/// has called, if the counters of CPUs differ.
fn signed(sum: u64) -> f64 {
    sum.cast_signed() as f64
}

/// Measures the calls of one thread.
#[derive(Debug)]
pub struct ThreadProfile {
    name: &'static str,
    activity: Activity,
    /// The sums of each pair: those of function `f` with caller `c` at `FUNCTIONS_MAX * c + f`.
    pairs: Box<[Sums]>,
    /// The time in functions of each activity.
    activities: [Cell<u64>; Activity::ALL.len()],
    /// The pair of the innermost call.
    current: Cell<usize>,
    current_activity: Cell<Activity>,
    /// The number of calls so far.
    count: Cell<u64>,
    cost: CallCost,
    begun: Instant,
    begun_ticks: u64,
}

/// The begin of a call: the time, and the state before it.
#[derive(Clone, Copy, Debug)]
pub struct Begun {
    ticks: u64,
    outer: usize,
    outer_activity: Activity,
    count: u64,
}

impl ThreadProfile {
    /// Begins the profile of this thread. Time outside of all functions counts as this activity.
    ///
    /// Takes 256 KiB, and the time to measure the cost of a call, once in a process.
    #[must_use]
    pub fn begin(name: &'static str, activity: Activity) -> Self {
        Self::with_cost(name, activity, CallCost::measured())
    }

    pub(super) fn with_cost(name: &'static str, activity: Activity, cost: CallCost) -> Self {
        let pairs = FUNCTIONS_MAX * FUNCTIONS_MAX;
        Self {
            name,
            activity,
            pairs: (0..pairs).map(|_| Sums::default()).collect(),
            activities: Default::default(),
            current: Cell::new(0),
            current_activity: Cell::new(activity),
            count: Cell::new(0),
            cost,
            begun: Instant::now(),
            begun_ticks: ticks(),
        }
    }

    /// Ends the profile. Returns the times without the cost of measuring them.
    #[must_use]
    pub fn finish(self) -> ThreadTimes {
        let total = ticks().saturating_sub(self.begun_ticks);
        let tick_ns = self.tick_ns();
        let root = &self.pairs[0];
        add(&root.exclusive, total);
        root.calls.set(1);
        root.inclusive.set(total);
        root.inside.set(self.count.get());
        let called = self.pairs.iter().enumerate();
        let functions = called
            .filter(|(_, sums)| sums.calls.get() > 0)
            .map(|(pair, sums)| self.times_of(pair, sums, tick_ns))
            .collect();
        ThreadTimes {
            functions,
            measured_ns: total as f64 * tick_ns,
            call_count: self.count.get(),
            cost: self.cost,
        }
    }

    /// Returns the length of a tick. Before some time has passed it is not known well.
    fn tick_ns(&self) -> f64 {
        let passed = ticks().saturating_sub(self.begun_ticks).max(1);
        self.begun.elapsed().as_nanos() as f64 / passed as f64
    }

    fn times_of(&self, pair: usize, sums: &Sums, tick_ns: f64) -> FunctionTimes {
        let (caller, function) = (pair / FUNCTIONS_MAX, pair % FUNCTIONS_MAX);
        let name_of = |number: usize| match Function::of_number(number) {
            Some(_) if number == FUNCTIONS_MAX - 1 => "other functions",
            Some(function) => function.name(),
            None => self.name,
        };
        let activity = Function::of_number(function).map_or(self.activity, Function::activity);
        let CallCost {
            interior_ns,
            exterior_ns,
        } = self.cost;
        let count = |sum: &Cell<u64>| signed(sum.get());
        // The thread itself is not a call.
        let (own, outermost) = match pair {
            0 => (0.0, 0.0),
            _ => (count(&sums.calls), count(&sums.outermost)),
        };
        FunctionTimes {
            name: name_of(function).to_owned(),
            caller: (pair != 0).then(|| name_of(caller).to_owned()),
            activity,
            calls: sums.calls.get(),
            inclusive_ns: count(&sums.inclusive) * tick_ns
                - outermost * interior_ns
                - count(&sums.inside) * (interior_ns + exterior_ns),
            exclusive_ns: count(&sums.exclusive) * tick_ns
                - own * interior_ns
                - count(&sums.called) * exterior_ns,
        }
    }
}

impl Profiler for ThreadProfile {
    type Begun = Begun;

    #[inline(always)]
    fn begin(&self, function: &'static Function) -> Begun {
        let outer = self.current.get();
        let pair = outer % FUNCTIONS_MAX * FUNCTIONS_MAX + function.number();
        self.current.set(pair);
        let count = self.count.get() + 1;
        self.count.set(count);
        add(&self.pairs[pair].depth, 1);
        Begun {
            outer,
            count,
            outer_activity: self.current_activity.replace(function.activity()),
            ticks: ticks(),
        }
    }

    #[inline(always)]
    fn end(&self, begun: &Begun) {
        // The counter of another CPU may be behind.
        let passed = ticks().saturating_sub(begun.ticks);
        let sums = &self.pairs[self.current.get()];
        add(&sums.calls, 1);
        add(&sums.exclusive, passed);
        let depth = sums.depth.get().wrapping_sub(1);
        sums.depth.set(depth);
        if depth == 0 {
            add(&sums.outermost, 1);
            add(&sums.inclusive, passed);
            add(&sums.inside, self.count.get() - begun.count);
        }
        let outer = &self.pairs[begun.outer];
        add(&outer.exclusive, passed.wrapping_neg());
        add(&outer.called, 1);
        self.current.set(begun.outer);
        let activity = self.current_activity.replace(begun.outer_activity);
        if activity != begun.outer_activity {
            add(&self.activities[activity as usize], passed);
            let of_outer = &self.activities[begun.outer_activity as usize];
            add(of_outer, passed.wrapping_neg());
        }
    }

    fn time_ns(&self, activity: Activity) -> f64 {
        let mut sum = self.activities[activity as usize].get();
        if activity == self.activity {
            sum = sum.wrapping_add(ticks().saturating_sub(self.begun_ticks));
        }
        signed(sum) * self.tick_ns()
    }
}
