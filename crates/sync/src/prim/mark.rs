//! A number that identifies the calling thread, for words that record which thread has something.

use super::thread_local;

// Only the address is used. Models do not support constant initialisers.
#[cfg(not(any(loom, shuttle)))]
thread_local! {
    static PLACE: u8 = const { 0 };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    static PLACE: u8 = 0;
}

/// Returns a number that is not zero and that no other living thread of this process has.
///
/// Costs an instruction or two. After a thread has ended, a later one may have the same number.
#[inline]
pub fn thread_mark() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
