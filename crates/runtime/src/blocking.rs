//! Threads for calls that block, so that no worker blocks.
//!
//! A thread without work waits in its own wait cell for ten seconds and then ends. A new call goes
//! to the thread that started to wait last, so that the others can end.
//!
//! A call that waits for the runtime ([`lend`]) does not count against the limit while it waits.
//! Calls that wait for each other through tasks, each inside the one before, are limited only by
//! the number of threads that the system allows.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::mem;
use std::ops::DerefMut;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{Mutex, has_ended, thread, thread_local};
use raddle_sync::wait::WaitCell;
use raddle_trace::record;
use raddle_trace::record::kind::Idling;

use crate::origin::Origin;
use crate::panics::discard;
use crate::placing::remove_inherited_binding;
use crate::threads::thread_name;

/// The time for which a thread without work waits.
const KEEP: Duration = Duration::from_secs(10);
/// The limit of threads that run calls. Threads that wait for the runtime in a call do not count.
/// Further calls queue up.
const THREAD_COUNT_MAX: usize = 512;

thread_local! {
    /// The blocking threads to which the current thread belongs.
    static OWN: RefCell<Option<Arc<Threads>>> = RefCell::default();
}

type Call = Box<dyn FnOnce() + Send>;

/// The blocking threads of one runtime.
#[derive(Debug)]
pub(crate) struct BlockingThreads(Arc<Threads>);

#[derive(Debug)]
struct Threads {
    name: String,
    /// Returns true if a thread that the current thread starts inherits the binding of a worker.
    inherits_binding: fn() -> bool,
    state: Mutex<BlockingState>,
}

#[derive(Default)]
struct BlockingState {
    calls: VecDeque<Call>,
    waiting: Vec<Arc<WaitCell>>,
    threads: Vec<thread::JoinHandle<()>>,
    thread_count: usize,
    /// The largest number of threads that the system supports. Determined for the first thread.
    capacity: Option<usize>,
    /// The number of threads that wait for the runtime in a call.
    lent: usize,
    ending: bool,
}

impl fmt::Debug for BlockingState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("BlockingState")
            .field("calls", &self.calls.len())
            .field("waiting", &self.waiting.len())
            .field("thread_count", &self.thread_count)
            .finish_non_exhaustive()
    }
}

impl BlockingThreads {
    /// Creates a set without threads. Their names begin with `name`.
    ///
    /// `inherits_binding` says whether a thread that the current thread starts inherits the binding
    /// of a worker, which the new thread then removes.
    pub(crate) fn new(name: &str, inherits_binding: fn() -> bool) -> Self {
        Self(Arc::new(Threads {
            name: thread_name(name, "-blocking"),
            inherits_binding,
            state: Mutex::default(),
        }))
    }

