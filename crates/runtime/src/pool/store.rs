//! The stores of a pool, which contain tasks that any worker may take. They differ in their locks
//! and orders.
//!
//! | store | lock | order | which workers put tasks |
//! |---|---|---|---|
//! | [`List`] | any | newest or oldest first | all |
//! | [`LockFree`] | none | newest first | all |
//! | [`Single`] | any, for taking only | oldest first | its owner |

use std::fmt;
use std::marker::PhantomData;

use raddle_sync::lock::{Lock, Locked};
use raddle_sync::prim::{AtomicUsize, Relaxed};
use raddle_sync::single_put::{Putter, Takers, single_put};
use raddle_sync::stack::TaggedStack;

use super::{Look, Wanted};
use crate::task::{Task, TaskList};

/// Tasks that any worker may take.
pub(super) trait Store: fmt::Debug + Send + Sync + Sized + 'static {
    /// The part of the store that only its owner has.
    type Owner: fmt::Debug + Send;

    /// Creates an empty store.
    fn new() -> (Self, Self::Owner);

    /// Keeps a task.
    fn put(&self, owner: &Self::Owner, task: Task);

    /// Takes the first task that is wanted, wherever it is.
    fn take(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Task>;

    /// Takes the first task if it is wanted. With `single_try`, gives up instead of waiting for a
    /// lock.
    fn steal(&self, wanted: Wanted<'_>, single_try: bool, look: &mut Look) -> Option<Task>;

    /// Returns false if there was no task at some moment during the call.
    fn has_tasks(&self) -> bool;

    /// Returns about how many tasks there are, or `None` if the store does not count them.
    fn len_estimate(&self) -> Option<usize> {
        None
    }
}

/// The order in which tasks are taken.
pub(crate) trait Order: fmt::Debug + Send + Sync + 'static {
    fn put(list: &mut TaskList, task: Task);
}

/// The newest task first: a stack.
#[derive(Debug)]
pub(super) struct Lifo;

/// The oldest task first: a queue.
#[derive(Debug)]
pub(crate) struct Fifo;

impl Order for Lifo {
    #[inline]
    fn put(list: &mut TaskList, task: Task) {
        list.put_first(task);
    }
}

impl Order for Fifo {
    #[inline]
    fn put(list: &mut TaskList, task: Task) {
        list.put_last(task);
    }
}

/// A list under a lock. Checking an empty list takes no lock.
#[derive(Debug)]
pub(crate) struct List<L, O> {
    tasks: Locked<L, TaskList>,
    len: AtomicUsize,
    order: PhantomData<O>,
}

impl<L: Lock, O> Default for List<L, O> {
    fn default() -> Self {
        Self {
            tasks: Locked::new(TaskList::default()),
            len: AtomicUsize::new(0),
            order: PhantomData,
        }
    }
}

impl<L: Lock, O: Order> List<L, O> {
    #[inline]
    pub(crate) fn put(&self, task: Task) {
        self.tasks.with(|tasks| {
            O::put(tasks, task);
            self.note(tasks);
        });
    }

    #[inline]
    pub(crate) fn take(&self, wanted: Wanted<'_>) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        self.tasks.with(|tasks| {
            let task = match wanted {
                Wanted::Any => tasks.take_first(),
                _ => tasks.take_where(|task| wanted.accepts(task)),
            };
            self.note(tasks);
            task
        })
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        // Relaxed: callers that rely on the answer execute a SeqCst fence before it
        // (`Pool::has_work`).
        self.len.load(Relaxed) == 0
    }

    /// Returns the number of tasks at some moment during the call.
    pub(crate) fn len(&self) -> usize {
        // Relaxed: a hint.
        self.len.load(Relaxed)
    }

    /// Removes the root tasks that were started by workers that wait for them. Cost: one visit per
    /// task.
    #[cold]
    pub(crate) fn take_begun(&self) -> TaskList {
        self.tasks.with(|tasks| {
            let begun = tasks.take_begun();
            self.note(tasks);
            begun
        })
    }

    /// Publishes the length of the list.
    fn note(&self, tasks: &TaskList) {
        // Relaxed: written under the lock; read as a hint, or after a fence (`is_empty`).
        self.len.store(tasks.len(), Relaxed);
    }

    /// Takes the first task if it is wanted.
    fn take_first(&self, tasks: &mut TaskList, wanted: Wanted<'_>) -> Option<Task> {
        let task = tasks.take_first()?;
        if wanted.accepts(&task) {
            self.note(tasks);
            return Some(task);
        }
        tasks.put_first(task);
        None
    }
}

impl<L: Lock + 'static, O: Order> Store for List<L, O> {
    type Owner = ();

    fn new() -> (Self, ()) {
        (Self::default(), ())
    }

    #[inline]
    fn put(&self, (): &(), task: Task) {
        Self::put(self, task);
    }

    #[inline]
    fn take(&self, wanted: Wanted<'_>, _look: &mut Look) -> Option<Task> {
        Self::take(self, wanted)
    }

    fn steal(&self, wanted: Wanted<'_>, single_try: bool, _look: &mut Look) -> Option<Task> {
        if self.is_empty() {
            return None;
        }
        let take = |tasks: &mut TaskList| self.take_first(tasks, wanted);
        if single_try {
            self.tasks.try_with(take).flatten()
        } else {
            self.tasks.with(take)
        }
    }

    fn has_tasks(&self) -> bool {
        !self.is_empty()
    }

    fn len_estimate(&self) -> Option<usize> {
        Some(self.len())
    }
}

/// A lock-free stack.
#[derive(Debug)]
pub(super) struct LockFree {
    tasks: TaggedStack<Task>,
}

impl Store for LockFree {
    type Owner = ();

    fn new() -> (Self, ()) {
        let tasks = TaggedStack::new();
        (Self { tasks }, ())
    }

    #[inline]
    fn put(&self, (): &(), task: Task) {
        self.tasks.push(task);
    }

    #[inline]
    fn take(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Task> {
        match wanted {
            Wanted::Any => self.tasks.pop(),
            _ => {
                let picked = self.tasks.take_where(|task| wanted.accepts(task));
                look.hid |= picked.hid;
                picked.value
            }
        }
    }

    fn steal(&self, wanted: Wanted<'_>, _single_try: bool, look: &mut Look) -> Option<Task> {
        self.take(wanted, look)
    }

    fn has_tasks(&self) -> bool {
        !self.tasks.is_empty()
    }
}

/// A queue that its owner fills without a lock.
#[derive(Debug)]
pub(super) struct Single<L> {
    takers: Takers<L, Task>,
}

impl<L: Lock + 'static> Store for Single<L> {
    type Owner = Putter<L, Task>;

    fn new() -> (Self, Self::Owner) {
        let (putter, takers) = single_put();
        (Self { takers }, putter)
    }

    #[inline]
    fn put(&self, owner: &Self::Owner, task: Task) {
        owner.put(task);
    }

    #[inline]
    fn take(&self, wanted: Wanted<'_>, _look: &mut Look) -> Option<Task> {
        self.takers.take_where(|task| wanted.accepts(task))
    }

    fn steal(&self, wanted: Wanted<'_>, single_try: bool, _look: &mut Look) -> Option<Task> {
        let accepts = |task: &Task| wanted.accepts(task);
        if single_try {
            self.takers.try_take_where(accepts)
        } else {
            self.takers.take_where(accepts)
        }
    }

    fn has_tasks(&self) -> bool {
        !self.takers.is_empty()
    }
}
