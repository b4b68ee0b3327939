//! Where the closures of tasks lie.

use super::choice::choice;

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

choice! {
    TaskMemory is "memory of tasks", named by "`--task-memory` and `RADDLE_TASK_MEMORY`":
    Cells "cells", Malloc "malloc";
    expected "cells or malloc", else UnknownTaskMemory
}
