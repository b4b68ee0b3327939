//! Memory without a name in any file system, which only those have who were given its descriptor.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};
use std::slice;

use memmap2::{MmapOptions, MmapRaw};
use raddle_sync::hand_over::{Copier, Reader};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::io::Errno;

/// Bytes that are mapped, and stay so.
#[derive(Debug)]
pub(crate) struct Memory {
    map: MmapRaw,
}

impl Memory {
    /// Makes `len` bytes of zeros, of which no page exists until it is touched, and whose number nobody can change.
    pub(crate) fn create(name: &str, len: usize) -> Result<(Self, OwnedFd), Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(name, flags)?;
        ftruncate(&file, len as u64)?;
        fcntl_add_seals(&file, Self::seals() | SealFlags::SEAL)?;
        Ok((Self::open(&file, 0..len)?, file))
    }

    /// Maps a part of what another has made.
    ///
    /// # Errors
    /// `EINVAL` for memory that is smaller, or that somebody could make smaller.
    pub(crate) fn open(file: impl AsFd, bytes: Range<usize>) -> Result<Self, Errno> {
        let is_sealed = fcntl_get_seals(&file)?.contains(Self::seals());
        let len = fstat(&file)?.st_size;
        if !is_sealed || u64::try_from(len).is_ok_and(|len| len < bytes.end as u64) {
            return Err(Errno::INVAL);
        }
        let mut options = MmapOptions::new();
        options.offset(bytes.start as u64).len(bytes.len());
        let map = options.map_raw(&file.as_fd());
        let map = map.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?;
        Ok(Self { map })
    }

    fn seals() -> SealFlags {
        SealFlags::SHRINK | SealFlags::GROW
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// Where it begins, at a multiple of a page.
    pub(super) fn address(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("nothing is mapped at address zero")
    }

    /// Copies `bytes` to `at`.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        let place = self.place(&(at..at.saturating_add(bytes.len())));
        // SAFETY: `place` has checked that they lie within what is mapped; whoever reads it meanwhile has been promised nothing.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) }
    }

    /// The same, for who reads them on another core, or later.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn hand_over(&self, at: usize, bytes: &[u8], copier: &mut Copier, reader: Reader) {
        let place = self.place(&(at..at.saturating_add(bytes.len())));
        let copying = copier.choose(bytes.len(), reader);
        // SAFETY: as above.
        unsafe { copier.copy(copying, bytes, place) }
    }

    /// Calls `read` with some of the bytes. Who writes them meanwhile, here or in another process, changes what is read.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn read<R>(&self, bytes: Range<usize>, read: impl FnOnce(&[u8]) -> R) -> R {
        let place = self.place(&bytes);
        // SAFETY: as above.
        read(unsafe { slice::from_raw_parts(place, bytes.len()) })
    }

    fn place(&self, bytes: &Range<usize>) -> *mut u8 {
        assert!(
            bytes.start <= bytes.end && bytes.end <= self.len(),
            "bytes {bytes:?} of {}",
            self.len()
        );
        self.map.as_mut_ptr().wrapping_add(bytes.start)
    }
}
