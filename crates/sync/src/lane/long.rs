//! The bytes of a lane for long parts.

use std::{fmt, slice};

use super::{LONG_ALIGN, LONG_BYTES};
use crate::prim::UnsafeCell;

/// One block of memory, divided into pieces that a model can distinguish.
#[repr(C, align(64))]
pub(super) struct Long([UnsafeCell<[u8; LONG_ALIGN]>; LONG_BYTES / LONG_ALIGN]);

impl fmt::Debug for Long {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Long")
    }
}

impl Long {
    /// Creates the bytes in a model. Elsewhere the lane is created from zeros in its final place.
    #[cfg(any(loom, shuttle))]
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| UnsafeCell::new([0; LONG_ALIGN])))
    }

    /// Calls `write` with the address of offset `place`, a multiple of the alignment, unless `len`
    /// is 0. The caller owns `len` bytes from there on.
    pub(super) fn write(&self, place: usize, len: usize, write: impl FnOnce(*mut u8)) {
        if len > 0 {
            self.begin(place, write);
        }
    }

    /// Calls `read` with the `len` bytes from offset `place` on, a multiple of the alignment.
    ///
    /// # Safety
    /// The bytes are inside the lane, and no thread writes them meanwhile.
    pub(super) unsafe fn read<R>(
        &self,
        place: usize,
        len: usize,
        read: impl FnOnce(&[u8]) -> R,
    ) -> R {
        if len == 0 {
            return read(&[]);
        }
        self.begin(place, |address| {
            // SAFETY: by the contract of this function.
            read(unsafe { slice::from_raw_parts(address, len) })
        })
    }

    /// Calls `with` with the address of the byte at `place`, which may be used to access all bytes
    /// up to the end.
    #[cfg(not(loom))]
    fn begin<R>(&self, place: usize, with: impl FnOnce(*mut u8) -> R) -> R {
        let first = (&raw const self.0).cast::<u8>().cast_mut();
        with(first.wrapping_add(place))
    }

    /// Calls `with` like the function above. Loom checks accesses to the piece that starts at
    /// `place`; models have no longer parts.
    #[cfg(loom)]
    fn begin<R>(&self, place: usize, with: impl FnOnce(*mut u8) -> R) -> R {
        self.0[place / LONG_ALIGN].with_mut(|bytes| with(bytes.cast()))
    }
}
