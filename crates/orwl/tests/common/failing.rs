//! Helpers for tests of programs that fail and calls that panic.

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_orwl::{Outcome, Program, RunError, Turns};

use crate::common::runtime;

/// Runs a program on two workers.
pub(crate) fn run(program: Program, turns: Turns) -> Result<Outcome, RunError> {
    program.run_on(&runtime(2), turns)
}

/// Returns the message of the panic of `call`, which must panic.
pub(crate) fn panic_message<T>(call: impl FnOnce() -> T) -> String {
    let panic = catch_unwind(AssertUnwindSafe(call)).err();
    let panic = panic.expect("it panics").downcast::<String>();
    *panic.expect("it has a message")
}
