//! The ends of elements: asked for, by a panic, or of those that never came.

use std::any::Any;
use std::mem;

use super::{Part, Slot};
use crate::entry::Chare;
use crate::failure::{Failure, contain, said};
use crate::local::Local;
use crate::nodes::Letter;
use crate::number::Number;
use crate::rounds::{Group, NextRounds};

impl<T: Chare> Part<T> {
    /// What waits for an element that will not come fails.
    #[cold]
    pub(crate) fn fail_early(&self, local: &Local, number: Number) {
        self.forget_to_come(number);
        let early = self.early.borrow_mut().remove(&number);
        for parcel in early.into_iter().flatten() {
            self.fail(local, number, parcel);
        }
    }

    /// The end of an element, which contributes to `rounds` next; what waits for it fails, and what it has not received.
    #[cold]
    pub(crate) fn end(&self, local: &Local, number: Number, rounds: &NextRounds) {
        self.end_and(local, number, rounds, &|kind| {
            local.system.fail(self.collection.gone(number, kind));
        });
    }

    /// The end of an element; what waits for it fails. `tell` is told the kind of each message that it has not received.
    fn end_and(
        &self,
        local: &Local,
        number: Number,
        rounds: &NextRounds,
        tell: &dyn Fn(&'static str),
    ) {
        let Some(mut slot) = self.take(number) else {
            return;
        };
        let index = slot.index;
        let aside = slot.take_aside();
        self.take_leave(local, number, index, rounds);
        self.drop_slot(local, slot);
        let Some(mut aside) = aside else { return };
        for parcel in mem::take(&mut aside.backlog) {
            self.fail(local, number, parcel);
        }
        aside.drop_all(local, tell);
    }

    /// The sections of an element that has ended have no results any more, but of the reductions and scans to which it has contributed.
    fn break_sections(
        &self,
        local: &Local,
        number: Number,
        index: Option<T::Index>,
        rounds: &NextRounds,
    ) {
        let sections = self.collection.sections.lose(number);
        let gathered = self.take_gathered(number);
        for (section, members) in sections {
            let member = self.collection.name(index);
            let of = T::NAME;
            let text = format!("a section of {of} has lost {member}, which has ended");
            let loss = members
                .loss
                .note(rounds.of_section(section), &Failure::new(text));
            let scan = rounds.scan_of(Some(section));
            let scan_loss = members.scan_loss.note(scan, &lacks(&member));
            if !(loss || scan_loss) {
                continue;
            }
            let collection = self.collection.id;
            for worker in 0..local.system.worker_count() {
                local.post_seldom(worker, move |local| {
                    local.lose_member::<T>(&local.part(collection), section);
                });
            }
        }
        // What waits for those below it in trees goes without them: to the root, which knows whether there will be a result.
        for ((section, round), (_, share)) in gathered {
            local.guard(|| local.send_to_root(self, Some(section), round, share));
        }
    }

    /// Scans over all elements from `from` on, to which an element that has ended does not contribute, are never complete.
    fn lose_contributions(&self, local: &Local, index: Option<T::Index>, from: u64) {
        if self.collection.has_birth() {
            let member = self.collection.name(index);
            self.break_scans(local, None, from, &lacks(&member));
        }
    }

    /// Scans of a group from `from` on have no results: whoever waits for one, or will, is told why.
    pub(crate) fn break_scans(&self, local: &Local, group: Group, from: u64, failure: &Failure) {
        let is_first = self.break_scans_here(local, group, from, failure);
        if let (true, None, Some(collection)) = (is_first, group, self.collection.wide) {
            local.system.send_to_others(&Letter::ScanLoss {
                collection,
                from,
                why: &failure.to_string(),
            });
        }
    }

    /// The same for those on this node; false where they know.
    pub(crate) fn break_scans_here(
        &self,
        local: &Local,
        group: Group,
        from: u64,
        failure: &Failure,
    ) -> bool {
        // What is no more has told all who wait already.
        let is_first = self.with_scan_loss(group, |loss| loss.note(from, failure));
        if is_first != Ok(true) {
            return false;
        }
        let collection = self.collection.id;
        for worker in 0..local.system.worker_count() {
            local.post_seldom(worker, move |local| {
                local.lose_scans::<T>(&local.part(collection), group);
            });
        }
        true
    }

    /// Nobody waits any more for contributions of an element, which contributes to `rounds` next.
    pub(crate) fn take_leave(
        &self,
        local: &Local,
        number: Number,
        index: Option<T::Index>,
        rounds: &NextRounds,
    ) {
        let is_array = self.collection.is_array();
        if is_array || rounds.has_sections() {
            // What was contributed may be complete now, and is merged by the program's code.
            local.guard(|| local.leaves(self, number, rounds));
        }
        // The index is free before the root can complete a reduction that does not count the
        // element: a program may insert another element when it has that result.
        self.remove(local, number, index);
        if is_array {
            local.tell_root(self, rounds.array(), -1);
        }
        // Whoever makes a section from now on sees that there is no such element.
        self.break_sections(local, number, index, rounds);
        if is_array {
            self.lose_contributions(local, index, rounds.scan_of(None));
        }
    }

    /// Drops an element; a destructor that panics leaves the rest to go.
    pub(super) fn drop_slot(&self, local: &Local, mut slot: Slot<T>) {
        let index = slot.index;
        if let Some(aside) = slot.take_aside() {
            aside.drop_all(local, &|_| {});
        }
        contain(
            || drop(slot),
            |panic| {
                let name = self.collection.name(index);
                let text = format!("{name} panicked in `drop`: {}", said(panic));
                local.system.fail(Failure::new(text));
            },
        );
    }

    /// An entry of an element has panicked: its values can be anything, and it is dropped, after `tell` has told who is to know.
    #[cold]
    pub(crate) fn panicked(
        &self,
        local: &Local,
        number: Number,
        entry: &str,
        rounds: &NextRounds,
        panic: &(dyn Any + Send),
        tell: impl FnOnce(Failure),
    ) {
        let index = self.index_of(number);
        let failure = Failure::panicked(&self.collection.name(index), entry, panic);
        self.collection.note_death(number, index, &failure);
        tell(failure);
        // What it has not received has failed with it, and whoever is to know that has been told.
        self.end_and(local, number, rounds, &|_| {});
    }
}

/// Why scans are never complete.
fn lacks(member: &str) -> Failure {
    Failure::new(format!(
        "a scan lacks the contribution of {member}, which has ended"
    ))
}
