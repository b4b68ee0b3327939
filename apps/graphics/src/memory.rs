//! Checks for memory before the work begins, so that a lack of memory is an error and does not
//! abort the process.
//!
//! A list that cannot grow aborts the process, and work on a mesh involves many growing lists. So
//! before such work begins, the code requests once about as much memory as all lists will take
//! together, frees it, and starts. This is no guarantee, since another process may take the memory
//! in between. But it detects a machine that is too small for the mesh, and a limit on the process
//! (`ulimit -v`, a container). Lists of known length are reserved with [`reserve`] instead.

/// Smaller amounts are not requested, since the rest of the program needs as much anyway.
const ASKED_BYTES_MIN: u64 = 1 << 20;

/// The number of bytes that are not available.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoMemory(pub(crate) u64);

/// Checks that `bytes` bytes of contiguous memory are available. Takes two system calls.
///
/// # Errors
/// Returns [`NoMemory`] if they are not available.
pub(crate) fn ask(bytes: u64) -> Result<(), NoMemory> {
    if bytes < ASKED_BYTES_MIN {
        return Ok(());
    }
    let mut block = Vec::<u8>::new();
    reserve(&mut block, bytes)?;
    // Without this, the compiler could remove the unused block together with its allocation.
    std::hint::black_box(&mut block);
    Ok(())
}

/// Checks that memory for `count` items of `bytes` bytes each is available.
///
/// # Errors
/// As for [`ask`].
pub(crate) fn ask_for_each(count: usize, bytes: u64) -> Result<(), NoMemory> {
    ask((count as u64).saturating_mul(bytes))
}

/// Reserves space for exactly `len` more elements.
///
/// # Errors
/// Returns [`NoMemory`] if the space is not available. The list is then unchanged.
pub(crate) fn reserve<T>(list: &mut Vec<T>, len: u64) -> Result<(), NoMemory> {
    let no_memory = NoMemory(len.saturating_mul(size_of::<T>() as u64));
    let count = usize::try_from(len).map_err(|_| no_memory)?;
    list.try_reserve_exact(count).map_err(|_| no_memory)
}

/// Reserves space for at least `len` more elements, and for further ones in proportion to the list:
/// many small additions take time in proportion to their sum.
///
/// # Errors
/// As for [`reserve`].
pub(crate) fn grow<T>(list: &mut Vec<T>, len: usize) -> Result<(), NoMemory> {
    let no_memory = NoMemory((len as u64).saturating_mul(size_of::<T>() as u64));
    list.try_reserve(len).map_err(|_| no_memory)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_amounts_are_rejected_and_small_amounts_are_not() {
        assert_eq!(ask(1 << 10), Ok(()));
        assert_eq!(ask(1 << 27), Ok(()));
        assert_eq!(ask(1 << 62), Err(NoMemory(1 << 62)));
        assert_eq!(ask(u64::MAX), Err(NoMemory(u64::MAX)));
        assert_eq!(ask_for_each(usize::MAX, 8), Err(NoMemory(u64::MAX)));
        let mut list = vec![1_u32];
        assert_eq!(reserve(&mut list, 1 << 60), Err(NoMemory(1 << 62)));
        assert_eq!(reserve(&mut list, 3), Ok(()));
        assert_eq!((list.len(), list.capacity()), (1, 4));
    }
}
