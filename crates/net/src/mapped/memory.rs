//! Memory without a name in any file system. Only a process that was given its descriptor can reach it.
//!
//! Several threads and processes may read and write it at the same moment, each through a mapping of its own or the same
//! one. So no reference to its bytes is ever made, neither here nor by a caller: bytes are copied out and copied in, by
//! [`copy_shared`], for which that is no data race.

use std::ops::Range;
use std::os::fd::{AsFd, OwnedFd};
use std::ptr::{self, NonNull};

use memmap2::{MmapOptions, MmapRaw};
use raddle_sync::hand_over::{Copier, Reader, copy_shared, fetch};
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
        let place = self.place(at, bytes.len());
        // SAFETY: `place` has checked that they lie within what is mapped, to which there are no references (see above).
        unsafe { copy_shared(bytes.as_ptr(), place, bytes.len()) }
    }

    /// Copies the bytes from `at` on, as many as `into` has, to there.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn read(&self, at: usize, into: &mut [u8]) {
        let place = self.place(at, into.len());
        // SAFETY: as above.
        unsafe { copy_shared(place, into.as_mut_ptr(), into.len()) }
    }

    /// Copies the bytes of a source to `at`, for a reader on another core, or a later one.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn hand_over(
        &self,
        at: usize,
        from: Source<'_>,
        copier: &mut Copier,
        reader: Reader,
    ) {
        let len = from.len();
        let place = self.place(at, len);
        let copying = copier.choose(len, reader);
        // SAFETY: as above, for both.
        unsafe { copier.copy_shared(copying, from.address(), place, len) }
    }

    /// Asks for bytes that another core has just written, as [`fetch`] does.
    ///
    /// # Panics
    /// When they do not lie within.
    #[inline]
    pub(crate) fn fetch(&self, at: usize, len: usize) {
        fetch(ptr::slice_from_raw_parts(self.place(at, len), len));
    }

    fn place(&self, at: usize, len: usize) -> *mut u8 {
        let is_within = at.checked_add(len).is_some_and(|end| end <= self.len());
        assert!(is_within, "{len} bytes at {at} of {}", self.len());
        self.map.as_mut_ptr().wrapping_add(at)
    }
}

/// Where bytes come from: they are the caller's, or lie in memory that others may write to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    from: From<'a>,
}

#[derive(Clone, Copy, Debug)]
enum From<'a> {
    Bytes(&'a [u8]),
    /// So many bytes from a place on, which lie within.
    Shared(&'a Memory, usize, usize),
}

impl<'a> Source<'a> {
    pub(crate) const fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            from: From::Bytes(bytes),
        }
    }

    /// # Panics
    /// When the bytes do not lie within.
    pub(crate) fn of_memory(memory: &'a Memory, at: usize, len: usize) -> Self {
        let _within = memory.place(at, len);
        Self {
            from: From::Shared(memory, at, len),
        }
    }

    pub(crate) const fn len(&self) -> usize {
        match self.from {
            From::Bytes(bytes) => bytes.len(),
            From::Shared(_, _, len) => len,
        }
    }

    /// Lends the `len` bytes from `start` on; those in shared memory are copied to `copy` first.
    ///
    /// # Panics
    /// When they do not lie within.
    pub(crate) fn lend<'b>(&self, start: usize, len: usize, copy: &'b mut Vec<u8>) -> &'b [u8]
    where
        'a: 'b,
    {
        match self.from {
            From::Bytes(bytes) => &bytes[start..start + len],
            From::Shared(memory, at, all) => {
                let end = start.checked_add(len);
                assert!(
                    end.is_some_and(|end| end <= all),
                    "{len} bytes at {start} of {all}"
                );
                copy.resize(len, 0);
                memory.read(at + start, copy);
                copy
            }
        }
    }

    fn address(&self) -> *const u8 {
        match self.from {
            From::Bytes(bytes) => bytes.as_ptr(),
            From::Shared(memory, at, len) => memory.place(at, len),
        }
    }
}
