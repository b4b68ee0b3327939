//! Replies: values that an entry, a reduction or the runtime delivers later.
//!
//! A thread that is not a worker blocks ([`Waiter`]). An asynchronous entry is woken by a message,
//! and a future polled elsewhere by its waker. A worker cannot block: the message that it waits for
//! might have to run on that same worker.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use raddle_runtime::Waiter;
use raddle_sync::prim::Mutex;

use crate::address::number::Number;
use crate::codec::{Crossing, reading};
use crate::engine::elements::parcel::Finish;
use crate::engine::local::{self, Local};
use crate::engine::system::waiters::{Waiting, Watch};
use crate::engine::system::{Outcome, System, registry};
use crate::failure::Failure;

/// A value that is delivered later. A thread waits for it, or an `async` entry awaits it.
///
/// If the reply is dropped, the value is dropped when it arrives; the entry runs to its end. If the
/// entry panics, the panic is reported to all waiters. A reply that was awaited before it was
/// dropped, as after a timeout, has been given up: a panic is printed, but not reported.
///
/// `.await` returns the value, and panics with the [`Failure`] if the value will not come;
/// [`outcome`](Self::outcome) returns the failure instead. On a failure that does not concern this
/// reply (a [failure](Failure) that is reported to all waiters), an `async` entry continues to
/// wait, since the value may still come. A future that is polled on a thread outside of the
/// runtime's workers, by any executor, is woken and gets the failure, as waiting threads do.
#[must_use = "a dropped reply loses its value; entries without a return value have no reply"]
pub struct Reply<T> {
    cell: Arc<ReplyCell<T>>,
    system: u32,
    /// The element that replies; `None` if the reply is not that of an entry.
    from: Option<(u32, Number)>,
    /// Registers the waker with the system, so that failures wake it.
    watch: Option<Watch>,
    /// True once the reply has been polled before its value was there.
    is_awaited: bool,
}

/// The sending end of a reply.
pub(crate) struct Replier<T> {
    cell: Option<Arc<ReplyCell<T>>>,
    what: What,
}

