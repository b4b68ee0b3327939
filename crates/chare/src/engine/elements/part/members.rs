//! A worker's knowledge of the sections that it uses: the members that are here.
//!
//! The list of a section's local members is built on first use and updated as members come and go.
//! So a message to a section costs time for its local members only, and a move costs time for the
//! sections of the moving element only, however many other sections there are.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Part;
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::object::chare::Chare;
use crate::failure::Failure;
use crate::state::members::{Loss, Members};
use crate::state::rounds::Group;

/// The sections that a worker uses.
#[derive(Default)]
pub(super) struct Sections {
    known: RefCell<HashMap<u32, Known>>,
    /// The number of sections with known local members; 0 if messages go to members by number.
    mapped: Cell<usize>,
    /// A reused buffer for the members that a message goes to.
    addressed: Cell<Vec<Number>>,
}

struct Known {
    members: Arc<Members>,
    /// The local members, once they have been asked for.
    of_here: Option<MembersHere>,
}

/// The members of a section on one worker, without those that are on their way to it.
struct MembersHere {
    here: BTreeSet<Number>,
    /// Members that were inserted but not yet constructed here when last checked. The list never
    /// grows, since members exist before their section.
    unmade: Vec<Number>,
}

impl Sections {
    /// Notes that an element has come here.
    #[inline]
    pub(super) fn comes<T: Chare>(&self, collection: &Collection<T>, number: Number) {
        self.of_one(collection, number, |here| here.insert(number));
    }

    /// Notes that an element has left this worker.
    #[inline]
    pub(super) fn goes<T: Chare>(&self, collection: &Collection<T>, number: Number) {
        self.of_one(collection, number, |here| here.remove(&number));
    }

    #[inline]
    fn of_one<T: Chare>(
        &self,
        collection: &Collection<T>,
        number: Number,
        change: impl Fn(&mut BTreeSet<Number>) -> bool,
    ) {
        // This worker has been notified of everything that it knows, so it sees which elements are
        // members.
        if self.mapped.get() == 0 {
            return;
        }
        let mut known = self.known.borrow_mut();
        for id in collection.sections().of(number) {
            let of_here = known.get_mut(&id).and_then(|known| known.of_here.as_mut());
            of_here.map(|of_here| change(&mut of_here.here));
        }
    }
}

impl<T: Chare> Part<T> {
    fn with_section<R>(&self, id: u32, call: impl FnOnce(&mut Known) -> R) -> Result<R, Failure> {
        let mut known = self.sections.known.borrow_mut();
        if let Some(known) = known.get_mut(&id) {
            return Ok(call(known));
        }
        let members = self.collection.section(id)?;
        let new = Known {
            members,
            of_here: None,
        };
        Ok(call(known.entry(id).or_insert(new)))
    }

    /// Returns the members of a section. Takes no lock if this worker has looked them up before.
    ///
    /// # Errors
    /// When it no longer exists.
    pub(crate) fn section(&self, id: u32) -> Result<Arc<Members>, Failure> {
        self.with_section(id, |known| Arc::clone(&known.members))
    }

    fn with_members<R>(
        &self,
        worker: usize,
        id: u32,
        call: impl FnOnce(&mut MembersHere) -> R,
    ) -> Result<R, Failure> {
        self.with_section(id, |Known { members, of_here }| {
            let find = || {
                let numbers = || members.numbers.iter().copied();
                MembersHere {
                    here: numbers().filter(|&number| self.has(number)).collect(),
                    unmade: numbers()
                        .filter(|&number| self.is_unmade(worker, number))
                        .collect(),
                }
            };
            if of_here.is_none() {
                self.sections.mapped.update(|count| count + 1);
            }
            call(of_here.get_or_insert_with(find))
        })
    }

    /// Returns true if the element was inserted but is not yet constructed here. All senders send
    /// to it here, whatever their epoch, although it is not here yet.
    fn is_unmade(&self, worker: usize, number: Number) -> bool {
        let workers = self.collection.directory().place(number).workers_of(number);
        workers == Some((worker, worker)) && !self.has(number)
    }

    /// Returns the number of elements that a group was made with.
    ///
    /// # Errors
    /// If the section no longer exists.
    pub(crate) fn population_of(&self, group: Group) -> Result<u64, Failure> {
        match group {
            None => Ok(self.collection.population()),
            Some(section) => self.with_section(section, |known| known.members.numbers.len() as u64),
        }
    }

