//! Futures that run on a given worker: only the worker to which a future is assigned polls it.
//!
//! Waking a future puts it into the run queue of its worker and sends that worker a message. Each
//! message polls the most urgent future that is in the run queue at that time. So a future that
//! waits costs its worker nothing, and of the ready futures the most urgent one runs first,
//! regardless of the order of the wake-ups. A future can be assigned to another worker; its next
//! wake-up goes there.
//!
//! # Invariants
//! 1. For each future in a run queue there is a message on its way to that worker. If such a
//!    message is dropped, one future is dropped.

use std::future::Future;
use std::sync::Arc;

use async_task::Runnable;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_sync::ranks::Ranks;

use crate::post::Post;

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
type Ready = Ranks<Urgency, Runnable>;

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

/// The message: polls the most urgent future of its worker, or drops it when the message is
/// dropped.
struct RunNext {
    queue: RunQueue,
    worker_index: usize,
    has_run: bool,
}

impl RunNext {
    fn run(mut self) {
        self.has_run = true;
        let next = self.queue.of(self.worker_index).pop();
        if let Some(next) = next {
            next.run();
        }
    }
}

impl Drop for RunNext {
    fn drop(&mut self) {
        if !self.has_run {
            let next = self.queue.of(self.worker_index).pop();
            drop(next);
        }
    }
}

impl Post {
    /// Runs a future on the worker to which it is assigned, one poll at a time, the most urgent
    /// future of `queue` first. Cost: an allocation; for each wake-up, a message and two locks that
    /// are rarely contended.
    ///
    /// A future that panics ends, and the panic is discarded. A runtime that ends drops its
    /// unfinished futures.
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
    /// post.run(&RunQueue::new(&post), &AssignedWorker::new(1), || (0, 0), future);
    /// assert_eq!(receiver.recv()?, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        queue: &RunQueue,
        worker: &AssignedWorker,
        urgency: impl Fn() -> Urgency + Send + Sync + 'static,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let (post, queue, worker) = (self.clone(), queue.clone(), worker.clone());
        let schedule = move |runnable| {
            let worker_index = worker.worker_index();
            queue.of(worker_index).push(urgency(), runnable);
            let next = RunNext {
                queue: queue.clone(),
                worker_index,
                has_run: false,
            };
            post.send(worker_index, move || next.run());
        };
        let (runnable, task) = async_task::spawn(future, schedule);
        task.detach();
        runnable.schedule();
    }
}
