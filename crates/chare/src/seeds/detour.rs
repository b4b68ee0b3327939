//! The way of messages to seeds: by their home. The header of [`crate::seeds`] says why it keeps their order.

use std::collections::HashMap;

use crate::collection::Collection;
use crate::directory::{Route, Whereabouts};
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::{self, Local};
use crate::number::Number;
use crate::parcel::Parcel;
use crate::part::Part;
use crate::priority::ranked;
use crate::proxy::One;
use crate::system::System;

/// How a message goes to its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Straight(usize),
    /// By the element's home.
    Detour(usize),
    /// Nowhere: the element is no more.
    Gone,
}

/// An element, in messages about messages to it.
type Key = (u32, Number);

/// Elements to which messages of a sender are under way by their home.
#[derive(Debug, Default)]
pub(crate) struct Detours(HashMap<Key, Detour>);

#[derive(Debug, Default)]
struct Detour {
    /// Messages that have not met the element.
    count: usize,
    /// Workers to which elements have moved from here meanwhile: what those send must not come before.
    followers: Vec<usize>,
}

impl Detours {
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// One message less is under way; returns who shall know that none is.
    fn end_one(&mut self, key: Key) -> Vec<usize> {
        match self.0.get_mut(&key) {
            Some(detour) if detour.count > 1 => detour.count -= 1,
            _ => {
                let ended = self.0.remove(&key);
                return ended.map_or_else(Vec::new, |ended| ended.followers);
            }
        }
        Vec::new()
    }

    /// What worker `to`, to which an element moves, takes over.
    pub(crate) fn hand_over(&mut self, to: usize) -> Vec<Key> {
        for detour in self.0.values_mut() {
            detour.followers.push(to);
        }
        self.0.keys().copied().collect()
    }

    /// Sends by the home, too, until the old worker of an element that comes does so no more.
    pub(crate) fn take_over(&mut self, keys: &[Key]) {
        for &key in keys {
            self.0.entry(key).or_default().count += 1;
        }
    }
}

/// How a message of a sender in `epoch` goes to element `number`; one that goes by the home is counted in his `detours`.
pub(crate) fn way<T: Chare>(
    collection: &Collection<T>,
    number: Number,
    epoch: u32,
    detours: &mut Detours,
) -> Way {
    let route = collection.directory.place(number).route();
    let whereabouts = route.whereabouts();
    if whereabouts == Whereabouts::Vacant || route.generation() != number.generation() {
        return Way::Gone;
    }
    let key = (collection.id, number);
    let is_seed = matches!(whereabouts, Whereabouts::Seed { .. });
    if !is_seed && !detours.0.contains_key(&key) {
        return Way::Straight(route.worker(epoch));
    }
    detours.0.entry(key).or_default().count += 1;
    Way::Detour(number.home())
}

/// A message that goes by its element's home.
struct Detoured<P> {
    parcel: P,
    /// Dropped when the message has met its element, or will not.
    confirms: Confirms,
}

/// Tells who sent a message by a home when it is there no more, whatever became of it: until then he looks at his detours before
/// each message that he sends.
struct Confirms {
    system: u32,
    /// The worker that sent it; none for other threads.
    from: Option<usize>,
    key: Key,
}

impl Drop for Confirms {
    fn drop(&mut self) {
        local::with(self.system, |local| {
            // Elsewhere messages are dropped only when the runtime has ended.
            if let Some(local) = local {
                local.confirm(self.key, self.from);
            }
        });
    }
}

impl<T: Chare, P: Parcel<T>> Parcel<T> for Detoured<P> {
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

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.deliver(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        let Self {
            parcel,
            confirms: _confirms,
        } = *self;
        Box::new(parcel).fail(system, failure);
    }
}

impl Local {
    /// Sends a parcel that has a priority, or whose element may be a seed.
    #[cold]
    pub(crate) fn dispatch_slow<T: Chare>(
        &self,
        part: &Part<T>,
        one: One<T>,
        parcel: impl Parcel<T>,
    ) {
        if part.collection.node.is_some() {
            let (number, priority) = (one.number, one.priority);
            return self
                .system
                .to_node(&part.collection, number, priority, Box::new(parcel));
        }
        let One {
            collection,
            number,
            priority,
            ..
        } = one;
        let way = way(
            &part.collection,
            number,
            self.epoch.get(),
            &mut self.detours.borrow_mut(),
        );
        match way {
            Way::Straight(worker) if priority == 0 => self.carry(worker, one, parcel),
            Way::Straight(worker) => {
                let key = (collection, number);
                let arrive = ranked(priority, key, move |local: &Self| {
                    parcel.deliver(local, &local.part(collection), number);
                });
                if priority < 0 {
                    self.post_urgent(worker, arrive);
                } else {
                    self.post(worker, arrive);
                }
            }
            Way::Detour(home) => {
                let from = Some(self.worker);
                self.post(home, move |local| {
                    local.relay(&local.part(collection), number, parcel, from);
                });
            }
            Way::Gone => {
                let failure = part.collection.gone(number, parcel.entry());
                Box::new(parcel).fail(&self.system, failure);
            }
        }
    }

