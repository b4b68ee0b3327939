//! A worker's parts of all collections, found by the number of the collection.
//!
//! A send asks only for the worker of an element, and needs neither the part nor its type. A
//! message that arrives asks for the part itself, which stays alive while the message runs even if
//! the message destroys the collection.

use std::any::Any;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use super::Local;
use crate::address::directory::Directory;
use crate::address::number::Number;
use crate::engine::elements::part::{AnyPart, Part};
use crate::engine::object::chare::Chare;
use crate::engine::system::collections::place_of;

/// A worker's part of each collection that it has used, by the collection's place.
#[derive(Default)]
pub(super) struct Parts(RefCell<Vec<Option<OwnPart>>>);

/// This worker's part of a collection.
struct OwnPart {
    collection: u32,
    directory: Arc<Directory>,
    part: Rc<dyn AnyPart>,
}

#[cfg(not(any(loom, shuttle)))]
impl Parts {
    /// Takes the parts out without dropping them.
    pub(super) fn leave(&self) {
        super::leave(&self.0);
    }
}

impl Local {
    /// This worker's part of a collection of `T`, made when it is first asked for.
    #[inline(always)]
    pub(crate) fn part<T: Chare>(&self, collection: u32) -> Rc<Part<T>> {
        match self.known_part(collection) {
            Some(part) => part
                .downcast()
                .expect("a proxy has the type of its collection"),
            None => self.new_part(collection),
        }
    }

    #[inline(always)]
    fn known_part(&self, collection: u32) -> Option<Rc<dyn Any>> {
        let parts = self.parts.0.borrow();
        match parts.get(place_of(collection)) {
            Some(Some(own)) if own.collection == collection => {
                Some(Rc::clone(&own.part) as Rc<dyn Any>)
            }
            _ => None,
        }
    }

    #[cold]
    fn new_part<T: Chare>(&self, collection: u32) -> Rc<Part<T>> {
        let Some(shared) = self.system.find_collection(collection) else {
            // The array has been destroyed. The part is not kept: no message will come to drop it.
            return Rc::new(Part::new(self.system.collection(collection)));
        };
        let part = Rc::new(Part::new(shared));
        let mut parts = self.parts.0.borrow_mut();
        let place = place_of(collection);
        if parts.len() <= place {
            parts.resize_with(place + 1, || None);
        }
        parts[place] = Some(OwnPart {
            collection,
            directory: Arc::clone(part.collection().directory()),
            part: Rc::clone(&part) as Rc<dyn AnyPart>,
        });
        part
    }

    /// Returns the worker to which this worker sends messages for an element, or `None` if the
    /// element waits for a worker or is gone.
    #[inline(always)]
    pub(crate) fn worker_of<T: Chare>(&self, collection: u32, number: Number) -> Option<usize> {
        let parts = self.parts.0.borrow();
        match parts.get(place_of(collection)) {
            Some(Some(own)) if own.collection == collection => {
                own.directory.place(number).worker_of(number, self.epoch())
            }
            _ => {
                drop(parts);
                self.worker_in_new_part::<T>(collection, number)
            }
        }
    }

    #[cold]
    fn worker_in_new_part<T: Chare>(&self, collection: u32, number: Number) -> Option<usize> {
        let part = self.new_part::<T>(collection);
        let place = part.collection().directory().place(number);
        place.worker_of(number, self.epoch())
    }

    /// This worker's parts of all collections.
    pub(crate) fn all_parts(&self) -> Vec<Rc<dyn AnyPart>> {
        let parts = self.parts.0.borrow();
        parts
            .iter()
            .flatten()
            .map(|own| Rc::clone(&own.part))
            .collect()
    }

    /// This worker's part of a collection of any type, if there is one.
    pub(crate) fn any_part(&self, collection: u32) -> Option<Rc<dyn AnyPart>> {
        let parts = self.parts.0.borrow();
        let own = parts.get(place_of(collection))?.as_ref();
        own.filter(|own| own.collection == collection)
            .map(|own| Rc::clone(&own.part))
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
