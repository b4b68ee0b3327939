//! Memory without a name in any file system. Only a process that received its descriptor can reach
//! it.
//!
//! Several threads and processes may read and write it at the same moment, through mappings of
//! their own or through the same one. So no reference to its bytes is ever created, neither here
//! nor by a caller. Bytes are copied in and out by [`copy_shared`], for which that is not a data
//! race.
//!
//! The memory is that of `memfd_create`, not of `shm_open`: it has no name that could remain, its
//! size can be sealed, and only processes that were given its descriptor can reach it.

use std::io;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::ptr::{self, NonNull};

use memmap2::{MmapOptions, MmapRaw};
use raddle_sync::hand_over::{Copier, Reader, copy_shared, fetch};
use rustix::fs::{
    MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create,
};
use rustix::io::Errno;

/// Bytes that are mapped, and stay mapped. Those that are mapped for reading only are never written
/// to: a connection that allows reads allows no puts.
#[derive(Debug)]
pub(crate) struct Memory {
    map: MmapRaw,
}

impl Memory {
    /// Creates `len` zero bytes. A page exists only once it is touched, and no process can change
    /// the number of bytes.
    pub(crate) fn create(name: &str, len: usize) -> Result<(Self, OwnedFd), Errno> {
        let file = Self::create_file(name, len)?;
        fcntl_add_seals(&file, Self::seals() | SealFlags::SEAL)?;
        Ok((Self::open(&file, 0..len)?, file))
    }

    /// Creates `len` zero bytes that are not mapped, and not sealed.
    pub(super) fn create_file(name: &str, len: usize) -> Result<OwnedFd, Errno> {
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let file = memfd_create(name, flags)?;
        ftruncate(&file, len as u64)?;
        Ok(file)
    }

    /// Maps a part of memory that another process may have created.
    ///
    /// # Errors
    /// `EINVAL` if the memory is smaller, or if a process could shrink it.
    pub(crate) fn open(file: impl AsFd, bytes: Range<usize>) -> Result<Self, Errno> {
        Self::map(file, bytes, |options, file| options.map_raw(file))
    }

    /// Maps a part of memory for reading only. A write to it ends the process.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub(crate) fn open_to_read(file: impl AsFd, bytes: Range<usize>) -> Result<Self, Errno> {
        Self::map(file, bytes, |options, file| options.map_raw_read_only(file))
    }

    fn map(
        file: impl AsFd,
        bytes: Range<usize>,
        map: impl FnOnce(&MmapOptions, &BorrowedFd<'_>) -> io::Result<MmapRaw>,
    ) -> Result<Self, Errno> {
        let is_sealed = fcntl_get_seals(&file)?.contains(Self::seals());
        let len = fstat(&file)?.st_size;
        if !is_sealed || u64::try_from(len).is_ok_and(|len| len < bytes.end as u64) {
            return Err(Errno::INVAL);
        }
        let mut options = MmapOptions::new();
        options.offset(bytes.start as u64).len(bytes.len());
        let map = map(&options, &file.as_fd());
        let map = map.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?;
        Ok(Self { map })
    }

    /// Returns the seals without which no memory is mapped: its size cannot change.
    pub(super) fn seals() -> SealFlags {
        SealFlags::SHRINK | SealFlags::GROW
    }

    pub(crate) fn len(&self) -> usize {
        self.map.len()
    }

    /// Returns the address of the first byte, which is a multiple of the page size.
    pub(super) fn address(&self) -> NonNull<u8> {
        NonNull::new(self.map.as_mut_ptr()).expect("nothing is mapped at address zero")
    }

    /// Copies `bytes` to offset `at`.
    ///
    /// # Panics
    /// If the target does not lie in the memory.
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) {
        let place = self.place(at, bytes.len());
        // SAFETY: `place` has checked that the bytes lie in the mapping, to which there are no
        // references (see the header).
        unsafe { copy_shared(bytes.as_ptr(), place, bytes.len()) }
    }

    /// Fills `into` with the bytes from offset `at` on.
    ///
    /// # Panics
    /// If these bytes do not lie in the memory.
    pub(crate) fn read(&self, at: usize, into: &mut [u8]) {
        let place = self.place(at, into.len());
        // SAFETY: as in `write`.
        unsafe { copy_shared(place, into.as_mut_ptr(), into.len()) }
    }

    /// Copies the bytes of a source to offset `at`, for a reader on another core, or a later
    /// reader.
    ///
    /// # Panics
    /// If the target does not lie in the memory.
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
        // SAFETY: as in `write`, for both the source and the target.
        unsafe { copier.copy_shared(copying, from.address(), place, len) }
    }

    /// Prefetches bytes that another core has just written, as [`fetch`] does.
    ///
    /// # Panics
    /// If the bytes do not lie in the memory.
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

/// The source of a copy: bytes of the caller, or bytes in memory to which others may write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Source<'a> {
    from: From<'a>,
}

#[derive(Clone, Copy, Debug)]
enum From<'a> {
    Bytes(&'a [u8]),
    /// An offset and a number of bytes, which lie in the memory.
    Shared(&'a Memory, usize, usize),
}

impl<'a> Source<'a> {
    pub(crate) const fn of_bytes(bytes: &'a [u8]) -> Self {
        Self {
            from: From::Bytes(bytes),
        }
    }

    /// Uses the `len` bytes from offset `at` on.
    ///
    /// # Panics
    /// If the bytes do not lie in the memory.
    pub(crate) fn of_memory(memory: &'a Memory, at: usize, len: usize) -> Self {
        let _checked = memory.place(at, len);
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

    /// Lends the `len` bytes from `start` on. Bytes in shared memory are copied to `copy` first.
    ///
    /// # Panics
    /// If the bytes do not lie in the source.
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
