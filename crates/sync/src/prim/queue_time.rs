//! The time that a thread has waited for a CPU.

use std::fs::File;

/// The time for which a thread could run, but the operating system ran other threads on its CPUs.
///
/// Linux counts it for each thread (`/proc/thread-self/schedstat`, proc(5)). Keeps a file open.
#[derive(Debug)]
pub struct QueueTime(Option<File>);

impl QueueTime {
    /// Returns that of the calling thread.
    #[must_use]
    pub fn of_this_thread() -> Self {
        Self(File::open("/proc/thread-self/schedstat").ok())
    }

    /// Returns the time up to now, in nanoseconds; `None` if the system does not say. Cost: about
    /// 0.6 µs.
    #[cfg(unix)]
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        use std::os::unix::fs::FileExt;
        let mut text = [0; 64];
        let len = self.0.as_ref()?.read_at(&mut text, 0).ok()?;
        // The time on a CPU, the time without one, and the number of turns.
        let text = std::str::from_utf8(&text[..len]).ok()?;
        text.split_ascii_whitespace().nth(1)?.parse().ok()
    }

    /// Returns `None`: the system does not say.
    #[cfg(not(unix))]
    #[must_use]
    pub fn ns(&self) -> Option<u64> {
        None
    }
}

#[cfg(all(test, target_os = "linux", not(any(loom, shuttle, miri))))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::prim::thread_cpu_time;

    #[test]
    fn a_thread_that_sleeps_does_not_wait_for_a_cpu_and_one_of_many_does() {
        let queue_time = QueueTime::of_this_thread();
        let before = queue_time.ns().expect("Linux counts it");
        std::thread::sleep(Duration::from_millis(1));
        let asleep = queue_time.ns().expect("the file is open");
        assert!(asleep >= before);
        // More threads than CPUs: all of them together wait.
        let count = 2 * std::thread::available_parallelism().map_or(1, usize::from);
        let waited = std::thread::scope(|scope| {
            let spin = || {
                let queue_time = QueueTime::of_this_thread();
                while thread_cpu_time() < Duration::from_millis(50) {}
                queue_time.ns().expect("the file is there")
            };
            let threads: Vec<_> = (0..count).map(|_| scope.spawn(spin)).collect();
            threads
                .into_iter()
                .map(|thread| thread.join().expect("no panic"))
                .sum::<u64>()
        });
        assert!(waited > 10_000_000, "{waited}");
    }
}
