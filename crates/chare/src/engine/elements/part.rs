//! A worker's part of a collection: its elements, and the messages that wait for elements to
//! arrive.
//!
//! No message interrupts another on one worker, so a part needs no lock. While an entry runs, the
//! slots are borrowed. State that a running entry changes in another way (by a contribution, or by
//! ending its element) is kept outside of the slots.
//!
//! A message for an element that is not ready waits. The cases are checked in this order:
//!
//! | situation | the message waits |
//! |---|---|
//! | the array is being made, and has no part yet | with the part, until it is made |
//! | an asynchronous entry is under way | with the element, until that entry has ended |
//! | the element is on its way to this worker | with its number, until the element arrives |
//!
//! In all other cases the element has ended, and the message fails.

pub(crate) mod birth;
mod marks;
mod members;
mod presence;
mod slots;
mod suspended;

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

pub(crate) use marks::{Early, Mark, Marks};
use presence::Presence;
pub(crate) use slots::{Body, Frozen, Slot, Slots, State, Steps};
pub(crate) use suspended::{Failed, Run, Suspended};

use crate::address::directory::Spare;
use crate::address::keys::Keys;
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::local::{Arrival, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::parcel::{BoxedParcel, Parcel};
use crate::engine::object::proxy::One;
use crate::failure::{Failure, contain, said};
use crate::state::rounds::{Group, NextRounds};
use crate::state::{State as FeatureState, States};

/// A call that waits until the part has been made.
type PendingCall<T> = Box<dyn FnOnce(&Local, &Part<T>)>;

/// Messages that wait, the oldest first.
pub(crate) type Parcels<T> = VecDeque<BoxedParcel<T>>;

/// A worker's part of a collection.
pub(crate) struct Part<T: Chare> {
    collection: Arc<Collection<T>>,
    slots: RefCell<Slots<T>>,
    /// The element in each slot, and the epoch in which it came; can be read while an entry runs.
    residents: RefCell<Vec<Option<(Number, u32)>>>,
    /// Elements that are here.
    live: Cell<u64>,
    /// The calls that came before the part was made; `None` afterwards.
    unborn: RefCell<Option<Vec<PendingCall<T>>>>,
    /// Its first elements are being made, or have been.
    is_coming: Cell<bool>,
    /// Elements that are to come or to go, and the messages that wait for them.
    presence: Presence<T>,
    /// Numbers of this worker that no element has.
    spare: RefCell<Spare>,
    /// Numbers of a sparse array that this worker has looked up.
    known: RefCell<Keys<T::Index>>,
    marks: RefCell<Marks>,
    sections: members::Sections,
    /// The array is balanced, and its elements are measured.
    measures: bool,
    /// Runs of entries until the next one that is measured.
    until_sample: Cell<u32>,
    states: States,
}

/// A part of a collection of any type, as its worker sees it.
pub(crate) trait AnyPart: Any {
    /// Says what waits on this worker: a line each.
    fn explain(&self, local: &Local) -> Vec<String>;

    /// Drops all elements, and what waits for them.
    fn drop_all(&self, local: &Local);

    /// The collection's number.
    fn id(&self) -> u32;

    /// The name of the elements' type.
    fn of(&self) -> &'static str;

    /// The states that features keep for this part.
    fn states(&self) -> &States;

    /// The number of elements that a group was made with; see [`Part::population_of`].
    fn population_of_group(&self, group: Group) -> Result<u64, Failure>;

    /// True on the worker where the reductions of a group end, and on its node.
    fn is_root(&self, local: &Local, group: Group) -> bool;

    /// The position of an element that is to contribute to the reductions and scans of a section;
    /// 0 for all elements of an array.
    fn position_in(&self, group: Group, number: Number) -> Option<usize>;

    /// Calls `see` with each element of this part.
    fn see_elements(&self, see: &mut dyn FnMut(Seen<'_>));
}

/// An element that is here.
pub(crate) struct Seen<'a> {
    pub(crate) number: Number,
    /// Its name, for an element that has an index.
    pub(crate) name: &'a dyn Fn() -> Option<String>,
    /// The reductions and scans to which it contributes next.
    pub(crate) rounds: NextRounds,
    /// The scan that its asynchronous entry waits for.
    pub(crate) awaited_scan: Option<(Group, u64)>,
}

impl<T: Chare> fmt::Debug for Part<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Part")
            .field("of", &T::NAME)
            .field("live", &self.live)
            .finish_non_exhaustive()
    }
}

