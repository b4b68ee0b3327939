//! Threads that another thread confines to a CPU while they sleep.

/// A thread of this process, as the kernel knows it.
#[derive(Clone, Copy, Debug)]
pub struct MovableThread(sys::Id);

/// The CPUs on which a thread was allowed to run before it was confined.
#[derive(Debug)]
pub struct AllowedCpus(sys::Cpus);

impl MovableThread {
    /// Returns the current thread. `None` where threads cannot be confined: in a model, and on
    /// systems other than Linux.
    pub fn current() -> Option<Self> {
        sys::current().map(Self)
    }

    /// Allows the thread only the CPU on which the caller runs, so that it wakes up there.
    ///
    /// Returns the CPUs that the thread had, which has to [restore](AllowedCpus::restore) them when
    /// it runs. Returns `None`, and changes nothing, if it has no other CPU, or not this one. Costs
    /// two system calls.
    pub fn confine_to_here(self) -> Option<AllowedCpus> {
        sys::confine_to_here(self.0).map(AllowedCpus)
    }
}

impl AllowedCpus {
    /// Allows these CPUs to the current thread. Costs a system call.
    pub fn restore(&self) {
        sys::restore(&self.0);
    }
}

#[cfg(all(target_os = "linux", not(any(loom, shuttle, miri))))]
mod sys {
    use rustix::thread::{CpuSet, Pid, gettid, sched_getaffinity, sched_getcpu, sched_setaffinity};

    pub(super) type Id = Pid;
    pub(super) type Cpus = CpuSet;

    pub(super) fn current() -> Option<Pid> {
        Some(gettid())
    }

    pub(super) fn confine_to_here(thread: Pid) -> Option<CpuSet> {
        let allowed = sched_getaffinity(Some(thread)).ok()?;
        let cpu = sched_getcpu();
        if cpu >= CpuSet::MAX_CPU || !allowed.is_set(cpu) || allowed.count() == 1 {
            return None;
        }
        let mut here = CpuSet::new();
        here.set(cpu);
        sched_setaffinity(Some(thread), &here).ok()?;
        Some(allowed)
    }

    pub(super) fn restore(allowed: &CpuSet) {
        // The system allowed them before.
        let _ = sched_setaffinity(None, allowed);
    }
}

#[cfg(not(all(target_os = "linux", not(any(loom, shuttle, miri)))))]
mod sys {
    pub(super) type Id = std::convert::Infallible;
    pub(super) type Cpus = std::convert::Infallible;

    pub(super) fn current() -> Option<Id> {
        None
    }

    pub(super) fn confine_to_here(thread: Id) -> Option<Cpus> {
        match thread {}
    }

    pub(super) fn restore(allowed: &Cpus) {
        match *allowed {}
    }
}
