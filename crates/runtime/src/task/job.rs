//! A reference to a job: a call that lies on the stack of the worker that forked it.
//!
//! A task cell of kind [`Fork`](super::Kind::Fork) carries such a reference. The job itself, with
//! its closure and the space for its result, is [`StackJob`](crate::fork).

/// The first field of every job: the function that runs it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct JobHead {
    run: unsafe fn(*const JobHead),
}

impl JobHead {
    /// Creates the head of a job that `run` runs.
    ///
    /// `run` is called with a pointer to this head, at most once, by the thread that has won the
    /// job.
    #[inline]
    pub(crate) const fn new(run: unsafe fn(*const JobHead)) -> Self {
        Self { run }
    }
}

/// The lowest bit of a pointer to a job, which is set if the job is open ([`crate::open`]).
pub(crate) const OPEN_JOB: usize = 1;

/// A pointer to a job on the call stack of some worker, with [`OPEN_JOB`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct JobRef(*const JobHead);

impl JobRef {
    /// Creates a reference from the pointer that a slot of a fork stack holds.
    pub(crate) fn from_slot(slot: *const ()) -> Self {
        Self(slot.cast::<JobHead>())
    }

    /// Returns true if the job is open.
    pub(crate) fn is_open(self) -> bool {
        self.0.addr() & OPEN_JOB != 0
    }

    /// Runs the job and stores its result or its panic in it. Does not unwind.
    ///
    /// # Safety
    /// The caller has won the job, and the join that made it has not returned.
    pub(crate) unsafe fn run(self) {
        let job = self.0.map_addr(|address| address & !OPEN_JOB);
        // SAFETY: the job is alive (contract).
        let run = unsafe { (*job).run };
        // SAFETY: the function belongs to this job.
        unsafe { run(job) };
    }
}
