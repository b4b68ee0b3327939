//! The slot of an element: its data, its state, and what waits with it.
//!
//! | from | to | by |
//! |---|---|---|
//! | ready | running | `begin_entry`: an asynchronous entry takes the element |
//! | running | suspended | `suspend`: the entry waits |
//! | suspended | running | `resume` |
//! | running | ready | `end_entry`: the entry returns the element |
//! | ready | frozen | `freeze`: the element leaves for another node |
//!
//! Synchronous entries borrow the element of a slot that stays ready.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::mem;

use serde::{Deserialize, Serialize};

use super::suspended::Suspended;
use crate::address::number::Number;
use crate::engine::local::Local;
use crate::engine::object::chare::{Chare, Message};
use crate::engine::object::cx::Cx;
use crate::engine::object::inbox::{Inbox, Lost};
use crate::state::merged::Merged;
use crate::state::rounds::{Group, NextRounds};

/// The slot of one element; `P` is a message that waits with it.
pub(crate) struct Slot<T: Chare, P> {
    number: Number,
    index: Option<T::Index>,
    state: SlotState<T>,
    async_state: Option<Box<AsyncState<T, P>>>,
}

/// The scan of a group for which a step is.
type ScanOf = (Group, u64);

/// The messages of scans that have arrived, by group, scan and step.
pub(crate) type Steps = HashMap<(Group, u64, u32), Box<dyn Merged>>;

/// Extra state of an element that has used asynchronous entries.
pub(crate) struct AsyncState<T: Chare, P> {
    inbox: T::Inbox,
    /// An asynchronous entry waits for messages of the inbox.
    awaits_inbox: bool,
    /// Messages that wait for the end of an asynchronous entry, the oldest first.
    backlog: VecDeque<P>,
    /// True while the backlog is being run.
    runs_backlog: bool,
    steps: Steps,
    /// An asynchronous entry waits for a step of this scan.
    awaits_step: Option<ScanOf>,
    /// The reductions to which the element contributes next, while an asynchronous entry has the
    /// element.
    rounds: NextRounds,
}

/// An element.
pub(crate) struct Body<T: Chare> {
    pub(crate) me: T,
    pub(crate) cx: Cx<T>,
}

enum SlotState<T: Chare> {
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

impl<T: Chare, P> Slot<T, P> {
    /// Creates the slot of an element that is ready.
    pub(crate) fn new(number: Number, index: Option<T::Index>, body: Body<T>) -> Self {
        Self {
            number,
            index,
            state: SlotState::Ready(body),
            async_state: None,
        }
    }

    /// Returns what the slot holds, and leaves it vacant.
    pub(super) fn take(&mut self) -> Self {
        let vacant = Self {
            number: self.number,
            index: None,
            state: SlotState::Vacant,
            async_state: None,
        };
        mem::replace(self, vacant)
    }

    #[inline]
    pub(crate) fn number(&self) -> Number {
        self.number
    }

    pub(crate) fn index(&self) -> Option<T::Index> {
        self.index
    }

    pub(crate) fn is_vacant(&self) -> bool {
        matches!(self.state, SlotState::Vacant)
    }

    /// Returns true if element `number` is here.
    #[inline]
    pub(super) fn holds(&self, number: Number) -> bool {
        self.number == number && !self.is_vacant()
    }

    /// Returns element `number`, if an entry of it can run.
    #[inline]
    pub(super) fn ready(&mut self, number: Number) -> Option<&mut Body<T>> {
        match self {
            Self {
                number: is,
                state: SlotState::Ready(body),
                ..
            } if *is == number => Some(body),
            _ => None,
        }
    }

    /// Returns the element, if it can be saved.
    ///
    /// # Errors
    /// The reason why it cannot be saved.
    pub(crate) fn at_rest(&self) -> Result<&Body<T>, &'static str> {
        match &self.state {
            SlotState::Vacant => Err("it is not here"),
            SlotState::Ready(body) => Ok(body),
            SlotState::Running | SlotState::Suspended(_) => {
                Err("an asynchronous entry of it is under way")
            }
            SlotState::Frozen(_) => Err("it is on its way to another node"),
        }
    }

