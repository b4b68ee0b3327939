//! The errors of programs and locations.

use std::any::Any;
use std::fmt;
use std::io;

use thiserror::Error;

/// The error of using a location after a task panicked while it wrote the data.
///
/// The data may not be used any more.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "location {location:?} is broken: a task panicked while it wrote the data; \
     expected data that its last writer has left whole"
)]
pub struct Broken {
    /// The name of the location.
    pub location: String,
}

/// The reason why a program did not run to its end.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// A task panicked, and the others were stopped.
    #[error("task {operation} panicked in turn {turn}: {message}; all others were stopped")]
    Panicked {
        /// The full name of the operation.
        operation: String,
        /// The turn, from 0.
        turn: u64,
        /// The message of the panic, if it is text.
        message: String,
        /// The panic itself, for [`std::panic::resume_unwind`].
        panic: Panic,
    },
    /// The operating system could not start a thread.
    #[error(
        "no thread for task {operation} (operation {index} of the program): {source}; \
         expected one for each task that blocks, or `async` tasks, which need none"
    )]
    Thread {
        /// The full name of the operation.
        operation: String,
        /// The number of the operation in the order of declaration, from 1.
        index: usize,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The program was started on a worker that would have to run its futures.
    ///
    /// A worker cannot wait for futures that it runs itself.
    #[error(
        "program {program:?} has futures, and was started on a worker of the runtime that would \
         run them; expected another thread, another runtime, or tasks with threads"
    )]
    OnOwnWorker {
        /// The name of the program.
        program: String,
    },
    /// The program has no tasks.
    #[error("program {program:?} has no tasks; expected at least one")]
    Empty {
        /// The name of the program.
        program: String,
    },
    /// The applied placement does not fit this program on this runtime.
    #[error("the placement of program {program:?} does not fit: {reason}")]
    Placement {
        /// The name of the program.
        program: String,
        /// The mismatch: what was found, and what was expected.
        reason: String,
    },
    /// A location has more handles than its FIFO has capacity for.
    #[error(
        "location {location:?} of program {program:?} has {found} handles, including those on its \
         whole; expected at most {most}: use several locations, or one task that reads for many"
    )]
    TooManyHandles {
        /// The name of the program.
        program: String,
        /// The name of the location.
        location: String,
        /// The number of handles.
        found: usize,
        /// The greatest number of handles.
        most: usize,
    },
    /// A location was broken before the run, or from outside of the program.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// The thread that starts the program holds one of its locations from outside.
    ///
    /// Tasks would wait for that location forever.
    #[error(
        "program {program:?} was started by a thread that holds its location {location:?} from \
         outside; expected it to be given back before"
    )]
    Held {
        /// The name of the program.
        program: String,
        /// The name of the location.
        location: String,
    },
}

/// The payload of a task's panic.
pub struct Panic(pub Box<dyn Any + Send>);

impl fmt::Debug for Panic {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Panic")
    }
}

/// Returns the message of a panic.
pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<String>()
        .cloned()
        .or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()))
        .unwrap_or_else(|| "a value that is not text".to_owned())
}
