//! Seeds: chares that any worker with time may construct.
//!
//! A seed is a closure that constructs the chare. It waits in a pool of tasks, where idle workers
//! find it, or is sent to a worker chosen by a strategy ([`SeedPolicy`]). Its number is assigned at
//! once, and its proxy can be used at once.
//!
//! # Messages for seeds
//! The worker on which a seed will be instantiated is not known. So messages for it go to its home,
//! the worker that created it, and wait there. The worker that constructs the chare writes its
//! location into the route, and notifies the home if messages wait.
//!
//! Suppose that a sender has sent a message via the home, and then learns where the element is. Its
//! next message must not overtake the first. So the sender continues to send via the home as long
//! as any of its messages is under way there. The worker at which a message meets the element
//! notifies the sender.
//! # Invariants
//! 1. Messages via the home arrive in the order in which each sender sent them: in mailbox order
//!    from the sender to the home, in the order of the queue at the home, and in mailbox order from
//!    the home to the element. This also holds for messages from the home itself: they go through
//!    its own mailbox.
//! 2. A sender sends straight only after everything that it has sent via the home has met the
//!    element. Until then, other senders may be one epoch ahead of this one ([`crate::migration`]).
//!    A message that is sent straight goes to the worker where the element is in the sender's
//!    epoch.

pub(crate) mod detour;
mod policy;

use std::panic::{AssertUnwindSafe, catch_unwind};

use policy::{Choice, Dice, Loads, neighbours};
pub use policy::{SeedPolicy, UnknownSeedPolicy};

use crate::address::directory::{Location, Route};
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::{self, Body, Part};
use crate::engine::local::any_thread;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::lifecycle;
use crate::migration::arrivals;
use crate::recorded;
use crate::state::{Explain, Feature, SharedState};

/// The seeds of a system.
#[derive(Debug)]
pub(crate) struct Seeds {
    policy: SeedPolicy,
    /// The seed of random decisions.
    seed: u64,
    loads: Loads,
}

impl Explain for Seeds {}

impl SharedState for Seeds {
    const FEATURE: Feature = Feature::Seeds;
}

impl Seeds {
    pub(crate) fn new(policy: SeedPolicy, seed: u64, worker_count: usize) -> Self {
        Self {
            policy,
            seed,
            loads: Loads::new(worker_count),
        }
    }

    fn choose(&self, local: &Local) -> Choice {
        let count = local.system().worker_count();
        match self.policy {
            SeedPolicy::Stealing => Choice::Keep,
            SeedPolicy::Random => {
                let mut dice = local.state::<Dice>().borrow_mut();
                Choice::Place(dice.pick(self.seed, local.worker(), count))
            }
            policy => self
                .loads
                .average(local.worker(), &neighbours(policy, local.worker(), count)),
        }
    }
}

impl<T: Chare> Cx<T> {
    /// Creates a chare that is in no array, on any worker. Messages can be sent to it at once.
    pub fn chare<C: Chare>(&self, make: impl FnOnce(&mut Cx<C>) -> C + Send + 'static) -> C::One {
        let system = self.one().system;
        C::One::from(local::with(system, |local| match local {
            Some(local) => create_here(local, make),
            None => create(&System::of_entry(system), make),
        }))
    }
}

/// Creates a chare that is in no array, on any worker. Can be called on any thread.
pub(crate) fn create<T: Chare>(
    system: &System,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) -> One<T> {
    local::with(system.id(), |local| match local {
        Some(local) => create_here(local, make),
        None => {
            let collection = Collection::<T>::singles_of(system);
            let home = system.next_worker();
            let shared = Collection::<T>::of(system, collection);
            let number = shared.directory().allocate(home);
            let route = Route::seed(number.generation(), false);
            shared.directory().place(number).set_route(route);
            any_thread::post(system, home, move |local| {
                put_seed(local, collection, number, make)
            });
            One::new(system.id(), collection, number)
        }
    })
}

