//! Threads for work that blocks, so that no worker does.
//!
//! A thread without work waits in its own wait cell for ten seconds and then goes; who has work takes the thread that
//! came last, so that the others can go.
//!
//! A call that waits for the runtime ([`lend`]) does not count against the limit while it waits: calls that wait for each other
//! through tasks, each inside of the one before, are as many as the system has threads for.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::mem;
use std::ops::DerefMut;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use raddle_sync::prim::{Mutex, has_ended, thread, thread_local};
use raddle_sync::wait::WaitCell;

use crate::fork::process::Origin;
use crate::placing::{is_on_bound_worker, shake_off_binding};
use crate::task::discard;
use crate::worker::thread_name;

const KEEP: Duration = Duration::from_secs(10);
/// Calls beyond this many threads that do not wait for the runtime queue up.
const THREAD_COUNT_MAX: usize = 512;

thread_local! {
    /// Those that the current thread is one of.
    static OWN: RefCell<Option<Arc<Threads>>> = RefCell::default();
}

type Call = Box<dyn FnOnce() + Send>;

/// The blocking threads of one runtime.
#[derive(Debug)]
pub(crate) struct BlockingThreads(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    name: String,
    /// So many there may be.
    room: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    waiting: Vec<Arc<WaitCell>>,
    threads: Vec<thread::JoinHandle<()>>,
    thread_count: usize,
    /// Threads whose calls wait for the runtime.
    lent: usize,
    ending: bool,
}

impl fmt::Debug for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("State")
            .field("calls", &self.calls.len())
            .field("waiting", &self.waiting.len())
            .field("thread_count", &self.thread_count)
            .finish_non_exhaustive()
    }
}

impl BlockingThreads {
    pub(crate) fn new(name: &str) -> Self {
        Self(Arc::new(Threads {
            name: thread_name(name, "-blocking"),
            room: thread_room(),
            state: Mutex::default(),
        }))
    }

    fn state(&self) -> impl DerefMut<Target = State> + '_ {
        self.0.state()
    }

    /// Runs `call`, which does not unwind, on some blocking thread.
    pub(crate) fn run(&self, call: Call) {
        let mut state = self.state();
        state.calls.push_back(call);
        if let Some(cell) = state.waiting.pop() {
            let _ = cell.notify();
            return;
        }
        if state.thread_count - state.lent >= THREAD_COUNT_MAX {
            return;
        }
        match self.0.start(&mut state, || ()) {
            Ok(()) => {}
            Err(_) if state.thread_count > 0 => {}
            Err(_) => {
                let call = state.calls.pop_back();
                drop(state);
                if let Some(call) = call {
                    discard(catch_unwind(AssertUnwindSafe(call)));
                }
            }
        }
    }

    /// Runs `call`, which does not unwind, on a thread at once, however many there are.
    ///
    /// # Errors
    /// Those of the system that gives no thread; the call is dropped.
    pub(crate) fn run_now(&self, call: Call) -> io::Result<()> {
        let mut state = self.state();
        // Threads wait only while no call is queued, and each call since has woken its own: where one waits, this call has a thread to itself.
        if let Some(cell) = state.waiting.pop() {
            state.calls.push_back(call);
            let _ = cell.notify();
            return Ok(());
        }
        // Where there is no thread it is dropped here, and not under the lock, which its destructors may want.
        let call = Arc::new(Mutex::new(Some(call)));
        let own = Arc::clone(&call);
        let started = self.0.start(&mut state, move || {
            let call = own.lock().expect("nothing panics under this lock").take();
            discard(catch_unwind(AssertUnwindSafe(|| call.map(|call| call()))));
        });
        drop(state);
        started
    }

    /// Returns true if some thread runs a call, or is about to, that does not wait for the runtime.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state();
        state.thread_count > state.waiting.len() + state.lent
    }

    /// Returns true if calls have no thread yet.
    pub(crate) fn has_calls(&self) -> bool {
        !self.state().calls.is_empty()
    }

    /// Lets threads without work go at once from now on.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.ending = true;
        for cell in state.waiting.drain(..) {
            let _ = cell.notify();
        }
    }

    /// True when the current thread is one of these.
    pub(crate) fn is_own_thread(&self) -> bool {
        let state = self.state();
        state
            .threads
            .iter()
            .any(|thread| thread.thread().id() == thread::current().id())
    }

    /// Never gives the memory back, in a process without these threads.
    pub(crate) fn leak(&self) {
        mem::forget(Arc::clone(&self.0));
    }

    /// Waits until all threads are gone, which they are when all calls have been run.
    pub(crate) fn join(&self) {
        let threads = {
            let mut state = self.state();
            mem::take(&mut state.threads)
        };
        for thread in threads {
            thread.join().expect("calls catch their panics");
        }
    }
}

