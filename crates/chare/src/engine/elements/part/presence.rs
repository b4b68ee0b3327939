//! Elements that are in transit: those that will come to this worker or leave it, and the messages
//! that wait for them here.
//!
//! A [`Transit`] records everything that this worker knows about such an element. An element that
//! is here and stays has no transit.
//!
//! | field | set by | cleared when |
//! |---|---|---|
//! | `is_unmade` | the announcement of an insertion | the element was made here, or will not be |
//! | `arrives_in` | entering the epoch of a move to this worker | it has come, or will not |
//! | `leaves_in` | entering the epoch of a move from this worker | it has left |
//! | `goes_on_to` | a move from here, before the element was made | it was made and sent on |
//! | `early` | a message that came before the element | the element has come |
//! | `for_seed` | a message that came to the home of a seed | the seed was made on some worker |
//!
//! # Invariants
//! 1. No transit is empty: a transit is removed when its last field is cleared.
//! 2. `leaving_count` and `early_count` count the transits with `leaves_in` and with `early`.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use crate::address::number::Number;

/// The state of an element in transit, as known to this worker; `P` is a message that waits for it.
struct Transit<P> {
    /// True if the element will be made here. It already counts as being here for messages to all
    /// elements.
    is_unmade: bool,
    /// The epoch from which the element counts as being here, if it comes from another worker.
    arrives_in: Option<u32>,
    /// The epoch from which the element counts as being elsewhere, if it leaves.
    leaves_in: Option<u32>,
    /// The worker to which the element moves after it has been made here. Its messages go there
    /// already.
    goes_on_to: Option<usize>,
    /// Messages that came before the element, the oldest first.
    early: VecDeque<P>,
    /// Messages that came to this worker as the home of a seed ([`crate::seeds`]).
    for_seed: VecDeque<P>,
}

impl<P> Default for Transit<P> {
    fn default() -> Self {
        Self {
            is_unmade: false,
            arrives_in: None,
            leaves_in: None,
            goes_on_to: None,
            early: VecDeque::new(),
            for_seed: VecDeque::new(),
        }
    }
}

impl<P> Transit<P> {
    fn is_empty(&self) -> bool {
        !self.is_unmade
            && self.arrives_in.is_none()
            && self.leaves_in.is_none()
            && self.goes_on_to.is_none()
            && self.early.is_empty()
            && self.for_seed.is_empty()
    }

    /// Returns the epoch from which the element counts as being here, if it has not come yet.
    fn counts_from(&self) -> Option<u32> {
        if self.is_unmade {
            return Some(0);
        }
        self.arrives_in
    }
}

/// The elements of a part that are in transit; `P` is a message that waits for one.
pub(crate) struct Presence<P> {
    transits: RefCell<HashMap<Number, Transit<P>>>,
    leaving_count: Cell<usize>,
    early_count: Cell<usize>,
    /// The latest epoch in which an element came from another worker.
    latest: Cell<u32>,
}

impl<P> Default for Presence<P> {
    fn default() -> Self {
        Self {
            transits: RefCell::default(),
            leaving_count: Cell::new(0),
            early_count: Cell::new(0),
            latest: Cell::new(0),
        }
    }
}

impl<P> Presence<P> {
    /// Changes the transit of an element, and creates or removes the transit as needed.
    fn change<R>(&self, number: Number, change: impl FnOnce(&mut Transit<P>) -> R) -> R {
        let mut transits = self.transits.borrow_mut();
        let transit = transits.entry(number).or_default();
        let before = (transit.leaves_in.is_some(), !transit.early.is_empty());
        let result = change(transit);
        let after = (transit.leaves_in.is_some(), !transit.early.is_empty());
        if transit.is_empty() {
            transits.remove(&number);
        }
        let count = |counter: &Cell<usize>, before: bool, after: bool| {
            counter.set(counter.get() + usize::from(after) - usize::from(before));
        };
        count(&self.leaving_count, before.0, after.0);
        count(&self.early_count, before.1, after.1);
        result
    }

    /// Like `change`, but does nothing if the element has no transit.
    #[inline]
    fn change_known<R>(
        &self,
        number: Number,
        change: impl FnOnce(&mut Transit<P>) -> R,
    ) -> Option<R> {
        let is_known = {
            let transits = self.transits.borrow();
            !transits.is_empty() && transits.contains_key(&number)
        };
        is_known.then(|| self.change(number, change))
    }

