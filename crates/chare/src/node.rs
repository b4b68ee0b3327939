//! Node groups: an element for each node, whose entries run on whatever worker has time, one at a time.
//!
//! Messages for it wait in one queue, under a lock. While there are any, a task of the pool runs them; whichever worker gets the task has the
//! element until the queue is empty. Entries keep the order in which they were sent.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;

use raddle_sync::prim::Mutex;

use crate::collection::Collection;
use crate::cx::Cx;
use crate::entry::Chare;
use crate::local::{self, Local};
use crate::number::Number;
use crate::parcel::Parcel;
use crate::part::{Part, Slot};
use crate::proxy::One;
use crate::system::System;

/// A chare for each node.
pub struct NodeGroup<T: Chare> {
    one: One<T>,
}

impl<T: Chare> Clone for NodeGroup<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Chare> Copy for NodeGroup<T> {}

impl<T: Chare> fmt::Debug for NodeGroup<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "NodeGroup<{}>", T::NAME)
    }
}

impl<T: Chare> NodeGroup<T> {
    /// The proxy of this node's element.
    pub fn here(self) -> T::One {
        T::One::from(self.one)
    }
}

type Make<T> = Box<dyn FnOnce(&Local, &Part<T>) + Send>;

/// What a node group has of its element here.
pub(crate) struct Node<T: Chare>(Mutex<Queue<T>>);

struct Queue<T: Chare> {
    waiting: VecDeque<Box<dyn Parcel<T>>>,
    element: Element<T>,
}

enum Element<T: Chare> {
    Unborn(Make<T>),
    /// Nothing waits for it.
    Idle(Slot<T>),
    /// A task has it, or will.
    Busy,
    Ended,
}

impl<T: Chare> Node<T> {
    fn queue(&self) -> impl std::ops::DerefMut<Target = Queue<T>> {
        self.0.lock().expect("nothing panics under this lock")
    }
}

impl System {
    /// Gives a message to a node group's element.
    pub(crate) fn to_node<T: Chare>(
        &self,
        collection: &Arc<Collection<T>>,
        number: Number,
        parcel: Box<dyn Parcel<T>>,
    ) {
        let node = collection.node.as_ref().expect("the caller has looked");
        let mut queue = node.queue();
        if matches!(queue.element, Element::Ended) {
            drop(queue);
            let failure = crate::Failure::gone(&collection.name(None), parcel.entry());
            return parcel.fail(self, failure);
        }
        queue.waiting.push_back(parcel);
        let element = mem::replace(&mut queue.element, Element::Busy);
        if matches!(element, Element::Busy) {
            return;
        }
        let (id, collection) = (self.id, collection.id);
        // Before the queue is free: who finds the element busy relies on what it waits for to count.
        local::with(id, |local| match local {
            Some(local) => self.quiet.count_sent(local.worker),
            None => self.quiet.count_sent_outside(),
        });
        drop(queue);
        self.post.put(move || {
            local::in_pool(id, move |local| {
                local.run_node(&local.part(collection), number, element)
            });
        });
    }
}

impl Local {
    /// Runs what waits for the element of a node group.
    fn run_node<T: Chare>(&self, part: &Part<T>, number: Number, element: Element<T>) {
        let node = part.collection.node.as_ref().expect("it is a node group");
        match element {
            Element::Unborn(make) => make(self, part),
            Element::Idle(slot) => part.put(slot, 0),
            Element::Busy | Element::Ended => unreachable!("the task was given the element"),
        }
        loop {
            let mut queue = node.queue();
            if queue.waiting.is_empty() || !part.collection.has(number) {
                queue.element = part.take(number).map_or(Element::Ended, Element::Idle);
                let left = mem::take(&mut queue.waiting);
                drop(queue);
                for parcel in left {
                    let failure = crate::Failure::gone(&part.collection.name(None), parcel.entry());
                    parcel.fail(&self.system, failure);
                }
                return;
            }
            let parcels = mem::take(&mut queue.waiting);
            drop(queue);
            for parcel in parcels {
                parcel.run(self, part, number);
            }
        }
    }
}

/// Makes a node group.
pub(crate) fn make_node_group<T: Chare>(
    system: &Arc<System>,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) -> NodeGroup<T> {
    let number = Number::new(0, 0, 0);
    let make = Box::new(move |local: &Local, part: &Part<T>| {
        local.make_element(part, number, None, make);
    });
    let node = Node(Mutex::new(Queue {
        waiting: VecDeque::new(),
        element: Element::Unborn(make),
    }));
    let collection = system.add::<T>(|id| Collection::node(system.id, id, node));
    NodeGroup {
        one: One::new(system.id, collection.id, number),
    }
}
