//! Memory asked for before the work begins, so that too little of it is an error and not the end of the process.
//!
//! A list that cannot grow ends the process, and work on a mesh is made of many lists that grow. Whoever begins such
//! work therefore asks once for about as much as all of them will take together, gives it back, and sets to work.
//! That is no promise, since somebody else may be quicker, but it tells a machine that is too small for the mesh, and
//! a limit on the process (`ulimit -v`, a container), from one that is large enough. Lists of which the length is known
//! are reserved with [`reserve`] instead.

/// Smaller amounts are not asked for: there are as many more in the rest of the program.
const ASKED_BYTES_MIN: u64 = 1 << 20;

/// What could not be had, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NoMemory(pub(crate) u64);

/// Asks whether there are so many bytes in one piece. Cost: two calls of the system.
///
/// # Errors
/// [`NoMemory`] when there are not.
pub(crate) fn ask(bytes: u64) -> Result<(), NoMemory> {
    if bytes < ASKED_BYTES_MIN {
        return Ok(());
    }
    let mut room = Vec::<u8>::new();
    reserve(&mut room, bytes)?;
    // A block that nobody looks at would not be asked for at all.
    std::hint::black_box(&mut room);
    Ok(())
}

/// Asks for so many bytes for each of `count` things.
///
/// # Errors
/// As [`ask`].
pub(crate) fn ask_for_each(count: usize, bytes: u64) -> Result<(), NoMemory> {
    ask((count as u64).saturating_mul(bytes))
}

/// Makes room for exactly `len` more elements.
///
/// # Errors
/// [`NoMemory`] when there is none for them; then the list is as it was.
pub(crate) fn reserve<T>(list: &mut Vec<T>, len: u64) -> Result<(), NoMemory> {
    let refused = NoMemory(len.saturating_mul(size_of::<T>() as u64));
    let count = usize::try_from(len).map_err(|_| refused)?;
    list.try_reserve_exact(count).map_err(|_| refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_machine_has_is_refused_and_small_amounts_are_not() {
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
