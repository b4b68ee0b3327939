//! Threads for work that blocks, so that no worker does.
//!
//! A thread without work waits in its own wait cell for ten seconds and then goes; who has work takes the thread that
//! came last, so that the others can go.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle_sync::prim::Mutex;
use raddle_sync::wait::WaitCell;

const KEEP: Duration = Duration::from_secs(10);
/// Calls beyond this many threads queue up.
const THREAD_COUNT_MAX: usize = 512;

type Call = Box<dyn FnOnce() + Send>;

/// The blocking threads of one runtime.
#[derive(Debug)]
pub(crate) struct BlockingThreads {
    name: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    calls: VecDeque<Call>,
    waiting: Vec<Arc<WaitCell>>,
    threads: Vec<thread::JoinHandle<()>>,
    thread_count: usize,
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
        Self {
            name: format!("{name}-blocking"),
            state: Arc::default(),
        }
    }

    /// Runs `call`, which does not unwind, on some blocking thread.
    pub(crate) fn run(&self, call: Call) {
        let mut state = self.state.lock().expect("nothing panics under this lock");
        state.calls.push_back(call);
        if let Some(cell) = state.waiting.pop() {
            let _ = cell.notify();
            return;
        }
        if state.thread_count == THREAD_COUNT_MAX {
            return;
        }
        let shared = Arc::clone(&self.state);
        match thread::Builder::new()
            .name(self.name.clone())
            .spawn(move || serve(&shared))
        {
            Ok(thread) => {
                state.thread_count += 1;
                state.threads.retain(|thread| !thread.is_finished());
                state.threads.push(thread);
            }
            Err(_) if state.thread_count > 0 => {}
            Err(_) => {
                let call = state.calls.pop_back();
                drop(state);
                if let Some(call) = call {
                    call();
                }
            }
        }
    }

    /// Waits until all calls have been run and all threads are gone.
    pub(crate) fn finish(&self) {
        let threads = {
            let mut state = self.state.lock().expect("nothing panics under this lock");
            state.ending = true;
            for cell in state.waiting.drain(..) {
                let _ = cell.notify();
            }
            std::mem::take(&mut state.threads)
        };
        for thread in threads {
            // The last handle of a runtime may be dropped by one of its own blocking calls.
            if thread.thread().id() != thread::current().id() {
                thread.join().expect("calls catch their panics");
            }
        }
    }
}

/// One blocking thread.
fn serve(shared: &Mutex<State>) {
    let cell = Arc::new(WaitCell::new());
    loop {
        let mut state = shared.lock().expect("nothing panics under this lock");
        if let Some(call) = state.calls.pop_front() {
            drop(state);
            call();
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
        let mut state = shared.lock().expect("nothing panics under this lock");
        let before = state.waiting.len();
        state.waiting.retain(|other| !Arc::ptr_eq(other, &cell));
        if state.waiting.len() < before {
            state.thread_count -= 1;
            return;
        }
        // Somebody has just chosen this thread: there is a call, or the end.
    }
}
