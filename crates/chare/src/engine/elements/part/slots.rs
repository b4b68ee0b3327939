//! The slots of a part.

use std::mem;

use super::slot::{Body, Slot};
use crate::address::number::Number;
use crate::engine::object::chare::Chare;

/// The elements of a part, each in a slot; `P` is a message that waits with its element.
pub(super) struct Slots<T: Chare, P> {
    slots: Vec<Slot<T, P>>,
    vacant: Vec<u32>,
}

impl<T: Chare, P> Default for Slots<T, P> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            vacant: Vec::new(),
        }
    }
}

impl<T: Chare, P> Slots<T, P> {
    /// Returns all slots, among them vacant ones.
    pub(super) fn all(&self) -> &[Slot<T, P>] {
        &self.slots
    }

    pub(super) fn take_all(&mut self) -> Vec<Slot<T, P>> {
        self.vacant.clear();
        mem::take(&mut self.slots)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize, number: Number) -> Option<&mut Slot<T, P>> {
        self.slots.get_mut(at).filter(|slot| slot.holds(number))
    }

    /// Returns the element, if an entry can run.
    #[inline]
    pub(super) fn ready(&mut self, at: usize, number: Number) -> Option<&mut Body<T>> {
        self.slots.get_mut(at)?.ready(number)
    }

    /// Puts a new element into a slot. Returns the number of the slot.
    pub(super) fn put(&mut self, slot: Slot<T, P>) -> u32 {
        if let Some(at) = self.vacant.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).expect("a worker has fewer than 2^32 elements")
    }

    pub(super) fn take(&mut self, at: usize) -> Slot<T, P> {
        self.vacant.push(at as u32);
        self.slots[at].take()
    }
}
