//! Futures that any worker polls, each with a handle that gives its result.
//!
//! Waking such a future puts one task into the pool, which polls it once ([`Shared::put_poll`]). A
//! future that waits costs nothing but its memory. A panic of the future, or of its destructor, is
//! the result of its handle.
//!
//! # The end
//! A runtime that ends waits for its tasks, but not for its futures, which may wait for ever. When
//! the last task has ended, no future is polled any more, and all unfinished ones are dropped
//! (`worker/unfinished_futures.rs`). Their handles say so to anyone that waits.
//!
//! # Invariants
//! 1. A future is counted as unfinished from before its first poll until its handle has its result.
//! 2. The packet of the handle is finished exactly once: by the poll that is ready or panics, or by
//!    the destructor of the unfinished future.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use async_task::{Runnable, ScheduleInfo, WithInfo};
use pin_project_lite::pin_project;

use crate::handle::{Handle, Outcome, Packet};
use crate::panics::{OnPanic, discard_call};
use crate::worker::{FutureId, Shared, Worker, current_worker};

pin_project! {
    /// A future of a program. It ends with its result in the packet of its handle.
    struct Spawned<F: Future> {
        // `None` once it is finished.
        #[pin]
        future: Option<F>,
        packet: Arc<Packet<F::Output>>,
        shared: Arc<Shared>,
        id: FutureId,
    }

    impl<F: Future> PinnedDrop for Spawned<F> {
        fn drop(this: Pin<&mut Self>) {
            let mut this = this.project();
            if this.future.is_none() {
                return;
            }
            let dropped = catch_unwind(AssertUnwindSafe(|| this.future.set(None)));
            // In a child process, a thread that does not exist there may have had the lock.
            if !this.shared.is_other_process() {
                this.shared.futures().remove(*this.id);
            }
            this.packet.finish(match dropped {
                Ok(()) => Outcome::Dropped,
                Err(panic) => Outcome::Panicked(panic),
            });
        }
    }
}

impl<F: Future> Future for Spawned<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut this = self.project();
        // The destructor runs before the waiters continue, like that of a task's closure.
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let future = this.future.as_mut().as_pin_mut();
            let output = ready!(
                future
                    .expect("a finished future is not polled")
                    .poll(context)
            );
            this.future.set(None);
            Poll::Ready(output)
        }));
        let outcome = match polled {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(output)) => Outcome::Returned(output),
            Err(panic) => {
                discard_call(|| this.future.set(None));
                Outcome::Panicked(panic)
            }
        };
        this.shared.futures().remove(*this.id);
        this.packet.finish(outcome);
        Poll::Ready(())
    }
}

/// Starts a future that any worker of the runtime polls.
pub(crate) fn spawn<F>(
    shared: &Arc<Shared>,
    on_panic: Option<OnPanic>,
    future: F,
) -> Handle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let (handle, packet) = Handle::of_future(shared, on_panic);
    let spawner = current_worker().map(Worker::index);
    let id = shared.futures().next_id(spawner);
    let spawned = Spawned {
        future: Some(future),
        packet,
        shared: Arc::clone(shared),
        id,
    };
    let runtime = Arc::clone(shared);
    let schedule = move |runnable: Runnable, info: ScheduleInfo| {
        runtime.put_poll(info.woken_while_running, move || poll(runnable));
    };
    let (runnable, task) = async_task::spawn(spawned, WithInfo(schedule));
    task.detach();
    // After the end, the future is dropped at once.
    if shared.futures().insert(id, runnable.waker()) {
        runnable.schedule();
    }
    handle
}

/// Polls a future once, or drops it if only futures are left in an ending runtime.
fn poll(runnable: Runnable) {
    let is_over = current_worker().is_some_and(|worker| worker.shared().may_end());
    if is_over {
        drop(runnable);
    } else {
        runnable.run();
    }
}