/// Creates a chare that is in no array, on worker `worker`.
pub(crate) fn create_on<T: Chare>(
    system: &System,
    worker: usize,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) -> One<T> {
    let collection = Collection::<T>::singles_of(system);
    let number = local::with(system.id(), |local| match local {
        Some(local) => Part::<T>::of(local, collection).allocate(local.worker()),
        None => Collection::<T>::of(system, collection)
            .directory()
            .allocate(worker),
    });
    let route = Route::placed(number.generation(), worker);
    let shared = Collection::<T>::of(system, collection);
    shared.directory().place(number).set_route(route);
    any_thread::post(system, worker, move |local| {
        make_element(local, &Part::of(local, collection), number, None, make);
    });
    One::new(system.id(), collection, number)
}

/// Creates a chare that is in no array, on the worker that the policy chooses.
fn create_here<T: Chare>(
    local: &Local,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) -> One<T> {
    let collection = Collection::<T>::singles_at(local);
    let part = Part::<T>::of(local, collection);
    let number = part.allocate(local.worker());
    let place = part.collection().directory().place(number);
    let (system, generation) = (local.system(), number.generation());
    match system.shared::<Seeds>().choose(local) {
        Choice::Place(worker) => {
            place.set_route(Route::placed(generation, worker));
            local.post_seldom(worker, move |local| {
                make_element(local, &Part::of(local, collection), number, None, make);
            });
        }
        Choice::Keep => {
            place.set_route(Route::seed(generation, false));
            put_seed(local, collection, number, make);
        }
        Choice::Hand(worker) => {
            place.set_route(Route::seed(generation, false));
            local.post_seldom(worker, move |local| {
                put_seed(local, collection, number, make)
            });
        }
    }
    part.one(number)
}

/// Puts a seed into this worker's pool.
fn put_seed<T: Chare>(
    local: &Local,
    collection: u32,
    number: Number,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) {
    let (id, from) = (local.system().id(), local.worker());
    local.system().shared::<Seeds>().loads.count_up(from);
    local.system().quiet().count_sent(from);
    local.system().post().put(move || {
        local::in_pool(id, move |local| {
            local.system().shared::<Seeds>().loads.count_down(from);
            instantiate(local, &Part::of(local, collection), number, make);
        });
    });
}

/// Constructs the chare of a seed on this worker.
fn instantiate<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    make: impl FnOnce(&mut Cx<T>) -> T,
) {
    let place = part.collection().directory().place(number);
    let before = place.replace_route(Route::placed(number.generation(), local.worker()));
    make_element(local, part, number, None, make);
    if before.location() != (Location::Seed { has_messages: true }) {
        return;
    }
    // Messages wait at the home: have them sent here.
    if number.home() == local.worker() {
        detour::send_after(local, part, number);
    } else {
        let collection = part.collection().id();
        local.post_seldom(number.home(), move |local| {
            detour::send_after::<T>(local, &Part::of(local, collection), number);
        });
    }
}

/// Constructs an element on this worker, to which its route leads.
pub(crate) fn make_element<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    index: Option<T::Index>,
    make: impl FnOnce(&mut Cx<T>) -> T,
) {
    let mut cx = Cx::new(part.one(number), index);
    recorded::entry((T::NAME, "new"), (part.collection().id(), number));
    part.collection()
        .directory()
        .place(number)
        .set_own_worker(local.worker());
    let made = catch_unwind(AssertUnwindSafe(|| make(&mut cx)));
    local.run_deferred();
    match made {
        Ok(me) => {
            // The constructor may have requested the element's end; it ends after the waiting
            // messages have run.
            let rest = cx.has_rest().then(|| cx.take_rest());
            let body = Body { me, cx };
            let slot = part::Slot::new(number, index, body);
            part.admit(local, slot, 0, Vec::new());
            if let Some(rest) = rest.filter(|rest| rest.ends) {
                lifecycle::end(local, part, number, &rest.rounds);
            }
        }
        Err(panic) => {
            let name = part.collection().name(index);
            let failure = Failure::panicked(&name, "its constructor", &*panic);
            part.collection().note_death(number, index, &failure);
            // This comes first: the failures of messages that wait for the element may be reported
            // to the program, which should learn the cause.
            local.system().fail(failure);
            lifecycle::stop_contributing(local, part, number, index, cx.rounds());
            lifecycle::fail_early(local, part, number);
            // The destructor of the panic's value might panic in turn.
            std::mem::forget(panic);
        }
    }
    arrivals::send_late_element(local, part, number);
}
