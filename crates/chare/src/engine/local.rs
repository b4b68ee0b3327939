//! One worker's side of the system: its parts of all collections, and the way to send messages.
//!
//! A thread-local variable holds it, so that any code that a worker runs finds it ([`with`]).
//!
//! | module | contents |
//! |---|---|
//! | [`any_thread`] | sending from any thread |
//! | [`deferred`] | calls that the forks of an entry leave for the entry's worker |
//! | [`parts`] | the worker's parts of all collections |
//! | [`ranks`] | messages with priorities |

pub(crate) mod any_thread;
pub(crate) mod deferred;
pub(crate) mod parts;
pub(crate) mod ranks;
pub(crate) mod sender;

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use raddle_runtime::Attention;
use raddle_sync::CachePadded;
use raddle_sync::prim::thread_local;

use crate::address::detours::Detours;
use crate::address::number::Number;
use crate::engine::system::System;
use crate::failure::{Failure, contain, said};
use crate::recorded;
use crate::state::{LocalState, States};
use deferred::{Deferred, DeferredCalls};
use parts::Parts;
use ranks::WorkerRanks;

thread_local! {
    #[expect(clippy::missing_const_for_thread_local, reason = "not so in seeded schedules")]
    static LOCAL: OnceCell<Rc<Local>> = OnceCell::new();
}

/// A boxed message: the closure that its worker runs.
///
/// Rare messages are boxed, so that the sending code is compiled once and not for each kind of
/// message.
pub(crate) type Arrival = Box<dyn FnOnce(&Local) + Send>;

/// One worker's side of the system of its runtime.
pub(crate) struct Local {
    system: Arc<System>,
    /// The number of the system that this worker thread belongs to; [`NO_SYSTEM`] while the thread
    /// acts as a thread that is not a worker ([`as_outside_thread`]).
    owner: Cell<u32>,
    worker: usize,
    /// The calls that forks have left for this worker.
    deferred: Arc<CachePadded<DeferredCalls>>,
    /// Set while a message may need more than the short path ([`crate::send`]).
    attention: Attention,
    /// The epoch of this worker: the number of batches of moves that it knows
    /// ([`crate::migration`]).
    epoch: Cell<u32>,
    parts: Parts,
    /// The element that runs an asynchronous entry now.
    running: Cell<Option<(u32, Number)>>,
    /// The element that runs, if what it sends is measured.
    sender: Cell<Option<(u32, Number)>>,
    /// Elements to which messages of this worker are under way via their homes ([`crate::seeds`]).
    detours: RefCell<Detours>,
    /// True while a message is under way after which this worker checks for quiescence.
    checks_later: Cell<bool>,
    /// Messages with priorities that have arrived and wait for their turn.
    ranks: RefCell<WorkerRanks>,
    states: States,
    /// The collections of chares that are in no array, by their type.
    singles: RefCell<Vec<(TypeId, u32)>>,
}

impl fmt::Debug for Local {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Local")
            .field("worker", &self.worker)
            .finish_non_exhaustive()
    }
}

/// Calls `call` with the [`Local`] of this thread, or with `None` if the thread is no worker of
/// system `id`.
#[inline(always)]
pub(crate) fn with<R>(id: u32, call: impl FnOnce(Option<&Local>) -> R) -> R {
    call(current(id).as_deref())
}

/// Returns the [`Local`] of this thread if the thread is a worker of system `id`. A thread that
/// ends may have lost it.
///
/// Frequent callers use this instead of [`with`]: a closure may be copied as a whole.
#[inline(always)]
pub(crate) fn current(id: u32) -> Option<Rc<Local>> {
    let own = |local: &OnceCell<Rc<Local>>| match local.get() {
        Some(local) => (local.owner.get() == id).then(|| Rc::clone(local)),
        None => start(local, id),
    };
    LOCAL.try_with(own).ok().flatten()
}

/// The number of no system.
const NO_SYSTEM: u32 = u32::MAX;

/// Calls `call` as if this thread were no worker: its messages are sent as those of other threads.
pub(crate) fn as_outside_thread<R>(call: impl FnOnce() -> R) -> R {
    struct Back<'a>(&'a Local, u32);
    impl Drop for Back<'_> {
        fn drop(&mut self) {
            self.0.owner.set(self.1);
        }
    }
    // As in `with`, for a thread that ends.
    let mut call = Some(call);
    let mut run = || call.take().map(raddle_runtime::as_outside_thread);
    let result = LOCAL.try_with(|local| {
        let local = local.get();
        let _back = local.map(|local| Back(local, local.owner.replace(NO_SYSTEM)));
        run()
    });
    result.unwrap_or_else(|_| run()).expect("it is called once")
}

