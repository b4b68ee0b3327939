//! A simulation of pools on recorded tasks, for more workers than the machine has CPUs.
//!
//! Every operation of a pool takes no time, no worker slows another down, and a worker looks for a
//! task as soon as it has none. So the simulation shows only one thing: how well a pool distributes
//! the work. It shows neither the cost of synchronisation nor the limits of the memory.
//!
//! A worker searches the others in cyclic order, beginning with its successor. A task creates its
//! children when it ends.
//!
//! # Source
//! The pools: Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, sect. 2.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::time::Duration;

/// The tasks in a block and the public blocks of a worker, as in the study.
const BLOCK_TASKS: usize = 4;
const PUBLIC_BLOCKS: usize = 2;

/// A task of the recorded program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Task {
    /// The number of items of the part that the task sorts or splits.
    pub(super) len: usize,
    /// The time that the task took.
    pub(super) time: Duration,
    /// The index of the first of its two children, if it has children. The second one follows.
    pub(super) first_child: Option<usize>,
}

/// A simulated pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pool {
    /// One stack: `SQ-*`.
    Central,
    /// A stack for each worker, and a private buffer of one task: `DQ-*-PRIV-*`.
    Distributed(Private),
    /// Blocks of tasks: `DQ-BL-*`.
    Blocks(Private),
}

/// The use of private tasks by workers that find nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Private {
    /// Only the owner takes its private tasks, as in the study.
    Unreachable,
    /// A worker that finds nothing else takes the private tasks of others, as in Raddle.
    Reachable,
}

impl Pool {
    /// All simulated pools.
    pub(super) const ALL: [Self; 5] = [
        Self::Central,
        Self::Distributed(Private::Unreachable),
        Self::Distributed(Private::Reachable),
        Self::Blocks(Private::Unreachable),
        Self::Blocks(Private::Reachable),
    ];

    /// Returns the name of the pool in tables.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Central => "central",
            Self::Distributed(Private::Unreachable) => "distributed, study",
            Self::Distributed(Private::Reachable) => "distributed",
            Self::Blocks(Private::Unreachable) => "blocks, study",
            Self::Blocks(Private::Reachable) => "blocks",
        }
    }

    fn private(self) -> Private {
        match self {
            Self::Central => Private::Reachable,
            Self::Distributed(private) | Self::Blocks(private) => private,
        }
    }
}

/// Returns the time in which `worker_count` workers run all tasks. The first task is the root.
///
/// # Panics
/// If there are no tasks.
pub(super) fn makespan(tasks: &[Task], worker_count: usize, pool: Pool) -> Duration {
    let mut stores = Stores::new(pool, worker_count);
    stores.put(0, 0);
    let mut idle: Vec<usize> = (0..worker_count).collect();
    let mut running = BinaryHeap::new();
    let mut now = Duration::ZERO;
    loop {
        idle.retain(|&worker| {
            let found = stores.get(worker);
            if let Some(task) = found {
                running.push(Reverse((now + tasks[task].time, worker, task)));
            }
            found.is_none()
        });
        // With no task running, none can be left: each was reachable for the worker that put it.
        let Some(Reverse((end, worker, task))) = running.pop() else {
            return now;
        };
        now = end;
        if let Some(first) = tasks[task].first_child {
            stores.put(worker, first);
            stores.put(worker, first + 1);
        }
        // The worker that created tasks is the first to look for one.
        idle.insert(0, worker);
    }
}

/// The waiting tasks, by index.
#[derive(Debug)]
struct Stores {
    pool: Pool,
    /// The stores of the workers. A central pool has one.
    stores: Vec<Store>,
}

/// The waiting tasks of one worker, of whichever kind the pool has.
#[derive(Debug, Default)]
struct Store {
    /// Private tasks, in blocks of which the last one is being filled. Newest last.
    private: VecDeque<Vec<usize>>,
    /// Public blocks, newest last. Without blocks, each contains one task.
    public: VecDeque<Vec<usize>>,
}

impl Stores {
    fn new(pool: Pool, worker_count: usize) -> Self {
        let count = match pool {
            Pool::Central => 1,
            _ => worker_count,
        };
        Self {
            pool,
            stores: (0..count).map(|_| Store::default()).collect(),
        }
    }

    fn put(&mut self, worker: usize, task: usize) {
        match self.pool {
            Pool::Central => self.stores[0].public.push_back(vec![task]),
            Pool::Distributed(_) => self.stores[worker].put_one(task),
            Pool::Blocks(_) => self.stores[worker].put_in_block(task),
        }
    }

    fn get(&mut self, worker: usize) -> Option<usize> {
        let count = self.stores.len();
        let own = worker % count;
        if let Some(task) = self.stores[own].take_private() {
            return Some(task);
        }
        let order = || (0..count).map(|offset| (own + offset) % count);
        let public = order().find_map(|victim| self.take_public(victim));
        let block = public.or_else(|| {
            let is_reachable = self.pool.private() == Private::Reachable;
            let mut others = order().skip(1).filter(|_| is_reachable);
            others.find_map(|victim| self.stores[victim].private.pop_front())
        });
        // The rest of a block becomes private.
        let mut block = block?;
        let task = block.pop();
        if !block.is_empty() {
            self.stores[own].private.push_back(block);
        }
        task
    }

    /// Takes the oldest public block of a worker or, without blocks, the newest public task.
    fn take_public(&mut self, victim: usize) -> Option<Vec<usize>> {
        let public = &mut self.stores[victim].public;
        match self.pool {
            Pool::Blocks(_) => public.pop_front(),
            _ => public.pop_back(),
        }
    }
}

impl Store {
    /// Keeps one task private. The previous one becomes public.
    fn put_one(&mut self, task: usize) {
        self.private.push_back(vec![task]);
        if self.private.len() > 1 {
            self.public.extend(self.private.pop_front());
        }
    }

    /// Puts a task into the newest private block. The oldest full block becomes public if there is
    /// space for it.
    fn put_in_block(&mut self, task: usize) {
        match self.private.back_mut() {
            Some(block) if block.len() < BLOCK_TASKS => block.push(task),
            _ => self.private.push_back(vec![task]),
        }
        let is_full = |block: &Vec<usize>| block.len() == BLOCK_TASKS;
        if self.public.len() < PUBLIC_BLOCKS && self.private.front().is_some_and(is_full) {
            self.public.extend(self.private.pop_front());
        }
    }

    /// Takes the newest private task.
    fn take_private(&mut self) -> Option<usize> {
        let block = self.private.back_mut()?;
        let task = block.pop();
        if block.is_empty() {
            self.private.pop_back();
        }
        task
    }
}

#[cfg(test)]
mod tests;
