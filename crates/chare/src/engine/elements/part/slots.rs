//! The slots of elements: the data and the current state of each element.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::mem;

use serde::{Deserialize, Serialize};

use super::Suspended;
use crate::address::number::Number;
use crate::engine::elements::parcel::{BoxedParcel, Parcels};
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::engine::object::inbox::{Inbox, Lost};
use crate::state::merged::Merged;
use crate::state::rounds::{Group, NextRounds};

/// The elements of a part.
pub(super) struct Slots<T: Chare> {
    slots: Vec<Slot<T>>,
    vacant: Vec<u32>,
}

/// The slot of one element.
pub(crate) struct Slot<T: Chare> {
    pub(crate) number: Number,
    pub(crate) index: Option<T::Index>,
    pub(crate) state: SlotState<T>,
    async_state: Option<Box<AsyncState<T>>>,
}

/// The messages of scans that have arrived, by group, scan and step.
pub(crate) type Steps = HashMap<(Group, u64, u32), Box<dyn Merged>>;

/// Extra state of an element that has used asynchronous entries.
pub(crate) struct AsyncState<T: Chare> {
    pub(crate) inbox: T::Inbox,
    /// An asynchronous entry waits for messages of the inbox.
    pub(crate) awaits_inbox: bool,
    /// Messages that wait for the end of an asynchronous entry.
    pub(crate) backlog: Parcels<T>,
    /// True while the backlog is being run.
    pub(super) runs_backlog: bool,
    pub(crate) steps: Steps,
    /// An asynchronous entry waits for a step of this scan.
    pub(crate) awaits_step: Option<(Group, u64)>,
    /// The reductions to which the element contributes next, while an asynchronous entry has the
    /// element.
    pub(crate) rounds: NextRounds,
}

/// An element.
pub(crate) struct Body<T: Chare> {
    pub(crate) me: T,
    pub(crate) cx: Cx<T>,
}

pub(crate) enum SlotState<T: Chare> {
    /// Nothing is here.
    Vacant,
    /// An entry can run.
    Ready(Body<T>),
    /// An asynchronous entry runs at this moment.
    Running,
    /// An asynchronous entry waits.
    Suspended(Suspended<T>),
    /// The element is bytes, and waits to go to another node. Messages wait with it.
    Frozen(Frozen),
}

/// An element that goes to another node: what it contributes to next, and its value.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Frozen {
    pub(crate) rounds: (u64, u64),
    #[serde(with = "crate::codec::plain")]
    pub(crate) value: Vec<u8>,
}

impl<T: Chare> Default for Slots<T> {
    fn default() -> Self {
        Self {
            slots: Vec::new(),
            vacant: Vec::new(),
        }
    }
}

impl<T: Chare> Slots<T> {
    /// Returns all slots, among them vacant ones.
    pub(super) fn all(&self) -> &[Slot<T>] {
        &self.slots
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot<T>> {
        self.slots.iter()
    }

    pub(super) fn take_all(&mut self) -> Vec<Slot<T>> {
        self.vacant.clear();
        mem::take(&mut self.slots)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, at: usize, number: Number) -> Option<&mut Slot<T>> {
        self.slots
            .get_mut(at)
            .filter(|slot| slot.number == number && !matches!(slot.state, SlotState::Vacant))
    }

    /// Returns the element, if an entry can run.
    #[inline]
    pub(super) fn ready(&mut self, at: usize, number: Number) -> Option<&mut Body<T>> {
        match self.slots.get_mut(at) {
            Some(Slot {
                number: is,
                state: SlotState::Ready(body),
                ..
            }) if *is == number => Some(body),
            _ => None,
        }
    }

    /// Puts a new element into a slot. Returns the number of the slot.
    pub(super) fn put(&mut self, slot: Slot<T>) -> u32 {
        if let Some(at) = self.vacant.pop() {
            self.slots[at as usize] = slot;
            return at;
        }
        self.slots.push(slot);
        u32::try_from(self.slots.len() - 1).expect("a worker has fewer than 2^32 elements")
    }

    pub(super) fn take(&mut self, at: usize) -> Slot<T> {
        let slot = &mut self.slots[at];
        let vacant = Slot::new(slot.number, None, SlotState::Vacant);
        let slot = mem::replace(slot, vacant);
        self.vacant.push(at as u32);
        slot
    }
}

impl<T: Chare> AsyncState<T> {
    /// Drops the waiting messages, each separately. Calls `report_kind` with the kind of
    /// each unreceived message.
    pub(crate) fn drop_all(mut self, local: &Local, report_kind: &dyn Fn(&'static str)) {
        let report_panic = |panic: &(dyn Any + Send)| local.fail_outside_entries(panic);
        self.inbox
            .give_up(&mut Lost::new(&report_panic, report_kind));
        for parcel in self.backlog {
            local.guard(|| drop(parcel));
        }
        for value in self.steps.into_values() {
            local.guard(|| drop(value));
        }
    }
}

impl<T: Chare> Slot<T> {
    /// Returns a kind of messages that the element has not received.
    pub(crate) fn waits_in_inbox(&self) -> Option<&'static str> {
        self.async_state.as_ref()?.inbox.waiting()
    }

