//! A worker's parts of all collections, found by the number of the collection.
//!
//! A send asks only for the worker of an element, and needs neither the part nor its type. A
//! message that arrives asks for the part itself, which stays alive while the message runs even if
//! the message destroys the collection.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::address::directory::Directory;
use crate::address::number::Number;
use crate::engine::local::Local;
use crate::engine::system::collections::place_of;
use crate::failure::Failure;
use crate::state::States;
use crate::state::rounds::{Group, NextRounds};

/// A worker's part of each collection that it has used, by the collection's place.
#[derive(Default)]
pub(super) struct Parts(RefCell<Vec<Option<OwnPart>>>);

/// This worker's part of a collection.
struct OwnPart {
    collection: u32,
    directory: Arc<Directory>,
    part: Rc<dyn AnyPart>,
}

/// A worker's part of a collection of any type.
pub(crate) trait AnyPart: Any {
    /// Returns a line for each thing that waits on this worker.
    fn explain(&self, local: &Local) -> Vec<String>;

    /// Drops all elements, and the messages that wait for them.
    fn drop_all(&self, local: &Local);

    /// Returns the number of the collection.
    fn id(&self) -> u32;

    /// Returns the name of the elements' type.
    fn of(&self) -> &'static str;

    /// Returns the states that features keep for this part.
    fn states(&self) -> &States;

    /// Returns the number of elements that a group was made with.
    ///
    /// # Errors
    /// If it is a section that no longer exists.
    fn population_of_group(&self, group: Group) -> Result<u64, Failure>;

    /// Returns true on the worker where the reductions of a group end, and on its node.
    fn is_root(&self, local: &Local, group: Group) -> bool;

    /// Returns the position of an element that is to contribute to the reductions and scans of a
    /// section; 0 for all elements of an array.
    fn position_in(&self, group: Group, number: Number) -> Option<usize>;

    /// Calls `visit` with each element of this part.
    fn for_elements(&self, visit: &mut dyn FnMut(PresentElement<'_>));
}

/// An element that is on this worker.
pub(crate) struct PresentElement<'a> {
    pub(crate) number: Number,
    /// Returns its name, for an element that has an index.
    pub(crate) name: &'a dyn Fn() -> Option<String>,
    /// The reductions and scans to which it contributes next.
    pub(crate) rounds: NextRounds,
    /// The scan that its asynchronous entry waits for.
    pub(crate) awaited_scan: Option<(Group, u64)>,
}

#[cfg(not(any(loom, shuttle)))]
impl Parts {
    /// Takes the parts out without dropping them.
    pub(super) fn forget_all(&self) {
        super::forget_value(&self.0);
    }
}

impl Local {
    /// Returns this worker's part of a collection, if it has used the collection before.
    #[inline(always)]
    pub(crate) fn known_part(&self, collection: u32) -> Option<Rc<dyn AnyPart>> {
        let parts = self.parts.0.borrow();
        match parts.get(place_of(collection)) {
            Some(Some(own)) if own.collection == collection => Some(Rc::clone(&own.part)),
            _ => None,
        }
    }

    /// Keeps this worker's part of a collection that it has not used before.
    pub(crate) fn keep_part(&self, directory: Arc<Directory>, part: Rc<dyn AnyPart>) {
        let mut parts = self.parts.0.borrow_mut();
        let collection = part.id();
        let place = place_of(collection);
        if parts.len() <= place {
            parts.resize_with(place + 1, || None);
        }
        parts[place] = Some(OwnPart {
            collection,
            directory,
            part,
        });
    }

    /// Returns the worker to which this worker sends messages for an element, if the element is
    /// placed on one and this worker has used the collection before.
    #[inline(always)]
    pub(crate) fn worker_of(&self, collection: u32, number: Number) -> Option<usize> {
        let parts = self.parts.0.borrow();
        match parts.get(place_of(collection)) {
            Some(Some(own)) if own.collection == collection => {
                own.directory.place(number).worker_of(number, self.epoch())
            }
            _ => None,
        }
    }

    /// Returns this worker's parts of all collections.
    pub(crate) fn all_parts(&self) -> Vec<Rc<dyn AnyPart>> {
        let parts = self.parts.0.borrow();
        parts
            .iter()
            .flatten()
            .map(|own| Rc::clone(&own.part))
            .collect()
    }

    /// Drops this worker's parts of all collections, when the worker ends.
    pub(super) fn drop_parts(&self) {
        for OwnPart { part, .. } in self.parts.0.take().into_iter().flatten() {
            part.drop_all(self);
            self.guard(|| drop(part));
        }
    }

    /// Drops this worker's part of a collection that has been destroyed.
    pub(crate) fn drop_part(&self, collection: u32) {
        let mut parts = self.parts.0.borrow_mut();
        let own = parts.get_mut(place_of(collection));
        let part = own.and_then(|own| own.take_if(|own| own.collection == collection));
        drop(parts);
        if let Some(OwnPart { part, .. }) = part {
            part.drop_all(self);
            self.guard(|| drop(part));
        }
    }
}
