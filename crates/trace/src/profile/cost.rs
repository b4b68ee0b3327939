//! The cost of a call in a profile, measured by itself.

use std::hint::black_box;
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::Profiler;
use super::function::{Activity, Function};
use super::thread::ThreadProfile;

/// The number of rounds, of which the median counts, and of nests of a round.
const ROUNDS: usize = 101;
const NESTS: u64 = 2_000;

static OUTER: Function = Function::new("cost, outer", Activity::Compute);
static MIDDLE: Function = Function::new("cost, middle", Activity::Synchronise);
static INNER: Function = Function::new("cost, inner", Activity::Compute);

/// The cost of a call in a profile, or of a scope in a recording: of its begin and its end
/// together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CallCost {
    /// The part that the time of the function itself includes, in nanoseconds.
    pub interior_ns: f64,
    /// The part that only the time of the caller includes, in nanoseconds.
    pub exterior_ns: f64,
}

impl CallCost {
    /// Returns the cost, which is measured once in a process. That takes about 20 ms.
    #[must_use]
    pub fn measured() -> Self {
        static MEASURED: OnceLock<CallCost> = OnceLock::new();
        *MEASURED.get_or_init(Self::measure)
    }

    /// Returns the whole cost, in nanoseconds.
    #[must_use]
    pub fn total_ns(&self) -> f64 {
        self.interior_ns + self.exterior_ns
    }

    /// Measures three calls, each inside the one before, again and again.
    ///
    /// The time of the innermost one is the interior cost. That of the middle one is the same, and
    /// the whole cost of the innermost one. The medians of several rounds count, because the thread
    /// may be interrupted.
    ///
    /// # Source
    /// Parker, Efficient user-level event notification, section 4.6 and figure 18.
    fn measure() -> Self {
        let round = |_| {
            let profile = ThreadProfile::with_cost("cost", Activity::Compute, Self::default());
            for nest in 0..NESTS {
                let _outer = profile.call(&OUTER);
                let _middle = profile.call(&MIDDLE);
                let _inner = profile.call(&INNER);
                black_box(nest);
            }
            let times = profile.finish();
            let per_call = |function: &Function| {
                let of_it = times.functions.iter();
                let found = of_it.filter(|it| it.name == function.name());
                found.map(|it| it.inclusive_ns).sum::<f64>() / NESTS as f64
            };
            let (interior, middle) = (per_call(&INNER), per_call(&MIDDLE));
            (interior, middle - 2.0 * interior)
        };
        let rounds: Vec<(f64, f64)> = (0..ROUNDS).map(round).collect();
        let median = |part: fn(&(f64, f64)) -> f64| {
            let mut parts: Vec<f64> = rounds.iter().map(part).collect();
            parts.sort_by(f64::total_cmp);
            parts[ROUNDS / 2]
        };
        Self {
            interior_ns: median(|round| round.0),
            exterior_ns: median(|round| round.1),
        }
    }
}
