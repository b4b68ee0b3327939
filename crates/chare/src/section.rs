//! Sections: some of an array's elements, to which messages are sent, and which reduce among themselves.
//!
//! # Forms
//! | form | multicast | reduction |
//! |---|---|---|
//! | two-level | a message to each worker that has members | merged at each worker, then up the tree of workers |
//! | point-to-point | a message to each member | a message from each member to the root |
//! | binomial | each member sends it on to those below it in a binomial tree of members | each member merges those below it and sends that up |
//!
//! The root of a section's reductions, and of the tree of workers, is the worker where its first member was when it was made: what members
//! of one worker do among themselves concerns no other.
//!
//! # Source
//! Jetley, Kalé, sect. 5.C: two-level schemes pay where many members share a worker; for small sections the messages between
//! members are fewer, and a tree of members keeps the root from being the bottleneck.

mod members;

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use raddle_runtime::choice;

pub(crate) use members::{Members, Sections};

use crate::array::Array;
use crate::collection::Collection;
use crate::cx::Cx;
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::Local;
use crate::number::Number;
use crate::parcel::Parcel;
use crate::part::Part;
use crate::proxy::{All, One};
use crate::reduce::Reducer;
use crate::reduction::{Goes, Share, Target, claim};
use crate::reply::Reply;
use crate::spread::Spread;
use crate::system::System;

/// How messages to a section, and reductions over it, travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SectionForm {
    /// Two-level from two members a worker on. Below, point-to-point up to four members; above these, multicasts are two-level and reductions
    /// binomial.
    #[default]
    Auto,
    /// By workers, then by a tree of workers.
    TwoLevel,
    /// Each member by itself.
    PointToPoint,
    /// By a binomial tree of members. A multicast can then be overtaken by what its sender sends after it.
    Binomial,
}

choice! {
    SectionForm is "section form", named by "`--form`":
    Auto "auto", TwoLevel "two-level", PointToPoint "point-to-point", Binomial "binomial";
    expected "auto, two-level, point-to-point or binomial", else UnknownSectionForm
}

/// Sections up to this size are sent to one by one, unless a message to a worker is for several of them.
const FEW: usize = 4;

impl SectionForm {
    fn for_multicast(self, members: usize, workers: usize) -> Self {
        match self {
            Self::Auto if members <= FEW && members < 2 * workers => Self::PointToPoint,
            Self::Auto => Self::TwoLevel,
            form => form,
        }
    }

    fn for_reduction(self, members: usize, workers: usize) -> Self {
        match self {
            Self::Auto if members >= 2 * workers => Self::TwoLevel,
            Self::Auto if members <= FEW => Self::PointToPoint,
            Self::Auto => Self::Binomial,
            form => form,
        }
    }
}

/// Some of an array's elements.
///
/// A small value that is copied freely. Reductions end at the worker where the first member was when the section was made: where all are on
/// that worker, they cross no core.
///
/// Its members are fixed; when one ends, the section has lost it for good, and whoever sends to the
/// section, contributes to it or waits for its reductions is told. A section lives as long as its array, or until it is
/// [destroyed](Self::destroy).
pub struct Section<T: Chare> {
    array: Array<T>,
    id: u32,
}

impl<T: Chare> Clone for Section<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Chare> Copy for Section<T> {}

impl<T: Chare> fmt::Debug for Section<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Section<{}>#{}", T::NAME, self.id)
    }
}

/// Shares that wait at a member of binomial trees for those below, by section and reduction: how many are missing, and their sum.
pub(crate) type Gathered = HashMap<(u32, u64), (usize, Share)>;

impl<T: Chare> Array<T> {
    /// A section of the elements with these indices, in this order.
    ///
    /// # Panics
    /// When there is no such element, or one is named twice.
    #[track_caller]
    pub fn section(self, indices: impl IntoIterator<Item = T::Index>) -> Section<T> {
        self.section_with(SectionForm::Auto, indices)
    }

    /// A section whose messages and reductions travel as `form` says.
    ///
    /// # Panics
    /// As [`section`](Self::section).
    #[track_caller]
    pub fn section_with(
        self,
        form: SectionForm,
        indices: impl IntoIterator<Item = T::Index>,
    ) -> Section<T> {
        let system = self.find_system();
        let collection = system.collection::<T>(self.collection);
        let (mut numbers, mut positions) = (Vec::new(), HashMap::new());
        for index in indices {
            let Some(number) = collection.number_of(index) else {
                panic!(
                    "there is no {}[{index:?}]: it was never made, or has ended",
                    T::NAME
                );
            };
            let twice = positions.insert(number, numbers.len());
            assert!(
                twice.is_none(),
                "a section of {} names {index:?} twice",
                T::NAME
            );
            numbers.push(number);
        }
        let (workers, root) = (system.worker_count(), collection.root);
        let members = Members::new(positions, numbers, form, workers, root);
        match collection.sections.add(members, &collection.directory) {
            Ok(id) => Section { array: self, id },
            Err(number) => panic!("{}", collection.gone(number, "section")),
        }
    }
}

