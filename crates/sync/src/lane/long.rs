//! The bytes of a lane in which long parts lie.

use std::{fmt, slice};

use super::{LONG_ALIGN, LONG_BYTES};
use crate::prim::UnsafeCell;

/// One piece of memory, in pieces that a model tells apart.
#[repr(C, align(64))]
pub(super) struct Long([UnsafeCell<[u8; LONG_ALIGN]>; LONG_BYTES / LONG_ALIGN]);

impl fmt::Debug for Long {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Long")
    }
}

impl Long {
    /// For models; elsewhere it is made of zeros where it stays.
    #[cfg(any(loom, shuttle))]
    pub(super) fn new() -> Self {
        Self(std::array::from_fn(|_| UnsafeCell::new([0; LONG_ALIGN])))
    }

    /// Calls `write` with the address of `place`, a multiple of the alignment, for who owns so many bytes from there on; not for none.
    pub(super) fn write(&self, place: usize, len: usize, write: impl FnOnce(*mut u8)) {
        if len > 0 {
            self.begin(place, write);
        }
    }

    /// Calls `read` with the `len` bytes from `place` on, a multiple of the alignment.
    ///
    /// # Safety
    /// They lie within, and nobody writes them meanwhile.
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
            // SAFETY: as the caller says.
            read(unsafe { slice::from_raw_parts(address, len) })
        })
    }

    /// Calls `with` with the address of the byte at `place`, from where all up to the end may be reached.
    #[cfg(not(loom))]
    fn begin<R>(&self, place: usize, with: impl FnOnce(*mut u8) -> R) -> R {
        let first = (&raw const self.0).cast::<u8>().cast_mut();
        with(first.wrapping_add(place))
    }

    /// Loom watches the piece that begins there; models have no longer parts.
    #[cfg(loom)]
    fn begin<R>(&self, place: usize, with: impl FnOnce(*mut u8) -> R) -> R {
        self.0[place / LONG_ALIGN].with_mut(|bytes| with(bytes.cast()))
    }
}
