//! Futures that run on a given worker: an errand is polled at its home, and by nobody else.
//!
//! What wakes a future sends its home a message, so a future that waits costs its worker nothing, and one that is woken runs in the order of
//! the messages. The home can be changed; the next wake-up goes there.

use std::future::Future;
use std::sync::Arc;

use raddle_sync::prim::{AtomicUsize, Relaxed};

use crate::post::Post;

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

impl Post {
    /// Runs a future at its home, one step at a time. Cost: an allocation; for each wake-up, a message.
    ///
    /// A future that panics ends, and nobody is told. A runtime that ends drops those that have not ended.
    ///
    /// # Panics
    /// When the home is no worker of this runtime; later, the future is dropped then.
    ///
    /// # Examples
    /// ```
    /// use raddle_runtime::{Home, Runtime, worker_index};
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let (tell, told) = std::sync::mpsc::channel();
    /// runtime.post().run(&Home::new(1), async move { tell.send(worker_index()).expect("somebody listens") });
    /// assert_eq!(told.recv()?, Some(1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn run(&self, home: &Home, future: impl Future<Output = ()> + Send + 'static) {
        let (post, home) = (self.clone(), home.clone());
        let (runnable, task) = async_task::spawn(future, move |runnable: async_task::Runnable| {
            post.send(home.worker_index(), move || {
                runnable.run();
            });
        });
        task.detach();
        runnable.schedule();
    }
}
