//! The times that a profile has found.

use serde::{Deserialize, Serialize};

use super::cost::CallCost;
use super::function::Activity;

/// The profile of a thread that has ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadTimes {
    /// The functions that were called, by caller. The first is the thread itself.
    pub functions: Vec<FunctionTimes>,
    /// The time from the begin to the end of the profile, in nanoseconds, including its cost.
    pub measured_ns: f64,
    /// The number of calls.
    pub call_count: u64,
    /// The cost of a call, which has been subtracted from the times of `functions`.
    pub cost: CallCost,
}

/// The calls of a function by another one. The cost of the profile has been subtracted, so that a
/// time may be a little below zero.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FunctionTimes {
    /// The name of the function, or of the thread.
    pub name: String,
    /// The name of the caller; `None` for the thread itself.
    pub caller: Option<String>,
    /// The purpose of the function.
    pub activity: Activity,
    /// The number of calls.
    pub calls: u64,
    /// The time from the begins of the calls to their ends, in nanoseconds. A call inside another
    /// one of the same pair does not count again.
    pub inclusive_ns: f64,
    /// The inclusive time without the time of the functions that it has called.
    pub exclusive_ns: f64,
}

impl ThreadTimes {
    /// Returns the cost of the profile itself, in nanoseconds.
    #[must_use]
    pub fn cost_ns(&self) -> f64 {
        self.call_count as f64 * self.cost.total_ns()
    }

    /// Returns the time that the thread would have taken without the profile, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> f64 {
        self.measured_ns - self.cost_ns()
    }

    /// Returns the time in functions of this activity, in nanoseconds.
    #[must_use]
    pub fn time_ns(&self, activity: Activity) -> f64 {
        let of_it = self.functions.iter().filter(|it| it.activity == activity);
        // The sum of nothing is -0.
        of_it.map(|it| it.exclusive_ns).sum::<f64>() + 0.0
    }

    /// Returns the calls of a function by all callers together, and its exclusive time, in
    /// nanoseconds.
    #[must_use]
    pub fn of(&self, name: &str) -> (u64, f64) {
        let of_it = self.functions.iter().filter(|it| it.name == name);
        of_it.fold((0, 0.0), |(calls, ns), it| {
            (calls + it.calls, ns + it.exclusive_ns)
        })
    }
}
