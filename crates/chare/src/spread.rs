//! Messages to many: one to each worker, which gives it to the elements that it has.
//!
//! Each element gets it once, also one that moves meanwhile: it counts as being where the sender's epoch says ([`crate::migration`]).

use std::marker::PhantomData;
use std::sync::Arc;

use crate::call::{Call, Kind, written};
use crate::collection::Collection;
use crate::entry::{Chare, Method};
use crate::failure::Failure;
use crate::local::Local;
use crate::members::Members;
use crate::parcel::{Parcel, ToAll};
use crate::part::Part;
use crate::proxy::All;
use crate::section::spread_by_members;

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

/// A call of a method of each element.
pub(crate) struct SpreadCall<M: Method, K> {
    args: M::Args,
    kind: PhantomData<fn() -> K>,
}

impl<M: Method, K> SpreadCall<M, K> {
    pub(crate) fn new(args: M::Args) -> Self {
        Self {
            args,
            kind: PhantomData,
        }
    }
}

impl<M: Method<Args: Clone>, K> Clone for SpreadCall<M, K> {
    fn clone(&self) -> Self {
        Self::new(self.args.clone())
    }
}

impl<M: Method<Args: Clone>, K: Kind<M>> Spread<M::Chare> for SpreadCall<M, K> {
    fn name(&self) -> &'static str {
        M::NAME
    }

    fn cross(&self) -> Option<Result<(u16, Vec<u8>), Failure>> {
        Some(written::<M>(&self.args))
    }

    #[inline]
    fn into_parcel(self) -> impl Parcel<M::Chare> {
        Call::<M, K, _>::new(self.args, ToAll)
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
        let crossed = self
            .system
            .cross_spread(&part.collection, all, || spread.cross());
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
