//! `join`: the fork, the call, and the return.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::ptr;

use raddle_sync::prim::{Relaxed, UnsafeCell};

use super::current::{current_forks, worker_of};
use super::{ForkStack, JobHead, Slot};

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
    let slot = forks.private.top.get();
    if forks.gates.lets_push(slot) {
        // SAFETY: there is room below the gate, and only we write our slots (invariant 1).
        unsafe { slot.write(job.slot()) };
        forks.private.top.set(slot.wrapping_add(1));
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
    let result_a = Kept(ManuallyDrop::new(result_a));
    forks.private.top.set(slot);
    if forks.gates.lets_pop(slot) || !pop_slow(forks, slot) {
        let inline = &forks.private.inline;
        // Relaxed: a statistic that only this thread writes.
        inline.store(inline.load(Relaxed).wrapping_add(1), Relaxed);
        // SAFETY: popped while private or taken back: ours to run (invariant 2).
        let b = unsafe { job.take() };
        let result_b = b();
        return (result_a.into_inner(), result_b);
    }
    // SAFETY: `pop_slow` saw that a thief has run it.
    match unsafe { job.result() } {
        Ok(result_b) => (result_a.into_inner(), result_b),
        Err(panic) => resume_unwind(panic),
    }
}

/// Pushes where the gate is closed or the stack full; false when the fork has not been pushed.
#[cold]
fn push_slow(forks: &ForkStack, job: Slot) -> bool {
    let Some(worker) = worker_of(forks) else {
        return false;
    };
    let slot = forks.private.top.get();
    if slot == forks.private.end.get() {
        return false;
    }
    // SAFETY: there is room, and only we write our slots (invariant 1).
    unsafe { slot.write(job) };
    forks.private.top.set(slot.wrapping_add(1));
    worker.answer();
    true
}

/// Pops where the gate is closed or the fork published; true when a thief has run it, false when it is to be called.
#[cold]
fn pop_slow(forks: &ForkStack, slot: *mut Slot) -> bool {
    let worker = worker_of(forks).expect("only workers have forks to pop");
    let base = forks.private.base.get();
    if slot >= base {
        worker.answer();
        return false;
    }
    debug_assert_eq!(
        slot.wrapping_add(1),
        base,
        "joins return in the order of their forks"
    );
    // SAFETY: our own slot (invariant 1).
    let cell = unsafe { slot.read() }.cast::<crate::task::TaskCell>();
    // SAFETY: a slot below base holds a cell (invariant 2); cells live as long as the process.
    let cell = unsafe { &*cell };
    forks.private.base.set(slot);
    let idle = &worker.shared().idle;
    forks
        .gates
        .follow(forks.private.end.get(), slot, || idle.anyone_sleeps());
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
        return (a(), b());
    }
    crate::global::default_runtime().install(|| join(a, b))
}

/// A fork on the call stack of its worker: the closure, and room for what a thief makes of it.
#[repr(C)]
struct StackJob<F, R> {
    head: JobHead,
    closure: UnsafeCell<ManuallyDrop<F>>,
    result: UnsafeCell<MaybeUninit<std::thread::Result<R>>>,
}

impl<F: FnOnce() -> R, R> StackJob<F, R> {
    #[inline]
    fn new(closure: F) -> Self {
        Self {
            head: JobHead { run: Self::run },
            closure: UnsafeCell::new(ManuallyDrop::new(closure)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    #[inline]
    fn slot(&self) -> Slot {
        ptr::from_ref(self).cast::<()>()
    }

    fn into_inner(self) -> F {
        ManuallyDrop::into_inner(self.closure.into_inner())
    }

    /// # Safety
    /// The caller alone runs the job, once.
    #[inline]
    unsafe fn take(&self) -> F {
        // SAFETY: nobody else touches the closure (contract).
        let closure = self.closure.with(|closure| unsafe { closure.read() });
        ManuallyDrop::into_inner(closure)
    }

    /// # Safety
    /// A thief has run the job; called once.
    unsafe fn result(&self) -> std::thread::Result<R> {
        // SAFETY: the thief wrote it before it finished the offer (contract).
        let result = self.result.with(|result| unsafe { result.read() });
        // SAFETY: initialised by the thief.
        unsafe { result.assume_init() }
    }

    unsafe fn run(head: *const JobHead) {
        // SAFETY: `head` is the first field of a `StackJob<F, R>` that is alive (contract of `JobRef::run`).
        let job = unsafe { &*head.cast::<Self>() };
        // SAFETY: the caller won the job.
        let closure = unsafe { job.take() };
        let result = catch_unwind(AssertUnwindSafe(closure));
        // SAFETY: nobody else touches the result until the offer is finished.
        job.result
            .with_mut(|place| unsafe { place.write(MaybeUninit::new(result)) });
    }
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
        self.forks.private.top.set(self.slot);
        if self.forks.gates.lets_pop(self.slot) || !pop_slow(self.forks, self.slot) {
            // SAFETY: ours, and dropped without being run. A panic of a destructor gives way to ours.
            crate::task::discard(unsafe { self.job.take() });
        } else {
            // SAFETY: `pop_slow` saw that a thief has run it. A panic of its own gives way to ours.
            crate::task::discard(unsafe { self.job.result() });
        }
    }
}

/// The result of the first closure. Where the second one panics, it is dropped, and a panic of its destructor gives way:
/// leaving a destructor while unwinding, it would end the process.
struct Kept<R>(ManuallyDrop<R>);

impl<R> Kept<R> {
    #[inline]
    fn into_inner(self) -> R {
        let mut kept = ManuallyDrop::new(self);
        // SAFETY: taken once, and not dropped.
        unsafe { ManuallyDrop::take(&mut kept.0) }
    }
}

impl<R> Drop for Kept<R> {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: taken once, here.
        crate::task::discard(unsafe { ManuallyDrop::take(&mut self.0) });
    }
}

/// A job is reached through its head.
const _: () = assert!(std::mem::offset_of!(StackJob<fn(), ()>, head) == 0);
