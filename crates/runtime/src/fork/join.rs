//! `join`: the fork, the call, and the return.

use std::mem::ManuallyDrop;
use std::panic::resume_unwind;

use raddle_sync::split_stack::Slot;
use raddle_trace::record;

use super::job::{Ran, StackJob};
use crate::fork_stack::published_cell;
use crate::panics::discard;
use crate::runtime::{Runtime, default_runtime};
use crate::worker::{Forks, Worker, current_forks, worker_of};

/// Runs both closures, in parallel if another worker has no work, and returns both results.
///
/// `a` runs first, on the current worker. `b` runs after it, unless another worker has taken `b`
/// meanwhile. On a thread that is no worker, the call moves to the default runtime first. Cost
/// while no worker asks for work: about 2 ns more than calling the two in turn; no allocation, no
/// atomic read-modify-write, no fence.
///
/// While it waits for a stolen `b`, the worker runs only work that was forked or spawned inside
/// that `b`. Therefore unrelated work on the same stack never asks for a lock that is held around
/// `join`.
///
/// # Panics
/// With the panic of `a` or of `b`; with that of `a` if both panic. If `a` panics, `b` is dropped
/// without being run if no other worker has begun it, and waited for otherwise.
///
/// # Examples
/// ```
/// fn sum(numbers: &[u64]) -> u64 {
///     if let [one] = numbers {
///         return *one;
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (a, b) = raddle_runtime::join(|| sum(left), || sum(right));
///     a + b
/// }
/// assert_eq!(sum(&[1, 2, 3, 4]), 10);
/// ```
/// # Source
/// Blumofe, Leiserson: Scheduling multithreaded computations by work stealing. JACM 46(5), 1999;
/// waiting by leapfrogging: Wagner, Calder: Leapfrogging. PPoPP 1993.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    join_by::<false, _, _, _, _>(a, |_| b(), true, join_elsewhere)
}

/// Runs both closures as [`join`] does. The fork is an open job if `OPEN` says so. Unless it
/// `may_fork`, calls both in turn. A thread that is no worker calls `elsewhere` instead, or both in
/// turn if the job is open.
///
/// Each closure is called at one place here, and `b` also by its job. Otherwise the compiler would
/// optimise the closures less.
#[inline]
pub(crate) fn join_by<const OPEN: bool, A, B, RA, RB>(
    a: A,
    b: B,
    may_fork: bool,
    elsewhere: impl FnOnce(A, B) -> (RA, RB),
) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(Ran) -> RB,
{
    let forks = current_forks();
    let job = StackJob::new(b);
    let pushed = if OPEN { job.open_slot() } else { job.slot() };
    let slot = forks.slots().top();
    let mut is_forked = may_fork;
    if !may_fork {
        // Both are called below.
    } else if forks.slots().lets_push(slot) {
        // SAFETY: we are the owner, and there is capacity below the gate.
        unsafe { forks.slots().push(slot, pushed) };
    } else {
        match push_slow(forks, pushed) {
            Pushed::Yes => {}
            Pushed::NoWorker if !OPEN => return elsewhere(a, job.into_inner()),
            Pushed::Watched => return join_recorded::<OPEN, _, _, _, _>(a, job.into_inner()),
            Pushed::Full | Pushed::NoWorker => is_forked = false,
        }
    }
    let unwinding = PopOnUnwind {
        forks,
        slot,
        job: &job,
        is_forked,
    };
    let result_a = a();
    std::mem::forget(unwinding);
    // SAFETY: we are the owner; all forks that `a` has pushed have been popped.
    if !is_forked || unsafe { forks.slots().pop(slot) } || !pop_slow(forks, slot) {
        if is_forked {
            forks.slots().count_inline();
        }
        // SAFETY: not pushed, or popped while private or taken back: ours to run (invariant 2).
        let b = unsafe { job.take() };
        return call_second(result_a, || b(Ran::Here));
    }
    // SAFETY: `pop_slow` saw that a thief has run it.
    take_result(result_a, unsafe { job.result() })
}

/// Calls `b` and returns both results. If `b` panics, a panic of the first result's destructor is
/// discarded.
#[inline]
fn call_second<RA, RB>(result_a: RA, b: impl FnOnce() -> RB) -> (RA, RB) {
    struct DiscardOnUnwind<R>(ManuallyDrop<R>);
    impl<R> Drop for DiscardOnUnwind<R> {
        #[cold]
        fn drop(&mut self) {
            // SAFETY: the value is not used after its drop.
            discard(unsafe { ManuallyDrop::take(&mut self.0) });
        }
    }
    if !std::mem::needs_drop::<RA>() {
        return (result_a, b());
    }
    let kept = DiscardOnUnwind(ManuallyDrop::new(result_a));
    let result_b = b();
    let mut kept = ManuallyDrop::new(kept);
    // SAFETY: `kept` is not dropped any more.
    let result_a = unsafe { ManuallyDrop::take(&mut kept.0) };
    (result_a, result_b)
}

/// The outcome of [`push_slow`].
enum Pushed {
    Yes,
    /// The stack is full.
    Full,
    /// The thread is no worker.
    NoWorker,
    /// The forks of this worker are recorded. Nothing was pushed.
    Watched,
}

/// Pushes when the gate is closed or the stack is full.
#[cold]
fn push_slow(forks: &Forks, job: *mut ()) -> Pushed {
    let Some(worker) = worker_of(forks) else {
        return Pushed::NoWorker;
    };
    if forks.gates().are_watched() {
        worker.follow_recording();
        return Pushed::Watched;
    }
    let slot = forks.slots().top();
    if !forks.slots().has_capacity(slot) {
        return Pushed::Full;
    }
    // SAFETY: this worker is the owner, and there is capacity.
    unsafe { forks.slots().push(slot, job) };
    worker.answer();
    Pushed::Yes
}

