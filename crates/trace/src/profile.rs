//! Profiles of threads: the calls and times of functions, by the functions that called them.
//!
//! A recording ([`crate::record`]) keeps an event for each scope. A profile only keeps sums, so it
//! can measure functions of some tens of nanoseconds that are called 10⁹ times.
//!
//! Code that is to be measured takes a [`Profiler`]. With [`NoProfile`] it is compiled as if there
//! was no profile. With a [`ThreadProfile`], a call costs two readings of the time-stamp counter
//! and some additions, about 30 ns, which [`ThreadProfile::finish`] subtracts ([`CallCost`]).
//!
//! # Examples
//! ```
//! use raddle_trace::profile::{Activity, Function, NoProfile, Profiler, ThreadProfile};
//!
//! static SUM: Function = Function::new("sum", Activity::Compute);
//!
//! fn sum(numbers: &[u64], profiler: &impl Profiler) -> u64 {
//!     let _call = profiler.call(&SUM);
//!     numbers.iter().sum()
//! }
//!
//! let profile = ThreadProfile::begin("main", Activity::Compute);
//! assert_eq!(sum(&[1, 2], &profile), sum(&[1, 2], &NoProfile));
//! let times = profile.finish();
//! assert_eq!(times.functions[1].name, "sum");
//! assert_eq!(times.functions[1].calls, 1);
//! ```
//!
//! # Invariants
//! 1. A profile belongs to one thread, and calls end in the reverse order of their begins. A guard
//!    that is leaked or dropped in another order makes wrong times, nothing worse.
//! 2. Times that other calls have spent are subtracted as they are found, so sums wrap around
//!    meanwhile, and are right at the end.
//!
//! # Source
//! Inclusive and exclusive times, and the subtraction of the cost: Parker, Efficient user-level
//! event notification, section 4.6. Shende, Malony: The TAU parallel performance system. IJHPCA
//! 20(2), 2006.

mod cost;
mod function;
#[cfg(test)]
mod tests;
mod thread;
mod times;

pub use self::cost::CallCost;
pub use self::function::{Activity, Function};
pub use self::thread::ThreadProfile;
pub use self::times::{FunctionTimes, ThreadTimes};

/// Measures calls of functions, or does nothing.
pub trait Profiler {
    /// The begin of a call.
    type Begun;

    /// True if it may measure something.
    const IS_ON: bool = true;

    /// Begins a call of a function.
    fn begin(&self, function: &'static Function) -> Self::Begun;

    /// Ends the call that began last.
    fn end(&self, begun: &Self::Begun);

    /// Returns the time in functions of this activity so far, in nanoseconds, including the cost of
    /// the profile.
    fn time_ns(&self, activity: Activity) -> f64;

    /// Begins a call that ends when the guard is dropped.
    #[inline(always)]
    fn call(&self, function: &'static Function) -> Call<'_, Self>
    where
        Self: Sized,
    {
        Call {
            begun: self.begin(function),
            profiler: self,
        }
    }
}

/// A call of a function, from its creation to its drop.
#[derive(Debug)]
#[must_use = "a call ends when it is dropped"]
pub struct Call<'a, P: Profiler> {
    begun: P::Begun,
    profiler: &'a P,
}

impl<P: Profiler> Drop for Call<'_, P> {
    #[inline(always)]
    fn drop(&mut self) {
        self.profiler.end(&self.begun);
    }
}

/// Measures if there is a profile. Costs a branch if there is none, so it is for functions that
/// take some microseconds.
impl Profiler for Option<ThreadProfile> {
    type Begun = Option<thread::Begun>;

    #[inline]
    fn begin(&self, function: &'static Function) -> Option<thread::Begun> {
        self.as_ref().map(|profile| profile.begin(function))
    }

    #[inline]
    fn end(&self, begun: &Option<thread::Begun>) {
        if let (Some(profile), Some(begun)) = (self, begun) {
            profile.end(begun);
        }
    }

    fn time_ns(&self, activity: Activity) -> f64 {
        self.as_ref()
            .map_or(0.0, |profile| profile.time_ns(activity))
    }
}

/// Measures nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProfile;

impl Profiler for NoProfile {
    type Begun = ();

    const IS_ON: bool = false;

    #[inline(always)]
    fn begin(&self, _function: &'static Function) {}

    #[inline(always)]
    fn end(&self, _begun: &()) {}

    #[inline(always)]
    fn time_ns(&self, _activity: Activity) -> f64 {
        0.0
    }
}