impl<T: Chare> AnyPart for Part<T> {
    fn explain(&self, local: &Local) -> Vec<String> {
        let slots = self.slots.borrow();
        let mut lines: Vec<_> = slots
            .iter()
            .filter_map(|slot| slot.explain(|| self.collection.name(slot.index)))
            .collect();
        drop(slots);
        lines.extend(self.collection.states().explain(local.worker()));
        for count in self.presence.early_lens() {
            lines.push(format!(
                "{count} messages wait for a {} that is to come",
                T::NAME
            ));
        }
        lines
    }

    fn id(&self) -> u32 {
        self.collection.id()
    }

    fn of(&self) -> &'static str {
        T::NAME
    }

    fn states(&self) -> &States {
        &self.states
    }

    fn population_of_group(&self, group: Group) -> Result<u64, Failure> {
        self.population_of(group)
    }

    fn is_root(&self, local: &Local, group: Group) -> bool {
        self.root_of(group) == Ok(local.worker()) && self.root_elsewhere(local, group).is_none()
    }

    fn position_in(&self, group: Group, number: Number) -> Option<usize> {
        let Some(section) = group else { return Some(0) };
        self.section(section).ok()?.position(number)
    }

    fn see_elements(&self, see: &mut dyn FnMut(Seen<'_>)) {
        let slots = self.slots.borrow();
        let present = slots
            .iter()
            .filter(|slot| !matches!(slot.state, State::Vacant));
        for slot in present {
            let name = || Some(self.collection.name(Some(slot.index?)));
            see(Seen {
                number: slot.number,
                name: &name,
                rounds: slot.next_rounds(),
                awaited_scan: slot.awaited_scan(),
            });
        }
    }

    fn drop_all(&self, local: &Local) {
        let slots = self.slots.borrow_mut().take_all();
        for slot in slots {
            self.drop_slot(local, slot);
        }
        for parcel in self.presence.take_all() {
            local.guard(|| drop(parcel));
        }
    }
}

impl<T: Chare> Part<T> {
    pub(crate) fn new(collection: Arc<Collection<T>>) -> Self {
        let unborn = collection.has_birth().then(Vec::new);
        Self {
            slots: RefCell::default(),
            residents: RefCell::default(),
            live: Cell::new(0),
            unborn: RefCell::new(unborn),
            is_coming: Cell::new(false),
            presence: Presence::default(),
            spare: RefCell::default(),
            known: RefCell::default(),
            marks: RefCell::default(),
            sections: members::Sections::default(),
            measures: collection.is_measured(),
            until_sample: Cell::new(0),
            states: States::default(),
            collection,
        }
    }

    /// The state of the collection that all workers share.
    #[inline]
    pub(crate) fn collection(&self) -> &Arc<Collection<T>> {
        &self.collection
    }

    /// The elements that are here. Borrowed while an entry runs.
    #[inline]
    pub(crate) fn slots(&self) -> &RefCell<Slots<T>> {
        &self.slots
    }

    /// The marks of insertions that have passed here.
    #[inline]
    pub(crate) fn marks(&self) -> &RefCell<Marks> {
        &self.marks
    }

    /// True if the elements are measured when they run.
    #[inline]
    pub(crate) fn measures(&self) -> bool {
        self.measures
    }

    /// Runs of entries until the next one that is measured.
    #[inline]
    pub(crate) fn until_sample(&self) -> &Cell<u32> {
        &self.until_sample
    }

    /// The state that a feature keeps for this part.
    #[inline]
    pub(crate) fn state<S: FeatureState>(&self) -> &RefCell<S> {
        self.states.of()
    }

    /// For an array with reductions that end at another node: the number of the array, which all
    /// nodes know, and that node.
    pub(crate) fn root_elsewhere(&self, local: &Local, group: Group) -> Option<(u32, u16)> {
        let (number, node) = (self.collection.wide()?, self.collection.root_node());
        let nodes = local.system().other_nodes()?;
        (group.is_none() && node != nodes.me()).then_some((number, node))
    }

