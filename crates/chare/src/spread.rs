//! Messages to many: one to each worker, which gives it to the elements that it has.
//!
//! Each element gets it once, also one that moves meanwhile: it counts as being where the sender's epoch says ([`crate::migration`]).

use std::sync::Arc;

use crate::collection::Collection;
use crate::entry::{AsyncEntry, Chare, Entry, Message};
use crate::failure::Failure;
use crate::local::Local;
use crate::nodes::written;
use crate::parcel::{Call, Parcel, ToAll};
use crate::part::Part;
use crate::proxy::All;
use crate::section::{Members, spread_by_members};
use crate::suspended::{File, Start};

/// A message to many elements of `T`.
pub(crate) trait Spread<T: Chare>: Clone + Send + 'static {
    /// What it is for, in messages of errors.
    fn name(&self) -> &'static str;

    /// What the last of them gets.
    fn into_parcel(self) -> impl Parcel<T>;

    /// What it crosses nodes as: its door and its arguments; none for what has come from another node.
    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>>;

    /// What each of the others gets.
    #[inline]
    fn parcel(&self) -> impl Parcel<T> {
        self.clone().into_parcel()
    }
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

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        Some(written::<E::Chare, _, _>(
            E::ACROSS.as_ref(),
            E::NAME,
            &self.args,
        ))
    }

    #[inline]
    fn into_parcel(self) -> impl Parcel<E::Chare> {
        Call::<E, _> {
            args: self.args,
            finish: ToAll,
        }
    }
}

impl<E: AsyncEntry<Args: Clone>> Spread<E::Chare> for SpreadStart<E> {
    fn name(&self) -> &'static str {
        E::NAME
    }

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        Some(written::<E::Chare, _, _>(
            E::ACROSS.as_ref(),
            E::NAME,
            &self.args,
        ))
    }

    fn into_parcel(self) -> impl Parcel<E::Chare> {
        Start::<E, _> {
            args: self.args,
            finish: ToAll,
        }
    }
}

impl<M: Message<Content: Clone>> Spread<M::Chare> for SpreadFile<M> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        Some(written::<M::Chare, _, _>(
            M::ACROSS.as_ref(),
            M::NAME,
            &self.content,
        ))
    }

    fn into_parcel(self) -> impl Parcel<M::Chare> {
        File::<M, _> {
            content: self.content,
            finish: ToAll,
        }
    }
}

/// How a message to many is on its way.
pub(crate) enum Through {
    /// It has been sent to members of the section.
    Members,
    /// It is to be sent to workers: to all, or to those that have members.
    Workers(Option<Arc<Members>>),
}

/// Sends a message to members if that is the section's form.
///
/// # Errors
/// When the section is no more, or has lost a member.
pub(crate) fn set_out<T: Chare>(
    collection: &Collection<T>,
    all: All<T>,
    find: impl FnOnce(u32) -> Result<Arc<Members>, Failure>,
    spread: &impl Spread<T>,
) -> Result<Through, Failure> {
    let Some(section) = all.section else {
        return Ok(Through::Workers(None));
    };
    let members = find(section)?;
    if let Some(failure) = members.loss.any() {
        return Err(failure);
    }
    if spread_by_members(collection, (section, all.priority), &members, spread) {
        return Ok(Through::Members);
    }
    Ok(Through::Workers(Some(members)))
}

impl Local {
    /// Sends a message to all elements of a collection, or of a section.
    pub(crate) fn spread<T: Chare>(&self, all: All<T>, spread: impl Spread<T>) {
        let All {
            collection,
            section,
            priority,
            ..
        } = all;
        let part = self.part::<T>(collection);
        let find = |section| part.section(section);
        let members = match set_out(&part.collection, all, find, &spread) {
            Ok(Through::Members) => return,
            Ok(Through::Workers(members)) => members,
            Err(failure) => return self.system.fail(failure),
        };
        let epoch = self.epoch.get();
        let crossed = self.system.cross_spread(&part.collection, all, &spread);
        self.system.spread_away(crossed, epoch);
        for worker in workers_with(members.as_deref(), self.system.worker_count()) {
            let spread = spread.clone();
            self.post_with(priority, None, worker, move |local| {
                local.arrive_spread(&local.part(collection), section, epoch, spread);
            });
        }
    }

    /// Gives a message to the elements that this worker has for those in `epoch`; a clone or a result that panics takes no other element's along.
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
            return self.give_members(part, section, epoch, spread);
        }
        for number in part.to_come(epoch) {
            self.guard(|| part.keep_early(number, Box::new(spread.parcel())));
        }
        let mut at = 0;
        while let Some(number) = part.next_number(&mut at, epoch) {
            self.guard(|| spread.parcel().deliver(self, part, number));
        }
    }
}

impl Local {
    /// Gives a message to the members of a section that are here. The last gets the message itself: when he has run, nobody has any of what was
    /// sent but who has kept it.
    fn give_members<T: Chare>(
        &self,
        part: &Part<T>,
        section: u32,
        epoch: u32,
        spread: impl Spread<T>,
    ) {
        let mut last = None;
        let give = |number| {
            if let Some(before) = last.replace(number) {
                self.guard(|| spread.parcel().deliver(self, part, before));
            }
        };
        let given = part.for_members(self.worker, section, epoch, give);
        given.unwrap_or_else(|failure| self.system.fail(failure));
        if let Some(last) = last {
            self.guard(|| spread.into_parcel().deliver(self, part, last));
        }
    }
}

/// The workers that have elements of a collection, or may have members of a section.
pub(crate) fn workers_with(
    members: Option<&Members>,
    worker_count: usize,
) -> impl Iterator<Item = usize> {
    let has_any = move |&worker: &usize| members.is_none_or(|members| members.may_be_on(worker));
    (0..worker_count).filter(has_any)
}
