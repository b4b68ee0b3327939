//! Sections: subsets of chares that receive messages, reduce, and scan ([`crate::scan`]) as a
//! group.
//!
//! # Forms
//! | form | multicast | reduction |
//! |---|---|---|
//! | two-level | one message to each worker with members | merged per worker, then up a tree |
//! | point-to-point | one message to each member | one message from each member to the root |
//! | binomial | down a binomial tree of members | up the same tree, merged at each member |
//!
//! The two-level form needs to know the workers of the members. They are not known for chares in no
//! array, since these may be seeds: messages to them go to each member by number.
//!
//! The root of a section's reductions and scans, and of the tree of workers, is the worker that had
//! its first member when the section was created. So communication among members of one worker
//! stays on that worker.
//!
//! # Source
//! Jetley, Kalé, sect. 5.C: two-level schemes pay off if many members share a worker. For small
//! sections, messages between members are fewer, and a tree of members keeps the root from becoming
//! a bottleneck.

mod tree;

use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

pub(crate) use tree::PassOn;

use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local;
use crate::engine::local::any_thread;
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::proxy::{All, One};
use crate::engine::system::System;
use crate::failure::Failure;
use crate::losses::forget_section;
use crate::reduction::{self, Goes, Share, Target, claim};
use crate::reply::Reply;
use crate::scan::{Row, ScanForm};
use crate::state::members::{Members, SectionForm};
use raddle_collections::reduce::{Monoid, Reducer};

/// A subset of an array's elements, or a team of chares that are in no array.
///
/// A small value that is copied freely. [`Array::section`](crate::Array::section) and
/// [`Chares::section`](crate::Chares::section) create sections.
///
/// Reductions and scans end at the worker that had the first member when the section was created
/// (for a seed, its home: the worker that created it). If all members are on that worker, their
/// messages stay on its core. Creating a section costs a lock and some table entries for each
/// member, and no message.
///
/// The members are fixed. If one ends, the section has lost it for good: sends to the section,
/// contributions to it, and waits for its reductions and scans fail. A section lives until it is
/// [destroyed](Self::destroy), at most as long as its array, or as the runtime if its members are
/// in no array.
pub struct Section<T: Chare> {
    pub(crate) system: u32,
    pub(crate) collection: u32,
    id: u32,
    /// True if its members are elements of an array.
    pub(crate) is_of_array: bool,
    chare: PhantomData<fn() -> T>,
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

/// Creates a section of chares that are in no array.
///
/// # Panics
/// If a proxy leads to a chare of an array, a group or another runtime, or to an ended chare, or if
/// two proxies lead to the same chare.
#[track_caller]
pub(crate) fn of_singles<T: Chare>(
    system: &System,
    form: SectionForm,
    proxies: impl IntoIterator<Item: Into<One<T>>>,
) -> Section<T> {
    let collection = Collection::<T>::of(system, Collection::<T>::singles_of(system));
    let mut members = Vec::new();
    for proxy in proxies {
        let one: One<T> = proxy.into();
        assert!(
            one.system == system.id(),
            "{one:?} is a chare of another runtime"
        );
        assert!(
            one.collection == collection.id(),
            "{one:?} is in an array or a group; create its sections with `Array::section`"
        );
        members.push((one, one.number));
    }
    let forms = form.of_singles(members.len());
    Section::make(system, &collection, forms, members)
}

impl<T: Chare> Section<T> {
    /// Creates a section of elements, each with the name that its creator uses.
    #[track_caller]
    pub(crate) fn make(
        system: &System,
        collection: &Collection<T>,
        forms: (SectionForm, SectionForm),
        named: Vec<(impl fmt::Debug, Number)>,
    ) -> Self {
        let mut numbers = Vec::with_capacity(named.len());
        let mut positions = HashMap::with_capacity(named.len());
        for (name, number) in named {
            let twice = positions.insert(number, numbers.len());
            assert!(
                twice.is_none(),
                "a section of {} names {name:?} twice",
                T::NAME
            );
            numbers.push(number);
        }
        let (workers, root) = (system.worker_count(), collection.root());
        let members = Members::new(positions, numbers, forms, workers, root);
        match collection.sections().add(members, collection.directory()) {
            Ok(id) => Self {
                system: system.id(),
                collection: collection.id(),
                id,
                is_of_array: collection.is_array(),
                chare: PhantomData,
            },
            Err(number) => panic!("{}", collection.gone(number, "section")),
        }
    }