    fn state(&self) -> impl DerefMut<Target = BlockingState> + '_ {
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
            // The call waits for one of the running threads.
            Err(_) if state.thread_count > 0 => {}
            // There is no thread at all: run the call here.
            Err(_) => {
                let call = state.calls.pop_back();
                drop(state);
                if let Some(call) = call {
                    discard(catch_unwind(AssertUnwindSafe(call)));
                }
            }
        }
    }

    /// Runs `call`, which does not unwind, on a thread at once, regardless of the limit.
    ///
    /// # Errors
    /// The error of the system if it cannot start a thread; the call is dropped.
    pub(crate) fn run_now(&self, call: Call) -> io::Result<()> {
        let mut state = self.state();
        // Threads wait only while no call is queued, and each call wakes its own thread. So a
        // waiting thread is free for this call.
        if let Some(cell) = state.waiting.pop() {
            state.calls.push_back(call);
            let _ = cell.notify();
            return Ok(());
        }
        // Without a thread, the call is dropped here and not under the lock, which its destructors
        // may need.
        let call = Arc::new(Mutex::new(Some(call)));
        let own = Arc::clone(&call);
        let started = self.0.start(&mut state, move || {
            let call = own.lock().expect("nothing panics under this lock").take();
            discard(catch_unwind(AssertUnwindSafe(|| call.map(|call| call()))));
        });
        drop(state);
        started
    }

    /// Returns true if some thread runs, or is about to run, a call that does not wait for the
    /// runtime.
    pub(crate) fn is_busy(&self) -> bool {
        let state = self.state();
        state.thread_count > state.waiting.len() + state.lent
    }

    /// Returns true if calls are queued.
    pub(crate) fn has_calls(&self) -> bool {
        !self.state().calls.is_empty()
    }

    /// Lets threads without work end at once from now on.
    pub(crate) fn end(&self) {
        let mut state = self.state();
        state.ending = true;
        for cell in state.waiting.drain(..) {
            let _ = cell.notify();
        }
    }

    /// Returns true if the current thread is a blocking thread of this runtime.
    pub(crate) fn is_own_thread(&self) -> bool {
        let state = self.state();
        state
            .threads
            .iter()
            .any(|thread| thread.thread().id() == thread::current().id())
    }

    /// Leaks the memory, in a process in which these threads do not exist.
    pub(crate) fn leak(&self) {
        mem::forget(Arc::clone(&self.0));
    }

    /// Waits until all threads have ended, which happens when all calls have been run.
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
    fn state(&self) -> impl DerefMut<Target = BlockingState> + '_ {
        self.state.lock().expect("nothing panics under this lock")
    }

    /// Starts a thread, which calls `first` and then runs queued calls.
    fn start(
        self: &Arc<Self>,
        state: &mut BlockingState,
        first: impl FnOnce() + Send + 'static,
    ) -> io::Result<()> {
        let capacity = *state.capacity.get_or_insert_with(thread_capacity);
        if state.thread_count >= capacity {
            let full = format!(
                "{capacity} threads take all memory maps that a process may have (vm.max_map_count)"
            );
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, full));
        }
        let shared = Arc::clone(self);
        let inherits = (self.inherits_binding)();
        let thread = thread::Builder::new()
            .name(self.name.clone())
            .spawn(move || {
                if inherits {
                    remove_inherited_binding();
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

/// Records that the call on the current thread waits for the runtime, until the result is dropped.
/// Returns `None` on threads that are no blocking threads.
pub(crate) fn lend() -> Option<Lent> {
    // A thread that is about to end runs no call.
    let threads = OWN.try_with(|own| own.borrow().clone()).ok().flatten()?;
    {
        let mut state = threads.state();
        state.lent += 1;
        let is_below_limit = state.thread_count - state.lent < THREAD_COUNT_MAX;
        if is_below_limit && !state.calls.is_empty() {
            // If the system cannot start a thread, the queued calls wait for a running one.
            let _ = threads.start(&mut state, || ());
        }
    }
    Some(Lent(threads))
}

/// A call that waits for the runtime until the guard is dropped.
#[derive(Debug)]
pub(crate) struct Lent(Arc<Threads>);

impl Drop for Lent {
    fn drop(&mut self) {
        self.0.state().lent -= 1;
    }
}

/// Returns the number of threads that fit into the memory maps of a process.
///
/// Each thread takes four maps: its stack, its signal stack, and a guard for each. The system does
/// not refuse one thread too many: the standard library notices in the new thread and aborts the
/// process.
fn thread_capacity() -> usize {
    const MAPS_PER_THREAD: usize = 4;
    const MAPS_OF_OTHERS: usize = 4096;
    let maps = std::fs::read_to_string("/proc/sys/vm/max_map_count").ok();
    let maps = maps.and_then(|text| text.trim().parse::<usize>().ok());
    maps.map_or(usize::MAX, |maps| {
        maps.saturating_sub(MAPS_OF_OTHERS) / MAPS_PER_THREAD
    })
}

/// Runs queued calls on a blocking thread until the thread has been without work for [`KEEP`].
fn serve(threads: &Threads, origin: Origin) {
    let cell = Arc::new(WaitCell::new());
    loop {
        // A call may have called fork(2) and returned in the child process.
        origin.end_if_other_process();
        let mut state = threads.state();
        if let Some(call) = state.calls.pop_front() {
            drop(state);
            // The call itself catches all panics except those of destructors.
            discard(catch_unwind(AssertUnwindSafe(call)));
            record::idle(Idling::Sleeps);
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
        // Another thread has just chosen this one. Take its notification, and look again: there is
        // a call, or the end.
        cell.try_take();
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
