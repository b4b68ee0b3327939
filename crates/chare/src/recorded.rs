//! Recording of the events of chares ([`raddle_trace::record`]): messages that are sent, entries
//! that begin, and rare events of the features.
//!
//! Uses only numbers and names, so that every layer of the crate may call it.

use raddle_trace::record::{self, ALL_INDEX, Name, ObjectId, UNKNOWN_WORKER};
use serde::{Deserialize, Serialize};

use crate::address::number::Number;

/// Returns the identity of an element: the number of its collection, then the worker that allocated
/// its number, then its index.
fn object(collection: u32, number: Number) -> ObjectId {
    let number = (number.home() as u64) << 32 | u64::from(number.index());
    ObjectId::new(collection, number)
}

/// Returns true while events are recorded.
#[inline(always)]
pub(crate) fn is_on() -> bool {
    record::is_on()
}

/// Records a message of `bytes` bytes to an entry of an element. The worker is `None` if the sender
/// does not know it.
#[inline]
pub(crate) fn sent(
    entry: (&'static str, &'static str),
    to: (u32, Number),
    worker: Option<usize>,
    bytes: usize,
) {
    if is_on() {
        let name = Name::of_member(entry.0, entry.1);
        let worker = worker.unwrap_or(UNKNOWN_WORKER);
        record::send(name, object(to.0, to.1), worker, bytes);
    }
}

/// Records a message of `bytes` bytes to all elements of a collection on a worker.
pub(crate) fn sent_to_all(
    entry: (&'static str, &'static str),
    collection: u32,
    worker: usize,
    bytes: usize,
) {
    sent(entry, (collection, all_on(worker)), Some(worker), bytes);
}

/// Records that a message to all elements of a collection on this worker begins.
pub(crate) fn entry_of_all(of_all: (&'static str, &'static str), collection: u32, worker: usize) {
    entry(of_all, (collection, all_on(worker)));
}

/// Returns a number that means all elements of a collection on a worker. Its index is larger than
/// that of any element.
fn all_on(worker: usize) -> Number {
    Number::new(worker, 0, ALL_INDEX)
}

/// Records that a message of `bytes` bytes goes from node `me` to another node. Returns its
/// crossing, by which that node records its arrival. The nodes are given by the numbers of their
/// processes in recordings.
pub(crate) fn sent_away(
    (chare, entry): (&'static str, &'static str),
    (collection, number): (u32, Number),
    [me, to]: [u32; 2],
    bytes: usize,
) -> Crossing {
    if !is_on() {
        return Crossing::UNKNOWN;
    }
    let name = Name::of_member(chare, entry);
    record::send_to_node(name, object(collection, number), to, bytes);
    let crossing = record::next_crossing(me);
    record::cross(crossing);
    Crossing(crossing)
}

/// Records that a message of another node has arrived.
pub(crate) fn arrived(
    (chare, entry): (&'static str, &'static str),
    (collection, number): (u32, Number),
    crossing: Crossing,
) {
    if is_on() && crossing != Crossing::UNKNOWN {
        let name = Name::of_member(chare, entry);
        record::arrive(name, object(collection, number), crossing.0);
    }
}

/// The number by which recordings know a message from node to node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Crossing(u64);

impl Crossing {
    /// The crossing of a message that was not recorded when it was sent.
    pub(crate) const UNKNOWN: Self = Self(0);
}

/// Records that an entry of an element begins on this worker.
#[inline]
pub(crate) fn entry((chare, entry): (&'static str, &'static str), of: (u32, Number)) {
    if is_on() {
        record::entry(Name::of_member(chare, entry), object(of.0, of.1));
    }
}

/// Records a rare event of a feature.
#[inline]
pub(crate) fn note(name: &'static str, value: u64) {
    if is_on() {
        record::note(Name::of(name), value);
    }
}
