//! Copying through memory that others may read and write at the same moment.
//!
//! A plain copy (`ptr::copy`) promises the compiler that no other thread writes its source or
//! touches its target. If one does, the program has a data race, and its behaviour is undefined.
//! Memory in which other nodes put data cannot promise that. So these copies are made by code that
//! the compiler does not see into: the C library's `memmove`, called through a pointer that the
//! compiler knows nothing about. To the compiler it is as if each byte was copied by a relaxed
//! atomic load and store, which is what the processor does. A copy that meets a writer may have
//! some bytes from before and some from after; it has no others.
//!
//! Source and target may overlap, and may be two mappings of the same memory.

/// Copies `len` bytes from `from` to `to`; others may read and write them meanwhile.
///
/// Cost: a copy, and the call of a function.
///
/// # Safety
/// `len` bytes from `from` on can be read, and as many from `to` on can be written. No reference to
/// either is in use.
#[inline]
pub unsafe fn copy_shared(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller says.
    unsafe { copy(from, to, len) }
}

#[cfg(not(any(loom, shuttle, miri)))]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    use std::ffi::c_void;
    use std::hint::black_box;

    unsafe extern "C" {
        fn memmove(to: *mut c_void, from: *const c_void, len: usize) -> *mut c_void;
    }
    type Move = unsafe extern "C" fn(*mut c_void, *const c_void, usize) -> *mut c_void;
    // Called by its name, it would be the compiler's own copy.
    let move_bytes: Move = black_box(memmove);
    // SAFETY: as the caller says.
    unsafe { move_bytes(to.cast(), from.cast(), len) };
}

/// In models, and where each step is looked at, nothing but Rust can be run, and nothing races with
/// this.
#[cfg(any(loom, shuttle, miri))]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy(from, to, len) }
}