/// Makes the [`Local`] of a thread that asks for it for the first time, if it is a worker of system
/// `id`.
#[cold]
fn start(local: &OnceCell<Rc<Local>>, id: u32) -> Option<Rc<Local>> {
    let system = System::find(id)?;
    let worker = system.post().own_index()?;
    let attention = system.post().own_attention()?;
    let new = || {
        let deferred = system.shared::<Deferred>().of_worker(worker);
        Rc::new(Local {
            deferred,
            attention,
            owner: Cell::new(id),
            system,
            worker,
            epoch: Cell::new(0),
            parts: Parts::default(),
            running: Cell::new(None),
            sender: Cell::new(None),
            detours: RefCell::default(),
            ranks: RefCell::default(),
            checks_later: Cell::new(false),
            states: States::default(),
            singles: RefCell::default(),
        })
    };
    Some(Rc::clone(local.get_or_init(new)))
}

/// A message on its way to a worker of system `id`.
struct Arriving<C> {
    id: u32,
    message: C,
}

impl<C: FnOnce(&Local)> raddle_runtime::Message for Arriving<C> {
    #[inline(always)]
    fn run(self) {
        on_arrival(self.id, self.message);
    }
}

/// Calls `call` on the worker at which a message of system `id` has arrived, and counts the message
/// as done.
#[inline(always)]
pub(crate) fn on_arrival(id: u32, call: impl FnOnce(&Local)) {
    let local = current(id).expect("messages arrive at workers of their system");
    local.guard(|| call(&local));
    local.count_done();
}

/// Calls `call`, which the calling thread has taken from the pool, and counts it as a message that
/// is done.
///
/// A compensating thread has no chares, and sends the call to a worker.
pub(crate) fn in_pool(id: u32, call: impl FnOnce(&Local) + Send + 'static) {
    let mut call = Some(call);
    with(id, |local| {
        let local = local?;
        let call = call.take()?;
        local.guard(|| call(local));
        local.count_done();
        Some(())
    });
    if let Some(call) = call {
        hand_over(id, Box::new(call));
    }
}

#[cold]
fn hand_over(id: u32, call: Arrival) {
    // If there is no system, its runtime has ended.
    if let Some(system) = System::find(id) {
        let worker = system.next_worker();
        system
            .post()
            .send_outside(worker, move || on_arrival(id, call));
    }
}

/// Returns true on a worker of system `id`.
pub(crate) fn is_here(id: u32) -> bool {
    with(id, |local| local.is_some())
}

/// Returns true on every thread that may run entries of system `id`, or forks of entries: its
/// workers and its compensating threads.
pub(crate) fn is_own_thread(id: u32) -> bool {
    // Most threads that ask belong to no runtime.
    is_here(id)
        || raddle_runtime::worker_index().is_some()
            && System::find(id).is_some_and(|system| system.post().is_own_thread())
}

/// Returns the element of system `id` that runs an asynchronous entry on this thread.
pub(crate) fn running(id: u32) -> Option<(u32, Number)> {
    with(id, |local| local?.running.get())
}

/// Takes the value out of `place` without dropping it.
#[cfg(not(any(loom, shuttle)))]
fn forget_value<V: Default>(place: &RefCell<V>) {
    if let Ok(mut value) = place.try_borrow_mut() {
        std::mem::forget(std::mem::take(&mut *value));
    }
}

impl Drop for Local {
    /// Drops all elements when the thread ends. A panic would abort the process here, so those of
    /// destructors are caught and reported.
    ///
    /// If the thread is still a worker, a panic hook or other code outside of entries has called
    /// exit(3). Nothing is dropped then, like on all other workers. (An entry that calls exit(3)
    /// holds an `Rc` of this, so that it is not dropped at all.)
    fn drop(&mut self) {
        // Models do not call exit(3).
        #[cfg(not(any(loom, shuttle)))]
        if raddle_runtime::worker_index().is_some() {
            self.parts.forget_all();
            forget_value(&self.ranks);
            self.states.take_all().for_each(std::mem::forget);
            return;
        }
        self.drop_parts();
        let ranks = self.ranks.take();
        self.guard(|| drop(ranks));
        let mut states = std::mem::take(&mut self.states);
        for state in states.take_all() {
            self.guard(|| drop(state));
        }
    }
}

impl Local {
    /// Calls code of the program outside of an entry, such as a destructor, a clone or a callback.
    /// A panic fails the system, so that all waiting threads and futures report it.
    #[inline(always)]
    pub(crate) fn guard(&self, call: impl FnOnce()) {
        contain(call, |panic| self.fail_outside_entries(panic));
    }

    /// Reports a panic of the program's code outside of an entry.
    #[cold]
    pub(crate) fn fail_outside_entries(&self, panic: &(dyn Any + Send)) {
        let text = format!("a panic outside of any entry: {}", said(panic));
        self.system.fail(Failure::new(text));
    }

