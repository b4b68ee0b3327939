//! A thread that waits for what others bring about: a worker in its own way, any other thread in a wait cell of its own.

use std::sync::Arc;

use raddle_sync::prim::thread_local;
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::TaskCell;
use crate::fork::current_worker;
use crate::worker::{Helping, Shared};

thread_local! {
    /// Where a thread that is no worker waits.
    static OUTSIDE: Arc<WaitCell> = Arc::new(WaitCell::new());
}

/// The thread that waits for something, as the one who brings it about needs to know it.
///
/// For those who build a model on the runtime: programs wait for a [`Handle`](crate::Handle).
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let runtime = raddle_runtime::Runtime::builder().workers(1).build()?;
/// let waiter = raddle_runtime::Waiter::current();
/// let done = Arc::new(AtomicBool::new(false));
/// let (tell, seen) = (waiter.clone(), Arc::clone(&done));
/// runtime.post().send(0, move || {
///     seen.store(true, Ordering::Release);
///     tell.notify();
/// });
/// waiter.wait_until(|| done.load(Ordering::Acquire));
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Waiter(Who);

#[derive(Clone, Debug)]
enum Who {
    /// A worker, by its runtime and index.
    Worker(Arc<Shared>, usize),
    /// Any other thread.
    Outside(Arc<WaitCell>),
}

impl Waiter {
    /// The current thread. A thread that is just ending has lost its own wait cell, and gets a fresh one.
    pub fn current() -> Self {
        Self(match current_worker() {
            Some(worker) => Who::Worker(Arc::clone(worker.shared()), worker.index()),
            None => Who::Outside(OUTSIDE.try_with(Arc::clone).unwrap_or_default()),
        })
    }

    /// Makes the waiting thread look again; one notification that comes before the wait is kept.
    pub fn notify(&self) {
        let _ = match &self.0 {
            Who::Worker(shared, index) => shared.idle.cell(*index).notify(),
            Who::Outside(cell) => cell.notify(),
        };
    }

    /// Waits on this thread, which the waiter is, until `done`; whoever makes it true notifies the waiter after it.
    ///
    /// A worker lends its place before it sleeps, as in [`Handle::wait`](crate::Handle::wait).
    pub fn wait_until(&self, done: impl Fn() -> bool) {
        self.wait_below(None, done);
    }

    /// As [`wait_until`](Self::wait_until); a worker runs what lies below `frame`, or else anything.
    pub(crate) fn wait_below(&self, frame: Option<&'static TaskCell>, done: impl Fn() -> bool) {
        if let Who::Outside(cell) = &self.0 {
            let budget = SpinBudget::default();
            while !done() {
                cell.wait(budget.spin());
            }
            return;
        }
        let worker = current_worker().expect("a worker waits on its own thread");
        // A frame of its own, below which there is nothing, where the caller has none.
        let empty = worker.take_cell();
        empty.make_frame(worker.frame());
        let frame = frame.unwrap_or(empty);
        worker.wait_until(
            Helping {
                frame,
                mark: worker.mark(),
                lends: true,
            },
            || None,
            done,
        );
        worker.give_back(empty);
    }
}
