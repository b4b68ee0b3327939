//! What nodes tell each other about elements that move: see [`crate::migration`].

use serde::{Deserialize, Serialize};

use super::{Reachable, plain};
use crate::balance::Measured;
use crate::codec::Packed;
use crate::door::Asker;
use crate::local::Local;
use crate::nodes;
use crate::number::Number;
use crate::part::Frozen;
use crate::system::System;

/// An element's number, and the node and the worker to which it is to go.
pub(crate) type Wish = (u64, u16, u16);

/// A letter about elements that move.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Travel {
    /// Elements are to move. For the first node.
    Want {
        collection: u32,
        wishes: Vec<Wish>,
        /// They are ready to go to another node.
        are_frozen: bool,
        /// Who is told when they have come.
        reply: Option<u64>,
    },
    /// Elements of an array that the sender has for itself are to move. For the first node.
    WantWithin,
    /// A batch begins: its epoch, the nodes that elements leave or move in, and where they are to go, by collection.
    Prepare {
        epoch: u32,
        sources: Vec<u16>,
        groups: Vec<(u32, Vec<Wish>)>,
    },
    /// The sender knows the batch, in which so many elements of its own move. For the first node.
    Known {
        count: u64,
    },
    /// All know the batch, and go over to its epoch.
    GoOver {
        epoch: u32,
    },
    /// A sender has gone over to this epoch: no more comes from it by the old routes.
    Marker {
        epoch: u32,
    },
    /// The sender's worker asks whether all that it has sent has arrived; that is the answer.
    Ask {
        worker: u16,
        group: u32,
    },
    Answer {
        worker: u16,
        group: u32,
    },
    /// An element comes.
    Arrive {
        collection: u32,
        number: u64,
        crosser: Option<Crosser>,
    },
    /// Elements of the batch have come. For the first node.
    HaveCome {
        count: u64,
    },
    /// All elements of the batch have come.
    End,
    /// The receiver's workers are to say what they have measured of an array.
    Measure {
        collection: u32,
    },
    /// That, of one of them. For the array's root.
    Measured {
        collection: u32,
        measured: Measured,
    },
    /// It is time to balance an array. For its root.
    BalancingIsDue {
        collection: u32,
    },
}

/// An element on its way between nodes, with what waits for it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Crosser {
    pub(crate) element: Frozen,
    pub(crate) backlog: Vec<Waiting>,
}

/// A message that goes with its element.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    pub(crate) door: u16,
    /// Under which the node that the element leaves waits for a reply.
    pub(crate) reply: Option<(u16, u64)>,
    pub(crate) is_to_all: bool,
    #[serde(with = "plain")]
    pub(crate) args: Vec<u8>,
}

impl Waiting {
    /// A message that was packed on node `me`.
    pub(crate) fn new(packed: Packed, me: u16) -> Self {
        let Packed {
            door,
            reply,
            args,
            is_to_all,
        } = packed;
        Self {
            door,
            reply: reply.map(|reply| (me, reply)),
            is_to_all,
            args,
        }
    }
}

impl System {
    /// Does what a letter about elements that move is for. On the thread that receives letters.
    pub(super) fn travel(&self, from: u16, travel: Travel) {
        match travel {
            Travel::GoOver { epoch } => self.go_over_to(epoch),
            Travel::Marker { epoch } => self.pass_marker_on(epoch),
            Travel::Ask { worker, group } => {
                self.send_travel(from, Travel::Answer { worker, group });
            }
            Travel::Answer { worker, group } => {
                self.post_from_here(worker.into(), move |local| local.take_answer(group));
            }
            Travel::Arrive {
                collection,
                number,
                crosser,
            } => {
                let away = nodes::away(self).expect("letters have come");
                match away.collection(collection) {
                    Some(found) => found.arrive(self, Number::from_bits(number), crosser),
                    // It was destroyed meanwhile.
                    None => self.send_travel(0, Travel::HaveCome { count: 1 }),
                }
            }
            Travel::Want {
                collection,
                wishes,
                are_frozen,
                reply,
            } => {
                let asker = reply.map(|reply| Asker::new(self.id, from, reply));
                self.at_coordinator(move |local| {
                    local.take_wishes(collection, wishes, are_frozen, asker);
                });
            }
            Travel::WantWithin => self.at_coordinator(move |local| local.take_wish_within(from)),
            Travel::Prepare {
                epoch,
                sources,
                groups,
            } => self.at_coordinator(move |local| local.prepare(epoch, sources, groups)),
            Travel::Known { count } => self.at_coordinator(move |local| local.is_known(count)),
            Travel::HaveCome { count } => self.at_coordinator(move |local| local.came(count)),
            Travel::End => self.at_coordinator(Local::end_batch),
            Travel::Measure { collection } => {
                self.with_wide(collection, |found| found.measure(self));
            }
            Travel::Measured {
                collection,
                measured,
            } => self.with_wide(collection, |found| found.measured(self, measured)),
            Travel::BalancingIsDue { collection } => {
                self.with_wide(collection, |found| found.balancing_is_due(self));
            }
        }
    }

    /// Calls `call` with a collection over nodes, unless it was destroyed.
    fn with_wide(&self, collection: u32, call: impl FnOnce(&dyn Reachable)) {
        let away = nodes::away(self).expect("letters have come");
        if let Some(found) = away.collection(collection) {
            call(&*found);
        }
    }
}
