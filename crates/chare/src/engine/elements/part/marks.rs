//! Marks of insertions, and the messages that wait for elements that are to come.
//!
//! [`crate::insertion`] says what marks are for.

use std::collections::BTreeMap;

use super::Part;
use crate::address::number::Number;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::object::parcel::{BoxedParcel, Parcel};
use crate::engine::system::System;
use crate::failure::Failure;

/// The marks that a worker keeps.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The number of insertions.
    pub(crate) count: u64,
    /// The marks of insertions that have not had their turn.
    pub(crate) kept: BTreeMap<u64, Mark>,
    /// While a message runs that was kept: how many marks there were when it came.
    pub(crate) running: Option<u64>,
}

#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) insertion: Number,
    /// The first reduction to which nothing has contributed that came before the mark.
    pub(crate) first: u64,
    /// The number of answers that are still to come after the one for the insertion itself.
    pub(crate) more: usize,
}

impl Marks {
    /// Something contributes to `round`.
    #[inline]
    pub(crate) fn note(&mut self, round: u64) {
        if let Some(before) = self.running {
            for mark in self.kept.range_mut(before..).map(|mark| mark.1) {
                mark.first = mark.first.max(round + 1);
            }
        }
    }

    pub(crate) fn find(&self, insertion: Number) -> Option<u64> {
        let mut kept = self.kept.iter();
        kept.find(|(_, mark)| mark.insertion == insertion)
            .map(|(&at, _)| at)
    }
}

/// A message for an element that is to come, and how many marks there were before it.
pub(crate) struct Early<T: Chare> {
    pub(crate) parcel: BoxedParcel<T>,
    pub(crate) marks: u64,
}

impl<T: Chare> Early<T> {
    pub(crate) fn new(part: &Part<T>, parcel: BoxedParcel<T>) -> Self {
        let marks = part.marks.borrow().count;
        Self { parcel, marks }
    }
}

impl<T: Chare> Parcel<T> for Early<T> {
    fn entry(&self) -> &'static str {
        self.parcel.entry()
    }

    fn deliver(self, local: &Local, part: &Part<T>, number: Number) {
        part.marks.borrow_mut().running = Some(self.marks);
        local.guard(|| self.parcel.deliver(local, part, number));
        part.marks.borrow_mut().running = None;
    }

    fn fail(self, system: &System, failure: Failure) {
        self.parcel.fail(system, failure);
    }
}
