//! Sending: the methods of proxies, and the path of a message to the worker of its element.
//!
//! ```text
//! One::send → Call → send_parcel
//!   a worker: send_from_worker
//!     the element is on a worker of this node: parcel::post → Local::post → the mailbox
//!     the worker's attention is needed:        send_attentively → the same, or send_slowly
//!     a priority, a seed, another node:        send_slowly → by_route → Way
//!   any other thread: outside::send_from_outside → by_route → Way
//!   another node:     outside::send_from_node → by_route → Way
//! ```
//!
//! The functions from [`One::send`] to the slot of the mailbox, and from there to the entry, are
//! always inlined. Otherwise a message is passed from one function to the next in memory. It is
//! then stored in parts and soon loaded sixteen bytes at a time, and the processor delays such a
//! load until the stores have reached the cache.
//!
//! # Cost
//! After warm-up, a message to an entry of an array's element allocates nothing and takes no lock,
//! both when it is sent and when it runs, if it has no priority, its arguments fit into a task
//! cell, and the mailbox is the default one. Additional costs:
//!
//! - A reply costs one allocation, which both sides share, and its lock.
//! - An `async` entry costs a box for its future, and a waker. The first one of an element also
//!   costs a box for the messages that wait with it.
//! - Messages to seeds and node groups, and messages from threads that are not workers, are boxed
//!   or take a lock.
//! - Other nodes cost nothing unless the route of an element leads to one.

use crate::by_route::{self, Elsewhere};
use crate::call::{Call, Run};
use crate::engine::elements::parcel::{self, BoxedParcel, NoReply, Parcel};
use crate::engine::elements::part::Part;
use crate::engine::local::{self, Local};
use crate::engine::object::chare::{AsyncEntry, Chare, Entry, Message};
use crate::engine::object::proxy::{All, One};
use crate::measure;
use crate::multicast;
use crate::node;
use crate::outside;
use crate::recorded;
use crate::remote::out;
use crate::reply::{Replier, Reply, What, reply};
use crate::spread::{Spread, SpreadCall};
use crate::suspended::{File, Start};

impl<T: Chare> One<T> {
    /// Sends a message to an entry. Cost: about 15 ns to the own worker; to other workers, the
    /// transfer of a cache line between two cores.
    #[inline]
    pub fn send<E: Entry<Chare = T>>(self, args: E::Args) {
        self.send_parcel(Call::<E, Run, _>::new(args, NoReply));
    }

    /// Sends a message to an entry, and returns its reply.
    pub fn ask<E: Entry<Chare = T>>(self, args: E::Args) -> Reply<E::Output> {
        let (finish, reply) = self.reply(E::NAME);
        self.send_parcel(Call::<E, Run, _>::new(args, finish));
        reply
    }

    /// Sends a message to an asynchronous entry.
    pub fn start<E: AsyncEntry<Chare = T>>(self, args: E::Args) {
        self.send_parcel(Call::<E, Start, _>::new(args, NoReply));
    }

    /// Sends a message to an asynchronous entry, and returns its reply.
    pub fn ask_start<E: AsyncEntry<Chare = T>>(self, args: E::Args) -> Reply<E::Output> {
        let (finish, reply) = self.reply(E::NAME);
        self.send_parcel(Call::<E, Start, _>::new(args, finish));
        reply
    }

    /// Sends a message of a kind that asynchronous entries wait for.
    pub fn file<M: Message<Chare = T>>(self, content: M::Args) {
        self.send_parcel(Call::<M, File, _>::new(content, NoReply));
    }

    fn reply<O>(self, entry: &'static str) -> (Replier<O>, Reply<O>) {
        let what = What {
            chare: T::NAME,
            entry,
        };
        reply(self.system, Some((self.collection, self.number)), what)
    }

    #[inline(always)]
    pub(crate) fn send_parcel(self, parcel: impl Parcel<T>) {
        match local::current(self.system) {
            Some(local) => send_from_worker(&local, self, parcel),
            None => {
                outside::send_from_outside(self, Box::new(parcel));
            }
        }
    }
}

/// Sends a parcel to its element. The short path is for elements with a known worker, without
/// priorities, while nothing rare is the case.
#[inline(always)]
fn send_from_worker<T: Chare>(local: &Local, one: One<T>, parcel: impl Parcel<T>) {
    match local.worker_of(one.collection, one.number) {
        Some(to) if one.priority == 0 && !local.attention().is_set() => {
            parcel::post(local, to, one, parcel);
            local.system().receive_after_send();
        }
        to => send_attentively(local, one, to, parcel),
    }
}

/// Sends a parcel like [`send_from_worker`], in the cases for which there is no short path: a
/// recording is under way, what the sender sends is measured, messages take detours, or the parcel
/// needs [`send_slowly`].
#[inline(never)]
fn send_attentively<T: Chare>(
    local: &Local,
    one: One<T>,
    to: Option<usize>,
    parcel: impl Parcel<T>,
) {
    let bytes = size_of_val(&parcel);
    if let Some((collection, from)) = local.sender()
        && collection == one.collection
    {
        let part = Part::<T>::of(local, collection);
        measure::count_traffic(&part, from, one.number, bytes);
    }
    local.review_attention();
    match to {
        Some(to) if one.priority == 0 && !local.has_detours() => {
            recorded::sent(
                (T::NAME, parcel.entry()),
                (one.collection, one.number),
                Some(to),
                bytes,
            );
            parcel::post(local, to, one, parcel);
            local.system().receive_after_send();
        }
        _ => send_slowly(local, one, Box::new(parcel)),
    }
}

/// Sends a parcel that has a priority, that is for an element on no worker of this node, or that
/// must not overtake other messages; and the first parcel of this worker to a collection.
#[cold]
fn send_slowly<T: Chare>(local: &Local, one: One<T>, parcel: BoxedParcel<T>) {
    let (part, system) = (Part::<T>::of(local, one.collection), local.system());
    let collection = part.collection();
    if collection.is_node_group() {
        recorded::sent(
            (T::NAME, parcel.entry()),
            (one.collection, one.number),
            None,
            parcel.size(),
        );
        return node::to_node(system, collection, one.number, one.priority, parcel);
    }
    match by_route::send_within_node(&mut &*local, collection, one, parcel) {
        None => {}
        Some(Elsewhere::Away(node, parcel)) => {
            out::send_one_away(system, collection, one, (node, local.epoch()), parcel);
        }
        Some(Elsewhere::Gone(parcel)) => {
            let failure = collection.gone(one.number, parcel.entry());
            parcel.fail(system, failure);
        }
    }
}

impl<T: Chare> All<T> {
    /// Sends a message to an entry of each element. Cost: a message for each worker, and a clone of
    /// the arguments for each element.
    pub fn send<E: Entry<Chare = T>>(self, args: E::Args)
    where
        E::Args: Clone,
    {
        self.spread(SpreadCall::<E, Run>::new(args));
    }

    /// Sends a message to an asynchronous entry of each element.
    pub fn start<E: AsyncEntry<Chare = T>>(self, args: E::Args)
    where
        E::Args: Clone,
    {
        self.spread(SpreadCall::<E, Start>::new(args));
    }

    /// Sends each element a message of a kind that asynchronous entries wait for.
    pub fn file<M: Message<Chare = T>>(self, content: M::Args)
    where
        M::Args: Clone,
    {
        self.spread(SpreadCall::<M, File>::new(content));
    }

    fn spread(self, spread: impl Spread<T>) {
        local::with(self.system, |local| match local {
            Some(local) => multicast::spread_from_worker(local, self, spread),
            None => outside::spread_from_outside(self, spread),
        });
    }
}