    /// Takes in a message at its element's home, and keeps it while the element waits for a worker.
    pub(crate) fn relay<T: Chare>(
        &self,
        part: &Part<T>,
        number: Number,
        parcel: impl Parcel<T>,
        from: Option<usize>,
    ) {
        let parcel = Detoured {
            parcel,
            confirms: Confirms {
                system: self.system.id,
                from,
                key: (part.collection.id, number),
            },
        };
        let place = part.collection.directory.place(number);
        let route = place.route();
        let is_seed = matches!(route.whereabouts(), Whereabouts::Seed { .. })
            && route.generation() == number.generation();
        let mut mail = part.mail.borrow_mut();
        if !is_seed && !mail.contains_key(&number) {
            drop(mail);
            return match place.worker_of(number, self.epoch.get()) {
                // Be it this one: what waited here may be on its way from itself to itself.
                Some(worker) => self.carry(worker, part.one(number), parcel),
                None => {
                    let failure = part.collection.gone(number, parcel.entry());
                    Box::new(parcel).fail(&self.system, failure);
                }
            };
        }
        mail.entry(number).or_default().push_back(Box::new(parcel));
        drop(mail);
        let with_mail = Route::seed(number.generation(), true);
        if route == Route::seed(number.generation(), false) && !place.change_route(route, with_mail)
        {
            // It has sprouted just now, and whoever made it saw no mail.
            self.send_after(part, number);
        }
    }

    /// Sends what waited at home to where the element is now.
    pub(super) fn send_after<T: Chare>(&self, part: &Part<T>, number: Number) {
        let waiting = part.mail.borrow_mut().remove(&number).unwrap_or_default();
        let Some(worker) = part
            .collection
            .directory
            .place(number)
            .worker_of(number, self.epoch.get())
        else {
            for parcel in waiting {
                part.fail(self, number, parcel);
            }
            return;
        };
        for parcel in waiting {
            self.carry(worker, part.one(number), Kept(parcel));
        }
    }

    /// Tells who sent a message by the home that it has arrived.
    fn confirm(&self, key: Key, from: Option<usize>) {
        match from {
            Some(worker) if worker == self.worker => self.end_detour(key),
            Some(worker) => self.post(worker, move |local| local.end_detour(key)),
            None => {
                let followers = self.system.outside().detours.end_one(key);
                debug_assert!(followers.is_empty(), "elements move from workers");
            }
        }
    }

    /// A message of this worker by the home, or all of another one whose element has come here, have arrived.
    fn end_detour(&self, key: Key) {
        let followers = self.detours.borrow_mut().end_one(key);
        for follower in followers {
            self.post(follower, move |local| local.end_detour(key));
        }
    }
}

/// A parcel that has waited.
struct Kept<T: Chare>(Box<dyn Parcel<T>>);

impl<T: Chare> Parcel<T> for Kept<T> {
    fn entry(&self) -> &'static str {
        self.0.entry()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        self.0.run(local, part, number);
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.0.run(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        self.0.fail(system, failure);
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use raddle_runtime::Runtime;

    use crate::reply::{What, reply};
    use crate::system::System;
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
        fn sow(&mut self, cx: &mut Cx<Self>) {
            // The reply goes at once, and nobody wants what it brings.
            drop(cx.chare(|_| Self).give());
        }
    }

    #[test]
    fn a_message_that_panics_has_arrived() {
        let runtime = Runtime::builder().workers(1).build().expect("it comes up");
        let system = System::of(&runtime);
        runtime.chare(|_| Seed).sow();
        runtime
            .quiescence()
            .try_wait()
            .expect_err("the bomb goes off");
        let what = What {
            chare: "Seed",
            entry: "detours",
        };
        let (replier, answer) = reply(system.id, None, what);
        system.post_from_here(0, move |local| {
            let has_ended = local.detours.borrow().is_empty();
            replier.give(Ok(has_ended));
        });
        assert_eq!(answer.wait_through_failures(), Ok(true));
    }
}
