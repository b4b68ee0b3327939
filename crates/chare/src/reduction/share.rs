//! What elements have contributed to a reduction, merged, whatever its kind.

use std::any::Any;
use std::fmt;

use crate::local::Local;
use crate::reduce::{Mismatch, Name, Reducer};

/// What some elements have contributed.
pub(crate) trait Merged: Send {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit>;
    fn finish(self: Box<Self>) -> Box<dyn Any + Send>;
    fn name(&self) -> Name;
    fn as_any(&mut self) -> &mut dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Contributions that cannot be merged.
pub(crate) enum Misfit {
    Kinds(Name, Name),
    Values(Mismatch),
}

impl fmt::Display for Misfit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kinds(one, other) => {
                write!(formatter, "some elements contribute {one}, others {other}")
            }
            Self::Values(mismatch) => mismatch.fmt(formatter),
        }
    }
}

impl<R: Reducer> Merged for R {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit> {
        let name = other.name();
        match other.into_any().downcast::<R>() {
            Ok(other) => Reducer::merge(self, *other).map_err(Misfit::Values),
            Err(_) => Err(Misfit::Kinds(R::name(), name)),
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn Any + Send> {
        Box::new(Reducer::finish(*self))
    }

    fn name(&self) -> Name {
        R::name()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// Where the result of a reduction goes.
pub(crate) enum Target {
    /// To whoever asks the array for it.
    Claim,
    /// To a call.
    Call(Box<dyn FnOnce(Box<dyn Any + Send>) + Send>),
    /// To all who have contributed: the call takes it to all workers.
    All(fn(&Local, u32, u64, Box<dyn Any + Send>)),
}

/// Contributions, and how many.
#[derive(Default)]
pub(crate) struct Share {
    pub(super) count: u64,
    pub(super) merged: Option<Box<dyn Merged>>,
    pub(super) target: Option<Target>,
}

impl Target {
    /// Calls `then` with the result of reducers `R`.
    pub(crate) fn call<R: Reducer>(then: impl FnOnce(R::Output) + Send + 'static) -> Self {
        Self::Call(Box::new(|output| {
            let output = output.downcast().expect("all contribute the same");
            then(*output);
        }))
    }
}

impl Share {
    /// One contribution.
    pub(crate) fn of<R: Reducer>(reducer: R, target: Target) -> Self {
        Self {
            count: 1,
            merged: Some(Box::new(reducer)),
            target: Some(target),
        }
    }

    pub(crate) fn add(&mut self, other: Self) -> Result<(), Misfit> {
        self.count += other.count;
        if let Some(target) = other.target {
            self.target.get_or_insert(target);
        }
        match (&mut self.merged, other.merged) {
            (Some(merged), Some(other)) => merged.merge(other),
            (merged, other) => {
                *merged = merged.take().or(other);
                Ok(())
            }
        }
    }

    pub(super) fn contribute<R: Reducer>(
        &mut self,
        reducer: R,
        target: impl FnOnce() -> Target,
    ) -> Result<(), Misfit> {
        self.count += 1;
        self.target.get_or_insert_with(target);
        match &mut self.merged {
            None => {
                self.merged = Some(Box::new(reducer));
                Ok(())
            }
            Some(merged) => {
                let name = merged.name();
                match merged.as_any().downcast_mut::<R>() {
                    Some(merged) => Reducer::merge(merged, reducer).map_err(Misfit::Values),
                    None => Err(Misfit::Kinds(name, R::name())),
                }
            }
        }
    }
}
