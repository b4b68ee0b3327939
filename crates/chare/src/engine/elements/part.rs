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
//! | the array is under construction | with the part, until its first elements are here |
//! | an asynchronous entry is under way | with the element, until that entry has ended |
//! | the element is on its way to this worker | with its number, until the element arrives |
//!
//! In all other cases the element has ended, and the message fails.

pub(crate) mod construction;
mod marks;
mod members;
mod presence;
mod slot;
mod slots;
mod suspended;

use std::any::Any;
use std::cell::{Cell, RefCell, RefMut};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use marks::Early;
pub(crate) use marks::Marks;
use presence::Presence;
pub(crate) use slot::{Body, Frozen, Steps};
use slots::Slots;
pub(crate) use suspended::{EntryFuture, Failed, Suspended};

use crate::address::directory::Spare;
use crate::address::keys::Keys;
use crate::address::number::Number;
use crate::engine::elements::collection::Collection;
use crate::engine::elements::parcel::{BoxedParcel, Parcel};
use crate::engine::local::parts::{AnyPart, PresentElement};
use crate::engine::local::{Arrival, Local};
use crate::engine::object::chare::Chare;
use crate::engine::object::proxy::One;
use crate::failure::{Failure, contain, said};
use crate::state::rounds::{Group, NextRounds};
use crate::state::{LocalState, States};

/// The slot of one element.
pub(crate) type Slot<T> = slot::Slot<T, BoxedParcel<T>>;

/// A call that waits until the first elements have been constructed.
type PendingCall<T> = Box<dyn FnOnce(&Local, &Part<T>)>;

/// A worker's part of a collection.
pub(crate) struct Part<T: Chare> {
    collection: Arc<Collection<T>>,
    slots: RefCell<Slots<T, BoxedParcel<T>>>,
    /// The element in each slot, and the epoch in which it came; can be read while an entry runs.
    residents: RefCell<Vec<Option<(Number, u32)>>>,
    /// The number of elements here.
    live: Cell<u64>,
    /// The calls that wait until the first elements have been constructed; `None` afterwards.
    construction: RefCell<Option<Vec<PendingCall<T>>>>,
    /// True if the first elements are being constructed, or have been.
    has_begun_construction: Cell<bool>,
    /// Elements that are to come or to go, and the messages that wait for them.
    presence: Presence<BoxedParcel<T>>,
    /// Numbers of this worker that no element has.
    spare: RefCell<Spare>,
    /// Numbers of a sparse array that this worker has looked up.
    known: RefCell<Keys<T::Index>>,
    marks: RefCell<Marks>,
    sections: members::Sections,
    /// True if the array is balanced, so that its elements are measured.
    measures: bool,
    /// The number of runs of entries until the next one that is measured.
    until_sample: Cell<u32>,
    states: States,
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
        let explain = |slot: &Slot<T>| slot.explain(|| self.collection.name(slot.index()));
        let mut lines: Vec<_> = slots.all().iter().filter_map(explain).collect();
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

