//! A job on the call stack of the worker that forked it: a closure, and the space where a thief
//! puts its result.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use raddle_sync::prim::UnsafeCell;

use crate::task::{JobHead, OPEN_JOB};

/// The place where a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ran {
    /// On the thread that gave the call, below that thread's own call.
    Here,
    /// Taken from there, usually by another thread.
    Elsewhere,
}

/// A job that consumes `P` and returns `R`. `P` is a closure, or a function and its argument.
#[repr(C)]
pub(super) struct StackJob<P, R> {
    head: JobHead,
    payload: UnsafeCell<ManuallyDrop<P>>,
    result: UnsafeCell<MaybeUninit<std::thread::Result<R>>>,
}

impl<F: FnOnce(Ran) -> R, R> StackJob<F, R> {
    /// Creates a job that calls `closure`.
    #[inline]
    pub(super) fn new(closure: F) -> Self {
        unsafe fn run<F: FnOnce(Ran) -> R, R>(head: *const JobHead) {
            // SAFETY: the head of such a job; the caller has won it (contract of `JobRef::run`).
            unsafe { StackJob::<F, R>::run_by(head, |closure| closure(Ran::Elsewhere)) };
        }
        Self::with_run(closure, run::<F, R>)
    }
}

/// A function, and the space for its argument.
pub(super) struct Application<V, F> {
    argument: MaybeUninit<V>,
    function: F,
}

impl<V, F: Fn(V) -> R + Copy, R> StackJob<Application<V, F>, R> {
    /// Creates a job that calls `function` with the argument that [`give`](Self::give) sets.
    #[inline]
    pub(super) fn with_function(function: F) -> Self {
        unsafe fn run<V, F: Fn(V) -> R + Copy, R>(head: *const JobHead) {
            let apply = |application: Application<V, F>| {
                // SAFETY: the argument is given before each push (see `give`).
                (application.function)(unsafe { application.argument.assume_init() })
            };
            // SAFETY: the head of such a job; the caller has won it (contract of `JobRef::run`).
            unsafe { StackJob::<Application<V, F>, R>::run_by(head, apply) };
        }
        let application = Application {
            argument: MaybeUninit::uninit(),
            function,
        };
        Self::with_run(application, run::<V, F, R>)
    }

    /// Sets the argument. To be called before each push.
    ///
    /// # Safety
    /// No other thread can see the job.
    #[inline]
    pub(super) unsafe fn give(&self, argument: V) {
        self.payload.with_mut(|payload| {
            // SAFETY: no other thread touches the payload (contract).
            let application = unsafe { &mut **payload };
            application.argument.write(argument);
        });
    }

    /// Takes the argument back.
    ///
    /// # Safety
    /// The argument was [given](Self::give), and the caller has popped the job while no thief had
    /// it.
    #[inline]
    pub(super) unsafe fn take_back(&self) -> V {
        self.payload.with(|payload| {
            // SAFETY: no other thread touches the payload (contract).
            let application = unsafe { &**payload };
            // SAFETY: initialised (contract).
            unsafe { application.argument.assume_init_read() }
        })
    }
}

impl<P, R> StackJob<P, R> {
    #[inline]
    fn with_run(payload: P, run: unsafe fn(*const JobHead)) -> Self {
        Self {
            head: JobHead::new(run),
            payload: UnsafeCell::new(ManuallyDrop::new(payload)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Returns the value of the slot in which this job is pushed.
    #[inline]
    pub(super) fn slot(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast::<()>()
    }

    /// Returns the value of the slot in which this job is pushed as an open job.
    #[inline]
    pub(super) fn open_slot(&self) -> *mut () {
        self.slot().map_addr(|address| address | OPEN_JOB)
    }

    pub(super) fn into_inner(self) -> P {
        ManuallyDrop::into_inner(self.payload.into_inner())
    }

    /// Takes the payload out.
    ///
    /// # Safety
    /// The caller alone runs the job, once.
    #[inline]
    pub(super) unsafe fn take(&self) -> P {
        // SAFETY: no other thread touches the payload (contract).
        let payload = self.payload.with(|payload| unsafe { payload.read() });
        ManuallyDrop::into_inner(payload)
    }

    /// Takes the result out.
    ///
    /// # Safety
    /// A thief has run the job; called once.
    pub(super) unsafe fn result(&self) -> std::thread::Result<R> {
        // SAFETY: the thief wrote it before it finished the offer (contract).
        let result = self.result.with(|result| unsafe { result.read() });
        // SAFETY: initialised by the thief.
        unsafe { result.assume_init() }
    }

    /// Runs the job of which `head` is the head, and stores its result or its panic.
    ///
    /// # Safety
    /// `head` belongs to a job of this type that is alive and that the caller has won.
    unsafe fn run_by(head: *const JobHead, call: impl FnOnce(P) -> R) {
        // SAFETY: `head` is the first field of a job of this type, which is alive (contract).
        let job = unsafe { &*head.cast::<Self>() };
        // SAFETY: the caller won the job.
        let payload = unsafe { job.take() };
        let result = catch_unwind(AssertUnwindSafe(|| call(payload)));
        job.result.with_mut(|place| {
            // SAFETY: no other thread touches the result until the offer is finished.
            unsafe { place.write(MaybeUninit::new(result)) };
        });
    }
}

/// A job is reached through its head.
const _: () = assert!(std::mem::offset_of!(StackJob<fn(), ()>, head) == 0);
/// The lowest bit of its address is free.
const _: () = assert!(align_of::<JobHead>() > OPEN_JOB);
