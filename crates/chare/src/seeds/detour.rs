//! Messages to seeds, which go via the seed's home.
//!
//! The header of [`crate::seeds`] explains why this keeps their order.

use crate::address::detours::Leftover;
use crate::address::directory::Route;
use crate::address::number::{ElementId, Number};
use crate::address::way::Way;
use crate::engine::elements::parcel::{self, BoxedParcel, Parcel};
use crate::engine::elements::part::Part;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;

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
    key: ElementId,
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
    let way = Way::of(route, number, local.epoch());
    if !matches!(way, Way::ViaHome(_)) && !part.presence().has_for_seed(number) {
        // The element has been constructed, and no messages wait here.
        return match way {
            // Forward it even if the element is on this worker: earlier messages may be in this
            // worker's own mailbox, and must not be overtaken.
            Way::Straight(worker) => parcel::post(local, worker, part.one(number), parcel),
            _ => part.fail(local, number, parcel),
        };
    }
    part.presence().keep_for_seed(number, parcel);
    let with_messages = Route::seed(number.generation(), true);
    if route == Route::seed(number.generation(), false) && !place.change_route(route, with_messages)
    {
        // The element has been constructed since the route was read. The route was not marked then,
        // so its worker did not notify this one.
        send_after(local, part, number);
    }
}

/// Forwards the messages that waited at the home to the element's present worker.
pub(crate) fn send_after<T: Chare>(local: &Local, part: &Part<T>, number: Number) {
    let waiting = part.presence().take_for_seed(number);
    let place = part.collection().directory().place(number);
    let way = Way::of(place.route(), number, local.epoch());
    for parcel in waiting {
        match way {
            Way::Straight(worker) => parcel::post(local, worker, part.one(number), parcel),
            _ => part.fail(local, number, parcel),
        }
    }
}

/// Notifies the sender of a message via a home that the message has arrived.
fn confirm(local: &Local, key: ElementId, from: Option<usize>) {
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
fn end_own(local: &Local, key: ElementId) {
    let notified = local.with_detours(|detours| detours.end_own(key));
    notify_successors(local, key, notified);
}

/// Records the arrival of the messages that an element's old worker had under way when the element
/// moved here.
fn end_leftover(local: &Local, key: ElementId, leftover: Leftover) {
    let notified = local.with_detours(|detours| detours.end_leftover(key, leftover));
    notify_successors(local, key, notified);
}

/// Notifies the workers to which an element has moved that leftovers have arrived.
fn notify_successors(local: &Local, key: ElementId, notified: Vec<(usize, Leftover)>) {
    for (successor, leftover) in notified {
        local.post(successor, move |local| end_leftover(local, key, leftover));
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use raddle_runtime::Runtime;

    use crate::engine::local::any_thread;
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
        any_thread::post(&system, 0, move |local| {
            replier.give(Ok(!local.has_detours()));
        });
        assert_eq!(answer.wait_through_failures(), Ok(true));
    }
}
