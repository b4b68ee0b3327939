//! Marks of insertions, and the messages that wait for elements that are to come.
//!
//! [`crate::insertion`] says what marks are for.

use std::collections::BTreeMap;

use super::Part;
use crate::address::number::Number;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::system::System;
use crate::failure::Failure;

/// The marks that a worker keeps.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    /// The number of insertions.
    count: u64,
    /// The marks of insertions that have not had their turn.
    kept: BTreeMap<u64, Mark>,
    /// While a message runs that was kept: the number of marks when it came.
    running: Option<u64>,
}

#[derive(Debug)]
struct Mark {
    insertion: Number,
    /// The first reduction to which nothing has contributed that came before the mark.
    first: u64,
    /// The number of answers that are still to come.
    answers: usize,
}

impl Marks {
    /// Notes a contribution to `round`.
    #[inline]
    pub(crate) fn note(&mut self, round: u64) {
        if let Some(before) = self.running {
            for mark in self.kept.range_mut(before..).map(|mark| mark.1) {
                mark.first = mark.first.max(round + 1);
            }
        }
    }

    /// Keeps a mark until its insertion has its turn. `first` is the first reduction without
    /// contributions.
    pub(crate) fn keep(&mut self, insertion: Number, first: u64) {
        let mark = Mark {
            insertion,
            first,
            answers: 0,
        };
        self.kept.insert(self.count, mark);
        self.count += 1;
    }

    /// Sets the number of answers that are still to come about an insertion.
    pub(crate) fn set_answers(&mut self, insertion: Number, count: usize) {
        let mark = self.find(insertion).and_then(|at| self.kept.get_mut(&at));
        if let Some(mark) = mark {
            mark.answers = count;
        }
    }

    /// Takes the first reduction without earlier contributions, for one answer about an insertion.
    /// Forgets the mark with the last answer. Returns `None` without a mark.
    pub(crate) fn answer(&mut self, insertion: Number) -> Option<u64> {
        let at = self.find(insertion)?;
        let mark = self.kept.get_mut(&at)?;
        let first = mark.first;
        mark.answers -= 1;
        if mark.answers == 0 {
            self.kept.remove(&at);
        }
        Some(first)
    }

    /// Returns true if the mark of an insertion is kept.
    pub(crate) fn has(&self, insertion: Number) -> bool {
        self.find(insertion).is_some()
    }

    fn find(&self, insertion: Number) -> Option<u64> {
        let mut kept = self.kept.iter();
        kept.find(|(_, mark)| mark.insertion == insertion)
            .map(|(&at, _)| at)
    }
}

/// A message for an element that is to come, and the number of marks before it.
pub(super) struct Early<T: Chare> {
    parcel: BoxedParcel<T>,
    marks: u64,
}

impl<T: Chare> Early<T> {
    pub(super) fn new(part: &Part<T>, parcel: BoxedParcel<T>) -> Self {
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