    pub(crate) fn one(&self, number: Number) -> One<T> {
        One::new(self.collection.system_id(), self.collection.id(), number)
    }

    /// The slot that an element had when it was here; the caller compares the numbers.
    #[inline]
    pub(crate) fn slot_of(&self, number: Number) -> usize {
        self.collection.directory().place(number).slot()
    }

    /// The number of the element with this index. Takes no lock if this worker has looked the index
    /// up before.
    #[inline]
    pub(crate) fn number_of(&self, index: T::Index) -> Option<Number> {
        let Some(hash) = self.collection.hash(index) else {
            return self.collection.number_of(index);
        };
        let alike = self.known.borrow().alike(hash);
        match alike.and_then(|alike| alike.number_of(index)) {
            Some(number) if self.collection.has(number) => Some(number),
            before => self.look_up(index, hash, before),
        }
    }

    /// Looks a number up under the lock; `before` is the number from the last lookup of the key.
    #[cold]
    fn look_up(&self, index: T::Index, hash: u64, before: Option<Number>) -> Option<Number> {
        if let Some(before) = before {
            self.known.borrow_mut().remove(hash, before);
        }
        let number = self.collection.number_of_hashed(index, hash)?;
        let mut known = self.known.borrow_mut();
        known.put_tidily(hash, index, number, |number| self.collection.has(number));
        Some(number)
    }

    /// Runs a message that has waited. A panic outside of its entry does not affect other messages.
    pub(crate) fn run(&self, local: &Local, number: Number, parcel: BoxedParcel<T>) {
        local.guard(|| parcel.deliver(local, self, number));
    }

    /// Fails a message for an element that has ended. A panicking destructor of its arguments does
    /// not affect other messages.
    #[cold]
    pub(crate) fn fail(&self, local: &Local, number: Number, parcel: BoxedParcel<T>) {
        let failure = self.collection.gone(number, parcel.entry());
        local.guard(|| parcel.fail(local.system(), failure));
    }

    /// Keeps a message that cannot run now until it can; fails it when that will never be.
    #[cold]
    pub(crate) fn keep(&self, local: &Local, number: Number, parcel: BoxedParcel<T>) {
        if self.is_unborn() {
            return self.wait_for_birth(move |local, part| parcel.deliver(local, part, number));
        }
        if let Some(slot) = self
            .slots
            .borrow_mut()
            .get_mut(self.slot_of(number), number)
        {
            slot.aside().backlog.push_back(parcel);
            return;
        }
        if self.is_expected(local, number) {
            self.keep_early(number, parcel);
        } else {
            self.fail(local, number, parcel);
        }
    }

    /// Keeps a message for an element that is to come.
    pub(crate) fn keep_early(&self, number: Number, parcel: BoxedParcel<T>) {
        let parcel = Box::new(Early::new(self, parcel));
        self.presence.keep_early(number, parcel);
    }

    /// Returns true if nothing runs the element's backlog yet.
    pub(crate) fn begin_catching_up(&self, number: Number) -> bool {
        !self.set_catching_up(number, true)
    }

    pub(crate) fn end_catching_up(&self, number: Number) {
        self.set_catching_up(number, false);
    }

    /// Sets the flag, and returns what it was.
    fn set_catching_up(&self, number: Number, catches_up: bool) -> bool {
        let at = self.slot_of(number);
        let mut slots = self.slots.borrow_mut();
        // One that has ended has no backlog.
        slots
            .get_mut(at, number)
            .is_none_or(|slot| std::mem::replace(&mut slot.aside().catches_up, catches_up))
    }

    /// Keeps the rounds of an element while an asynchronous entry has the element.
    pub(crate) fn note_rounds(&self, number: Number, rounds: &NextRounds) {
        // Borrowed while another entry runs: then the element is in its slot.
        if let Ok(mut slots) = self.slots.try_borrow_mut()
            && let Some(slot) = slots.get_mut(self.slot_of(number), number)
            && matches!(slot.state, State::Running)
        {
            slot.aside().rounds.clone_from(rounds);
        }
    }