impl<T: Chare> Section<T> {
    /// The proxy of all members.
    pub fn all(self) -> T::All {
        let Array {
            system, collection, ..
        } = self.array;
        T::All::from(All::new(system, collection, Some(self.id)))
    }

    /// The array of which it is a part.
    pub fn array(self) -> Array<T> {
        self.array
    }

    /// The number of members.
    ///
    /// # Panics
    /// When the section is no more.
    #[track_caller]
    pub fn count(self) -> usize {
        self.members().numbers.len()
    }

    /// How messages to its members travel, and reductions over them; neither is [`SectionForm::Auto`].
    ///
    /// # Panics
    /// When the section is no more.
    #[track_caller]
    pub fn forms(self) -> (SectionForm, SectionForm) {
        let members = self.members();
        (members.multicast, members.reduction)
    }

    #[track_caller]
    fn members(self) -> Arc<Members> {
        let system = self.array.find_system();
        let collection = system.collection::<T>(self.array.collection);
        match collection.section(self.id) {
            Ok(members) => members,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Gives the section up, and its memory; its members live on. Cost: a message to each worker.
    ///
    /// What is under way to it then, and whoever uses it later, is told with a [`Failure`]: the section should be quiet.
    pub fn destroy(self) {
        let Self {
            array: Array {
                system, collection, ..
            },
            id,
        } = self;
        let Some(system) = System::find(system) else {
            return;
        };
        let shared = system.collection::<T>(collection);
        let Some(members) = shared.sections.remove(id) else {
            return;
        };
        for worker in 0..system.worker_count() {
            let members = Arc::clone(&members);
            system.post_from_here(worker, move |local| {
                local.forget_section::<T>(&local.part(collection), id, &members);
            });
        }
    }

    /// The result of the section's next reduction that nobody has asked for yet; see [`Cx::contribute_to`].
    ///
    /// Fails when that results in something else than `O`.
    pub fn reduction<O: Send + 'static>(self) -> Reply<O> {
        let Array {
            system, collection, ..
        } = self.array;
        claim::<T, O>(system, collection, Some(self.id))
    }
}

impl<T: Chare> Cx<T> {
    /// Contributes to the section's next reduction; its result goes to who asks for it, with [`Section::reduction`].
    ///
    /// A reduction to which a member has not contributed that has ended has no result: whoever contributes to it or waits for it is told, with a
    /// [`Failure`].
    ///
    /// # Panics
    /// When the element is no member of the section.
    #[track_caller]
    pub fn contribute_to<R: Reducer>(&mut self, section: Section<T>, reducer: R) {
        self.contribute_in(section, reducer, Goes::Claim, || Target::Claim);
    }

    /// Contributes to the section's next reduction; its result goes to `then`, which is called once, on some worker.
    ///
    /// Without a result it is not called, and all who wait are told, as for [`contribute_to`](Self::contribute_to).
    ///
    /// # Panics
    /// When the element is no member of the section.
    #[track_caller]
    pub fn contribute_to_then<R: Reducer>(
        &mut self,
        section: Section<T>,
        reducer: R,
        then: impl FnOnce(R::Output) + Send + 'static,
    ) {
        self.contribute_in(section, reducer, Goes::Call, || Target::call::<R>(then));
    }