    fn for_elements(&self, visit: &mut dyn FnMut(PresentElement<'_>)) {
        let slots = self.slots.borrow();
        for slot in slots.all().iter().filter(|slot| !slot.is_vacant()) {
            let name = || Some(self.collection.name(Some(slot.index()?)));
            visit(PresentElement {
                number: slot.number(),
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
    /// Returns this worker's part of a collection, made when it is first asked for.
    #[inline(always)]
    pub(crate) fn of(local: &Local, collection: u32) -> Rc<Self> {
        match local.known_part(collection) {
            Some(part) => (part as Rc<dyn Any>)
                .downcast()
                .expect("a proxy has the type of its collection"),
            None => Self::make(local, collection),
        }
    }

    #[cold]
    fn make(local: &Local, collection: u32) -> Rc<Self> {
        let Some(shared) = Collection::find(local.system(), collection) else {
            // The array has been destroyed. The part is not kept: no message will come to drop it.
            return Rc::new(Self::new(Collection::of(local.system(), collection)));
        };
        let part = Rc::new(Self::new(shared));
        let directory = Arc::clone(part.collection.directory());
        local.keep_part(directory, Rc::clone(&part) as Rc<dyn AnyPart>);
        part
    }

    fn new(collection: Arc<Collection<T>>) -> Self {
        let construction = collection.has_first_elements().then(Vec::new);
        Self {
            slots: RefCell::default(),
            residents: RefCell::default(),
            live: Cell::new(0),
            construction: RefCell::new(construction),
            has_begun_construction: Cell::new(false),
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

    /// Returns the state of the collection that all workers share.
    #[inline]
    pub(crate) fn collection(&self) -> &Arc<Collection<T>> {
        &self.collection
    }

    /// Returns the element `number`, if an entry of it can run. All elements of the part stay
    /// borrowed until the value is dropped.
    #[inline]
    pub(crate) fn ready(&self, number: Number) -> Option<RefMut<'_, Body<T>>> {
        self.ready_in(self.slots.borrow_mut(), number)
    }

    /// Like [`ready`](Self::ready), but returns `None` while an entry runs here.
    pub(crate) fn try_ready(&self, number: Number) -> Option<RefMut<'_, Body<T>>> {
        self.ready_in(self.slots.try_borrow_mut().ok()?, number)
    }

    #[inline]
    fn ready_in<'slots>(
        &self,
        slots: RefMut<'slots, Slots<T, BoxedParcel<T>>>,
        number: Number,
    ) -> Option<RefMut<'slots, Body<T>>> {
        let at = self.slot_of(number);
        RefMut::filter_map(slots, |slots| slots.ready(at, number)).ok()
    }

    /// Returns the slot of element `number`, if the element is here. All elements of the part stay
    /// borrowed until the value is dropped.
    #[inline]
    pub(crate) fn slot(&self, number: Number) -> Option<RefMut<'_, Slot<T>>> {
        self.slot_in(self.slots.borrow_mut(), number)
    }

    /// Like [`slot`](Self::slot), but returns `None` while an entry runs here.
    pub(crate) fn try_slot(&self, number: Number) -> Option<RefMut<'_, Slot<T>>> {
        self.slot_in(self.slots.try_borrow_mut().ok()?, number)
    }

    #[inline]
    fn slot_in<'slots>(
        &self,
        slots: RefMut<'slots, Slots<T, BoxedParcel<T>>>,
        number: Number,
    ) -> Option<RefMut<'slots, Slot<T>>> {
        let at = self.slot_of(number);
        RefMut::filter_map(slots, |slots| slots.get_mut(at, number)).ok()
    }

    /// Calls `visit` for the slot of each element that is here.
    ///
    /// # Errors
    /// The first error of `visit`, which is then not called again.
    pub(crate) fn try_for_slots<E>(
        &self,
        mut visit: impl FnMut(&Slot<T>) -> Result<(), E>,
    ) -> Result<(), E> {
        let slots = self.slots.borrow();
        let mut present = slots.all().iter().filter(|slot| !slot.is_vacant());
        present.try_for_each(&mut visit)
    }

    /// Returns the elements that are to come or to go, and the messages that wait for them.
    #[inline]
    pub(crate) fn presence(&self) -> &Presence<BoxedParcel<T>> {
        &self.presence
    }

    /// Changes the marks of insertions that have passed here.
    #[inline]
    pub(crate) fn with_marks<R>(&self, change: impl FnOnce(&mut Marks) -> R) -> R {
        change(&mut self.marks.borrow_mut())
    }

    /// Returns true if the elements are measured when they run.
    #[inline]
    pub(crate) fn measures(&self) -> bool {
        self.measures
    }

    /// Returns true if the run that begins is to be measured: one in several
    /// ([`skip_samples`](Self::skip_samples)).
    #[inline]
    pub(crate) fn is_sample(&self) -> bool {
        let left = self.until_sample.get();
        self.until_sample.set(left.saturating_sub(1));
        left == 0
    }

    /// Sets the number of runs until the next one that is measured.
    pub(crate) fn skip_samples(&self, count: u32) {
        self.until_sample.set(count);
    }

    /// Returns the state that a feature keeps for this part.
    #[inline]
    pub(crate) fn state<S: LocalState>(&self) -> &RefCell<S> {
        self.states.of()
    }

    /// Returns the node where the reductions of the array end, if that is another node, and the
    /// number by which all nodes know the array.
    pub(crate) fn root_elsewhere(&self, local: &Local, group: Group) -> Option<(u32, u16)> {
        let (number, node) = (self.collection.wide()?, self.collection.root_node());
        let nodes = local.system().other_nodes()?;
        (group.is_none() && node != nodes.me()).then_some((number, node))
    }

    pub(crate) fn one(&self, number: Number) -> One<T> {
        One::new(self.collection.system_id(), self.collection.id(), number)
    }

    /// Returns the slot that an element had when it was here; the caller compares the numbers.
    #[inline]
    fn slot_of(&self, number: Number) -> usize {
        self.collection.directory().place(number).slot()
    }

    /// Returns the number of the element with this index. Takes no lock if this worker has looked
    /// the index up before.
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
        if self.is_under_construction() {
            return self.after_construction(move |local, part| parcel.deliver(local, part, number));
        }
        if let Some(mut slot) = self.slot(number) {
            slot.push_to_backlog(parcel);
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

    /// Notes that the caller runs the element's backlog. Returns false if something runs it
    /// already.
    pub(crate) fn begin_backlog(&self, number: Number) -> bool {
        !self.set_runs_backlog(number, true)
    }

    /// Notes that the element's backlog has been run.
    pub(crate) fn end_backlog(&self, number: Number) {
        self.set_runs_backlog(number, false);
    }

    /// Sets the flag, and returns its former value.
    fn set_runs_backlog(&self, number: Number, runs: bool) -> bool {
        // An element that has ended has no backlog.
        self.slot(number)
            .is_none_or(|mut slot| slot.set_runs_backlog(runs))
    }

    /// Keeps the rounds of an element while an asynchronous entry has the element.
    pub(crate) fn note_rounds(&self, number: Number, rounds: &NextRounds) {
        // Borrowed while another entry runs: then the element is in its slot.
        if let Some(mut slot) = self.try_slot(number) {
            slot.note_rounds(rounds);
        }
    }

    /// Merges rounds that a fork has noted, which may be older than those known by now.
    pub(crate) fn raise_rounds(&self, number: Number, rounds: &NextRounds) {
        // As in `note_rounds`.
        if let Some(mut slot) = self.try_slot(number) {
            slot.raise_rounds(rounds);
        }
    }

    /// Puts an element into a slot. `epoch` is that of the move that brought it here, or 0 if it
    /// was made here.
    pub(crate) fn put(&self, local: &Local, slot: Slot<T>, epoch: u32) {
        let number = slot.number();
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
    pub(crate) fn admit(&self, local: &Local, slot: Slot<T>, epoch: u32, urgent: Vec<Arrival>) {
        let number = slot.number();
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
    pub(crate) fn announce(&self, local: &Local, number: Number) {
        if self.slot(number).is_none() && self.is_expected(local, number) {
            self.presence.set_unmade(number);
        }
    }

    /// Takes an element that is to go, if it has not ended.
    pub(crate) fn take_leaving(&self, number: Number) -> Option<Slot<T>> {
        self.presence.has_left(number);
        self.take(number)
    }

    /// Returns the elements that are to come here, and count as being here for senders in `epoch`.
    pub(crate) fn to_come(&self, epoch: u32) -> Vec<Number> {
        let mut all = self.presence.to_come();
        all.retain(|&number| self.is_here_in(number, epoch));
        all
    }

    /// Returns true if the element is here.
    pub(crate) fn has(&self, number: Number) -> bool {
        let residents = self.residents.borrow();
        matches!(residents.get(self.slot_of(number)), Some(Some((is, _))) if *is == number)
    }

    /// Returns true if the element is not here yet but is to come.
    ///
    /// A sender that uses the new place may have entered the epoch of the move before this worker
    /// has. No sender uses the old place any longer once the element has left it. So both cases are
    /// accepted.
    pub(crate) fn is_expected(&self, local: &Local, number: Number) -> bool {
        let place = self.collection.directory().place(number);
        place.leads_to(number, local.worker())
    }

    /// Returns the number of the first element from slot `at` on that is here for senders in
    /// `epoch`. Sets `at` to the slot after it.
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

    /// Returns true if all elements that are here count as being here for senders in `epoch`.
    #[inline]
    fn all_are_here_in(&self, epoch: u32) -> bool {
        self.presence.all_are_here_in(epoch)
    }

    /// Returns true if the element is here, or is to come here, for senders in `epoch`.
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

    /// Returns the index of an element that is here; `None` if it has none.
    pub(crate) fn index_of(&self, number: Number) -> Option<T::Index> {
        self.slot(number).and_then(|slot| slot.index())
    }

    /// Returns an unused number with its home here: a returned one or a new one.
    pub(crate) fn allocate(&self, home: usize) -> Number {
        let mut spare = self.spare.borrow_mut();
        self.collection.directory().allocate_from(&mut spare, home)
    }

    /// Frees the number of an element that has ended.
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
        let index = slot.index();
        if let Some(state) = slot.take_async_state() {
            state.drop_all(local, &|_| {});
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