    /// Merges rounds that a fork has noted, which may be older than those known by now.
    pub(crate) fn catch_up_rounds(&self, number: Number, rounds: &NextRounds) {
        // As in `note_rounds`.
        if let Ok(mut slots) = self.slots.try_borrow_mut()
            && let Some(slot) = slots.get_mut(self.slot_of(number), number)
            && !matches!(slot.state, State::Ready(_))
        {
            slot.aside().rounds.raise_to(rounds);
        }
    }

    /// Puts an element into a slot. `epoch` is that of the move that brought it here, or 0 if it
    /// was made here.
    pub(crate) fn put(&self, local: &Local, slot: Slot<T>, epoch: u32) {
        let number = slot.number;
        let at = self.slots.borrow_mut().put(slot);
        let place = self.collection.directory().place(number);
        place.set_slot(at);
        place.set_own_worker(local.worker());
        let mut residents = self.residents.borrow_mut();
        if residents.len() <= at as usize {
            residents.resize(at as usize + 1, None);
        }
        residents[at as usize] = Some((number, epoch));
        drop(residents);
        self.live.set(self.live.get() + 1);
        self.sections.comes(&self.collection, number);
    }

    /// Adds an element that comes in `epoch`, or 0 for one that was made here. The messages that it
    /// brings along run first, then those that came before the element.
    pub(crate) fn settle(&self, local: &Local, slot: Slot<T>, epoch: u32, urgent: Vec<Arrival>) {
        let number = slot.number;
        self.put(local, slot, epoch);
        self.presence.has_come(number, epoch);
        for arrival in urgent {
            local.guard(|| arrival(local));
        }
        for parcel in self.presence.take_early(number) {
            self.run(local, number, parcel);
        }
    }

    /// Makes an element that is still to be made here count as being here.
    pub(crate) fn expect(&self, local: &Local, number: Number) {
        let at = self.slot_of(number);
        let is_here = self.slots.borrow_mut().get_mut(at, number).is_some();
        if !is_here && self.is_expected(local, number) {
            self.presence.set_unmade(number);
        }
    }

    /// The element will not come. Returns the messages that wait for it.
    pub(crate) fn give_up_on(&self, number: Number) -> Parcels<T> {
        self.presence.will_not_come(number);
        self.presence.take_early(number)
    }

    /// Notes that an element moves to this worker: it counts as being here from `epoch` on.
    pub(crate) fn set_arriving(&self, number: Number, epoch: u32) {
        self.presence.set_arriving(number, epoch);
    }

    /// Notes that an element moves to another worker: it counts as being there from `epoch` on.
    pub(crate) fn set_leaving(&self, number: Number, epoch: u32) {
        self.presence.set_leaving(number, epoch);
    }

    /// Takes an element that is to go, if it has not ended.
    pub(crate) fn take_leaving(&self, number: Number) -> Option<Slot<T>> {
        self.presence.has_left(number);
        self.take(number)
    }

    /// Notes that an element that is still to be made here moves on to worker `to` afterwards.
    pub(crate) fn set_going_on(&self, number: Number, to: usize) {
        self.presence.set_going_on(number, to);
    }

    /// Takes the worker to which an element goes on that has been made here.
    pub(crate) fn take_going_on(&self, number: Number) -> Option<usize> {
        self.presence.take_going_on(number)
    }

    /// Keeps a message for a seed that has its home here.
    pub(crate) fn keep_mail(&self, number: Number, parcel: BoxedParcel<T>) {
        self.presence.keep_mail(number, parcel);
    }

    /// True if messages for the seed wait here.
    pub(crate) fn has_mail(&self, number: Number) -> bool {
        self.presence.has_mail(number)
    }

    /// Takes the messages that wait for the seed.
    pub(crate) fn take_mail(&self, number: Number) -> Parcels<T> {
        self.presence.take_mail(number)
    }

    /// True if any message waits for an element that is to come.
    pub(crate) fn has_early(&self) -> bool {
        self.presence.has_early()
    }

    /// Keeps a message behind those that wait for an element that is to come from another worker;
    /// false if none waits for it.
    pub(crate) fn keep_behind_early(&self, number: Number, parcel: BoxedParcel<T>) -> bool {
        let has_any = self.presence.has_early_for(number);
        if has_any {
            self.presence.keep_early(number, parcel);
        }
        has_any
    }

