//! A job on the call stack of the worker that forked it: a closure, and room for what a thief makes
//! of it.

use std::mem::{ManuallyDrop, MaybeUninit};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

use raddle_sync::prim::UnsafeCell;

/// The head of every job: what runs it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobHead {
    run: unsafe fn(*const JobHead),
}

/// A job on some worker's call stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRef(pub(super) *const JobHead);

impl JobRef {
    /// Runs the job and stores its result or its panic in it; does not unwind.
    ///
    /// # Safety
    /// The caller has won the job, and its join has not returned (invariant 2 of [`super`]).
    pub(crate) unsafe fn run(self) {
        // SAFETY: the job is alive (contract).
        let run = unsafe { (*self.0).run };
        // SAFETY: the function belongs to this job.
        unsafe { run(self.0) };
    }
}

/// A job that turns `P` into `R`: `P` is a closure, or a function and its argument.
#[repr(C)]
pub(super) struct StackJob<P, R> {
    head: JobHead,
    payload: UnsafeCell<ManuallyDrop<P>>,
    result: UnsafeCell<MaybeUninit<std::thread::Result<R>>>,
}

impl<F: FnOnce() -> R, R> StackJob<F, R> {
    /// A job that calls `closure`.
    #[inline]
    pub(super) fn new(closure: F) -> Self {
        unsafe fn run<F: FnOnce() -> R, R>(head: *const JobHead) {
            // SAFETY: the head of such a job, which the caller has won (contract of `JobRef::run`).
            unsafe { StackJob::<F, R>::run_by(head, |closure| closure()) };
        }
        Self::with_run(closure, run::<F, R>)
    }
}

/// A function, and room for its argument.
pub(super) struct Application<V, F> {
    argument: MaybeUninit<V>,
    function: F,
}

impl<V, F: Fn(V) -> R + Copy, R> StackJob<Application<V, F>, R> {
    /// A job that calls `function` with the argument that it is given later.
    #[inline]
    pub(super) fn with_function(function: F) -> Self {
        unsafe fn run<V, F: Fn(V) -> R + Copy, R>(head: *const JobHead) {
            let apply = |application: Application<V, F>| {
                // SAFETY: the argument is given before each push (see `give`).
                (application.function)(unsafe { application.argument.assume_init() })
            };
            // SAFETY: the head of such a job, which the caller has won (contract of `JobRef::run`).
            unsafe { StackJob::<Application<V, F>, R>::run_by(head, apply) };
        }
        let application = Application {
            argument: MaybeUninit::uninit(),
            function,
        };
        Self::with_run(application, run::<V, F, R>)
    }

    /// Puts an argument into the job. For before each push.
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

    /// Takes the argument out again.
    ///
    /// # Safety
    /// It was [given](Self::give), and the caller has popped the job while no thief had it.
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
            head: JobHead { run },
            payload: UnsafeCell::new(ManuallyDrop::new(payload)),
            result: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// What its slot holds.
    #[inline]
    pub(super) fn slot(&self) -> *mut () {
        ptr::from_ref(self).cast_mut().cast::<()>()
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

    /// # Safety
    /// `head` is that of such a job, which is alive, and which the caller has won.
    unsafe fn run_by(head: *const JobHead, call: impl FnOnce(P) -> R) {
        // SAFETY: `head` is the first field of such a job that is alive (contract).
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
