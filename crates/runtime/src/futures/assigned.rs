//! Futures that run on a given worker: only the worker to which a future is assigned polls it.
//!
//! Waking a future puts it into the run queue of its worker. If no message for the queue is on its
//! way, the worker is sent one. The message polls the most urgent future that is in the queue at
//! that time, and sends itself again if there are more. So a future that waits costs its worker
//! nothing, of the ready futures the most urgent one runs first, regardless of the order of the
//! wake-ups, and other messages run between two polls. A future can be assigned to another worker;
//! its next wake-up goes there.
//!
//! # Invariants
//! 1. If there are futures in a run queue, one message for it is on its way to that worker. If the
//!    message is dropped, the futures are dropped.

use std::future::Future;
use std::mem;
use std::sync::Arc;

use async_task::Runnable;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_sync::ranks::Ranks;

use crate::post::Post;
use crate::worker::with_worker;

/// The urgency of a future: the smallest runs first, in lexicographic order. Of equal ones, the
/// future that was woken first runs first.
pub type Urgency = (u64, u64);

/// The worker that polls a future. Clones refer to the same assignment.
#[derive(Clone, Debug)]
pub struct AssignedWorker(Arc<AtomicUsize>);

impl AssignedWorker {
    /// Creates an assignment to worker `worker_index`.
    #[must_use]
    pub fn new(worker_index: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(worker_index)))
    }

    /// Returns the index of the worker.
    #[must_use]
    pub fn worker_index(&self) -> usize {
        // Relaxed: a wake-up that reads an old value goes to the former worker once more.
        self.0.load(Relaxed)
    }

    /// Reassigns the future to another worker, from its next wake-up on.
    pub fn move_to(&self, worker_index: usize) {
        // Relaxed: as above.
        self.0.store(worker_index, Relaxed);
    }
}

/// The ready futures of a program, by worker. Clones refer to the same queue.
#[derive(Clone, Debug)]
pub struct RunQueue(Arc<[CachePadded<Mutex<Ready>>]>);

/// The ready futures of one worker.
#[derive(Debug, Default)]
struct Ready {
    futures: Ranks<Urgency, Runnable>,
    /// A message for these futures is on its way to the worker.
    is_announced: bool,
}

impl RunQueue {
    /// Creates an empty run queue for the workers of `post`.
    #[must_use]
    pub fn new(post: &Post) -> Self {
        Self(
            (0..post.worker_count())
                .map(|_| CachePadded::default())
                .collect(),
        )
    }

    fn of(&self, worker_index: usize) -> impl std::ops::DerefMut<Target = Ready> + '_ {
        self.0[worker_index]
            .lock()
            .expect("nothing panics under this lock")
    }
}

/// The message: polls the most urgent future of its worker. If the message is dropped, it drops the
/// worker's ready futures.
struct RunNext(Option<Announced>);

/// The run queue of a worker for which a message is on its way.
struct Announced {
    queue: RunQueue,
    worker_index: usize,
}

impl RunNext {
    fn run(mut self) {
        let Some(announced) = self.0.take() else {
            return;
        };
        let mut ready = announced.queue.of(announced.worker_index);
        let next = ready.futures.pop();
        let has_more = !ready.futures.is_empty();
        ready.is_announced = has_more;
        drop(ready);
        // The next message is sent first, because the future may panic.
        if has_more {
            with_worker(|worker| {
                let worker = worker.expect("workers run messages");
                let (to, next) = (announced.worker_index, Self(Some(announced)));
                worker.send(to, move || next.run());
            });
        }
        if let Some(next) = next {
            next.run();
        }
    }
}

impl Drop for RunNext {
    fn drop(&mut self) {
        if let Some(announced) = self.0.take() {
            let ready = mem::take(&mut *announced.queue.of(announced.worker_index));
            // The destructors of futures are foreign code, so they run outside of the lock.
            drop(ready);
        }
    }
}

impl RunQueue {
    /// Runs a future on the worker of `post` to which it is assigned, one poll at a time, the most
    /// urgent future of this queue first. Cost: an allocation; for each wake-up, at most one
    /// message and two locks that are rarely contended.
    ///
    /// A future that panics ends, and the panic is discarded. A runtime that ends drops its
    /// unfinished futures. If the destructor of an unfinished future panics, the process aborts.
    ///
    /// # Panics
    /// If this runtime has no such worker. Later, the future is dropped in that case.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::{AssignedWorker, RunQueue, Runtime, worker_index};
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let (sender, receiver) = std::sync::mpsc::channel();
    /// let post = runtime.post();
    /// let future = async move { sender.send(worker_index()).expect("the receiver is alive") };
    /// RunQueue::new(&post).run(&post, &AssignedWorker::new(1), || (0, 0), future);
    /// assert_eq!(receiver.recv()?, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        post: &Post,
        worker: &AssignedWorker,
        urgency: impl Fn() -> Urgency + Send + Sync + 'static,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let (post, queue, worker) = (post.clone(), self.clone(), worker.clone());
        let schedule = move |runnable| {
            let worker_index = worker.worker_index();
            let urgency = urgency();
            let mut ready = queue.of(worker_index);
            ready.futures.push(urgency, runnable);
            let was_announced = mem::replace(&mut ready.is_announced, true);
            drop(ready);
            if !was_announced {
                let queue = queue.clone();
                let next = RunNext(Some(Announced {
                    queue,
                    worker_index,
                }));
                post.send(worker_index, move || next.run());
            }
        };
        let (runnable, task) = async_task::spawn(future, schedule);
        task.detach();
        runnable.schedule();
    }
}
