//! State that features keep for a worker, a worker's part of a collection, or a system.
//!
//! The engine ([`crate::engine::local`], [`crate::engine::elements::part`],
//! [`crate::engine::system`]) holds these values and drops them with their owner, but does not know
//! their types. A feature implements [`LocalState`] or [`SharedState`], and asks for its own state.
//! A local value is created on first use. The engine keeps three states of its own in this way,
//! since their types belong to higher layers of it: deferred calls, the constructor of an array,
//! and the handlers of other nodes.
//!
//! # Invariants
//! 1. Two types have the same [`Feature`] only if no owner holds both: at each owner, a feature
//!    always has the same type.

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
pub(crate) enum Feature {
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
    Deferred,
    Construction,
    Handlers,
}

/// The number of slots: one for each name.
const FEATURE_COUNT: usize = Feature::Handlers as usize + 1;

/// State of a feature that one worker uses alone.
pub(crate) trait LocalState: Default + 'static {
    /// The feature's name.
    const FEATURE: Feature;
}

/// The states of one worker, or of one part.
#[derive(Default)]
pub(crate) struct States([OnceCell<Box<dyn Any>>; FEATURE_COUNT]);

impl fmt::Debug for States {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("States").finish_non_exhaustive()
    }
}

impl States {
    /// Returns the state `S`, which is created on first use. Cost: two loads and a comparison.
    #[inline]
    pub(crate) fn of<S: LocalState>(&self) -> &RefCell<S> {
        let slot = &self.0[S::FEATURE as usize];
        let value = match slot.get() {
            Some(value) => value,
            None => slot.get_or_init(|| Box::new(RefCell::<S>::default())),
        };
        value.downcast_ref().expect("a slot holds one type")
    }

    /// Removes and returns all values. The caller drops or forgets them.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = Box<dyn Any>> {
        self.0.iter_mut().filter_map(OnceCell::take)
    }
}

/// State of a feature that all workers share.
pub(crate) trait SharedState: Explain {
    /// The feature's name.
    const FEATURE: Feature;
}

/// State that can describe what waits in it.
pub(crate) trait Explain: Any + Send + Sync {
    /// Describes what waits and was last run by `worker`. By default, nothing waits.
    fn explain(&self, _worker: usize) -> Option<String> {
        None
    }
}

/// The shared states of one system, or of one collection.
#[derive(Default)]
pub(crate) struct SharedStates([OnceLock<Box<dyn Explain>>; FEATURE_COUNT]);

impl fmt::Debug for SharedStates {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("SharedStates")
            .finish_non_exhaustive()
    }
}

impl SharedStates {
    /// Adds a state.
    ///
    /// # Panics
    /// If its feature has a state already.
    pub(crate) fn with<S: SharedState>(self, state: S) -> Self {
        let put = self.0[S::FEATURE as usize].set(Box::new(state));
        assert!(put.is_ok(), "{:?} has a state already", S::FEATURE);
        self
    }

    /// Returns the state `S`.
    ///
    /// # Panics
    /// If there is none.
    #[inline]
    pub(crate) fn of<S: SharedState>(&self) -> &S {
        self.get()
            .expect("the system was made with the state of each feature")
    }

    /// Returns the state `S`, if one was added.
    #[inline]
    pub(crate) fn get<S: SharedState>(&self) -> Option<&S> {
        let value: &dyn Any = &**self.0[S::FEATURE as usize].get()?;
        Some(value.downcast_ref().expect("a slot holds one type"))
    }

    /// Describes what waits in all states, with one line for each.
    pub(crate) fn explain(&self, worker: usize) -> impl Iterator<Item = String> {
        let states = self.0.iter().filter_map(OnceLock::get);
        states.filter_map(move |state| state.explain(worker))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Count(u32);

    impl LocalState for Count {
        const FEATURE: Feature = Feature::Scan;
    }

    struct Shared(&'static str);

    impl Explain for Shared {
        fn explain(&self, worker: usize) -> Option<String> {
            (worker == 1).then(|| self.0.to_owned())
        }
    }

    impl SharedState for Shared {
        const FEATURE: Feature = Feature::Scan;
    }

    #[test]
    fn a_state_is_created_once_and_taken_once() {
        let mut states = States::default();
        states.of::<Count>().borrow_mut().0 += 1;
        assert_eq!(states.of::<Count>().borrow().0, 1);
        assert_eq!(states.take_all().count(), 1);
        assert_eq!(states.of::<Count>().borrow().0, 0);
    }

    #[test]
    fn shared_states_are_found_by_type_and_explain_themselves() {
        assert!(SharedStates::default().get::<Shared>().is_none());
        let states = SharedStates::default().with(Shared("it waits"));
        assert_eq!(states.of::<Shared>().0, "it waits");
        assert_eq!(states.explain(0).count(), 0);
        assert_eq!(states.explain(1).collect::<Vec<_>>(), ["it waits"]);
    }

    #[test]
    #[should_panic(expected = "has a state already")]
    fn a_feature_has_one_shared_state() {
        let _ = SharedStates::default()
            .with(Shared("one"))
            .with(Shared("two"));
    }
}