    /// Returns the worker where reductions and scans of a group end.
    ///
    /// # Errors
    /// When it is a section that no longer exists.
    pub(crate) fn root_of(&self, group: Group) -> Result<usize, Failure> {
        match group {
            None => Ok(self.collection.root()),
            Some(section) => self.with_section(section, |known| known.members.root),
        }
    }

    /// Calls `call` with the [`Loss`] of a group's scans.
    ///
    /// # Errors
    /// When it is a section that no longer exists.
    pub(crate) fn with_scan_loss<R>(
        &self,
        group: Group,
        call: impl FnOnce(&Loss) -> R,
    ) -> Result<R, Failure> {
        match group {
            None => Ok(call(self.collection.scan_loss())),
            Some(section) => self.with_section(section, |known| call(&known.members.scan_loss)),
        }
    }

    /// Returns the reason why a scan of a group has no result, if it has none.
    pub(crate) fn scan_loss(&self, group: Group, scan: u64) -> Option<Failure> {
        self.with_scan_loss(group, |loss| loss.of(scan))
            .unwrap_or_else(Some)
    }

    /// Returns the number of local elements that take part in the reductions of a group; 0 for a
    /// section that no longer exists.
    pub(crate) fn live_in(&self, worker: usize, group: Group) -> u64 {
        match group {
            None => self.live.get(),
            Some(section) => self
                .with_members(worker, section, |of_here| of_here.here.len() as u64)
                .unwrap_or_default(),
        }
    }

    /// Calls `call` for each member of a section that is here, or on its way here, for senders in
    /// `epoch`.
    ///
    /// A member that is not yet constructed counts whether or not the mark of its insertion has
    /// come: the sender may not be the one that inserted the member.
    ///
    /// # Errors
    /// If the section no longer exists.
    pub(crate) fn for_members(
        &self,
        worker: usize,
        section: u32,
        epoch: u32,
        mut call: impl FnMut(Number),
    ) -> Result<(), Failure> {
        let mut numbers = self.sections.addressed.take();
        let all_are = self.all_are_here_in(epoch);
        self.with_members(worker, section, |MembersHere { here, unmade }| {
            let is_here = |number: &Number| all_are || self.is_here_in(*number, epoch);
            numbers.extend(here.iter().copied().filter(is_here));
            unmade.retain(|&number| self.is_unmade(worker, number));
            numbers.extend_from_slice(unmade);
        })?;
        let members = self.section(section)?;
        let is_to_come = |number: &Number| {
            members.position(*number).is_some()
                && !self.has(*number)
                && self.is_here_in(*number, epoch)
        };
        numbers.extend(self.presence.arriving().into_iter().filter(is_to_come));
        numbers.drain(..).for_each(&mut call);
        self.sections.addressed.set(numbers);
        Ok(())
    }

    /// Returns true if this worker has used a section.
    pub(crate) fn knows_section(&self, id: u32) -> bool {
        self.sections.known.borrow().contains_key(&id)
    }

    /// Returns false for a section that no longer exists.
    pub(crate) fn has_group(&self, group: Group) -> bool {
        group.is_none_or(|section| self.section(section).is_ok())
    }

    /// Returns the sections of an element, among those with members listed on this worker. Shares of other
    /// sections never wait for local elements.
    pub(crate) fn mapped_sections_of(&self, number: Number) -> Vec<u32> {
        if self.sections.mapped.get() == 0 {
            return Vec::new();
        }
        let known = self.sections.known.borrow();
        let mut sections = self.collection.sections().of(number);
        let is_mapped = |id: &u32| {
            let known = known.get(id);
            known.is_some_and(|known| known.of_here.is_some())
        };
        sections.retain(is_mapped);
        sections
    }

    /// Removes the rounds of a section to which an element contributes no more.
    pub(crate) fn forget_rounds(&self, number: Number, section: u32) {
        if let Some(mut slot) = self.slot(number) {
            slot.forget_rounds(section);
        }
    }

    /// Removes what this worker knows of a section.
    pub(crate) fn forget_section(&self, id: u32) {
        let known = self.sections.known.borrow_mut().remove(&id);
        if known.is_some_and(|known| known.of_here.is_some()) {
            self.sections.mapped.update(|count| count - 1);
        }
    }
}