    /// Reads the transit of an element, if it has one.
    fn get<R>(&self, number: Number, get: impl FnOnce(&Transit<P>) -> Option<R>) -> Option<R> {
        get(self.transits.borrow().get(&number)?)
    }

    /// Records that the element will be made here.
    pub(super) fn set_unmade(&self, number: Number) {
        self.change(number, |transit| transit.is_unmade = true);
    }

    /// Records that the element will come from another worker, and counts as being here from
    /// `epoch` on.
    pub(crate) fn set_arriving(&self, number: Number, epoch: u32) {
        self.change(number, |transit| transit.arrives_in = Some(epoch));
    }

    /// Records that the element has come in `epoch` (0 for an element that was made here).
    pub(super) fn has_come(&self, number: Number, epoch: u32) {
        self.latest.set(self.latest.get().max(epoch));
        self.will_not_come(number);
    }

    /// Records that the element is no longer awaited: it is here, or will never be.
    pub(super) fn will_not_come(&self, number: Number) {
        self.change_known(number, |transit| {
            transit.is_unmade = false;
            transit.arrives_in = None;
        });
    }

    /// Records that the element will leave, and counts as being elsewhere from `epoch` on.
    pub(crate) fn set_leaving(&self, number: Number, epoch: u32) {
        self.change(number, |transit| transit.leaves_in = Some(epoch));
    }

    /// Records that the element has left.
    pub(super) fn has_left(&self, number: Number) {
        self.change_known(number, |transit| transit.leaves_in = None);
    }

    /// Records that the element moves on to worker `to` after it has been made here.
    pub(crate) fn set_going_on(&self, number: Number, to: usize) {
        self.change(number, |transit| transit.goes_on_to = Some(to));
    }

    /// Takes the worker to which an element that has been made here moves on.
    pub(crate) fn take_going_on(&self, number: Number) -> Option<usize> {
        self.change_known(number, |transit| transit.goes_on_to.take())?
    }

    /// Keeps a message for an element that has not come yet.
    pub(super) fn keep_early(&self, number: Number, parcel: P) {
        self.change(number, |transit| transit.early.push_back(parcel));
    }

    /// Takes the messages that came before the element.
    pub(super) fn take_early(&self, number: Number) -> VecDeque<P> {
        if self.early_count.get() == 0 {
            return VecDeque::new();
        }
        let early = self.change_known(number, |transit| std::mem::take(&mut transit.early));
        early.unwrap_or_default()
    }

    /// Returns true if any message waits for an element that has not come yet.
    pub(crate) fn has_early(&self) -> bool {
        self.early_count.get() > 0
    }

    /// Returns the number of messages that wait for each element that has not come yet, without
    /// zeros.
    pub(super) fn early_lens(&self) -> Vec<usize> {
        let transits = self.transits.borrow();
        let lens = transits.values().map(|transit| transit.early.len());
        lens.filter(|&len| len > 0).collect()
    }

    /// Keeps a message for a seed that has its home here.
    pub(crate) fn keep_for_seed(&self, number: Number, parcel: P) {
        self.change(number, |transit| transit.for_seed.push_back(parcel));
    }

    /// Returns true if messages for the seed wait here.
    pub(crate) fn has_for_seed(&self, number: Number) -> bool {
        self.get(number, |transit| {
            (!transit.for_seed.is_empty()).then_some(())
        })
        .is_some()
    }

    /// Takes the messages that wait for the seed.
    pub(crate) fn take_for_seed(&self, number: Number) -> VecDeque<P> {
        let for_seed = self.change_known(number, |transit| std::mem::take(&mut transit.for_seed));
        for_seed.unwrap_or_default()
    }

    /// Takes all messages.
    pub(super) fn take_all(&self) -> impl Iterator<Item = P> + use<P> {
        self.leaving_count.set(0);
        self.early_count.set(0);
        let transits = self.transits.take().into_values();
        transits.flat_map(|transit| transit.early.into_iter().chain(transit.for_seed))
    }

    /// Returns true if, for senders in `epoch`, all elements that are here count as being here.
    #[inline]
    pub(super) fn all_are_here_in(&self, epoch: u32) -> bool {
        self.latest.get() <= epoch && self.leaving_count.get() == 0
    }

