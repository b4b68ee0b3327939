//! A list of tasks that are linked through their own cells.
//!
//! It needs no memory of its own, has no capacity limit, and does not synchronise.
//!
//! # Invariants
//! 1. The list owns its tasks. Their cells link to each other from `first` to `last`; the link of
//!    `last` is never read.

use std::mem::ManuallyDrop;
use std::ptr;

use raddle_sync::deque::Word;
use raddle_sync::prim::Relaxed;
use raddle_sync::push_list::Linked;

use super::{Kind, Task, TaskCell};

/// A singly linked list of tasks.
#[derive(Debug)]
pub(crate) struct TaskList {
    first: *const TaskCell,
    last: *const TaskCell,
    len: usize,
}

// SAFETY: the tasks move with the list.
unsafe impl Send for TaskList {}

impl Default for TaskList {
    fn default() -> Self {
        Self {
            first: ptr::null(),
            last: ptr::null(),
            len: 0,
        }
    }
}

impl TaskList {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.len == 0
    }

    #[inline]
    pub(crate) fn put_first(&mut self, task: Task) {
        let cell = task.cell();
        if self.is_empty() {
            self.last = cell;
        } else {
            // Relaxed: the list belongs to one thread at a time; handing it over publishes it.
            cell.next().store(self.first.cast_mut(), Relaxed);
        }
        self.first = cell;
        self.len += 1;
    }

    #[inline]
    pub(crate) fn put_last(&mut self, task: Task) {
        let cell = task.cell();
        if self.is_empty() {
            self.first = cell;
        } else {
            // SAFETY: not empty, so `last` is a task of this list; cells live as long as the
            // process.
            let last = unsafe { &*self.last };
            // Relaxed: as above.
            last.next().store(ptr::from_ref(cell).cast_mut(), Relaxed);
        }
        self.last = cell;
        self.len += 1;
    }

    /// Appends all tasks of another list.
    pub(crate) fn append(&mut self, other: Self) {
        if self.is_empty() {
            *self = other;
        } else if !other.is_empty() {
            // SAFETY: not empty, so `last` is a task of this list; cells live as long as the
            // process.
            let last = unsafe { &*self.last };
            // Relaxed: as above.
            last.next().store(other.first.cast_mut(), Relaxed);
            self.last = other.last;
            self.len += other.len;
        }
    }

    #[inline]
    pub(crate) fn take_first(&mut self) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        // SAFETY: not empty, so `first` is a task of this list; cells live as long as the process.
        let cell = unsafe { &*self.first };
        self.len -= 1;
        // Relaxed: as above.
        self.first = cell.next().load(Relaxed);
        Some(Task::new(cell))
    }

    /// Takes out the first task for which `wanted` is true. Cost: one call per task before it.
    pub(crate) fn take_where(&mut self, wanted: impl Fn(&Task) -> bool) -> Option<Task> {
        let mut before: *const TaskCell = ptr::null();
        let mut at = self.first;
        for _ in 0..self.len {
            let task = look_at(at);
            // Relaxed: as above.
            let next = task.cell().next().load(Relaxed);
            if wanted(&task) {
                if ptr::eq(at, self.last) {
                    self.last = before;
                }
                if before.is_null() {
                    self.first = next;
                } else {
                    // SAFETY: a task of this list.
                    let before = unsafe { &*before };
                    // Relaxed: as above.
                    before.next().store(next, Relaxed);
                }
                self.len -= 1;
                // The task leaves the list.
                return Some(ManuallyDrop::into_inner(task));
            }
            before = at;
            at = next;
        }
        None
    }

    /// Removes the root tasks that have begun already. Cost: one visit per task.
    pub(crate) fn take_begun(&mut self) -> Self {
        let (mut begun, mut others) = (Self::default(), Self::default());
        while let Some(task) = self.take_first() {
            let cell = task.cell();
            // SAFETY: the task is ours, and a root.
            if cell.kind() == Kind::Root && unsafe { cell.is_begun() } {
                begun.put_last(task);
            } else {
                others.put_last(task);
            }
        }
        *self = others;
        begun
    }

    /// Returns true if `wanted` is true for every task. Cost: one call per task.
    pub(crate) fn all(&self, wanted: impl Fn(&Task) -> bool) -> bool {
        !self.any(|task| !wanted(task))
    }

    /// Returns true if `wanted` is true for some task. Cost: one call per task.
    pub(crate) fn any(&self, wanted: impl Fn(&Task) -> bool) -> bool {
        let mut at = self.first;
        (0..self.len).any(|_| {
            let task = look_at(at);
            // Relaxed: as above.
            at = task.cell().next().load(Relaxed);
            wanted(&task)
        })
    }
}

/// Returns a task that stays in its list, for reading only.
fn look_at(cell: *const TaskCell) -> ManuallyDrop<Task> {
    // SAFETY: a cell of a list, which holds a task.
    ManuallyDrop::new(unsafe { Task::from_raw(cell.cast_mut()) })
}
