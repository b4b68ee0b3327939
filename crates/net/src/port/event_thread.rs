//! A thread that waits on behalf of a port, and notifies an event loop.
//!
//! An event loop (`epoll`, or an `async` runtime) waits for file descriptors and wakers. A sender
//! on another node reaches only the wait cell of the port. So the first use of
//! [`Port::arrived`](super::Port::arrived) or [`Port::event`](super::Port::event) starts this
//! thread. Each time that the port is *armed*, the thread waits once in the port's cell. Then it
//! makes the event readable and wakes the waker, and rests. The port's own thread takes the cell
//! back before it waits there itself.
//!
//! The thread has a [view](News) of the port as it was when it was armed. After the next `poll`,
//! the view is out of date, and the port has to be armed again.
//!
//! # Invariant
//! While the port is armed, only this thread waits in the port's cell.

use std::io;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use raddle_sync::prim::{AtomicBool, Mutex, Relaxed, fork_count, mpsc, thread};
use raddle_sync::wait::{WaitCell, Way};
use rustix::event::{EventfdFlags, eventfd};

use super::news::News;
use crate::error::NetError;
use crate::shared::Shared;

/// The port's side of its event thread.
#[derive(Debug)]
pub(super) struct EventThread {
    common: Arc<Common>,
    /// The views with which the thread is to wait. `None` when the thread is to end.
    arms: Option<mpsc::Sender<News>>,
    /// A message for each wait that has ended.
    ends: mpsc::Receiver<()>,
    thread: Option<thread::JoinHandle<()>>,
    /// The [`fork_count`] of the process in which the thread runs.
    forks: u64,
    is_armed: bool,
    /// True if the view of the thread is out of date.
    is_stale: bool,
}

/// The state that the port and the thread share.
#[derive(Debug)]
struct Common {
    shared: Arc<Shared>,
    index: u16,
    event: OwnedFd,
    is_cancelled: AtomicBool,
    listener: Mutex<Listener>,
}

/// The future that is to be woken.
#[derive(Debug, Default)]
struct Listener {
    waker: Option<Waker>,
    /// True if the thread has woken the waker of this wait.
    has_fired: bool,
}

impl EventThread {
    /// Starts the thread of port `index`.
    ///
    /// # Errors
    /// The error of the system if it refuses a descriptor or a thread.
    pub(super) fn start(shared: &Arc<Shared>, index: u16) -> Result<Self, NetError> {
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let event = eventfd(0, flags).map_err(NetError::system("an event"))?;
        let common = Arc::new(Common {
            shared: Arc::clone(shared),
            index,
            event,
            is_cancelled: AtomicBool::new(false),
            listener: Mutex::default(),
        });
        let (arms, views) = mpsc::channel::<News>();
        let (end, ends) = mpsc::channel();
        let waiting = Arc::clone(&common);
        let thread = thread::Builder::new()
            .name(format!("raddle-port-{}-{index}", shared.me.0))
            .spawn(move || {
                while let Ok(view) = views.recv() {
                    waiting.wait_once(&view);
                    // The port may be gone.
                    let _ = end.send(());
                }
            })
            .map_err(|error: io::Error| NetError::System {
                what: "a thread",
                error,
            })?;
        Ok(Self {
            common,
            arms: Some(arms),
            ends,
            thread: Some(thread),
            forks: fork_count(),
            is_armed: false,
            is_stale: false,
        })
    }

    /// Returns a descriptor of the event.
    ///
    /// # Errors
    /// The error of the system if it refuses a descriptor.
    pub(super) fn event(&self) -> Result<OwnedFd, NetError> {
        let event = self.common.event.try_clone();
        event.map_err(|error| NetError::System {
            what: "an event",
            error,
        })
    }

    /// Makes the event unreadable until the next notification.
    pub(super) fn reset_event(&self) {
        // An error says that it is unreadable already.
        let _ = rustix::io::read(&self.common.event, &mut [0; 8]);
    }

    /// Notes that the port has changed since it was armed.
    pub(super) fn note_poll(&mut self) {
        self.is_stale = true;
    }

    /// Arms the port, which has the given view. The thread notifies `waker`, too, if there is one.
    pub(super) fn arm(&mut self, view: impl FnOnce() -> News, waker: Option<&Waker>) {
        if self.is_armed && !self.is_stale && self.common.listen(waker) {
            return;
        }
        self.disarm();
        // Only now: the thread may have notified until it answered.
        self.reset_event();
        *self.common.listener() = Listener {
            waker: waker.cloned(),
            has_fired: false,
        };
        let arms = self
            .arms
            .as_ref()
            .expect("the thread runs until this is dropped");
        arms.send(view())
            .expect("the thread runs until this is dropped");
        self.is_armed = true;
        self.is_stale = false;
    }

    /// Takes the port's cell back from the thread.
    pub(super) fn disarm(&mut self) {
        // In a child process of fork(2), the thread does not exist.
        if !self.is_armed || fork_count() != self.forks {
            return;
        }
        // Relaxed: the notification and the channel order it.
        self.common.is_cancelled.store(true, Relaxed);
        let _ = self.common.cell().notify();
        self.ends.recv().expect("the thread answers every time");
        // Relaxed: as above.
        self.common.is_cancelled.store(false, Relaxed);
        self.is_armed = false;
    }
}

impl Drop for EventThread {
    fn drop(&mut self) {
        self.disarm();
        self.arms = None;
        if let Some(thread) = self.thread.take().filter(|_| fork_count() == self.forks) {
            thread.join().expect("the thread does not panic");
        }
    }
}

impl Common {
    fn cell(&self) -> &WaitCell {
        self.shared.own.table().cell(self.index.into())
    }

    fn listener(&self) -> impl std::ops::DerefMut<Target = Listener> + '_ {
        self.listener
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Sets the waker of a wait that may have ended. Returns false if it has.
    fn listen(&self, waker: Option<&Waker>) -> bool {
        let mut listener = self.listener();
        if listener.has_fired {
            return false;
        }
        let former = std::mem::replace(&mut listener.waker, waker.cloned());
        drop(listener);
        // Outside of the lock: the destructor of a waker is foreign code.
        drop(former);
        true
    }

    /// Waits once, and notifies the event loop unless the port took the cell back.
    fn wait_once(&self, view: &News) {
        // Relaxed: see `disarm`.
        let is_cancelled = || self.is_cancelled.load(Relaxed);
        self.shared.while_pumped(|| {
            self.cell().wait_until(Way::Futex, Duration::ZERO, || {
                is_cancelled() || view.has_news()
            });
        });
        if is_cancelled() {
            return;
        }
        let waker = {
            let mut listener = self.listener();
            listener.has_fired = true;
            listener.waker.take()
        };
        // If the event's counter is full, it is readable.
        let _ = rustix::io::write(&self.event, &1_u64.to_ne_bytes());
        // A waker is foreign code. A panic must not end this thread, which has to answer.
        let woken = catch_unwind(AssertUnwindSafe(|| waker.into_iter().for_each(Waker::wake)));
        if let Err(panic) = woken {
            std::mem::forget(panic);
        }
    }
}