    /// Returns the number by which workers know the section.
    pub(crate) fn id(self) -> u32 {
        self.id
    }

    /// Returns the proxy of all members.
    pub fn all(self) -> T::All {
        T::All::from(All::new(self.system, self.collection, Some(self.id)))
    }

    /// Returns the number of members.
    ///
    /// # Panics
    /// If the section no longer exists.
    #[track_caller]
    pub fn count(self) -> usize {
        self.members().numbers.len()
    }

    /// Returns the forms of multicasts and of reductions; neither is [`SectionForm::Auto`].
    ///
    /// # Panics
    /// If the section no longer exists.
    #[track_caller]
    pub fn forms(self) -> (SectionForm, SectionForm) {
        let members = self.members();
        (members.multicast, members.reduction)
    }

    #[track_caller]
    fn members(self) -> Arc<Members> {
        let Some(system) = System::find(self.system) else {
            panic!("the runtime of {self:?} has ended");
        };
        match Collection::<T>::of(&system, self.collection).section(self.id) {
            Ok(members) => members,
            Err(failure) => panic!("{failure}"),
        }
    }

    /// Removes the section and frees its memory; its members live on. Cost: a message to each
    /// worker.
    ///
    /// Messages that are under way to the section, waits for its reductions and scans, and later
    /// uses of it fail with a [`Failure`]. So none of these should be under way.
    pub fn destroy(self) {
        let Self { collection, id, .. } = self;
        let Some(system) = System::find(self.system) else {
            return;
        };
        let shared = Collection::<T>::of(&system, collection);
        let Some(members) = shared.sections().remove(id) else {
            return;
        };
        for worker in 0..system.worker_count() {
            let members = Arc::clone(&members);
            any_thread::post(&system, worker, move |local| {
                forget_section::<T>(local, &Part::of(local, collection), id, &members);
            });
        }
    }

    /// Returns the result of the section's next unclaimed reduction; see [`Cx::contribute_to`].
    ///
    /// The reply fails if the result of the reduction is not an `O`.
    pub fn reduction<O: Send + 'static>(self) -> Reply<O> {
        claim::<T, O>(self.system, self.collection, Some(self.id))
    }
}

impl<T: Chare> Cx<T> {
    /// Contributes to the section's next reduction. [`Section::reduction`] returns its result.
    ///
    /// A reduction has no result if a member has ended without contributing to it. Contributions to
    /// the reduction and waits for it then fail with a [`Failure`].
    ///
    /// # Panics
    /// If the element is not a member of the section.
    #[track_caller]
    pub fn contribute_to<R: Reducer>(&mut self, section: Section<T>, reducer: R) {
        self.contribute_in(section, reducer, Goes::Claim, || Target::Claim);
    }

    /// Contributes to the section's next reduction, and passes its result to `then`, which is
    /// called once, on some worker.
    ///
    /// Without a result `then` is not called, and the failure is reported to all waiters, as for
    /// [`contribute_to`](Self::contribute_to).
    ///
    /// # Panics
    /// If the element is not a member of the section.
    #[track_caller]
    pub fn contribute_to_then<R: Reducer>(
        &mut self,
        section: Section<T>,
        reducer: R,
        then: impl FnOnce(R::Output) + Send + 'static,
    ) {
        self.contribute_in(section, reducer, Goes::Call, || Target::call::<R>(then));
    }

    /// Returns the members of a section, and this element's position among them.
    ///
    /// # Errors
    /// If the section no longer exists.
    #[track_caller]
    pub(crate) fn membership(&self, section: Section<T>) -> Result<(Arc<Members>, usize), Failure> {
        let One {
            system,
            collection,
            number,
            ..
        } = self.one();
        assert!(
            (system, collection) == (section.system, section.collection),
            "{self:?} is not a member of {section:?}: its members are in another collection"
        );
        let members = self.find_section(section.id)?;
        let Some(position) = members.position(number) else {
            let name = self.with_collection(|collection| collection.name(self.try_index()));
            panic!("{name} is not a member of {section:?}");
        };
        Ok((members, position))
    }

