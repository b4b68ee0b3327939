//! The ends of elements: asked for, by a panic, or of those that never came.

use std::any::Any;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Part, Slot};
use crate::entry::Chare;
use crate::failure::Failure;
use crate::local::Local;
use crate::number::Number;
use crate::reduction::NextRounds;

impl<T: Chare> Part<T> {
    /// What waits for an element that will not come fails.
    #[cold]
    pub(crate) fn fail_early(&self, local: &Local, number: Number) {
        self.forget_to_come(number);
        let early = self.early.borrow_mut().remove(&number);
        for parcel in early.into_iter().flatten() {
            let failure = self.collection.gone(number, parcel.entry());
            parcel.fail(&local.system, failure);
        }
    }

    /// The end of an element, which contributes to `rounds` next; what waits for it fails.
    #[cold]
    pub(crate) fn end(&self, local: &Local, number: Number, rounds: &NextRounds) {
        let Some(mut slot) = self.take(number) else {
            return;
        };
        let index = slot.index;
        self.take_leave(local, number, index, rounds);
        let backlog = slot.take_backlog();
        self.remove(local, number, index);
        self.drop_slot(local, slot);
        for parcel in backlog {
            let failure = self.collection.gone(number, parcel.entry());
            parcel.fail(&local.system, failure);
        }
    }

    /// Nobody waits any more for contributions of an element, which contributes to `rounds` next.
    pub(crate) fn take_leave(
        &self,
        local: &Local,
        number: Number,
        index: Option<T::Index>,
        rounds: &NextRounds,
    ) {
        if !self.collection.is_array() {
            return;
        }
        local.leaves(self, number, rounds);
        local.tell_root(self, rounds.array(), -1);
        for section in self.collection.sections_of(number) {
            let (collection, member) = (self.collection.id, self.collection.name(index));
            local.post(self.collection.root, move |local| {
                local.break_section::<T>(&local.part(collection), section, &member);
            });
        }
    }

    /// Drops an element; a destructor that panics leaves the rest to go.
    pub(super) fn drop_slot(&self, local: &Local, slot: Slot<T>) {
        let index = slot.index;
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(slot))) {
            let name = self.collection.name(index);
            local.system.fail(Failure::panicked(&name, "drop", &*panic));
            // Its destructor might panic in turn.
            mem::forget(panic);
        }
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
        let failure = Failure::panicked(&self.name_of(number), entry, panic);
        self.collection.note_death(number, &failure);
        tell(failure);
        self.end(local, number, rounds);
    }
}