    pub(crate) fn new(number: Number, index: Option<T::Index>, state: SlotState<T>) -> Self {
        Self {
            number,
            index,
            state,
            async_state: None,
        }
    }

    /// Returns its extra state, new if it has had none.
    pub(crate) fn async_state(&mut self) -> &mut AsyncState<T> {
        self.async_state.get_or_insert_with(|| {
            Box::new(AsyncState {
                inbox: T::Inbox::default(),
                awaits_inbox: false,
                backlog: VecDeque::new(),
                runs_backlog: false,
                steps: Steps::new(),
                awaits_step: None,
                rounds: NextRounds::default(),
            })
        })
    }

    /// Describes what the element waits for; `name` is its name.
    pub(crate) fn explain(&self, name: impl FnOnce() -> String) -> Option<String> {
        let SlotState::Suspended(suspended) = &self.state else {
            return None;
        };
        let (name, entry) = (name(), suspended.entry());
        Some(match self.backlog_len() {
            0 => format!("{name} waits in `{entry}`"),
            1 => format!("{name} waits in `{entry}`, and a message for it"),
            behind => format!("{name} waits in `{entry}`, and {behind} messages for it"),
        })
    }

    /// Returns the number of messages that wait for the end of an asynchronous entry.
    fn backlog_len(&self) -> usize {
        self.async_state
            .as_ref()
            .map_or(0, |state| state.backlog.len())
    }

    /// Takes the oldest message that waits, for an element that is ready.
    pub(crate) fn next_in_backlog(&mut self) -> Option<BoxedParcel<T>> {
        let state = self.async_state.as_mut()?;
        matches!(self.state, SlotState::Ready(_)).then(|| state.backlog.pop_front())?
    }

    /// Takes the messages of scans that have arrived.
    pub(crate) fn take_all_steps(&mut self) -> Steps {
        let state = self.async_state.as_mut();
        state.map_or_else(Steps::new, |state| mem::take(&mut state.steps))
    }

    /// Takes the messages that wait for the end of an asynchronous entry.
    pub(crate) fn take_backlog(&mut self) -> Parcels<T> {
        let state = self.async_state.as_mut();
        state.map_or_else(VecDeque::new, |state| mem::take(&mut state.backlog))
    }

    /// Takes its extra state, if it has any.
    pub(crate) fn take_async_state(&mut self) -> Option<Box<AsyncState<T>>> {
        self.async_state.take()
    }

    /// Returns the scan that an asynchronous entry waits for.
    pub(crate) fn awaited_scan(&self) -> Option<(Group, u64)> {
        self.async_state.as_ref()?.awaits_step
    }

    /// Takes the messages for scans of a section that no longer exists.
    pub(crate) fn take_steps(&mut self, section: u32) -> Steps {
        let steps = self.async_state.as_mut().map(|state| &mut state.steps);
        let taken = steps.map(|steps| steps.extract_if(|key, _| key.0 == Some(section)));
        taken.into_iter().flatten().collect()
    }

    /// Removes the rounds of a section that no longer exists. Those that an asynchronous entry has
    /// go with the element.
    pub(super) fn forget_rounds(&mut self, section: u32) {
        if let SlotState::Ready(body) = &mut self.state {
            body.cx.forget_rounds(section);
        }
        if let Some(state) = &mut self.async_state {
            state.rounds.forget(section);
        }
    }

    /// Returns the reductions to which the element contributes next.
    pub(crate) fn next_rounds(&self) -> NextRounds {
        match (&self.state, &self.async_state) {
            (SlotState::Ready(body), _) => body.cx.rounds().clone(),
            (SlotState::Frozen(frozen), _) => NextRounds::of(frozen.rounds),
            (_, Some(async_state)) => async_state.rounds.clone(),
            (_, None) => NextRounds::default(),
        }
    }
}