    /// Returns the system that this worker belongs to.
    #[inline]
    pub(crate) fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Returns the number of this worker.
    #[inline]
    pub(crate) fn worker(&self) -> usize {
        self.worker
    }

    /// Returns the epoch of this worker: the number of batches of moves that it knows
    /// ([`crate::migration`]).
    #[inline]
    pub(crate) fn epoch(&self) -> u32 {
        self.epoch.get()
    }

    pub(crate) fn set_epoch(&self, epoch: u32) {
        self.epoch.set(epoch);
    }

    /// Sets the element that runs an asynchronous entry now. Returns the one before.
    pub(crate) fn replace_running(&self, now: Option<(u32, Number)>) -> Option<(u32, Number)> {
        self.running.replace(now)
    }

    /// Returns the running element if its sends are measured.
    #[inline]
    pub(crate) fn sender(&self) -> Option<(u32, Number)> {
        self.sender.get()
    }

    /// Sets the running element if its sends are measured.
    pub(crate) fn set_sender(&self, sender: Option<(u32, Number)>) {
        self.sender.set(sender);
        self.attention.set();
    }

    /// Returns true while messages of this worker to any element are under way via its home.
    #[inline]
    pub(crate) fn has_detours(&self) -> bool {
        !self.detours.borrow().is_empty()
    }

    /// Calls `call` with the elements to which messages of this worker are under way via their
    /// homes ([`crate::seeds`]). `call` must not send messages.
    pub(crate) fn with_detours<R>(&self, call: impl FnOnce(&mut Detours) -> R) -> R {
        let result = call(&mut self.detours.borrow_mut());
        self.attention.set();
        result
    }

    /// Returns the mark that is set while a message may need more than the short path.
    #[inline(always)]
    pub(crate) fn attention(&self) -> &Attention {
        &self.attention
    }

    /// Removes the mark if messages may take the short path again.
    pub(crate) fn review_attention(&self) {
        self.attention.remove();
        if recorded::is_on() || self.has_detours() || self.sender.get().is_some() {
            self.attention.set();
        }
    }

    /// Returns the state that a feature keeps for this worker.
    #[inline]
    pub(crate) fn state<S: LocalState>(&self) -> &RefCell<S> {
        self.states.of()
    }

    /// Returns the number of the collection of all chares of a type that are in no array. Calls
    /// `find` if this worker has not asked before.
    pub(crate) fn singles(&self, of: TypeId, find: impl FnOnce() -> u32) -> u32 {
        let known = self
            .singles
            .borrow()
            .iter()
            .find(|single| single.0 == of)
            .map(|single| single.1);
        known.unwrap_or_else(|| {
            let id = find();
            self.singles.borrow_mut().push((of, id));
            id
        })
    }

    /// Counts a message that this worker has finished, and checks for quiescence if something waits
    /// for it.
    #[inline(always)]
    fn count_done(&self) {
        if self.system.quiet().count_done(self.worker) {
            self.check_for_quiescence();
        }
    }

    /// Checks for quiescence if this worker has no messages left; before that a check is useless.
    #[cold]
    fn check_for_quiescence(&self) {
        if !self.system.post().has_own_mail() {
            self.system.quiet().check(&self.system);
        } else if !self.checks_later.replace(true) {
            // The last of them may not be a chare message, and then no check would follow it.
            self.post(self.worker, |local| local.checks_later.set(false));
        }
    }

    /// Sends a rare message like [`post`](Self::post), but boxes it, so that less code is compiled.
    pub(crate) fn post_seldom(&self, to: usize, message: impl FnOnce(&Self) + Send + 'static) {
        self.post(to, Box::new(message) as Arrival);
    }

    /// Sends an urgent message: it runs before all messages that are not urgent.
    pub(crate) fn post_urgent(&self, to: usize, message: Arrival) {
        let id = self.system.id();
        self.system.quiet().count_sent(self.worker);
        self.system
            .post()
            .send_urgent(to, move || on_arrival(id, message));
    }

    /// Sends a message to a worker, which may be this one.
    #[inline(always)]
    pub(crate) fn post(&self, to: usize, message: impl FnOnce(&Self) + Send + 'static) {
        let id = self.system.id();
        self.system.quiet().count_sent(self.worker);
        self.system.post().send(to, Arriving { id, message });
    }

    /// Makes the calls that the forks of an entry have left, after the entry has ended or waits.
    #[inline]
    pub(crate) fn run_deferred(&self) {
        if self.deferred.has_any() {
            self.run_deferred_slow();
        }
    }

    #[cold]
    fn run_deferred_slow(&self) {
        for call in self.deferred.take() {
            self.guard(|| call(self));
        }
    }
}