    #[track_caller]
    fn contribute_in<R: Reducer>(
        &mut self,
        section: Section<T>,
        reducer: R,
        goes: Goes,
        target: impl FnOnce() -> Target,
    ) {
        let One {
            system,
            collection,
            number,
            ..
        } = self.one();
        assert!(
            (system, collection) == (section.array.system, section.array.collection),
            "{self:?} is no member of {section:?}: that is a section of another array"
        );
        let next = self.rounds().of_section(section.id);
        let found = self.with_part(|local, part| {
            let members = part.section(section.id);
            let whole = members.and_then(|members| match members.loss.of(next) {
                None => Ok(members),
                Some(failure) => Err(failure),
            });
            whole.inspect_err(|failure| local.system.fail(failure.clone()))
        });
        let Ok(members) = found else { return };
        let Some(position) = members.position(number) else {
            let name = self.with_part(|_, part| part.collection.name(self.try_index()));
            panic!("{name} is no member of {section:?}");
        };
        let round = self.next_round(Some(section.id));
        self.with_part(|local, part| {
            let reducer = reducer.placed(position as u64);
            match members.reduction {
                SectionForm::PointToPoint => {
                    let share = Share::of(reducer, goes, target());
                    local.send_to_root(part, Some(section.id), round, share);
                }
                SectionForm::Binomial => {
                    let share = Share::of(reducer, goes, target());
                    local.gather(part, &members, section.id, position, round, share);
                }
                SectionForm::Auto | SectionForm::TwoLevel => {
                    local.contribute(part, Some(section.id), round, reducer, goes, target);
                }
            }
        });
    }
}

/// Members directly below the one at `position` in a binomial tree of `count`.
fn below(position: usize, count: usize) -> impl Iterator<Item = usize> {
    let span = if position == 0 {
        usize::BITS
    } else {
        position.trailing_zeros()
    };
    (0..span)
        .map(move |bit| position.saturating_add(1 << bit))
        .take_while(move |&below| below < count)
}

/// The member above.
fn above(position: usize) -> usize {
    position & (position - 1)
}

/// A multicast on its way down the tree.
struct PassOn<S> {
    spread: S,
    section: u32,
    priority: i32,
    position: usize,
}

impl<T: Chare, S: Spread<T>> Parcel<T> for PassOn<S> {
    fn entry(&self) -> &'static str {
        self.spread.name()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        let members = match part.section(self.section) {
            Ok(members) => members,
            Err(failure) => return local.system.fail(failure),
        };
        for position in below(self.position, members.numbers.len()) {
            let one = part.one(members.numbers[position]);
            local.guard(|| {
                one.with_priority(self.priority).dispatch(Self {
                    spread: self.spread.clone(),
                    section: self.section,
                    priority: self.priority,
                    position,
                });
            });
        }
        self.spread.parcel().deliver(local, part, number);
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.deliver(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        system.fail(failure);
    }
}

/// Sends to the members one by one, or down the tree; false when the section is sent to by workers.
pub(crate) fn spread_by_members<T: Chare>(
    collection: &Collection<T>,
    (section, priority): (u32, i32),
    members: &Members,
    spread: &impl Spread<T>,
) -> bool {
    let one = |position: usize| {
        One::new(collection.system, collection.id, members.numbers[position])
            .with_priority(priority)
    };
    match members.multicast {
        SectionForm::PointToPoint => {
            for position in 0..members.numbers.len() {
                one(position).dispatch(spread.parcel());
            }
        }
        SectionForm::Binomial if members.numbers.is_empty() => {}
        SectionForm::Binomial => one(0).dispatch(PassOn {
            spread: spread.clone(),
            section,
            priority,
            position: 0,
        }),
        SectionForm::Auto | SectionForm::TwoLevel => return false,
    }
    true
}

/// A share of a reduction on its way up the tree of members.
struct Rise {
    section: u32,
    position: usize,
    round: u64,
    share: Share,
}

impl<T: Chare> Parcel<T> for Rise {
    fn entry(&self) -> &'static str {
        "reduction"
    }

    /// Whatever the member does meanwhile: this is not its affair.
    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        let at = part.slot_of(number);
        if part.slots.borrow_mut().get_mut(at, number).is_none() {
            return part.keep(local, number, Box::new(self));
        }
        let members = match part.section(self.section) {
            Ok(members) => members,
            Err(failure) => return local.system.fail(failure),
        };
        local.gather(
            part,
            &members,
            self.section,
            self.position,
            self.round,
            self.share,
        );
    }

    fn run(self: Box<Self>, local: &Local, part: &Part<T>, number: Number) {
        self.deliver(local, part, number);
    }

    fn fail(self: Box<Self>, system: &System, failure: Failure) {
        system.fail(failure);
    }
}

impl Local {
    /// Merges a share at a member, and sends all up when those below have sent theirs.
    fn gather<T: Chare>(
        &self,
        part: &Part<T>,
        members: &Members,
        section: u32,
        position: usize,
        round: u64,
        share: Share,
    ) {
        if let Some(failure) = members.loss.of(round) {
            return self.system.fail(failure);
        }
        let count = members.numbers.len();
        let (number, key) = (members.numbers[position], (section, round));
        let mut gathered = part.gathered.borrow_mut();
        let own = gathered.entry(number).or_default();
        let (waiting, sum) = own
            .entry(key)
            .or_insert_with(|| (1 + below(position, count).count(), Share::default()));
        *waiting -= 1;
        sum.add(share);
        let done = (*waiting == 0).then(|| own.remove(&key)).flatten();
        if own.is_empty() {
            gathered.remove(&number);
        }
        drop(gathered);
        let Some((_, share)) = done else { return };
        if position == 0 {
            return self.send_to_root(part, Some(section), round, share);
        }
        let position = above(position);
        part.one(members.numbers[position]).dispatch(Rise {
            section,
            position,
            round,
            share,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binomial_tree_reaches_everybody_once() {
        for count in 0..70 {
            let mut reached = vec![0; count];
            let mut front = if count > 0 { vec![0] } else { Vec::new() };
            while let Some(position) = front.pop() {
                reached[position] += 1;
                for child in below(position, count) {
                    assert_eq!(above(child), position);
                    front.push(child);
                }
            }
            assert!(
                reached.iter().all(|&times| times == 1),
                "{count}: {reached:?}"
            );
        }
    }
}
