//! A thread that waits for what others bring about: a worker in its own way, any other thread in a wait cell of its own.

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

use raddle_sync::prim::{LIGHT, spin_loop, thread_local};
use raddle_sync::wait::{SpinBudget, WaitCell};

use super::TaskCell;
use crate::blocking;
use crate::clock::Instant;
use crate::fork::current_worker;
use crate::worker::{Helping, Lends, Shared, StandsStill};

thread_local! {
    /// Where a thread that is no worker waits.
    static OUTSIDE: Arc<Outside> = Arc::default();
    /// How long it spins before it sleeps.
    static BUDGET: RefCell<SpinBudget> = RefCell::default();
}

/// Looks for what is waited for between two readings of the clock.
const LOOKS_PER_CLOCK: u32 = if LIGHT { 1 } else { 32 };

/// A thread that is no worker.
#[derive(Debug, Default)]
struct Outside(WaitCell);

impl Wake for Outside {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let _ = self.0.notify();
    }
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
            Who::Outside(outside) => outside.0.notify(),
        };
    }

    /// A waker that does the same. Cost: for a worker, an allocation.
    pub fn waker(&self) -> Waker {
        match &self.0 {
            Who::Worker(..) => Waker::from(Arc::new(self.clone())),
            Who::Outside(outside) => Waker::from(Arc::clone(outside)),
        }
    }

    /// Waits on this thread, which the waiter is, until `done`, of which it hears only when it has asked.
    ///
    /// First it looks for it as long as the gaps of this thread's waits make that pay, and not at all without `may_spin`; then `ask` leaves
    /// word with whoever makes it true, who then notifies the waiter or its [waker](Self::waker).
    ///
    /// # Panics
    /// On another thread: the one that the waiter stands for would lose its notifications to this one.
    pub fn wait_asking(&self, may_spin: bool, done: impl Fn() -> bool, ask: impl FnOnce(&Self)) {
        self.expect_here();
        let start = Instant::now();
        let budget = match &self.0 {
            Who::Worker(..) => {
                current_worker().map_or(Duration::ZERO, |worker| worker.spin_limit())
            }
            Who::Outside(_) => own_budget().spin(),
        };
        if may_spin && spins_until(start, budget, &done) {
            return;
        }
        ask(self);
        match &self.0 {
            Who::Worker(..) => self.wait_below(None, None, done),
            Who::Outside(outside) => {
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

    /// Waits on this thread, which the waiter is, until `done`; whoever makes it true notifies the waiter after it.
    ///
    /// A worker lends its place before it sleeps, as in [`Handle::wait`](crate::Handle::wait).
    ///
    /// # Panics
    /// As [`wait_asking`](Self::wait_asking).
    pub fn wait_until(&self, done: impl Fn() -> bool) {
        self.wait_below(None, None, done);
    }

    /// As [`wait_until`](Self::wait_until); a worker runs what lies below `frame`.
    ///
    /// If the runtime stands still, the wait sets `gives_up` and ends. Without `gives_up` it goes
    /// on.
    pub(crate) fn wait_below(
        &self,
        frame: Option<&'static TaskCell>,
        gives_up: Option<&Cell<Option<StandsStill>>>,
        done: impl Fn() -> bool,
    ) {
        self.expect_here();
        if let Who::Outside(outside) = &self.0 {
            if done() {
                return;
            }
            let _lent = blocking::lend();
            let mut budget = own_budget();
            while !done() {
                let start = Instant::now();
                outside.0.wait(budget.spin());
                budget.observe(start.elapsed());
            }
            keep_budget(budget);
            return;
        }
        let worker = current_worker().expect("checked above");
        // A frame of its own, below which there is nothing, where the caller has none.
        let empty = worker.take_cell();
        empty.make_frame(worker.frame());
        let frame = frame.unwrap_or(empty);
        worker.wait_until(
            Helping {
                frame,
                mark: worker.mark(),
                lends: Lends::AtOnce,
                gives_up,
            },
            || None,
            done,
        );
        worker.give_back(empty);
    }
}

impl Waiter {
    /// # Panics
    /// When the waiter stands for another thread than this one.
    #[track_caller]
    fn expect_here(&self) {
        let is_here = match &self.0 {
            Who::Worker(shared, index) => current_worker().is_some_and(|worker| {
                worker.index() == *index && Arc::ptr_eq(worker.shared(), shared)
            }),
            // A thread that is just ending has lost its own cell, and waits in a fresh one.
            Who::Outside(outside) => OUTSIDE
                .try_with(|own| Arc::ptr_eq(own, outside))
                .unwrap_or(true),
        };
        assert!(is_here, "a waiter waits on the thread that it stands for");
    }
}

/// What this thread, which is no worker, has learnt of its waits; nothing where it is just ending.
fn own_budget() -> SpinBudget {
    BUDGET
        .try_with(|budget| budget.borrow().clone())
        .unwrap_or_default()
}

fn keep_budget(learnt: SpinBudget) {
    // A thread that is just ending waits no more.
    let _ = BUDGET.try_with(|budget| *budget.borrow_mut() = learnt);
}

/// Looks until `done`, or until `budget` is over; true when it was done.
fn spins_until(start: Instant, budget: Duration, done: &impl Fn() -> bool) -> bool {
    loop {
        for _ in 0..LOOKS_PER_CLOCK {
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