/// Pops when the gate is closed or the fork is published. Returns true if a thief has run the fork,
/// and false if the caller has to run it.
#[cold]
pub(super) fn pop_slow(forks: &Forks, slot: *mut Slot) -> bool {
    let worker = worker_of(forks).expect("only workers have forks to pop");
    let idle = worker.shared().idle();
    // SAFETY: this worker is the owner, and its pop of this slot has failed.
    let published = unsafe { forks.slots().pop_slow(slot, || idle.anyone_sleeps()) };
    if let Some(cell) = published {
        return end_published(worker, cell);
    }
    worker.answer();
    false
}

/// Takes a published fork back and returns false, or waits until its thief has run it and returns
/// true.
pub(super) fn end_published(worker: &Worker, cell: *mut ()) -> bool {
    // SAFETY: the slot of a published fork holds its cell (invariant 2).
    let cell = unsafe { published_cell(cell) };
    worker.reclaim_or_wait(cell)
}

/// Runs both closures on the default runtime.
#[cold]
fn join_elsewhere<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce(Ran) -> RB + Send,
    RA: Send,
    RB: Send,
{
    // Not `join` itself, which would be instantiated for closures of ever more types.
    default_runtime().install(|| join_recorded::<false, _, _, _, _>(a, b))
}

/// Runs both closures on the current worker as [`join_by`] does, and records the fork if a
/// recording is under way.
#[cold]
fn join_recorded<const OPEN: bool, A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA,
    B: FnOnce(Ran) -> RB,
{
    let forks = current_forks();
    let job = StackJob::new(b);
    let pushed = if OPEN { job.open_slot() } else { job.slot() };
    let slot = forks.slots().top();
    let depth = forks.depth_of(slot);
    let is_forked = forks.slots().has_capacity(slot);
    record::fork(depth);
    let _end = EndRecorded(depth);
    if is_forked {
        // SAFETY: we are the owner, and there is capacity.
        unsafe { forks.slots().push(slot, pushed) };
        answer_if_asked(forks);
    }
    let unwinding = PopOnUnwind {
        forks,
        slot,
        job: &job,
        is_forked,
    };
    let result_a = a();
    std::mem::forget(unwinding);
    // SAFETY: we are the owner; all forks that `a` has pushed have been popped.
    let is_own = !is_forked || unsafe { forks.slots().pop_watched(slot) };
    if is_own || !pop_slow(forks, slot) {
        if is_forked {
            forks.slots().count_inline();
        }
        record::second_half(depth);
        // SAFETY: not pushed, or popped while private or taken back: ours to run (invariant 2).
        let b = unsafe { job.take() };
        return call_second(result_a, || b(Ran::Here));
    }
    // SAFETY: `pop_slow` saw that a thief has run it.
    take_result(result_a, unsafe { job.result() })
}

/// Records the end of a join when it is dropped.
struct EndRecorded(usize);

impl Drop for EndRecorded {
    fn drop(&mut self) {
        record::end_join(self.0);
    }
}

/// Publishes the oldest fork if the gates are closed.
#[inline]
fn answer_if_asked(forks: &Forks) {
    if forks.gates().are_closed()
        && let Some(worker) = worker_of(forks)
    {
        worker.answer();
    }
}

/// Returns both results, or resumes the panic of the thief.
#[inline]
fn take_result<RA, RB>(result_a: RA, result_b: std::thread::Result<RB>) -> (RA, RB) {
    match result_b {
        Ok(result_b) => (result_a, result_b),
        Err(panic) => {
            // Dropped before unwinding: a second panic, of its destructor, would end the process.
            discard(result_a);
            resume_unwind(panic)
        }
    }
}

/// Calls both closures in turn.
pub(crate) fn call_both<RA, RB>(a: impl FnOnce() -> RA, b: impl FnOnce(Ran) -> RB) -> (RA, RB) {
    let result_a = a();
    call_second(result_a, || b(Ran::Here))
}

/// Undoes the fork if the first closure unwinds.
struct PopOnUnwind<'a, F: FnOnce(Ran) -> R, R> {
    forks: &'a Forks,
    slot: *mut Slot,
    job: &'a StackJob<F, R>,
    is_forked: bool,
}

impl<F: FnOnce(Ran) -> R, R> Drop for PopOnUnwind<'_, F, R> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: we are the owner; all forks that the first closure has pushed have been popped.
        let is_popped = !self.is_forked || unsafe { self.forks.slots().pop(self.slot) };
        if is_popped || !pop_slow(self.forks, self.slot) {
            // SAFETY: ours, and dropped without being run. A panic of its destructor is discarded
            // in favour of ours.
            discard(unsafe { self.job.take() });
        } else {
            // SAFETY: `pop_slow` saw that a thief has run it. A panic of its own is discarded in
            // favour of ours.
            discard(unsafe { self.job.result() });
        }
    }
}

impl Runtime {
    /// Runs two closures as [`crate::join`] does, on this runtime.
    pub fn join<A, B, RA, RB>(&self, a: A, b: B) -> (RA, RB)
    where
        A: FnOnce() -> RA + Send,
        B: FnOnce() -> RB + Send,
        RA: Send,
        RB: Send,
    {
        self.install(|| join(a, b))
    }
}
