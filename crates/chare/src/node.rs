//! Node groups: an element for each node, whose entries run on whatever worker has time, one at a time.
//!
//! Messages for it wait in one queue, under a lock. While there are any, a task of the pool runs those that are there, then puts another one
//! for those that have come meanwhile; whichever worker gets a task has the element as long as it runs. Entries keep the order in which they
//! were sent.

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
            let failure = collection.gone(number, parcel.entry());
            return parcel.fail(self, failure);
        }
        queue.waiting.push_back(parcel);
        let element = mem::replace(&mut queue.element, Element::Busy);
        // Before the queue is free: who finds the element busy relies on what it waits for to count.
        if !matches!(element, Element::Busy) {
            self.put_node_task(collection.id, number, element);
        }
    }

    /// Puts a task into the pool that runs what waits for the element.
    fn put_node_task<T: Chare>(&self, collection: u32, number: Number, element: Element<T>) {
        let id = self.id;
        local::with(id, |local| match local {
            Some(local) => self.quiet.count_sent(local.worker),
            None => self.quiet.count_sent_outside(),
        });
        self.post.put(move || {
            local::in_pool(id, move |local| {
                local.run_node(&local.part(collection), number, element);
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
        let parcels = mem::take(&mut node.queue().waiting);
        for parcel in parcels {
            if part.collection.has(number) {
                self.guard(|| parcel.run(self, part, number));
            } else {
                let failure = part.collection.gone(number, parcel.entry());
                parcel.fail(&self.system, failure);
            }
        }
        // What has come meanwhile is for another task: others may have waited for this worker.
        let element = part.take(number).map_or(Element::Ended, Element::Idle);
        let mut queue = node.queue();
        if queue.waiting.is_empty() {
            queue.element = element;
            return;
        }
        match element {
            Element::Ended => {
                queue.element = Element::Ended;
                let left = mem::take(&mut queue.waiting);
                drop(queue);
                for parcel in left {
                    let failure = part.collection.gone(number, parcel.entry());
                    parcel.fail(&self.system, failure);
                }
            }
            element => {
                drop(queue);
                self.system
                    .put_node_task(part.collection.id, number, element);
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
