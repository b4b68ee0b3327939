//! Futures on a runtime: [`spawn_future`] and [`block_on`].
//!
//! # Memory ordering
//! | label | release side           | acquire side                | what it publishes       |
//! |-------|------------------------|-----------------------------|-------------------------|
//! | B1    | `wake` sets `is_woken` | `block_on` takes `is_woken` | what led to the wake-up |

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

use raddle_sync::prim::{Acquire, AtomicBool, Relaxed, Release};

use super::{Runtime, default_runtime};
use crate::enter::run_root;
use crate::futures;
use crate::handle::Handle;
use crate::worker::{Shared, Waiter, current_worker};

impl Runtime {
    /// Starts a future, which any worker of this runtime polls when it is woken. Returns a handle,
    /// which is itself a future.
    ///
    /// A future that waits occupies no worker. Between two points where it waits, it should not
    /// block the thread; calls of this runtime ([`join`](crate::join), loops, [`Handle::wait`]) may
    /// be used as in any task. Cost: two allocations; for each wake-up, a task in the pool.
    ///
    /// Dropping the runtime waits for its tasks, but not for its futures: those that are not
    /// finished then are dropped. Wait for their handles first.
    ///
    /// # Panics
    /// In a process that fork(2) made after the runtime was started.
    ///
    /// # Examples
    /// ```
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
    /// let heavy = runtime.spawn(|| 6 * 7);
    /// let future = runtime.spawn_future(async move { heavy.await + 1 });
    /// assert_eq!(future.wait(), 43);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn spawn_future<F>(&self, future: F) -> Handle<F::Output>
    where
        F: Future + Send + 'static,
        F::Output: Send + 'static,
    {
        spawn_on(self.shared(), future)
    }

    /// Polls a future on workers of this runtime until it is ready, and returns its output.
    ///
    /// The future may borrow from the caller. On a worker of this runtime the current thread polls,
    /// and lends its place while the future waits, as in [`Handle::wait`]. On any other thread each
    /// poll is an [`install`](Self::install): a future that waits often is better
    /// [spawned](Self::spawn_future), and only its handle given to this function.
    ///
    /// # Panics
    /// With the panic of the future; in a process that fork(2) made after the runtime was started.
    ///
    /// # Examples
    /// ```
    /// let runtime = raddle_runtime::Runtime::builder().workers(2).build()?;
    /// let words = vec!["one", "two", "three"];
    /// let count = runtime.block_on(async {
    ///     let doubled = runtime.spawn_future(async { 2 }).await;
    ///     doubled * words.len()
    /// });
    /// assert_eq!(count, 6);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn block_on<F>(&self, future: F) -> F::Output
    where
        F: Future + Send,
        F::Output: Send,
    {
        block_on_shared(self.shared(), future)
    }
}

/// Starts a future as [`Runtime::spawn_future`] does, on the runtime of the current worker; on
/// other threads, on the default runtime.
///
/// # Panics
/// As that function.
///
/// # Examples
/// ```
/// let sum = raddle_runtime::spawn_future(async {
///     let part = |number| raddle_runtime::spawn_future(async move { number });
///     let parts: Vec<_> = (0..10).map(part).collect();
///     let mut sum = 0;
///     for part in parts {
///         sum += part.await;
///     }
///     sum
/// });
/// assert_eq!(raddle_runtime::block_on(sum), 45);
/// ```
pub fn spawn_future<F>(future: F) -> Handle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    match current_worker() {
        Some(worker) => spawn_on(worker.shared(), future),
        None => default_runtime().spawn_future(future),
    }
}

/// Polls a future until it is ready as [`Runtime::block_on`] does, on the runtime of the current
/// worker; on other threads, on the default runtime.
///
/// # Panics
/// As that function.
pub fn block_on<F>(future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    match current_worker() {
        Some(worker) => block_on_shared(worker.shared(), future),
        None => default_runtime().block_on(future),
    }
}

fn spawn_on<F>(shared: &Arc<Shared>, future: F) -> Handle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    shared.expect_here();
    futures::spawn(shared, shared.on_panic(), future)
}

fn block_on_shared<F>(shared: &Arc<Shared>, future: F) -> F::Output
where
    F: Future + Send,
    F::Output: Send,
{
    let signal = Arc::new(Signal {
        is_woken: AtomicBool::new(false),
        waiter: Waiter::current(),
    });
    let waker = Waker::from(Arc::clone(&signal));
    let mut future = pin!(future);
    let mut poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
    loop {
        let polled = match shared.own_worker() {
            Some(_) => poll(),
            None => run_root(shared, &mut poll),
        };
        if let Poll::Ready(output) = polled {
            return output;
        }
        // Relaxed: the exchange below orders it.
        signal.waiter.wait_until(|| signal.is_woken.load(Relaxed));
        // ORDERING(B1): Acquire. An exchange, because it reads the latest wake-up.
        signal.is_woken.swap(false, Acquire);
    }
}

/// Wakes a thread that polls a future.
struct Signal {
    is_woken: AtomicBool,
    waiter: Waiter,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // ORDERING(B1): Release, what happened before the wake-up.
        self.is_woken.store(true, Release);
        self.waiter.notify();
    }
}
