//! Futures that run on a given worker: an errand is polled at its home, and by nobody else.
//!
//! What wakes a future puts it on the agenda of its home and sends the home a message; each message runs the most urgent errand that is on the
//! agenda then. So a future that waits costs its worker nothing, and of those that are ready the most urgent one runs first, whoever was woken
//! first. The home can be changed; the next wake-up goes there.
//!
//! # Invariants
//! 1. For each errand on an agenda there is a message under way to its worker; a message that is dropped drops an errand.

use std::future::Future;
use std::sync::Arc;

use async_task::Runnable;
use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_sync::ranks::Ranks;

use crate::post::Post;

/// How urgent an errand is: the smallest runs first, the first number counting before the second; of equals, whoever was woken first.
pub type Urgency = (u64, u64);

/// Where a future runs: the index of a worker. A clone is the same home.
#[derive(Clone, Debug)]
pub struct Home(Arc<AtomicUsize>);

impl Home {
    /// A home with a worker.
    #[must_use]
    pub fn new(worker_index: usize) -> Self {
        Self(Arc::new(AtomicUsize::new(worker_index)))
    }

    /// The worker.
    #[must_use]
    pub fn worker_index(&self) -> usize {
        // Relaxed: whoever sees a change late sends to the old home once more.
        self.0.load(Relaxed)
    }

    /// Moves to another worker with the next wake-up.
    pub fn move_to(&self, worker_index: usize) {
        // Relaxed: as above.
        self.0.store(worker_index, Relaxed);
    }
}

/// The errands of a program that are ready, by worker. A clone is the same agenda.
#[derive(Clone, Debug)]
pub struct Agenda(Arc<[CachePadded<Mutex<Ready>>]>);

/// Those of a worker.
type Ready = Ranks<Urgency, Runnable>;

impl Agenda {
    /// One for the workers that `post` sends to.
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

/// The message: runs the most urgent errand, or drops it with the message.
struct RunNext {
    agenda: Agenda,
    worker_index: usize,
    is_run: bool,
}

impl RunNext {
    fn run(mut self) {
        self.is_run = true;
        let next = self.agenda.of(self.worker_index).pop();
        if let Some(next) = next {
            next.run();
        }
    }
}

impl Drop for RunNext {
    fn drop(&mut self) {
        if !self.is_run {
            let next = self.agenda.of(self.worker_index).pop();
            drop(next);
        }
    }
}

impl Post {
    /// Runs a future at its home, one step at a time, the most urgent of an agenda first. Cost: an allocation; for each wake-up, a message and two locks
    /// that hardly anybody else wants.
    ///
    /// A future that panics ends, and nobody is told. A runtime that ends drops those that have not ended.
    ///
    /// # Panics
    /// When the home is no worker of this runtime; later, the future is dropped then.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::{Agenda, Home, Runtime, worker_index};
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let (tell, told) = std::sync::mpsc::channel();
    /// let post = runtime.post();
    /// let errand = async move { tell.send(worker_index()).expect("somebody listens") };
    /// post.run(&Agenda::new(&post), &Home::new(1), || (0, 0), errand);
    /// assert_eq!(told.recv()?, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(
        &self,
        agenda: &Agenda,
        home: &Home,
        urgency: impl Fn() -> Urgency + Send + Sync + 'static,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let (post, agenda, home) = (self.clone(), agenda.clone(), home.clone());
        let schedule = move |runnable| {
            let worker_index = home.worker_index();
            agenda.of(worker_index).push(urgency(), runnable);
            let next = RunNext {
                agenda: agenda.clone(),
                worker_index,
                is_run: false,
            };
            post.send(worker_index, move || next.run());
        };
        let (runnable, task) = async_task::spawn(future, schedule);
        task.detach();
        runnable.schedule();
    }
}
