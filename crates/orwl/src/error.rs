//! What can go wrong with a program of locations.

use std::any::Any;
use std::fmt;
use std::io;

use thiserror::Error;

/// A location whose data nobody may use any more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "location {location:?} is broken: a task panicked while it had it; expected data that its last writer has left whole"
)]
pub struct Broken {
    /// Its name.
    pub location: String,
}

/// Why a program did not run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A task panicked; the others were stopped.
    #[error("task {operation} panicked in turn {turn}: {message}; all others were stopped")]
    Panicked {
        /// The operation's full name.
        operation: String,
        /// The turn, from 0.
        turn: u64,
        /// What the panic says, where it says it in words.
        message: String,
        /// The panic itself, for [`std::panic::resume_unwind`].
        panic: Panic,
    },
    /// The system gave no thread.
    #[error(
        "no thread for task {operation}, number {index} of those that block: {source}; expected one for each, or `async` tasks, \
         which need none"
    )]
    Thread {
        /// The operation's full name.
        operation: String,
        /// How many have one, this one included.
        index: usize,
        /// What the system says.
        source: io::Error,
    },
    /// A worker cannot wait for futures that it is to run itself.
    #[error(
        "program {program:?} has futures, and was started on a worker of the runtime that is to run them; expected another thread, \
         another runtime, or tasks with threads"
    )]
    OnOwnWorker {
        /// Its name.
        program: String,
    },
    /// There is nothing to run.
    #[error("program {program:?} has no tasks; expected one at least")]
    Empty {
        /// Its name.
        program: String,
    },
    /// The placement that was applied is not one of this program on this runtime.
    #[error("the placement of program {program:?} does not fit: {reason}")]
    Placement {
        /// Its name.
        program: String,
        /// What was found, and what was expected.
        reason: String,
    },
    /// More handles on a location than it has room for.
    #[error(
        "location {location:?} of program {program:?} has {found} handles, those on its whole among them; expected at most {most}: several locations, \
         or a task that reads it for many"
    )]
    Crowded {
        /// The program's name.
        program: String,
        /// The location's.
        location: String,
        /// Handles.
        found: usize,
        /// Handles that there may be.
        most: usize,
    },
    /// A location was broken before, or from outside.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// Who starts the program holds one of its locations from outside, for which tasks would wait for ever.
    #[error(
        "program {program:?} was started by a thread that holds its location {location:?} from outside; expected it to be given back before"
    )]
    Held {
        /// Its name.
        program: String,
        /// The location's.
        location: String,
    },
}

/// What a task panicked with.
pub struct Panic(pub Box<dyn Any + Send>);

impl fmt::Debug for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Panic")
    }
}

/// The words of a panic.
pub(crate) fn words_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a value that is no text".to_owned())
}
