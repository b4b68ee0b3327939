//! Closures of any type in memory of fixed size.

use std::mem::{align_of, size_of};

use super::Message;

/// The function that ends the closure at an address: runs it or drops it.
pub(super) type EndClosure = unsafe fn(*mut u8, End);

/// The two ways in which a closure ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    Run,
    Drop,
}

/// Ends the closure at an address.
///
/// # Safety
/// `place` points to an `F`, which the caller does not use afterwards.
pub(super) unsafe fn end<F: Message>(place: *mut u8, how: End) {
    // SAFETY: as promised.
    let closure = unsafe { place.cast::<F>().read() };
    match how {
        End::Run => closure.run(),
        End::Drop => drop(closure),
    }
}

/// Returns true if an `F` can be stored in this number of words.
pub(super) const fn fits<F>(words: usize) -> bool {
    size_of::<F>() <= words * size_of::<u64>() && align_of::<F>() <= align_of::<u64>()
}
