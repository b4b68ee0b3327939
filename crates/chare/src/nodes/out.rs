//! Letters on their way out.

use super::{Away, Letter, Outcome};
use crate::collection::Collection;
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local;
use crate::parcel::{Finish, Parcel};
use crate::proxy::{All, One};
use crate::reply::Replier;
use crate::spread::Spread;
use crate::system::System;

use super::wire::{Across, Crossing, reading};

use raddle_sync::prim::Relaxed;

/// A message as it crosses.
pub(crate) struct Packed {
    pub(crate) door: u16,
    pub(crate) reply: Option<u64>,
    pub(crate) args: Vec<u8>,
}

impl Packed {
    /// By which an element is told to end: no entry has it.
    pub(super) const END_DOOR: u16 = u16::MAX;

    /// That.
    pub(crate) const END: Self = Self {
        door: Self::END_DOOR,
        reply: None,
        args: Vec::new(),
    };
}

impl System {
    /// Sends a letter to another node; should that be no more, it has been told.
    pub(crate) fn send_away(&self, node: u16, letter: &Letter<'_>) {
        let Some(away) = self.away.get() else { return };
        let bytes = postcard::to_allocvec(letter).expect("letters are plain");
        if letter.is_counted() {
            // Relaxed: read when this node has been found quiet, after whoever sends.
            away.sent.fetch_add(1, Relaxed);
        }
        let worker = local::with(self.id, |local| local.map(|local| local.worker));
        if let Err(failure) = away.carrier.carry(worker, node, bytes) {
            self.fail_here(failure);
        }
    }

    /// Sends a letter to all other nodes.
    pub(crate) fn send_to_others(&self, letter: &Letter<'_>) {
        let others = self.away.get().into_iter().flat_map(Away::others);
        others.for_each(|node| self.send_away(node, letter));
    }

    /// Sends a message to the element that lives on another node.
    #[cold]
    pub(crate) fn send_one_away<T: Chare>(
        &self,
        collection: &Collection<T>,
        one: One<T>,
        node: u16,
        parcel: Box<dyn Parcel<T>>,
    ) {
        let number = collection
            .wide
            .expect("only elements of these live elsewhere");
        let Some(Packed { door, reply, args }) = parcel.cross(self, node) else {
            return;
        };
        self.send_away(
            node,
            &Letter::One {
                collection: number,
                number: one.number.bits(),
                priority: one.priority,
                door,
                reply,
                args: &args,
            },
        );
    }

    /// Sends a message to the elements of a collection that other nodes have, if it is over nodes.
    pub(crate) fn spread_away<T: Chare>(
        &self,
        collection: &Collection<T>,
        all: All<T>,
        spread: &impl Spread<T>,
    ) {
        let (Some(number), None) = (collection.wide, all.section) else {
            return;
        };
        match spread.cross() {
            // It has come from another node.
            None => {}
            Some(Ok((door, args))) => self.send_to_others(&Letter::All {
                collection: number,
                priority: all.priority,
                door,
                args: &args,
            }),
            Some(Err(failure)) => self.fail(failure),
        }
    }
}

/// What a message for an entry of `T` crosses as; none where it cannot, of which whoever waits is told.
pub(crate) fn pack<T: Chare, A, O>(
    across: Option<Across<A, O>>,
    entry: &str,
    args: &A,
    finish: impl Finish<O>,
    system: &System,
    node: u16,
) -> Option<Packed> {
    match (written::<T, A, O>(across.as_ref(), entry, args), across) {
        (Ok((door, args)), Some(across)) => Some(Packed {
            door,
            reply: finish.cross(system, node, across.output),
            args,
        }),
        (Err(failure), _) => {
            finish.gone(system, failure);
            None
        }
        (Ok(_), None) => unreachable!("it was written by the way across"),
    }
}

/// The door and the arguments of a message for an entry of `T`.
///
/// # Errors
/// When its chare was not made for nodes, or the arguments cannot be written.
pub(crate) fn written<T: Chare, A, O>(
    across: Option<&Across<A, O>>,
    entry: &str,
    args: &A,
) -> Result<(u16, Vec<u8>), Failure> {
    let name = T::NAME;
    let Some(across) = across else {
        return Err(Failure::new(format!(
            "a message for `{name}::{entry}` would go to another node: write `#[chare(nodes)]` for its messages to cross"
        )));
    };
    let args = (across.args.write)(args).map_err(|error| {
        Failure::new(format!(
            "a message for `{name}::{entry}` cannot go to another node: {error}"
        ))
    })?;
    Ok((across.door, args))
}

impl<O: Send + 'static> Replier<O> {
    /// Waits for what another node replies; returns the number of the reply.
    pub(crate) fn cross_to(self, system: &System, node: u16, output: Crossing<O>) -> Option<u64> {
        let away = system.away.get()?;
        let id = system.id;
        Some(away.await_reply(node, move |outcome| match outcome {
            Outcome::Bytes(bytes) => {
                let read = reading(id, || (output.read)(bytes));
                self.give(read.map_err(|error| {
                    Failure::new(format!("a reply from another node cannot be read: {error}"))
                }));
            }
            Outcome::Failed(failure) => self.give(Err(failure)),
            Outcome::Panicked(failure) => {
                if let Some(system) = System::find(id) {
                    self.give_panic(&system, failure);
                }
            }
        }))
    }
}
