//! Copies through memory that other threads or processes may access at the same moment.
//!
//! A plain copy (`ptr::copy`) promises the compiler that no other thread writes its source or
//! accesses its target. If one does, the program has a data race, and its behaviour is undefined.
//! Memory in which other nodes put data cannot keep that promise.
//!
//! Such copies are therefore made by code that is opaque to the compiler: the `memmove` of the C
//! library, called through a pointer that the compiler knows nothing about. To the compiler it is
//! as if each byte were copied by a Relaxed atomic load and store, which is what the processor
//! does. A copy that races with a writer may contain some bytes from before the write and some from
//! after, but no other bytes.
//!
//! Source and target may overlap, and may be two mappings of the same memory.

/// Copies `len` bytes from `from` to `to`. Other threads may read and write them meanwhile.
///
/// Costs a copy and a function call.
///
/// # Safety
/// `len` bytes from `from` on are readable, and `len` bytes from `to` on are writable. No reference
/// to either is in use.
#[inline]
pub unsafe fn copy_shared(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the contract of this function.
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
    // Called by its name, the compiler could replace it by its own copy.
    let move_bytes: Move = black_box(memmove);
    // SAFETY: by the contract of `copy_shared`.
    unsafe { move_bytes(to.cast(), from.cast(), len) };
}

/// Copies with Rust code, because models and Miri can run nothing else. Nothing races with this
/// copy there.
#[cfg(any(loom, shuttle, miri))]
unsafe fn copy(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: by the contract of `copy_shared`.
    unsafe { std::ptr::copy(from, to, len) }
}
