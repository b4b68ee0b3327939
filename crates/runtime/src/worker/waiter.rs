//! A thread that waits for an event that other threads bring about. A worker helps while it waits;
//! any other thread waits in a wait cell of its own.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use raddle_sync::prim::{LIGHT, spin_loop, thread_local, yield_now};
use raddle_sync::wait::{SpinBudget, WaitCell};
use raddle_trace::record;
use raddle_trace::record::kind::Waiting;

use super::crowd::Call;
use super::{Helping, Lends, Shared, StandsStill, current_worker};
use crate::blocking;
use crate::clock::Instant;
use crate::task::TaskCell;

thread_local! {
    /// The wait cell of a thread that is no worker.
    static OUTSIDE: Arc<Outside> = Arc::default();
    /// The time for which this thread spins before it sleeps, learnt from former waits.
    static BUDGET: RefCell<SpinBudget> = RefCell::default();
}

/// The number of times that the condition is checked between two readings of the clock.
const CHECKS_PER_CLOCK: u32 = if LIGHT { 1 } else { 32 };

/// A thread that is no worker.
#[derive(Debug, Default)]
struct Outside(WaitCell);

impl Outside {
    /// Waits until `done` returns true, on the thread of this cell.
    fn wait(&self, done: &dyn Fn() -> bool) {
        if done() {
            return;
        }
        let _lent = blocking::lend();
        record::wait(Waiting::Handle, 0);
        let mut budget = own_budget();
        while !done() {
            let start = Instant::now();
            self.0.wait(budget.spin());
            budget.observe(start.elapsed());
        }
        record::end_wait();
        keep_budget(budget);
    }
}

impl Wake for Outside {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let _ = self.0.notify();
    }
}

/// A handle to a thread that waits, for the thread that notifies it.
///
/// For libraries that build a programming model on the runtime: programs wait for a
/// [`Handle`](crate::Handle).
///
/// # Examples
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// let runtime = raddle_runtime::Runtime::builder().workers(1).build()?;
/// let waiter = raddle_runtime::Waiter::current();
/// let done = Arc::new(AtomicBool::new(false));
/// let (notifier, flag) = (waiter.clone(), Arc::clone(&done));
/// runtime.post().send(0, move || {
///     flag.store(true, Ordering::Release);
///     notifier.notify();
/// });
/// waiter.wait_until(|| done.load(Ordering::Acquire));
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Waiter(Thread);

#[derive(Clone, Debug)]
enum Thread {
    /// A worker, by its runtime and index.
    Worker(Arc<Shared>, usize),
    /// Any other thread.
    Outside(Arc<Outside>),
}

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.notify();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.notify();
    }
}

impl Waiter {
    /// Returns the current thread. A thread that is just ending has lost its own wait cell and gets
    /// a new one.
    pub fn current() -> Self {
        Self(match current_worker() {
            Some(worker) => Thread::Worker(Arc::clone(worker.shared()), worker.index()),
            None => Thread::Outside(OUTSIDE.try_with(Arc::clone).unwrap_or_default()),
        })
    }

    /// Makes the waiting thread check its condition again. One notification that comes before the
    /// wait is kept.
    pub fn notify(&self) {
        match &self.0 {
            Thread::Worker(shared, index) => shared.notify(*index),
            Thread::Outside(outside) => {
                let _ = outside.0.notify();
            }
        }
    }

    /// Returns a waker that notifies this thread. Cost: for a worker, an allocation.
    pub fn waker(&self) -> Waker {
        match &self.0 {
            Thread::Worker(..) => Waker::from(Arc::new(self.clone())),
            Thread::Outside(outside) => Waker::from(Arc::clone(outside)),
        }
    }

    /// Waits on the current thread, which must be the waiter's, until `done` returns true. The
    /// notification has to be requested with `ask`.
    ///
    /// With `may_spin`, the thread first checks `done` for as long as the durations of its former
    /// waits make that pay. Then `ask` registers the waiter or its [waker](Self::waker) with the
    /// thread that will make `done` true.
    ///
    /// # Panics
    /// On another thread: it would take the notifications of the waiter's thread.
    pub fn wait_asking(&self, may_spin: bool, done: impl Fn() -> bool, ask: impl FnOnce(&Self)) {
        self.expect_here();
        let start = Instant::now();
        let budget = match &self.0 {
            Thread::Worker(..) => {
                current_worker().map_or(Duration::ZERO, |worker| worker.spin_limit())
            }
            Thread::Outside(_) => own_budget().spin(),
        };
        if may_spin && spins_until(start, budget, &done) {
            return;
        }
        ask(self);
        match &self.0 {
            Thread::Worker(..) => self.wait_below(None, None, &done),
            Thread::Outside(outside) => {
                let _lent = blocking::lend();
                while !done() {
                    outside.0.wait(Duration::ZERO);
                }
                let mut budget = own_budget();
                budget.observe(start.elapsed());
                keep_budget(budget);
            }
        }
    }

