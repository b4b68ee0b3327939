//! Messages to many: one to each worker, which gives it to the elements that it has.
//!
//! Each element gets it once, also one that moves meanwhile: it counts as being where the sender's epoch says ([`crate::migration`]).

use crate::collection::Collection;
use crate::entry::{AsyncEntry, Chare, Entry, Message};
use crate::local::Local;
use crate::number::Number;
use crate::parcel::{Call, Parcel, ToAll};
use crate::part::Part;
use crate::proxy::All;
use crate::section::spread_by_members;
use crate::suspended::{File, Start};

/// A message to many elements of `T`.
pub(crate) trait Spread<T: Chare>: Clone + Send + 'static {
    /// What it is for, in messages of errors.
    fn name(&self) -> &'static str;

    /// What each of them gets.
    fn parcel(&self) -> impl Parcel<T>;
}

/// A call of an entry of each.
pub(crate) struct SpreadCall<E: Entry> {
    pub(crate) args: E::Args,
}

/// The start of an asynchronous entry of each.
pub(crate) struct SpreadStart<E: AsyncEntry> {
    pub(crate) args: E::Args,
}

/// A message for the inbox of each.
pub(crate) struct SpreadFile<M: Message> {
    pub(crate) content: M::Content,
}

impl<E: Entry<Args: Clone>> Clone for SpreadCall<E> {
    fn clone(&self) -> Self {
        Self {
            args: self.args.clone(),
        }
    }
}

impl<E: AsyncEntry<Args: Clone>> Clone for SpreadStart<E> {
    fn clone(&self) -> Self {
        Self {
            args: self.args.clone(),
        }
    }
}

impl<M: Message<Content: Clone>> Clone for SpreadFile<M> {
    fn clone(&self) -> Self {
        Self {
            content: self.content.clone(),
        }
    }
}

impl<E: Entry<Args: Clone>> Spread<E::Chare> for SpreadCall<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    #[inline]
    fn parcel(&self) -> impl Parcel<E::Chare> {
        Call::<E, _> {
            args: self.args.clone(),
            finish: ToAll,
        }
    }
}

impl<E: AsyncEntry<Args: Clone>> Spread<E::Chare> for SpreadStart<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn parcel(&self) -> impl Parcel<E::Chare> {
        Start::<E, _> {
            args: self.args.clone(),
            finish: ToAll,
        }
    }
}

impl<M: Message<Content: Clone>> Spread<M::Chare> for SpreadFile<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn parcel(&self) -> impl Parcel<M::Chare> {
        File::<M, _> {
            content: self.content.clone(),
            finish: ToAll,
        }
    }
}

impl Local {
    /// Sends a message to all elements of a collection, or of a section.
    pub(crate) fn spread<T: Chare>(&self, all: All<T>, spread: impl Spread<T>) {
        let All {
            collection,
            section,
            ..
        } = all;
        let part = self.part::<T>(collection);
        if section.is_some_and(|section| spread_by_members(&part.collection, section, &spread)) {
            return;
        }
        if let Some(number) = section.and_then(|section| ended_member(&part.collection, section)) {
            return self
                .system
                .fail(part.collection.gone(number, spread.name()));
        }
        let epoch = self.epoch.get();
        for worker in workers_with(&part.collection, section, epoch, self.system.worker_count()) {
            let spread = spread.clone();
            self.post(worker, move |local| {
                local.arrive_spread(&local.part(collection), section, epoch, spread);
            });
        }
    }

    /// Gives a message to the elements that this worker has for those in `epoch`.
    pub(crate) fn arrive_spread<T: Chare>(
        &self,
        part: &Part<T>,
        section: Option<u32>,
        epoch: u32,
        spread: impl Spread<T>,
    ) {
        if part.is_unborn() {
            return part.wait_for_birth(move |local, part| {
                local.arrive_spread(part, section, epoch, spread);
            });
        }
        // Who sent it has gone over to this epoch, and so does who gets it.
        self.go_over(epoch);
        if let Some(section) = section {
            let members = part.section(section);
            for &number in members
                .numbers
                .iter()
                .filter(|&&number| part.is_here_in(number, epoch))
            {
                spread.parcel().deliver(self, part, number);
            }
            return;
        }
        for number in part.to_come(epoch) {
            part.keep_early(number, Box::new(spread.parcel()));
        }
        let mut at = 0;
        while let Some(number) = part.next_number(&mut at, epoch) {
            spread.parcel().deliver(self, part, number);
        }
    }
}

/// A member of a section that is no more.
pub(crate) fn ended_member<T: Chare>(collection: &Collection<T>, section: u32) -> Option<Number> {
    let members = collection.section(section);
    members
        .numbers
        .iter()
        .copied()
        .find(|&number| !collection.has(number))
}

/// The workers that have elements of a collection, or members of a section, for those in `epoch`.
pub(crate) fn workers_with<T: Chare>(
    collection: &Collection<T>,
    section: Option<u32>,
    epoch: u32,
    worker_count: usize,
) -> impl Iterator<Item = usize> {
    let mut has = vec![section.is_none(); worker_count];
    if let Some(section) = section {
        for &number in &collection.section(section).numbers {
            if let Some(worker) = collection.directory.place(number).worker_of(number, epoch) {
                has[worker] = true;
            }
        }
    }
    (0..worker_count).filter(move |&worker| has[worker])
}