impl Threads {
    fn state(&self) -> impl DerefMut<Target = State> + '_ {
        self.state.lock().expect("nothing panics under this lock")
    }

    /// Starts a thread, which calls `first` and then serves.
    fn start(
        self: &Arc<Self>,
        state: &mut State,
        first: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        if state.thread_count >= self.room {
            let full = format!(
                "{} threads take all memory maps that a process may have (vm.max_map_count)",
                self.room
            );
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, full));
        }
        let shared = Arc::clone(self);
        let inherits = is_on_bound_worker();
        let thread = thread::Builder::new()
            .name(self.name.clone())
            .spawn(move || {
                if inherits {
                    shake_off_binding();
                }
                let origin = Origin::here();
                OWN.with(|own| *own.borrow_mut() = Some(Arc::clone(&shared)));
                first();
                serve(&shared, origin);
            })?;
        state.thread_count += 1;
        state.threads.retain(|thread| !has_ended(thread));
        state.threads.push(thread);
        Ok(())
    }
}

/// Says that the call on the current thread waits for the runtime until the result is dropped; nothing on other threads.
pub(crate) fn lend() -> Option<Lent> {
    // A thread that is about to end runs no call.
    let threads = OWN.try_with(|own| own.borrow().clone()).ok().flatten()?;
    {
        let mut state = threads.state();
        state.lent += 1;
        let has_room = state.thread_count - state.lent < THREAD_COUNT_MAX;
        if has_room && !state.calls.is_empty() {
            // Where the system has no thread, the queued calls wait for one that is up.
            let _ = threads.start(&mut state, || ());
        }
    }
    Some(Lent(threads))
}

/// A call waits until this is dropped.
#[derive(Debug)]
pub(crate) struct Lent(Arc<Threads>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.state().lent -= 1;
    }
}

/// How many threads have room among a process's memory maps, of which each takes four: its stack, that for signals, and a guard for both. One too many
/// is not refused by the system: the standard library finds out in the new thread, and ends the process.
fn thread_room() -> usize {
    const MAPS_PER_THREAD: usize = 4;
    const MAPS_OF_OTHERS: usize = 4096;
    static ROOM: OnceLock<usize> = OnceLock::new();
    *ROOM.get_or_init(|| {
        let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
        let maps = maps.and_then(|text| text.trim().parse::<usize>().ok());
        maps.map_or(usize::MAX, |maps| {
            maps.saturating_sub(MAPS_OF_OTHERS) / MAPS_PER_THREAD
        })
    })
}

/// One blocking thread.
fn serve(threads: &Threads, origin: Origin) {
    let cell = Arc::new(WaitCell::new());
    loop {
        // After each call: it may have made a new process of this thread.
        origin.end_if_other_process();
        let mut state = threads.state();
        if let Some(call) = state.calls.pop_front() {
            drop(state);
            // What the call itself does not catch are panics of destructors.
            discard(catch_unwind(AssertUnwindSafe(call)));
            continue;
        }
        if state.ending {
            state.thread_count -= 1;
            return;
        }
        state.waiting.push(Arc::clone(&cell));
        drop(state);
        if cell.wait_timeout(KEEP) {
            continue;
        }
        let mut state = threads.state();
        let before = state.waiting.len();
        state.waiting.retain(|other| !Arc::ptr_eq(other, &cell));
        if state.waiting.len() < before {
            state.thread_count -= 1;
            return;
        }
        // Somebody has just chosen this thread, and its token may still lie there: there is a call, or the end.
        cell.try_take();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
