//! Slabs that no runtime uses at the moment.
//!
//! In production they wait for the next runtime. In a model they are freed: nothing of one
//! execution may be left in the next, and no lineage reaches from one runtime into another.

use super::Slab;

#[cfg(not(any(loom, shuttle)))]
static SPARE: raddle_sync::prim::Mutex<Vec<Slab>> = raddle_sync::prim::Mutex::new(Vec::new());

/// Takes a slab that an earlier runtime has left.
#[cfg(not(any(loom, shuttle)))]
pub(super) fn take() -> Option<Slab> {
    SPARE.lock().expect("nothing panics under this lock").pop()
}

/// Keeps the slabs of a runtime that has ended.
#[cfg(not(any(loom, shuttle)))]
pub(super) fn keep(mut slabs: Vec<Slab>) {
    SPARE
        .lock()
        .expect("nothing panics under this lock")
        .append(&mut slabs);
}

/// Takes a slab that an earlier runtime has left: in a model there is none.
#[cfg(any(loom, shuttle))]
pub(super) fn take() -> Option<Slab> {
    None
}

/// Frees the slabs of a runtime that has ended.
#[cfg(any(loom, shuttle))]
pub(super) fn keep(slabs: Vec<Slab>) {
    for slab in slabs {
        // SAFETY: leaked by `Memory::slab`; the runtime has ended, and with it every pointer into
        // its slabs.
        drop(unsafe { Box::from_raw(std::ptr::from_ref(slab).cast_mut()) });
    }
}
