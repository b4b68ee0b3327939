//! The state of the stall watch ([`super::stall_watch`]) that all workers of a runtime share.

use std::time::Duration;

use raddle_sync::prim::{AtomicU64, AtomicUsize, Relaxed};

/// The stall watch of a runtime, as all its workers see it: the number of workers that sleep until
/// they look for stalled workers again, and the number of raids.
#[derive(Debug, Default)]
pub(crate) struct StallWatch {
    /// The number of workers that sleep with a timeout, after which they look.
    sleeping: AtomicUsize,
    /// The number of raids of this runtime so far.
    raids: AtomicUsize,
    call: StallCall,
}

/// The latest call for a stall watch: the caller, and its activity at that time, in one word. Zero
/// once a worker has taken it.
#[derive(Debug, Default)]
struct StallCall(AtomicU64);

impl StallCall {
    /// The number of bits for the activity. The activity is a hint: it may wrap around.
    const ACTIVITY_BITS: u32 = 48;

    /// Packs a call into a word.
    fn word(caller: usize, activity: u64) -> u64 {
        let caller = (caller as u64 + 1) << Self::ACTIVITY_BITS;
        caller | (activity & ((1 << Self::ACTIVITY_BITS) - 1))
    }

    /// Returns the caller in a word, or `None` if the word contains no call.
    fn caller(word: u64) -> Option<usize> {
        ((word >> Self::ACTIVITY_BITS) as usize).checked_sub(1)
    }

    fn set(&self, caller: usize, activity: u64) {
        // Relaxed, here and below: a hint.
        self.0.store(Self::word(caller, activity), Relaxed);
    }

    /// Takes the latest call. Returns zero if there is none.
    fn take(&self) -> u64 {
        if self.0.load(Relaxed) == 0 {
            return 0;
        }
        self.0.swap(0, Relaxed)
    }
}

impl StallWatch {
    /// Returns true if some sleeper will look for stalled workers.
    pub(super) fn is_kept(&self) -> bool {
        // Relaxed, here and below: a hint.
        self.sleeping.load(Relaxed) > 0
    }

    /// Records that worker `caller` needs a sleeper that looks for stalled workers. `activity` is
    /// the activity of its fork stack at this time.
    pub(super) fn call(&self, caller: usize, activity: u64) {
        self.call.set(caller, activity);
    }

    /// Takes the latest call. Returns its caller, unless the caller has popped a fork since.
    pub(super) fn take_call(&self, activity_of: impl FnOnce(usize) -> u64) -> Option<usize> {
        let call = self.call.take();
        let caller = StallCall::caller(call)?;
        (call == StallCall::word(caller, activity_of(caller))).then_some(caller)
    }

    /// Counts a raid.
    pub(super) fn count_raid(&self) {
        self.raids.fetch_add(1, Relaxed);
    }

    /// Returns a number that changes with each raid.
    pub(super) fn raids(&self) -> usize {
        self.raids.load(Relaxed)
    }

    /// Returns true if some sleeper besides the calling one will look for stalled workers.
    pub(super) fn is_kept_by_others(&self) -> bool {
        self.sleeping.load(Relaxed) > 1
    }

    /// Calls `sleep`, counting this worker as a stall watch if it sleeps with a timeout.
    pub(super) fn during<R>(&self, timeout: Option<Duration>, sleep: impl FnOnce() -> R) -> R {
        let counts = usize::from(timeout.is_some());
        self.sleeping.fetch_add(counts, Relaxed);
        let result = sleep();
        self.sleeping.fetch_sub(counts, Relaxed);
        result
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn call_contains_its_caller_and_whether_the_caller_has_gone_on() {
        let call = StallCall::default();
        assert_eq!(StallCall::caller(call.take()), None);
        for caller in [0, 1, 5_000] {
            call.set(caller, 7);
            let word = call.take();
            assert_eq!(StallCall::caller(word), Some(caller));
            assert_eq!(word, StallCall::word(caller, 7));
            assert_ne!(word, StallCall::word(caller, 8));
            assert_eq!(StallCall::caller(call.take()), None, "taken once");
        }
    }
}
