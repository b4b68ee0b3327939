//! The memory for the closures of tasks.

use super::choice::choice;

/// The memory for the closures of tasks.
///
/// The task cells themselves come from free lists of the workers in both cases. A thief may still
/// read the cell of a task that another worker has run, so a cell cannot be returned to the system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum TaskMemory {
    /// Closures of up to 80 bytes are stored in the cell, larger ones in a block from the system.
    #[default]
    Cells,
    /// Each closure is stored in its own block from the system, which is freed when the task has
    /// run. For comparison.
    Malloc,
}

choice! {
    TaskMemory is "memory of tasks", named by "`--task-memory` and `RADDLE_TASK_MEMORY`":
    Cells "cells", Malloc "malloc";
    expected "cells or malloc", else UnknownTaskMemory
}
