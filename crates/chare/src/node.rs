//! Node groups: one element for each node. Any worker with time runs its entries, one at a time.
//!
//! Messages for the element wait in a queue under a lock. While there are any, a task of the pool
//! runs as many messages as there were when it began, then queues another task for the rest. The
//! worker that gets the task has the element while the task runs; other work of that worker runs
//! after it.
//!
//! Messages without a priority keep the order in which they were sent. A task takes all of them at
//! once, and needs no lock for them any more. Messages with priorities are in a heap. Before each
//! message the task checks a flag: if an urgent message waits, it runs first, even if it has just
//! arrived. The messages that it overtakes may be left to the next task. Messages with positive
//! priorities run after those without a priority.

use std::collections::VecDeque;
use std::fmt;
use std::mem;
use std::sync::Arc;

use raddle_sync::CachePadded;
use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};
use raddle_sync::ranks::Ranks;

use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::Parcels;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::elements::part::{self, Part};
use crate::engine::local::{self, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::One;
use crate::engine::system::System;
use crate::failure::contain;
use crate::seeds;
use crate::state::{Explain, Feature, SharedState};

/// A group with one chare for each node.
///
/// Its entries run one at a time, on any worker with time. Among the messages that wait for the
/// element, those with the most urgent priorities ([`One::with_priority`]) run first. An urgent
/// message does not make a worker interrupt or postpone other work.
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
    /// Returns the proxy of this node's element.
    pub fn here(self) -> T::One {
        T::One::from(self.one)
    }
}

type Make<T> = Box<dyn FnOnce(&Local, &Part<T>) + Send>;

/// The state of a node group's element on this node.
pub(crate) struct GroupElement<T: Chare> {
    queue: Mutex<Queue<T>>,
    /// True if an urgent message waits. Written under the queue's lock, and in its own cache line:
    /// the worker with the element reads it before each message.
    has_urgent: CachePadded<AtomicBool>,
}

struct Queue<T: Chare> {
    waiting: Parcels<T>,
    ranked: Ranks<i32, BoxedParcel<T>>,
    element: Element<T>,
    /// The worker that had the element last.
    worker: usize,
}

enum Element<T: Chare> {
    Unconstructed(Make<T>),
    /// The element exists, and no message waits for it.
    Idle(part::Slot<T>),
    /// A task has the element, or a queued task will get it.
    Busy,
    Ended,
}

impl<T: Chare> Drop for GroupElement<T> {
    /// Drops the element and the waiting messages. Runs at the end of the runtime, on any thread.
    /// Panics of the program's destructors are caught, as for elements of other collections.
    fn drop(&mut self) {
        let mut queue = self.queue();
        let element = mem::replace(&mut queue.element, Element::Ended);
        let mut waiting = mem::take(&mut queue.waiting);
        drop(queue);
        contain(|| drop(element), |_| {});
        while let Some(parcel) = self.next(&mut waiting) {
            contain(|| drop(parcel), |_| {});
        }
    }
}

impl<T: Chare> Explain for GroupElement<T> {
    /// Describes the element if it waits for something. Returns `None` if a task has it now, or
    /// another worker than `worker` had it last.
    fn explain(&self, worker: usize) -> Option<String> {
        let queue = self.queue();
        match &queue.element {
            Element::Idle(slot) if queue.worker == worker => {
                slot.explain(|| format!("a {}", T::NAME))
            }
            _ => None,
        }
    }
}

impl<T: Chare> SharedState for GroupElement<T> {
    const FEATURE: Feature = Feature::NodeGroup;
}

impl<T: Chare> Queue<T> {
    fn len(&self) -> usize {
        self.waiting.len() + self.ranked.len()
    }
}

impl<T: Chare> GroupElement<T> {
    fn new(make: Make<T>) -> Self {
        let queue = Queue {
            waiting: VecDeque::new(),
            ranked: Ranks::default(),
            element: Element::Unconstructed(make),
            worker: 0,
        };
        Self {
            queue: Mutex::new(queue),
            has_urgent: CachePadded::default(),
        }
    }

    fn queue(&self) -> impl std::ops::DerefMut<Target = Queue<T>> {
        self.queue.lock().expect("nothing panics under this lock")
    }

    /// Queues a message.
    fn put(&self, queue: &mut Queue<T>, priority: i32, parcel: BoxedParcel<T>) {
        if priority == 0 {
            return queue.waiting.push_back(parcel);
        }
        queue.ranked.push(priority, parcel);
        if priority < 0 {
            // Relaxed: see `next`.
            self.has_urgent.store(true, Relaxed);
        }
    }

