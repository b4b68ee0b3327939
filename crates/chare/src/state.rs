//! State that features keep for a worker, a worker's part of a collection, or a system.
//!
//! The engine ([`crate::engine::local`], [`crate::engine::elements::part`],
//! [`crate::engine::system`]) holds these values and drops them with their owner, but does not know
//! their types. A feature implements [`State`] and asks for its own state. A value is created on
//! first use.
//!
//! # Invariants
//! 1. Two types have the same [`Slot`] only if no owner holds both: at the owner, a slot holds one
//!    type for ever.

pub(crate) mod measured;
pub(crate) mod members;
pub(crate) mod merged;
pub(crate) mod rounds;

use std::any::Any;
use std::cell::{OnceCell, RefCell};
use std::fmt;
use std::sync::OnceLock;

/// The names of features that keep state. A new feature adds its own here.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Slot {
    Reduction,
    Scan,
    Section,
    Insertion,
    Balance,
    Measure,
    Seeds,
    Migration,
    Departure,
    NodeGroup,
}

/// The number of slots: one for each name.
const SLOT_COUNT: usize = Slot::NodeGroup as usize + 1;

/// State of a feature that one worker uses alone.
pub(crate) trait State: Default + 'static {
    /// The feature's name.
    const SLOT: Slot;
}

/// The states of one worker, or of one part.
#[derive(Default)]
pub(crate) struct States([OnceCell<Box<dyn Any>>; SLOT_COUNT]);

impl fmt::Debug for States {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("States").finish_non_exhaustive()
    }
}

impl States {
    /// The state `S`, new if nothing has asked for it before. Cost: two loads and a comparison.
    #[inline]
    pub(crate) fn of<S: State>(&self) -> &RefCell<S> {
        let slot = &self.0[S::SLOT as usize];
        let value = match slot.get() {
            Some(value) => value,
            None => slot.get_or_init(|| Box::new(RefCell::<S>::default())),
        };
        value.downcast_ref().expect("a slot holds one type")
    }

    /// Takes all values out, to be dropped or left undropped.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Box<dyn Any>> {
        self.0.iter_mut().filter_map(OnceCell::take)
    }
}

/// State of a feature that all workers share.
pub(crate) trait SharedState: Explain {
    /// The feature's name.
    const SLOT: Slot;
}

/// State that can say what waits in it.
pub(crate) trait Explain: Any + Send + Sync {
    /// Says what waits that `worker` was the last to run; by default nothing does.
    fn explain(&self, _worker: usize) -> Option<String> {
        None
    }
}

/// The shared states of one system, or of one collection.
#[derive(Default)]
pub(crate) struct SharedStates([OnceLock<Box<dyn Explain>>; SLOT_COUNT]);

impl fmt::Debug for SharedStates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SharedStates")
            .finish_non_exhaustive()
    }
}

impl SharedStates {
    /// Puts a state in.
    ///
    /// # Panics
    /// When its slot holds one already.
    pub(crate) fn with<S: SharedState>(self, state: S) -> Self {
        let put = self.0[S::SLOT as usize].set(Box::new(state));
        assert!(put.is_ok(), "{:?} has a state already", S::SLOT);
        self
    }

    /// The state `S`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn of<S: SharedState>(&self) -> &S {
        self.get()
            .expect("the system was made with the state of each feature")
    }

    /// The state `S`, if one was put in.
    #[inline]
    pub(crate) fn get<S: SharedState>(&self) -> Option<&S> {
        let value: &dyn Any = &**self.0[S::SLOT as usize].get()?;
        Some(value.downcast_ref().expect("a slot holds one type"))
    }

    /// Says what waits in all of them: a line each.
    pub(crate) fn explain(&self, worker: usize) -> impl Iterator<Item = String> {
        let states = self.0.iter().filter_map(OnceLock::get);
        states.filter_map(move |state| state.explain(worker))
    }
}
