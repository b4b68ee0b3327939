//! Where the closures of tasks lie.

use std::fmt;
use std::str::FromStr;

/// Where the closures of tasks lie.
///
/// Cells of tasks come from lists that each worker has for itself in either case: a thief may still look at the cell of a task that
/// another one has run, so a cell cannot go back to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMemory {
    /// In the cell up to 80 bytes, and only beyond that in a block from the system.
    #[default]
    Cells,
    /// Each in a block of its own from the system, freed when the task has run: for comparison.
    Malloc,
}

impl TaskMemory {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Cells, Self::Malloc];

    /// What is understood, for messages.
    pub const EXPECTED: &str = "cells or malloc";

    /// The name that `--task-memory` and `RADDLE_TASK_MEMORY` take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cells => "cells",
            Self::Malloc => "malloc",
        }
    }
}

impl fmt::Display for TaskMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// No memory of tasks has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no memory of tasks named {found:?}; expected {}",
    TaskMemory::EXPECTED
)]
pub struct UnknownTaskMemory {
    /// What was asked for.
    pub found: String,
}

impl FromStr for TaskMemory {
    type Err = UnknownTaskMemory;

    fn from_str(name: &str) -> Result<Self, UnknownTaskMemory> {
        Self::ALL
            .into_iter()
            .find(|memory| memory.name() == name)
            .ok_or_else(|| UnknownTaskMemory {
                found: name.to_owned(),
            })
    }
}