    /// Takes the message that runs next. `batch` contains the messages without a priority that the
    /// caller has taken from the queue.
    #[inline]
    fn next(&self, batch: &mut Parcels<T>) -> Option<BoxedParcel<T>> {
        // Relaxed: the flag only decides when to take the lock. Messages that were queued before
        // the batch was taken, or by this thread, are visible.
        if self.has_urgent.load(Relaxed) {
            return self.next_ranked();
        }
        batch.pop_front().or_else(|| self.next_ranked())
    }

    #[cold]
    fn next_ranked(&self) -> Option<BoxedParcel<T>> {
        let mut queue = self.queue();
        let first = queue.ranked.pop();
        let has_urgent = queue.ranked.first().is_some_and(|&priority| priority < 0);
        // Relaxed: see `next`.
        self.has_urgent.store(has_urgent, Relaxed);
        first
    }
}

/// Queues a message for a node group's element, and a task that runs it unless there is one.
pub(crate) fn to_node<T: Chare>(
    system: &System,
    collection: &Arc<Collection<T>>,
    number: Number,
    priority: i32,
    parcel: BoxedParcel<T>,
) {
    let node = collection
        .state::<GroupElement<T>>()
        .expect("the caller has checked that it is a node group");
    let mut queue = node.queue();
    if matches!(queue.element, Element::Ended) {
        drop(queue);
        let failure = collection.gone(number, parcel.entry());
        return parcel.fail(system, failure);
    }
    node.put(&mut queue, priority, parcel);
    let element = mem::replace(&mut queue.element, Element::Busy);
    // This happens before the queue is released: a caller that finds the element busy relies on a
    // queued task, which counts as a message for quiescence detection.
    if !matches!(element, Element::Busy) {
        put_node_task(system, collection.id(), number, element);
    }
}

/// Puts a task into the pool that runs the waiting messages of the element.
fn put_node_task<T: Chare>(system: &System, collection: u32, number: Number, element: Element<T>) {
    let id = system.id();
    local::with(id, |local| match local {
        Some(local) => system.quiet().count_sent(local.worker()),
        None => system.quiet().count_sent_outside(),
    });
    system.post().put(move || {
        local::in_pool(id, move |local| {
            run_node(local, &Part::of(local, collection), number, element);
        });
    });
}

/// Runs the waiting messages of a node group's element.
fn run_node<T: Chare>(local: &Local, part: &Part<T>, number: Number, element: Element<T>) {
    let node = part
        .collection()
        .state::<GroupElement<T>>()
        .expect("it is a node group");
    match element {
        Element::Unconstructed(make) => make(local, part),
        Element::Idle(slot) => part.put(local, slot, 0),
        Element::Busy | Element::Ended => unreachable!("a task is queued only with an element"),
    }
    let mut queue = node.queue();
    // Run only as many messages as wait now.
    let count = queue.len();
    let mut batch = mem::take(&mut queue.waiting);
    drop(queue);
    for _ in 0..count {
        let Some(parcel) = node.next(&mut batch) else {
            unreachable!("only this task takes messages");
        };
        if part.collection().has(number) {
            part.run(local, number, parcel);
        } else {
            part.fail(local, number, parcel);
        }
    }
    // Messages that have arrived meanwhile are for another task, because other work may wait for
    // this worker. The element goes back to the queue, or to that task.
    let element = part.take(number).map_or(Element::Ended, Element::Idle);
    let mut queue = node.queue();
    if !batch.is_empty() {
        batch.append(&mut queue.waiting);
        queue.waiting = batch;
    }
    if queue.len() == 0 {
        queue.element = element;
        queue.worker = local.worker();
        return;
    }
    match element {
        Element::Ended => {
            queue.element = Element::Ended;
            // No message arrives any more, but those that wait must be failed.
            let mut left = mem::take(&mut queue.waiting);
            drop(queue);
            while let Some(parcel) = node.next(&mut left) {
                part.fail(local, number, parcel);
            }
        }
        element => {
            drop(queue);
            put_node_task(local.system(), part.collection().id(), number, element);
        }
    }
}

/// Creates a node group.
pub(crate) fn make_node_group<T: Chare>(
    system: &Arc<System>,
    make: impl FnOnce(&mut Cx<T>) -> T + Send + 'static,
) -> NodeGroup<T> {
    let number = Number::new(0, 0, 0);
    let make = Box::new(move |local: &Local, part: &Part<T>| {
        seeds::make_element(local, part, number, None, make);
    });
    let collection = Collection::<T>::add(system, |id| {
        Collection::node(system.id(), id, GroupElement::new(make))
    });
    NodeGroup {
        one: One::new(system.id(), collection.id(), number),
    }
}
