//! Routing of messages to seeds, which go via the seed's home.
//!
//! The header of [`crate::seeds`] explains why this keeps their order.

use crate::address::detours::{Detours, Key, Leftover};
use crate::address::directory::{Route, Site, Whereabouts};
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::parcel::{BoxedParcel, Parcel};
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::node;
use crate::remote::out;
use crate::send;

/// The path of a message to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Directly to the worker of the element.
    Straight(usize),
    /// To the element's home, which forwards it.
    Detour(usize),
    /// To another node.
    Away(u16),
    /// Nowhere, because the element has ended.
    Gone,
}

/// Returns the path of a message to element `number` from a sender in `epoch`. If it goes via the
/// home, it is counted in the sender's `detours`.
pub(crate) fn way<T: Chare>(
    collection: &Collection<T>,
    number: Number,
    epoch: u32,
    detours: &mut Detours,
) -> Way {
    let route = collection.directory().place(number).route();
    let whereabouts = route.whereabouts();
    if whereabouts == Whereabouts::Vacant || route.generation() != number.generation() {
        return Way::Gone;
    }
    // An element on another node. If it moves between that node and this one, the sender's epoch
    // says where it is.
    if whereabouts == Whereabouts::Away {
        return match route.site(epoch) {
            Some(Site::Node(node)) => Way::Away(node),
            _ => Way::Straight(route.worker(epoch)),
        };
    }
    // A message goes via the home if the element is a seed, or if earlier messages that it must not
    // overtake are under way there.
    let key = (collection.id(), number);
    let is_seed = matches!(whereabouts, Whereabouts::Seed { .. });
    if !is_seed && !detours.has(key) {
        return Way::Straight(route.worker(epoch));
    }
    detours.begin_own(key);
    Way::Detour(number.home())
}

/// A message that goes via its element's home.
struct Detoured<T: Chare> {
    parcel: BoxedParcel<T>,
    /// Notifies the sender when it is dropped: after the message has reached its element, or when
    /// it is certain that the message never will.
    confirms: Confirms,
}

/// Notifies the sender of a message via a home, when dropped, that the message is no longer under
/// way, whether or not it was delivered. Until then the sender checks its detours before each
/// message to the element.
struct Confirms {
    system: u32,
    /// The worker that sent the message; `None` for other threads.
    from: Option<usize>,
    key: Key,
}

impl Drop for Confirms {
    fn drop(&mut self) {
        local::with(self.system, |local| {
            // On a thread that is not a worker, messages are dropped only after the runtime has
            // ended.
            if let Some(local) = local {
                confirm(local, self.key, self.from);
            }
        });
    }
}

impl<T: Chare> Parcel<T> for Detoured<T> {
    fn entry(&self) -> &'static str {
        self.parcel.entry()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        if !part.has(number) {
            return part.keep(local, number, Box::new(self));
        }
        let Self {
            parcel,
            confirms: _confirms,
        } = self;
        parcel.deliver(local, part, number);
    }

    fn fail(self, system: &System, failure: Failure) {
        let Self {
            parcel,
            confirms: _confirms,
        } = self;
        parcel.fail(system, failure);
    }
}

/// Sends a parcel that has a priority, or that is for an element that may be a seed.
#[cold]
pub(crate) fn dispatch_slow<T: Chare>(
    local: &Local,
    part: &Part<T>,
    one: One<T>,
    parcel: BoxedParcel<T>,
) {
    if part.collection().is_node_group() {
        let (number, priority) = (one.number, one.priority);
        return node::to_node(local.system(), part.collection(), number, priority, parcel);
    }
    let One {
        collection,
        number,
        priority,
        ..
    } = one;
    let way = way(
        part.collection(),
        number,
        local.epoch(),
        &mut local.detours().borrow_mut(),
    );
    match way {
        Way::Straight(worker) => {
            let key = Some((collection, number));
            local.post_with(priority, key, worker, move |local| {
                parcel.deliver(local, &local.part(collection), number);
            });
        }
        Way::Detour(home) => {
            let from = Some(local.worker());
            local.post(home, move |local| {
                relay(local, &local.part(collection), number, parcel, from);
            });
        }
        Way::Away(node) => {
            let epoch = local.epoch();
            out::send_one_away(
                local.system(),
                part.collection(),
                one,
                (node, epoch),
                parcel,
            );
        }
        Way::Gone => {
            let failure = part.collection().gone(number, parcel.entry());
            parcel.fail(local.system(), failure);
        }
    }
}

