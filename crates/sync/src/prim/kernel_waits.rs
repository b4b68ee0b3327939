//! The number of times that a thread has waited in the kernel.

/// Returns how often the calling thread has waited in the kernel: for a lock, a file or a futex.
/// Zero if the system does not say. Cost: about 0.3 µs.
#[cfg(all(target_os = "linux", not(miri)))]
pub fn thread_waits() -> u64 {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the call fills in one `rusage`, which is plain data, and keeps no reference to it.
    let result = unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
    // SAFETY: all bits zero are a valid `rusage`, and so is what the call has filled in.
    let usage = unsafe { usage.assume_init() };
    match result {
        0 => usage.ru_nvcsw as u64,
        _ => 0,
    }
}

/// Returns zero: the system does not say how often a thread has waited in the kernel.
#[cfg(not(all(target_os = "linux", not(miri))))]
pub fn thread_waits() -> u64 {
    0
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle, miri))))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_has_waited() {
        let before = thread_waits();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(thread_waits() > before);
    }
}
