//! The assignments that a worker has received, for its renderers.
//!
//! # Invariants
//! 1. A thread that waits has its cell in the list once. A notification takes it out of the list.
//!    So each notification wakes a thread that waits.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};

use raddle_sync::clock::Instant;
use raddle_sync::wait::{SpinBudget, WaitCell};

/// A queue that one thread fills and others empty. A thread that finds it empty waits.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
}

#[derive(Debug)]
struct State<T> {
    tasks: VecDeque<T>,
    /// The threads that wait.
    waiting: Vec<Arc<WaitCell>>,
    is_closed: bool,
}

/// The waiting of one thread.
#[derive(Debug, Default)]
pub(super) struct Waiter {
    cell: Arc<WaitCell>,
    budget: SpinBudget,
}

impl Waiter {
    /// Returns the waiting of a thread that spins for this long.
    pub(super) fn new(budget: SpinBudget) -> Self {
        Self {
            budget,
            ..Self::default()
        }
    }
}

impl<T> Default for Queue<T> {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                tasks: VecDeque::new(),
                waiting: Vec::new(),
                is_closed: false,
            }),
        }
    }
}

impl<T> Queue<T> {
    /// Adds tasks, and wakes as many threads.
    pub(super) fn push_all(&self, tasks: impl IntoIterator<Item = T>) {
        let mut state = self.state();
        let before = state.tasks.len();
        state.tasks.extend(tasks);
        let added = state.tasks.len() - before;
        let woken = added.min(state.waiting.len());
        let woken: Vec<_> = state.waiting.drain(..woken).collect();
        drop(state);
        for cell in woken {
            let _ = cell.notify();
        }
    }

    /// Removes the tasks that are no longer wanted.
    pub(super) fn retain(&self, wanted: impl FnMut(&T) -> bool) {
        self.state().tasks.retain(wanted);
    }

    /// Takes the next task. Waits for one, or returns `None` once the queue is closed.
    pub(super) fn pop(&self, waiter: &mut Waiter) -> Option<T> {
        loop {
            let mut state = self.state();
            if state.is_closed {
                return None;
            }
            if let Some(task) = state.tasks.pop_front() {
                return Some(task);
            }
            state.waiting.push(Arc::clone(&waiter.cell));
            drop(state);
            let Waiter { cell, budget } = waiter;
            let begun = Instant::now();
            cell.wait(budget.spin());
            budget.observe(begun.elapsed());
        }
    }

    /// Closes the queue: the threads that wait, or ask later, get nothing.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let woken = std::mem::take(&mut state.waiting);
        drop(state);
        for cell in woken {
            let _ = cell.notify();
        }
    }

    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().expect("nothing panics under this lock")
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use raddle_sync::prim::{AtomicU64, Relaxed};

    use super::*;

    #[test]
    fn each_task_is_taken_once_and_close_ends_all_waits() {
        let (queue, sum) = (Queue::default(), AtomicU64::new(0));
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut waiter = Waiter::default();
                    while let Some(task) = queue.pop(&mut waiter) {
                        // Relaxed: only a sum.
                        sum.fetch_add(task, Relaxed);
                    }
                });
            }
            for turn in 0..200 {
                queue.push_all(turn..turn + turn % 4);
                if turn % 50 == 0 {
                    thread::yield_now();
                }
            }
            while !queue.state().tasks.is_empty() {
                thread::yield_now();
            }
            queue.close();
        });
        let expected: u64 = (0..200).flat_map(|turn| turn..turn + turn % 4).sum();
        assert_eq!(sum.into_inner(), expected);
    }
}