    /// Elements that are to come here from other workers.
    pub(crate) fn arriving(&self) -> Vec<Number> {
        self.presence.arriving()
    }

    /// Elements that are to come here, and count as being here for those in `epoch`.
    pub(crate) fn to_come(&self, epoch: u32) -> Vec<Number> {
        let mut all = self.presence.to_come();
        all.retain(|&number| self.is_here_in(number, epoch));
        all
    }

    /// True for an element that is here.
    pub(crate) fn has(&self, number: Number) -> bool {
        let residents = self.residents.borrow();
        matches!(residents.get(self.slot_of(number)), Some(Some((is, _))) if *is == number)
    }

    /// True for an element that is not here yet but is to come.
    ///
    /// A sender that uses the new place may have entered the epoch of the move before this worker
    /// has. No sender uses the old place any longer once the element has left it. So both cases are
    /// accepted.
    pub(crate) fn is_expected(&self, local: &Local, number: Number) -> bool {
        let place = self.collection.directory().place(number);
        place.leads_to(number, local.worker())
    }

    /// The number of the first element from slot `at` on that is here for senders in `epoch`. Sets
    /// `at` to the slot after it.
    #[inline]
    pub(crate) fn next_number(&self, at: &mut usize, epoch: u32) -> Option<Number> {
        let residents = self.residents.borrow();
        let all_are = self.all_are_here_in(epoch);
        while let Some(&resident) = residents.get(*at) {
            *at += 1;
            if let Some((number, _)) = resident
                && (all_are || self.is_here_in(number, epoch))
            {
                return Some(number);
            }
        }
        None
    }

    /// True when those that are here are here for those in `epoch`, too.
    #[inline]
    fn all_are_here_in(&self, epoch: u32) -> bool {
        self.presence.all_are_here_in(epoch)
    }

    /// True for an element that is here, or is to come here, for those in `epoch`.
    pub(crate) fn is_here_in(&self, number: Number, epoch: u32) -> bool {
        let came = match self.residents.borrow().get(self.slot_of(number)) {
            Some(Some((is, came))) if *is == number => Some(*came),
            _ => None,
        };
        self.presence.is_here_in(number, came, epoch)
    }

    /// Removes an element from this worker.
    pub(crate) fn take(&self, number: Number) -> Option<Slot<T>> {
        let at = self.slot_of(number);
        let mut slots = self.slots.borrow_mut();
        slots.get_mut(at, number)?;
        let slot = slots.take(at);
        drop(slots);
        self.residents.borrow_mut()[at] = None;
        self.live.set(self.live.get() - 1);
        self.sections.goes(&self.collection, number);
        Some(slot)
    }

    /// The index of an element that is here; `None` if it has none.
    pub(crate) fn index_of(&self, number: Number) -> Option<T::Index> {
        let at = self.slot_of(number);
        let mut slots = self.slots.borrow_mut();
        slots.get_mut(at, number).and_then(|slot| slot.index)
    }

    /// Returns an unused number with its home here: a returned one or a new one.
    pub(crate) fn allocate(&self, home: usize) -> Number {
        let mut spare = self.spare.borrow_mut();
        self.collection.directory().allocate_from(&mut spare, home)
    }

    /// The element has no number any more.
    pub(crate) fn remove(&self, local: &Local, number: Number, index: Option<T::Index>) {
        let Some(vacant) = self.collection.remove(number, index) else {
            return;
        };
        let directory = self.collection.directory();
        if vacant.home() == local.worker() {
            directory.give_back_to(&mut self.spare.borrow_mut(), vacant);
        } else {
            directory.give_back(vacant);
        }
    }

    /// Drops an element. A panic of its destructor is reported, and the rest is dropped all the
    /// same.
    pub(crate) fn drop_slot(&self, local: &Local, mut slot: Slot<T>) {
        let index = slot.index;
        if let Some(aside) = slot.take_aside() {
            aside.drop_all(local, &|_| {});
        }
        contain(
            || drop(slot),
            |panic| {
                let name = self.collection.name(index);
                let text = format!("{name} panicked in `drop`: {}", said(panic));
                local.system().fail(Failure::new(text));
            },
        );
    }
}
