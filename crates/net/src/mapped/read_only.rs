//! Memory that is written once, before any other thread or process has it, and never again.
//!
//! The system enforces that: the memory is sealed against all further writes, also by processes
//! that have its descriptor, and mapped for reading only.
//!
//! # Invariants
//! 1. The file is sealed against writing before the memory is mapped, and a seal cannot be removed.
//!    So the bytes never change, and references to them are sound.

use std::ops::Deref;
use std::os::fd::{AsFd, OwnedFd};
use std::slice;
use std::sync::Arc;

use memmap2::MmapMut;
use rustix::fs::{SealFlags, fcntl_add_seals};
use rustix::io::Errno;

use super::Memory;

/// Bytes that never change.
#[derive(Clone, Debug)]
pub(crate) struct ReadOnly {
    memory: Arc<Memory>,
}

impl ReadOnly {
    /// Creates `len` bytes, which `fill` writes; they are zero before. Also returns the result of
    /// `fill`.
    ///
    /// # Errors
    /// An error of the system, if there is not enough memory.
    pub(crate) fn create<R>(
        name: &str,
        len: usize,
        fill: impl FnOnce(&mut [u8]) -> R,
    ) -> Result<(Self, OwnedFd, R), Errno> {
        let file = Memory::create_file(name, len)?;
        // SAFETY: only this function has the file, so nothing else changes the bytes meanwhile.
        let mapped = unsafe { MmapMut::map_mut(&file) };
        let mut bytes =
            mapped.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::NOMEM))?;
        let filled = fill(&mut bytes);
        // The system refuses the seal while the memory can be written through a mapping.
        drop(bytes);
        fcntl_add_seals(&file, Memory::seals() | SealFlags::WRITE | SealFlags::SEAL)?;
        let memory = Memory::open_to_read(file.as_fd(), 0..len)?;
        let memory = Arc::new(memory);
        Ok((Self { memory }, file, filled))
    }

    /// Returns the mapping, for reading only.
    pub(crate) const fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }
}

impl Deref for ReadOnly {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let address = self.memory.address();
        // SAFETY: the bytes are mapped for as long as the memory lives, which this value keeps
        // alive, and they never change (invariant 1).
        unsafe { slice::from_raw_parts(address.as_ptr(), self.memory.len()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bytes_are_those_that_were_written_at_first() {
        let created = ReadOnly::create("test", 8_192, |bytes| {
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes[8_000..8_005].copy_from_slice(b"first");
            7
        });
        let (read_only, file, result) = created.expect("memory");
        assert_eq!(result, 7);
        assert_eq!(read_only.len(), 8_192);
        assert_eq!(&read_only[8_000..8_005], b"first");
        let other = Memory::open_to_read(&file, 4_096..8_192).expect("another mapping");
        let mut copy = [0; 5];
        other.read(8_000 - 4_096, &mut copy);
        assert_eq!(&copy, b"first");
    }

    // Another process that has the descriptor can neither map the memory for writing nor write to
    // the file.
    #[test]
    fn the_system_refuses_all_writes() {
        let created = ReadOnly::create("test", 4_096, |_| ());
        let (_read_only, file, ()) = created.expect("memory");
        assert_eq!(Memory::open(&file, 0..4_096).err(), Some(Errno::PERM));
        assert_eq!(rustix::io::pwrite(&file, b"x", 0), Err(Errno::PERM));
        assert!(rustix::fs::ftruncate(&file, 0).is_err());
    }
}