    fn find_section(&self, id: u32) -> Result<Arc<Members>, Failure> {
        let One {
            system, collection, ..
        } = self.one();
        local::with(system, |local| match local {
            // This takes no lock if the worker has looked the section up before.
            Some(local) => Part::<T>::of(local, collection).section(id),
            None => self.with_collection(|collection| collection.section(id)),
        })
    }

    #[track_caller]
    fn contribute_in<R: Reducer>(
        &mut self,
        section: Section<T>,
        reducer: R,
        goes: Goes,
        target: impl FnOnce() -> Target + Send + 'static,
    ) {
        let next = self.rounds().of_section(section.id);
        let found = self.membership(section);
        let found = found.and_then(|found| found.0.loss.of(next).map_or(Ok(found), Err));
        let (members, position) = match found {
            Ok(found) => found,
            Err(failure) => return self.with_system(|system| system.fail(failure)),
        };
        let round = self.next_round(Some(section.id));
        self.on_own_worker(move |local, part| {
            let reducer = reducer.placed(position as u64);
            match members.reduction {
                SectionForm::PointToPoint => {
                    let share = Share::of(reducer, goes, target());
                    reduction::send_to_root(local, part, Some(section.id), round, share);
                }
                SectionForm::Binomial => {
                    let share = Share::of(reducer, goes, target());
                    tree::gather(local, part, &members, section.id, position, round, share);
                }
                SectionForm::Auto | SectionForm::TwoLevel => {
                    reduction::contribute(
                        local,
                        part,
                        Some(section.id),
                        round,
                        reducer,
                        goes,
                        target,
                    );
                }
            }
        });
    }
}

impl<T: Chare> Cx<T> {
    /// Contributes to the section's next scan, and returns the merged contributions of all members
    /// before this one, in the order of the section.
    ///
    /// The first member gets the neutral value ([`Monoid::identity`]). Each member takes part once
    /// in each scan, all with the same kind of reducer. Scans of a section are independent of those
    /// of other sections and of the array.
    ///
    /// # Panics
    /// If the chare is not a member of the section; and if the scan can never complete, because the
    /// section no longer exists, a member has ended without contributing, or contributions have
    /// different types. Then this scan, and all later scans of the section, panic in all members.
    /// # Examples
    /// ```
    /// use raddle_chare::reduce::Sum;
    /// use raddle_chare::{Chares, Cx, Section, chare};
    /// use raddle_runtime::Runtime;
    ///
    /// /// Fills a part of a book with lines.
    /// struct Author {
    ///     lines: usize,
    /// }
    ///
    /// #[chare]
    /// impl Author {
    ///     /// The number of its first line.
    ///     #[entry]
    ///     async fn begin(&mut self, cx: &mut Cx<Self>, team: Section<Self>) -> usize {
    ///         cx.scan_in(team, Sum(self.lines)).await
    ///     }
    /// }
    ///
    /// let runtime = Runtime::builder().workers(2).build()?;
    /// let authors = [30, 12, 5].map(|lines| runtime.chare(move |_| Author { lines }));
    /// let team = runtime.section(authors);
    /// let begins = authors.map(|author| author.begin(team));
    /// assert_eq!(begins.map(|begin| begin.wait()), [0, 30, 42]);
    /// # Ok::<(), raddle_runtime::BuildError>(())
    /// ```
    pub async fn scan_in<R: Monoid>(&mut self, section: Section<T>, reducer: R) -> R::Output {
        self.scan_in_with(section, ScanForm::Auto, reducer).await
    }

    /// Contributes like [`scan_in`](Self::scan_in), in the given form, which must be the same for
    /// all members.
    ///
    /// # Panics
    /// As for [`scan_in`](Self::scan_in).
    pub async fn scan_in_with<R: Monoid>(
        &mut self,
        section: Section<T>,
        form: ScanForm,
        reducer: R,
    ) -> R::Output {
        let (members, own) = match self.membership(section) {
            Ok(found) => found,
            Err(failure) => panic!("{failure}"),
        };
        let row = Row {
            group: Some(section.id()),
            count: members.numbers.len() as u64,
            members: Some(members),
            own: own as u64,
        };
        self.scan_row(row, form, reducer).await
    }
}
