//! The current operation of a thread: the one that runs a turn there.

use std::cell::Cell;

use raddle_sync::prim::thread_local;

thread_local! {
    /// The number of the operation that runs a turn on this thread, and the number of its program.
    static CURRENT: Cell<(u64, u64)> = const { Cell::new((0, 0)) };
}

/// Returns true if this thread runs a turn of a task of the program.
pub(crate) fn is_in_turn_of(program: u64) -> bool {
    CURRENT.with(|current| current.get().1 == program)
}

/// Returns true if this thread runs a turn of the operation with this number.
#[inline]
pub(crate) fn is_operation(number: u64) -> bool {
    CURRENT.with(|current| current.get().0 == number)
}

/// Calls `run` as this operation.
pub(crate) fn run_as<T>(number: u64, program: u64, run: impl FnOnce() -> T) -> T {
    /// Restores the previous operation, also when `run` panics.
    struct Back((u64, u64));
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.with(|current| current.set(self.0));
        }
    }
    let own = (number, program);
    let _back = Back(CURRENT.with(|current| current.replace(own)));
    run()
}
