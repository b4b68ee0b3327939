//! `join`: two calls in parallel.

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use raddle_runtime::open::{self, Ran};

use crate::panics::discard;
use crate::registry;

/// The place where a closure of [`join_context`] runs.
#[derive(Debug)]
pub struct FnContext {
    is_migrated: bool,
    /// Neither `Send` nor `Sync`.
    thread: PhantomData<*mut ()>,
}

impl FnContext {
    #[inline]
    fn new(is_migrated: bool) -> Self {
        Self {
            is_migrated,
            thread: PhantomData,
        }
    }

    /// Returns true if the closure runs on another thread than the call of `join_context`.
    #[inline]
    pub fn migrated(&self) -> bool {
        self.is_migrated
    }
}

/// Runs both closures, perhaps in parallel, and returns both results. Both run even if one panics.
///
/// # Panics
/// With the panic of `a`, or else of `b`.
///
/// # Examples
/// ```
/// let (a, b) = rayon_core::join(|| 6, || 7);
/// assert_eq!(a * b, 42);
/// ```
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_context(|_| a(), |_| b())
}

/// Runs both closures as [`join`] does. Each gets the place where it runs.
///
/// # Panics
/// As `join`.
#[inline]
pub fn join_context<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    if open::is_worker() {
        return join_here(a, b, false);
    }
    join_elsewhere(a, b)
}

#[cold]
fn join_elsewhere<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    let registry = registry::global();
    registry.tasks().install(|_| join_here(a, b, true))
}

/// Runs both closures on the current worker. If the call has migrated here, so have both.
///
/// Never inlined, so that each closure is called at one place: the compiler then optimises the
/// closures as in a sequential program.
#[inline(never)]
fn join_here<A, B, RA, RB>(a: A, b: B, is_migrated: bool) -> (RA, RB)
where
    A: FnOnce(FnContext) -> RA + Send,
    B: FnOnce(FnContext) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // Caught, because the second closure runs even if the first one panics.
    let both = open::join(
        || catch_unwind(AssertUnwindSafe(|| a(FnContext::new(is_migrated)))),
        |ran| {
            let is_migrated = is_migrated || ran == Ran::Elsewhere;
            catch_unwind(AssertUnwindSafe(|| b(FnContext::new(is_migrated))))
        },
    );
    match both {
        (Ok(a), Ok(b)) => (a, b),
        (Err(panic), b) => {
            discard(b);
            resume_unwind(panic)
        }
        (a, Err(panic)) => {
            discard(a);
            resume_unwind(panic)
        }
    }
}