/// The source of a reply, for error messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct What {
    pub(crate) chare: &'static str,
    pub(crate) entry: &'static str,
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}::{}`", self.chare, self.entry)
    }
}

struct ReplyCell<T>(Mutex<State<T>>);

enum State<T> {
    Awaited(Option<Waiting>),
    Here(Result<T, Failure>),
    /// The entry has panicked.
    Panicked(Failure),
    Taken,
    /// The reply was dropped, so the value is not wanted.
    Unwanted,
    /// The reply was dropped after it had been awaited, so a panic is not wanted either.
    GivenUp,
}

impl<T> ReplyCell<T> {
    fn state(&self) -> impl std::ops::DerefMut<Target = State<T>> {
        self.0.lock().expect("nothing panics under this lock")
    }

    fn put(&self, value: Result<T, Failure>) {
        let before = std::mem::replace(&mut *self.state(), State::Here(value));
        if let State::Awaited(Some(waiting)) = before {
            waiting.notify();
        }
    }

    fn is_here(&self) -> bool {
        !matches!(*self.state(), State::Awaited(_))
    }

    /// Takes the value if it has arrived; otherwise registers `waiting`.
    fn take_or(&self, waiting: Waiting) -> Option<Result<T, Failure>> {
        let mut state = self.state();
        let before = std::mem::replace(&mut *state, State::Taken);
        if let State::Awaited(_) = before {
            *state = State::Awaited(Some(waiting));
        }
        // Wakers are foreign code, and are dropped outside of the lock.
        drop(state);
        match before {
            State::Here(value) => Some(value),
            State::Panicked(failure) => Some(Err(failure)),
            State::Awaited(_) => None,
            State::Taken | State::Unwanted | State::GivenUp => panic!("a reply is taken once"),
        }
    }
}

/// Creates a reply and its sending end.
pub(crate) fn reply<T>(
    system: u32,
    from: Option<(u32, Number)>,
    what: What,
) -> (Replier<T>, Reply<T>) {
    let cell = Arc::new(ReplyCell(Mutex::new(State::Awaited(None))));
    let replier = Replier {
        cell: Some(Arc::clone(&cell)),
        what,
    };
    let reply = Reply {
        cell,
        system,
        from,
        watch: None,
        is_awaited: false,
    };
    (replier, reply)
}

impl<T> Replier<T> {
    pub(crate) fn give(mut self, value: Result<T, Failure>) {
        if let Some(cell) = self.cell.take() {
            cell.put(value);
        }
    }

    /// Reports that the entry has panicked: to the holder of the reply, or to all waiters if it was
    /// dropped and had not been awaited.
    pub(crate) fn give_panic(mut self, system: &System, failure: Failure) {
        let Some(cell) = self.cell.take() else { return };
        let mut state = cell.state();
        if matches!(*state, State::GivenUp) {
            return;
        }
        let before = std::mem::replace(&mut *state, State::Panicked(failure.clone()));
        drop(state);
        match before {
            State::Awaited(Some(waiting)) => waiting.notify(),
            State::Unwanted => system.fail(failure),
            _ => {}
        }
    }
}

impl<T> Drop for Replier<T> {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.take() {
            let text = format!(
                "the reply to {} is lost: the message was dropped",
                self.what
            );
            cell.put(Err(Failure::new(text)));
        }
    }
}

impl<T> Drop for Reply<T> {
    /// Reports a panic that has arrived to all waiters. `give_panic` does so for a panic that
    /// arrives later.
    fn drop(&mut self) {
        let dropped = match self.is_awaited {
            true => State::GivenUp,
            false => State::Unwanted,
        };
        let before = std::mem::replace(&mut *self.cell.state(), dropped);
        if let State::Panicked(failure) = before
            && !self.is_awaited
            && let Some(system) = System::find(self.system)
        {
            system.fail(failure);
        }
    }
}

impl<T> fmt::Debug for Replier<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Replier({})", self.what)
    }
}

impl<T> fmt::Debug for Reply<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Reply")
            .field("is_here", &self.is_here())
            .finish_non_exhaustive()
    }
}

/// The system of a reply, for a thread that reports the reply's outcome. While a reporter exists,
/// the end of the runtime does not report panics: this thread does.
struct Reporter(Arc<System>);

impl Reporter {
    fn begin(system: Arc<System>) -> Self {
        system.unreported().begin_report();
        Self(system)
    }
}

impl Deref for Reporter {
    type Target = System;

    fn deref(&self) -> &System {
        &self.0
    }
}

impl Drop for Reporter {
    fn drop(&mut self) {
        self.0.unreported().end_report();
    }
}

impl<T> Reply<T> {
    /// Returns true if the value has arrived.
    pub fn is_here(&self) -> bool {
        self.cell.is_here()
    }

    /// Waits for the value.
    ///
    /// # Panics
    /// With the [`Failure`] if the value will not come; and on a worker of the same runtime, which
    /// must use `.await` instead.
    #[track_caller]
    pub fn wait(self) -> T {
        match self.try_wait() {
            Ok(value) => value,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Waits for the value.
    ///
    /// # Errors
    /// A [`Failure`], when it will not come.
    /// # Panics
    /// On a worker of the same runtime, which must use `.await` instead.
    #[track_caller]
    pub fn try_wait(self) -> Result<T, Failure> {
        self.check_thread();
        if let Some(value) = self.cell.take_or(Waiting::Thread(Waiter::current())) {
            return self.reported(value);
        }
        let system = self.system_until_reported();
        let failure = system.as_ref().and_then(|system| {
            if system.post().is_closed() {
                system.failure()
            } else {
                system.wait_or_fail(|| self.is_here())
            }
        });
        // A value that has arrived is valid, whatever else has failed.
        let outcome = match (
            self.cell.take_or(Waiting::Thread(Waiter::current())),
            failure,
        ) {
            (Some(value), _) => value,
            (None, Some(failure)) => Err(failure),
            (None, None) => Err(Failure::new("the runtime has ended")),
        };
        self.reported(outcome)
    }

    /// Returns the system, even if its runtime has ended. The caller keeps it until it has called
    /// [`reported`](Self::reported).
    fn system_until_reported(&self) -> Option<Reporter> {
        registry::find(self.system).map(Reporter::begin)
    }

    /// Records that a failure, if the outcome is one, is reported to the program.
    #[inline]
    fn reported(&self, outcome: Result<T, Failure>) -> Result<T, Failure> {
        if let Err(failure) = &outcome {
            self.note_failure(failure);
        }
        outcome
    }

    #[cold]
    fn note_failure(&self, failure: &Failure) {
        // This also finds the system of a runtime that has ended.
        if let Some(system) = registry::find(self.system) {
            let knows_all = failure.is_panic() || system.failure().is_some();
            system.unreported().note_reported(knows_all);
        }
    }

    /// Waits for a value that is certain to arrive or to be lost, whatever fails meanwhile.
    ///
    /// # Panics
    /// As for [`try_wait`](Self::try_wait).
    #[track_caller]
    pub(crate) fn wait_through_failures(self) -> Result<T, Failure> {
        self.check_thread();
        let waiter = Waiter::current();
        let waiting = || Waiting::Thread(waiter.clone());
        let outcome = self.cell.take_or(waiting()).unwrap_or_else(|| {
            waiter.wait_until(|| self.is_here());
            self.cell.take_or(waiting()).expect("it is here")
        });
        self.reported(outcome)
    }

    #[track_caller]
    fn check_thread(&self) {
        assert!(
            !local::is_own_thread(self.system),
            "a worker waits for a reply, but the awaited message may have to run on that worker: \
             `.await` the reply in an `async` entry, or call `block_on(reply)`"
        );
    }

    /// Returns the value, or the [`Failure`] if it will not come: for callers that can continue
    /// without the value.
    ///
    /// # Panics
    /// If an `async` entry awaits a reply of its own.
    /// # Examples
    /// ```
    /// use raddle_chare::{Chares, chare};
    /// use raddle_runtime::Runtime;
    ///
    /// struct Worker;
    ///
    /// #[chare]
    /// impl Worker {
    ///     #[entry]
    ///     fn divide(&mut self, by: u32) -> u32 {
    ///         100 / by
    ///     }
    /// }
    ///
    /// struct Head;
    ///
    /// #[chare]
    /// impl Head {
    ///     /// Asks workers, and skips those that fail.
    ///     #[entry]
    ///     async fn ask(&mut self, workers: [WorkerProxy; 2], by: [u32; 2]) -> Vec<u32> {
    ///         let mut quotients = Vec::new();
    ///         for (worker, by) in workers.into_iter().zip(by) {
    ///             quotients.extend(worker.divide(by).outcome().await);
    ///         }
    ///         quotients
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let workers = [runtime.chare(|_| Worker), runtime.chare(|_| Worker)];
    /// assert_eq!(runtime.chare(|_| Head).ask(workers, [0, 5]).wait(), [20]);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub fn outcome(mut self) -> impl Future<Output = Result<T, Failure>> + use<T> {
        poll_fn(move |context| self.poll_outcome(context))
    }

    pub(crate) fn poll_outcome(&mut self, context: &Context<'_>) -> Poll<Result<T, Failure>> {
        if let Some(from) = self.from
            && local::running(self.system) == Some(from)
        {
            if self.is_here() {
                // The entry replied before it began to wait.
            } else {
                panic!("waits for a reply of its own, which cannot arrive before its entry ends");
            }
        }
        // Take the value, or register the waker for its arrival.
        let waiting = || Waiting::Task(context.waker().clone());
        if let Some(value) = self.cell.take_or(waiting()) {
            self.watch = None;
            return Poll::Ready(self.reported(value));
        }
        self.is_awaited = true;
        // An entry waits only for its reply: failures of other chares do not wake it.
        if local::is_here(self.system) {
            self.watch = None;
            return Poll::Pending;
        }
        // Elsewhere, a future must also be woken by any failure of the system, and by the end of
        // the runtime.
        let ended = || Failure::new("the runtime has ended");
        let system = self.system_until_reported();
        let failure = match &system {
            Some(system) if system.post().is_closed() => system.failure().unwrap_or_else(ended),
            Some(system) => {
                match &self.watch {
                    Some(watch) => watch.renew(system, waiting()),
                    None => self.watch = Some(Watch::new(system, waiting())),
                }
                // Checked after the waker has been registered: all later failures wake it.
                match system.failure() {
                    Some(failure) => failure,
                    None => return Poll::Pending,
                }
            }
            None => ended(),
        };
        self.watch = None;
        // A value that has arrived is valid, whatever else has failed.
        let outcome = self.cell.take_or(waiting()).unwrap_or(Err(failure));
        Poll::Ready(self.reported(outcome))
    }
}