    /// Returns true if an element counts as being here for senders in `epoch`. `came` is the epoch
    /// in which it came, if it is here.
    pub(super) fn is_here_in(&self, number: Number, came: Option<u32>, epoch: u32) -> bool {
        let transits = self.transits.borrow();
        let transit = transits.get(&number);
        let came = came.or_else(|| transit?.counts_from());
        let goes = transit.and_then(|transit| transit.leaves_in);
        came.is_some_and(|came| came <= epoch) && goes.is_none_or(|goes| epoch < goes)
    }

    /// Returns the elements that will come here, including those that will be made here.
    pub(super) fn to_come(&self) -> Vec<Number> {
        let transits = self.transits.borrow();
        let coming = transits
            .iter()
            .filter(|(_, transit)| transit.counts_from().is_some());
        coming.map(|(&number, _)| number).collect()
    }

    /// Returns the elements that will come here from other workers.
    pub(crate) fn arriving(&self) -> Vec<Number> {
        let transits = self.transits.borrow();
        let arriving = transits
            .iter()
            .filter(|(_, transit)| transit.arrives_in.is_some());
        arriving.map(|(&number, _)| number).collect()
    }

    /// Keeps a message behind those that wait for an element that is to come from another worker.
    /// Returns false if none waits for it.
    pub(crate) fn keep_behind_early(&self, number: Number, parcel: P) -> bool {
        let has_any = self.has_early_for(number);
        if has_any {
            self.keep_early(number, parcel);
        }
        has_any
    }

    /// Records that the element will not come. Returns the messages that wait for it.
    pub(crate) fn give_up_on(&self, number: Number) -> VecDeque<P> {
        self.will_not_come(number);
        self.take_early(number)
    }

    /// Returns true if messages wait for this element, which has not come yet.
    fn has_early_for(&self, number: Number) -> bool {
        self.get(number, |transit| (!transit.early.is_empty()).then_some(()))
            .is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message.
    struct Message;

    fn one() -> Number {
        Number::new(0, 0, 1)
    }

    /// Checks the invariants by looking at all transits.
    fn check(presence: &Presence<Message>) {
        let transits = presence.transits.borrow();
        assert!(transits.values().all(|transit| !transit.is_empty()));
        let leaving = transits
            .values()
            .filter(|transit| transit.leaves_in.is_some());
        assert_eq!(presence.leaving_count.get(), leaving.count());
        let early = transits
            .values()
            .filter(|transit| !transit.early.is_empty());
        assert_eq!(presence.early_count.get(), early.count());
    }

    #[test]
    fn an_element_that_comes_leaves_no_record() {
        let presence = Presence::default();
        presence.set_arriving(one(), 3);
        presence.keep_early(one(), Message);
        check(&presence);
        assert_eq!(
            (presence.to_come(), presence.arriving()),
            (vec![one()], vec![one()])
        );
        assert!(presence.is_here_in(one(), None, 3) && !presence.is_here_in(one(), None, 2));
        presence.has_come(one(), 3);
        assert_eq!(presence.take_early(one()).len(), 1);
        check(&presence);
        assert!(presence.transits.borrow().is_empty());
        // It came in epoch 3, so senders in earlier epochs may not find all elements here.
        assert!(presence.all_are_here_in(3) && !presence.all_are_here_in(2));
    }

    #[test]
    fn an_element_that_leaves_is_here_for_senders_behind() {
        let presence = Presence::default();
        presence.set_leaving(one(), 5);
        check(&presence);
        assert!(presence.is_here_in(one(), Some(0), 4) && !presence.is_here_in(one(), Some(0), 5));
        assert!(!presence.all_are_here_in(9));
        presence.has_left(one());
        check(&presence);
        assert!(presence.all_are_here_in(0));
    }

    #[test]
    fn messages_of_all_kinds_are_taken_at_the_end() {
        let presence = Presence::default();
        presence.set_unmade(one());
        presence.set_going_on(one(), 2);
        presence.keep_early(one(), Message);
        presence.keep_for_seed(one(), Message);
        assert!(presence.has_for_seed(one()) && presence.has_early_for(one()));
        assert_eq!(presence.early_lens(), [1]);
        check(&presence);
        assert_eq!(presence.take_all().count(), 2);
        check(&presence);
        assert!(!presence.has_for_seed(one()) && presence.take_going_on(one()).is_none());
    }
}
