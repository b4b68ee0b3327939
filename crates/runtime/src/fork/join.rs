//! `join`: the fork, the call, and the return.

use std::mem::ManuallyDrop;
use std::panic::resume_unwind;

use raddle_sync::split_stack::Slot;

use super::ForkStack;
use super::current::{current_forks, worker_of};
use super::job::StackJob;
use crate::task::{TaskCell, discard};
use crate::worker::Worker;

/// Runs both closures, in parallel when a worker has nothing better to do, and returns both results.
///
/// `a` runs first, on the current worker; `b` runs after it, unless another worker took it meanwhile. Called on a
/// thread that is no worker, the pair moves to the default runtime first. Cost while nobody asks for work: about 2 ns
/// over calling the two in turn; no allocation, no atomic read-modify-write, no fence.
///
/// While it waits for a stolen `b`, the worker runs only work that was forked or spawned inside that `b`, so that a
/// lock held around `join` is never asked for by foreign work on the same stack.
///
/// # Panics
/// With the panic of `a` or of `b`; with that of `a` if both panic. When `a` panics, `b` is dropped without being
/// run if no other worker has begun it, and waited for otherwise.
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
/// Blumofe, Leiserson: Scheduling multithreaded computations by work stealing. JACM 46(5), 1999; waiting by
/// leapfrogging: Wagner, Calder: Leapfrogging. PPoPP 1993.
#[inline]
pub fn join<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    let forks = current_forks();
    let job = StackJob::new(b);
    let slot = forks.stack.top();
    if forks.stack.lets_push(slot) {
        // SAFETY: we are the owner, and there is room below the gate.
        unsafe { forks.stack.push(slot, job.slot()) };
    } else if !push_slow(forks, job.slot()) {
        return join_without_room(a, job.into_inner());
    }
    let unwinding = PopOnUnwind {
        forks,
        slot,
        job: &job,
    };
    let result_a = a();
    std::mem::forget(unwinding);
    // SAFETY: we are the owner; all forks that `a` has pushed have been popped.
    if unsafe { forks.stack.pop(slot) } || !pop_slow(forks, slot) {
        forks.stack.count_inline();
        // SAFETY: popped while private or taken back: ours to run (invariant 2).
        let b = unsafe { job.take() };
        return call_second(result_a, b);
    }
    // SAFETY: `pop_slow` saw that a thief has run it.
    match unsafe { job.result() } {
        Ok(result_b) => (result_a, result_b),
        Err(panic) => {
            // Not while unwinding: a second panic, of its destructor, would end the process.
            discard(result_a);
            resume_unwind(panic)
        }
    }
}

/// Calls `b` and returns both results. If `b` panics, a panic of the first result's destructor is swallowed.
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

/// Pushes where the gate is closed or the stack full; false when the fork has not been pushed.
#[cold]
fn push_slow(forks: &ForkStack, job: *mut ()) -> bool {
    let Some(worker) = worker_of(forks) else {
        return false;
    };
    let slot = forks.stack.top();
    if !forks.stack.has_capacity(slot) {
        return false;
    }
    // SAFETY: this worker is the owner, and there is room.
    unsafe { forks.stack.push(slot, job) };
    worker.answer();
    true
}

/// Pops where the gate is closed or the fork published; true when a thief has run it, false when it is to be called.
#[cold]
fn pop_slow(forks: &ForkStack, slot: *mut Slot) -> bool {
    let worker = worker_of(forks).expect("only workers have forks to pop");
    let idle = &worker.shared().idle;
    // SAFETY: this worker is the owner, whose pop of this slot has failed.
    let published = unsafe { forks.stack.pop_slow(slot, || idle.anyone_sleeps()) };
    if let Some(cell) = published {
        return end_published(worker, cell);
    }
    worker.answer();
    false
}

/// Takes a published fork back (false), or waits until its thief has run it (true).
pub(super) fn end_published(worker: &Worker, cell: *mut ()) -> bool {
    // SAFETY: what stands for a published fork is its cell (invariant 2); cells live as long as the process.
    let cell = unsafe { &*cell.cast::<TaskCell>() };
    worker.reclaim_or_wait(cell)
}

/// The pair for a thread that is no worker, or whose stack is full.
#[cold]
fn join_without_room<A, B, RA, RB>(a: A, b: B) -> (RA, RB)
where
    A: FnOnce() -> RA + Send,
    B: FnOnce() -> RB + Send,
    RA: Send,
    RB: Send,
{
    if super::current_worker().is_some() {
        let result_a = a();
        return call_second(result_a, b);
    }
    crate::global::default_runtime().install(|| join(a, b))
}

/// Undoes the fork when its first closure unwinds.
struct PopOnUnwind<'a, F: FnOnce() -> R, R> {
    forks: &'a ForkStack,
    slot: *mut Slot,
    job: &'a StackJob<F, R>,
}

impl<F: FnOnce() -> R, R> Drop for PopOnUnwind<'_, F, R> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: we are the owner; all forks that the first closure has pushed have been popped.
        if unsafe { self.forks.stack.pop(self.slot) } || !pop_slow(self.forks, self.slot) {
            // SAFETY: ours, and dropped without being run. A panic of its destructor gives way to ours.
            discard(unsafe { self.job.take() });
        } else {
            // SAFETY: `pop_slow` saw that a thief has run it. A panic of its own gives way to ours.
            discard(unsafe { self.job.result() });
        }
    }
}