/// Handles a message at its element's home: keeps it if the element is still a seed, and otherwise
/// forwards it to the element's worker.
pub(crate) fn relay<T: Chare>(
    local: &Local,
    part: &Part<T>,
    number: Number,
    parcel: BoxedParcel<T>,
    from: Option<usize>,
) {
    let parcel: BoxedParcel<T> = Box::new(Detoured {
        parcel,
        confirms: Confirms {
            system: local.system().id(),
            from,
            key: (part.collection().id(), number),
        },
    });
    let place = part.collection().directory().place(number);
    let route = place.route();
    let is_seed = matches!(route.whereabouts(), Whereabouts::Seed { .. })
        && route.generation() == number.generation();
    if !is_seed && !part.has_mail(number) {
        // The element has been constructed, and no messages wait here.
        return match place.worker_of(number, local.epoch()) {
            // Forward it even if the element is on this worker: earlier messages may be in this
            // worker's own mailbox, and must not be overtaken.
            Some(worker) => send::carry(local, worker, part.one(number), parcel),
            None => {
                let failure = part.collection().gone(number, parcel.entry());
                parcel.fail(local.system(), failure);
            }
        };
    }
    // Keep the message, and mark the route so that the worker which constructs the element notifies
    // this one.
    part.keep_mail(number, parcel);
    let with_mail = Route::seed(number.generation(), true);
    if route == Route::seed(number.generation(), false) && !place.change_route(route, with_mail) {
        // The element has been constructed since the route was read. The route was not marked then,
        // so its worker did not notify this one.
        send_after(local, part, number);
    }
}

/// Forwards the messages that waited at the home to the element's present worker.
pub(crate) fn send_after<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let waiting = part.take_mail(number);
    let Some(worker) = part
        .collection()
        .directory()
        .place(number)
        .worker_of(number, local.epoch())
    else {
        for parcel in waiting {
            part.fail(local, number, parcel);
        }
        return;
    };
    for parcel in waiting {
        send::carry(local, worker, part.one(number), parcel);
    }
}

/// Notifies the sender of a message via a home that the message has arrived.
fn confirm(local: &Local, key: Key, from: Option<usize>) {
    match from {
        Some(worker) if worker == local.worker() => end_own(local, key),
        Some(worker) => local.post(worker, move |local| end_own(local, key)),
        None => {
            let successors = local.system().outside().detours.end_own(key);
            debug_assert!(successors.is_empty(), "elements move from workers");
        }
    }
}

/// Records the arrival of a message that this worker sent via a home.
fn end_own(local: &Local, key: Key) {
    let notified = local.detours().borrow_mut().end_own(key);
    notify_successors(local, key, notified);
}

/// Records the arrival of the messages that an element's old worker had under way when the element
/// moved here.
fn end_leftover(local: &Local, key: Key, leftover: Leftover) {
    let notified = local.detours().borrow_mut().end_leftover(key, leftover);
    notify_successors(local, key, notified);
}

/// Notifies the workers to which an element has moved that leftovers have arrived.
fn notify_successors(local: &Local, key: Key, notified: Vec<(usize, Leftover)>) {
    for (successor, leftover) in notified {
        local.post(successor, move |local| end_leftover(local, key, leftover));
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use raddle_runtime::Runtime;

    use crate::reply::{What, reply};
    use crate::start::system_of;
    use crate::{Chares, Cx, chare};

    struct Bomb;

    impl Drop for Bomb {
        fn drop(&mut self) {
            panic!("a destructor");
        }
    }

    struct Seed;

    #[chare]
    impl Seed {
        #[entry]
        fn give(&mut self) -> Bomb {
            Bomb
        }

        #[entry]
        fn create(&mut self, cx: &mut Cx<Self>) {
            // The proxy's reply is dropped at once, so its result is not used.
            drop(cx.chare(|_| Self).give());
        }
    }

    #[test]
    fn a_message_that_panics_has_arrived() {
        let runtime = Runtime::builder().workers(1).build().expect("a runtime");
        let system = system_of(&runtime);
        runtime.chare(|_| Seed).create();
        runtime
            .quiescence()
            .try_wait()
            .expect_err("the destructor panics");
        let what = What {
            chare: "Seed",
            entry: "detours",
        };
        let (replier, answer) = reply(system.id(), None, what);
        system.post_from_here(0, move |local| {
            let has_ended = local.detours().borrow().is_empty();
            replier.give(Ok(has_ended));
        });
        assert_eq!(answer.wait_through_failures(), Ok(true));
    }
}