    /// Waits on the current thread, which must be the waiter's, until `done` returns true. The
    /// thread that makes it true notifies the waiter afterwards.
    ///
    /// A worker lends its place before it sleeps, as in [`Handle::wait`](crate::Handle::wait).
    ///
    /// # Panics
    /// As for [`wait_asking`](Self::wait_asking).
    pub fn wait_until(&self, done: impl Fn() -> bool) {
        self.wait_below(None, None, &done);
    }

    /// Waits as [`wait_until`](Self::wait_until) does; a worker runs tasks below `frame` meanwhile.
    ///
    /// If the runtime stands still, the wait sets `gives_up` and ends. Without `gives_up` it
    /// continues.
    pub(crate) fn wait_below(
        &self,
        frame: Option<&'static TaskCell>,
        gives_up: Option<&Cell<Option<StandsStill>>>,
        done: &dyn Fn() -> bool,
    ) {
        self.wait_helping(frame, Lends::AtOnce, gives_up, done);
    }

    /// Records that this thread is about to wait for a call on the workers of `shared`. The worker
    /// drops the result at the end of the call, before it notifies this waiter.
    pub(crate) fn begin_call<'a>(&self, shared: &'a Shared) -> Option<Call<'a>> {
        matches!(self.0, Thread::Outside(_)).then(|| shared.crowd().begin_call())
    }

    /// Waits as [`wait_until`](Self::wait_until) does, for a call on the workers of `shared`. A
    /// thread that is no worker leaves its CPU to them if they need it.
    pub(crate) fn wait_for_call(&self, shared: &Shared, done: &dyn Fn() -> bool) {
        self.wait_calling(shared, Lends::AtOnce, done);
    }

    /// Waits as [`wait_for_call`](Self::wait_for_call) does; a worker runs open tasks meanwhile,
    /// and does not lend its place.
    pub(crate) fn wait_for_open_call(&self, shared: &Shared, done: &dyn Fn() -> bool) {
        self.wait_calling(shared, Lends::Never, done);
    }

    fn wait_calling(&self, shared: &Shared, lends: Lends, done: &dyn Fn() -> bool) {
        let Thread::Outside(outside) = &self.0 else {
            return self.wait_helping(None, lends, None, done);
        };
        self.expect_here();
        let mut budget = own_budget();
        let (start, spin) = (Instant::now(), budget.spin());
        // The workers offer their CPUs in the same way when the call has ended.
        while shared.crowd().is_full() && !done() && start.elapsed() < spin {
            yield_now();
        }
        if done() {
            budget.observe(start.elapsed());
            return keep_budget(budget);
        }
        outside.wait(done);
    }

    fn wait_helping(
        &self,
        frame: Option<&'static TaskCell>,
        lends: Lends,
        gives_up: Option<&Cell<Option<StandsStill>>>,
        done: &dyn Fn() -> bool,
    ) {
        self.expect_here();
        if let Thread::Outside(outside) = &self.0 {
            return outside.wait(done);
        }
        let worker = current_worker().expect("checked above");
        // A compensating thread runs no open tasks.
        let lends = match lends {
            Lends::Never if !worker.runs_open_tasks() => Lends::AtOnce,
            lends => lends,
        };
        // Without a frame of the caller, an empty one is used, below which there are no tasks.
        let empty = worker.take_cell();
        empty.make_frame(worker.frame());
        let frame = frame.unwrap_or(empty);
        worker.wait_until(
            Helping {
                frame,
                mark: worker.mark(),
                is_open: lends == Lends::Never,
                lends,
                gives_up,
            },
            || None,
            done,
        );
        worker.give_back(empty);
    }
}

impl Waiter {
    /// Checks that the current thread is the waiter's.
    ///
    /// # Panics
    /// If the waiter belongs to another thread.
    #[track_caller]
    fn expect_here(&self) {
        let is_here = match &self.0 {
            Thread::Worker(shared, index) => current_worker().is_some_and(|worker| {
                worker.index() == *index && Arc::ptr_eq(worker.shared(), shared)
            }),
            // A thread that is just ending has lost its own cell and waits in a new one.
            Thread::Outside(outside) => OUTSIDE
                .try_with(|own| Arc::ptr_eq(own, outside))
                .unwrap_or(true),
        };
        assert!(is_here, "a waiter waits on the thread that made it");
    }
}

/// Returns what the current thread, which is no worker, has learnt from its waits. A thread that is
/// just ending starts anew.
fn own_budget() -> SpinBudget {
    BUDGET
        .try_with(|budget| budget.borrow().clone())
        .unwrap_or_default()
}

fn keep_budget(learnt: SpinBudget) {
    // A thread that is just ending waits no more.
    let _ = BUDGET.try_with(|budget| *budget.borrow_mut() = learnt);
}

/// Checks `done` until it returns true or `budget` is over. Returns true if it was done.
fn spins_until(start: Instant, budget: Duration, done: &impl Fn() -> bool) -> bool {
    loop {
        for _ in 0..CHECKS_PER_CLOCK {
            if done() {
                return true;
            }
            spin_loop();
        }
        if start.elapsed() >= budget {
            return false;
        }
    }
}
