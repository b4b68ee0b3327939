//! A number that names the calling thread, for words that say which thread has something.

use super::thread_local;

// Only its address is used. Models know no constants.
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
/// Cost: an instruction or two. A thread that has ended may leave its number to a later one.
#[inline]
pub fn thread_mark() -> usize {
    PLACE.with(|place| std::ptr::from_ref(place).addr())
}