impl<T> Future for Reply<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        match self.poll_outcome(context) {
            Poll::Ready(Ok(value)) => Poll::Ready(value),
            Poll::Ready(Err(failure)) => {
                let is_ending = |local: Option<&Local>| {
                    local.is_some_and(|local| local.system().post().is_ending())
                };
                if local::with(self.system, is_ending) {
                    // The message was dropped because the runtime ends, and the waiting entry is
                    // dropped too.
                    *self.cell.state() = State::Here(Err(failure));
                    return Poll::Pending;
                }
                panic!("{failure}")
            }
            Poll::Pending => Poll::Pending,
        }
    }
}

impl<O: Send + 'static> Finish<O> for Replier<O> {
    fn done(self, output: O) {
        self.give(Ok(output));
    }

    fn failed(self, system: &System, failure: Failure) {
        self.give_panic(system, failure);
    }

    /// Notifies only the waiter of the reply. If the reply was dropped, the failure is not
    /// reported.
    fn gone(self, _system: &System, failure: Failure) {
        self.give(Err(failure));
    }

    fn cross(self, system: &System, node: u16, output: Crossing<O>) -> Option<u64> {
        self.cross_to(system, node, output)
    }
}

impl<O: Send + 'static> Replier<O> {
    /// Registers this sending end for the reply of another node. Returns the number under which the
    /// reply will arrive.
    pub(crate) fn cross_to(self, system: &System, node: u16, output: Crossing<O>) -> Option<u64> {
        let nodes = system.other_nodes()?;
        let id = system.id();
        Some(nodes.await_reply(
            node,
            Box::new(move |outcome| match outcome {
                Outcome::Bytes(bytes) => {
                    let read = reading(id, || output.read(&mut &*bytes));
                    self.give(read.map_err(|error| {
                        Failure::new(format!("a reply from another node cannot be read: {error}"))
                    }));
                }
                Outcome::Failed(failure) => self.give(Err(failure)),
                Outcome::Panicked(failure) => {
                    if let Some(system) = System::find(id) {
                        self.give_panic(&system, failure);
                    }
                }
            }),
        ))
    }
}