    /// Describes what the element waits for; `name` is its name.
    pub(crate) fn explain(&self, name: impl FnOnce() -> String) -> Option<String> {
        let SlotState::Suspended(suspended) = &self.state else {
            return None;
        };
        let (name, entry) = (name(), suspended.entry());
        let backlog = self.async_state.as_ref().map(|state| state.backlog.len());
        Some(match backlog.unwrap_or(0) {
            0 => format!("{name} waits in `{entry}`"),
            1 => format!("{name} waits in `{entry}`, and a message for it"),
            behind => format!("{name} waits in `{entry}`, and {behind} messages for it"),
        })
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

    /// Records the rounds of an element that runs an asynchronous entry.
    pub(super) fn note_rounds(&mut self, rounds: &NextRounds) {
        if matches!(self.state, SlotState::Running) {
            self.async_state().rounds.clone_from(rounds);
        }
    }

    /// Merges rounds that a fork of an asynchronous entry has noted, which may be older than those
    /// known by now.
    pub(super) fn raise_rounds(&mut self, rounds: &NextRounds) {
        if !matches!(self.state, SlotState::Ready(_)) {
            self.async_state().rounds.raise_to(rounds);
        }
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

    /// Returns the extra state, new if the element has had none.
    fn async_state(&mut self) -> &mut AsyncState<T, P> {
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

    /// Takes the extra state of an element that ends, if it has any.
    pub(crate) fn take_async_state(&mut self) -> Option<Box<AsyncState<T, P>>> {
        self.async_state.take()
    }
}

/// Asynchronous entries.
impl<T: Chare, P> Slot<T, P> {
    /// Takes the element for an asynchronous entry that begins; `None` if no entry can run now. The
    /// slot keeps a copy of the element's rounds.
    pub(crate) fn begin_entry(&mut self) -> Option<Body<T>> {
        if !matches!(self.state, SlotState::Ready(_)) {
            return None;
        }
        let SlotState::Ready(body) = mem::replace(&mut self.state, SlotState::Running) else {
            unreachable!("it is ready");
        };
        self.async_state().rounds.clone_from(body.cx.rounds());
        Some(body)
    }

    /// Keeps an asynchronous entry that waits.
    pub(crate) fn suspend(&mut self, suspended: Suspended<T>) {
        self.state = SlotState::Suspended(suspended);
    }

    /// Takes the asynchronous entry that waits, to run it, and forgets what it waited for.
    pub(crate) fn resume(&mut self) -> Option<Suspended<T>> {
        match mem::replace(&mut self.state, SlotState::Running) {
            SlotState::Suspended(suspended) => {
                let state = self.async_state();
                (state.awaits_inbox, state.awaits_step) = (false, None);
                Some(suspended)
            }
            state => {
                self.state = state;
                None
            }
        }
    }

    /// Takes the element back from an asynchronous entry that has ended.
    pub(crate) fn end_entry(&mut self, body: Body<T>) {
        self.state = SlotState::Ready(body);
    }

    /// Keeps a message until an asynchronous entry has ended.
    pub(super) fn push_to_backlog(&mut self, message: P) {
        self.async_state().backlog.push_back(message);
    }

    /// Takes the oldest message that waits, for an element that is ready.
    pub(crate) fn next_in_backlog(&mut self) -> Option<P> {
        let state = self.async_state.as_mut()?;
        matches!(self.state, SlotState::Ready(_)).then(|| state.backlog.pop_front())?
    }

    /// Sets whether the backlog is being run, and returns the former value.
    pub(super) fn set_runs_backlog(&mut self, runs: bool) -> bool {
        mem::replace(&mut self.async_state().runs_backlog, runs)
    }
}

/// Messages that asynchronous entries wait for.
impl<T: Chare, P> Slot<T, P> {
    /// Returns false for an element that is bytes: its messages wait until it has moved.
    pub(crate) fn can_receive(&self) -> bool {
        !matches!(self.state, SlotState::Frozen(_))
    }

    /// Returns a kind of messages that the element has not received.
    pub(crate) fn waits_in_inbox(&self) -> Option<&'static str> {
        self.async_state.as_ref()?.inbox.waiting()
    }

    /// Puts a message into the inbox. Returns true if an asynchronous entry waits for the inbox.
    pub(crate) fn put_message<M>(&mut self, message: M::Args, is_to_all: bool) -> bool
    where
        M: Message<Chare = T>,
    {
        let state = self.async_state();
        M::queue(&mut state.inbox).put(message, is_to_all);
        state.awaits_inbox
    }

    /// Takes the oldest message of a kind for which `is_it` returns true. If there is none, the
    /// asynchronous entry waits for the inbox.
    pub(crate) fn take_message<M>(&mut self, is_it: impl FnMut(&M::Args) -> bool) -> Option<M::Args>
    where
        M: Message<Chare = T>,
    {
        let state = self.async_state();
        let message = M::queue(&mut state.inbox).take_first(is_it);
        state.awaits_inbox |= message.is_none();
        message
    }

    /// Keeps the message of a step of a scan. Returns true if an asynchronous entry waits for it.
    pub(crate) fn put_step(&mut self, of: ScanOf, step: u32, value: Box<dyn Merged>) -> bool {
        let state = self.async_state();
        state.steps.insert((of.0, of.1, step), value);
        state.awaits_step == Some(of)
    }

    /// Takes the message of a step. If there is none, the asynchronous entry waits for it.
    pub(crate) fn take_step(&mut self, of: ScanOf, step: u32) -> Option<Box<dyn Merged>> {
        let state = self.async_state();
        let value = state.steps.remove(&(of.0, of.1, step));
        state.awaits_step = value.is_none().then_some(of);
        value
    }

    /// Returns the scan that an asynchronous entry waits for.
    pub(crate) fn awaited_scan(&self) -> Option<ScanOf> {
        self.async_state.as_ref()?.awaits_step
    }

    /// Takes the messages for scans of a section that no longer exists.
    pub(crate) fn take_steps(&mut self, section: u32) -> Steps {
        let steps = self.async_state.as_mut().map(|state| &mut state.steps);
        let taken = steps.map(|steps| steps.extract_if(|key, _| key.0 == Some(section)));
        taken.into_iter().flatten().collect()
    }
}

/// Elements that go to another node.
impl<T: Chare, P> Slot<T, P> {
    /// Replaces an element that is ready by its serialised form. Returns the element.
    pub(crate) fn freeze(&mut self, frozen: Frozen) -> Body<T> {
        match mem::replace(&mut self.state, SlotState::Frozen(frozen)) {
            SlotState::Ready(body) => body,
            _ => unreachable!("only an element that runs no entry is frozen"),
        }
    }

    /// Returns the serialised element, the messages of scans, and the messages that wait for the
    /// element.
    pub(crate) fn into_frozen(self) -> (Frozen, Steps, VecDeque<P>) {
        let SlotState::Frozen(frozen) = self.state else {
            unreachable!("only frozen elements move to other nodes");
        };
        let (steps, backlog) = match self.async_state {
            Some(state) => (state.steps, state.backlog),
            None => Default::default(),
        };
        (frozen, steps, backlog)
    }
}

impl<T: Chare, P> AsyncState<T, P> {
    /// Takes the messages that wait for the end of an asynchronous entry.
    pub(crate) fn take_backlog(&mut self) -> VecDeque<P> {
        mem::take(&mut self.backlog)
    }

    /// Drops the waiting messages, each separately. Calls `report_kind` with the kind of each
    /// unreceived message.
    pub(crate) fn drop_all(mut self, local: &Local, report_kind: &dyn Fn(&'static str)) {
        let report_panic = |panic: &(dyn Any + Send)| local.fail_outside_entries(panic);
        self.inbox
            .give_up(&mut Lost::new(&report_panic, report_kind));
        for message in self.backlog {
            local.guard(|| drop(message));
        }
        for value in self.steps.into_values() {
            local.guard(|| drop(value));
        }
    }
}
