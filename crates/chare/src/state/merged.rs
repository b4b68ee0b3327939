//! The merged contributions to a reduction. Only the contributors know their type.

use std::any::{Any, type_name};
use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_collections::reduce::{Name, Reducer};

use crate::failure::said;

/// The merged contributions of some elements.
pub(crate) trait Merged: Send {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit>;
    fn finish(self: Box<Self>) -> Box<dyn Output>;
    fn name(&self) -> Name;
    fn as_any(&mut self) -> &mut dyn Any;
    fn as_any_ref(&self) -> &dyn Any;
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// The result of a reduction.
pub(crate) trait Output: Any + Send {
    fn type_name(&self) -> &'static str;
}

impl<O: Any + Send> Output for O {
    fn type_name(&self) -> &'static str {
        type_name::<O>()
    }
}

/// Returns the result as an `O`.
///
/// # Errors
/// The name of the result's type, if that is not `O`.
pub(crate) fn downcast<O: 'static>(output: Box<dyn Output>) -> Result<Box<O>, &'static str> {
    let is = (*output).type_name();
    let output: Box<dyn Any> = output;
    output.downcast().map_err(|_| is)
}

/// The reason why contributions have no result.
pub(crate) type Misfit = String;

impl<R: Reducer> Merged for R {
    fn merge(&mut self, other: Box<dyn Merged>) -> Result<(), Misfit> {
        let name = other.name();
        match other.into_any().downcast::<R>() {
            Ok(other) => merge_one(self, *other),
            Err(_) => Err(unequal(R::name(), name)),
        }
    }

    fn finish(self: Box<Self>) -> Box<dyn Output> {
        Box::new(Reducer::finish(*self))
    }

    fn name(&self) -> Name {
        R::name()
    }

    fn as_any(&mut self) -> &mut dyn Any {
        self
    }

    fn as_any_ref(&self) -> &dyn Any {
        self
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

pub(crate) fn merge_one<R: Reducer>(merged: &mut R, other: R) -> Result<(), Misfit> {
    let merge = AssertUnwindSafe(|| Reducer::merge(merged, other));
    match catch_unwind(merge) {
        Ok(result) => result.map_err(|mismatch| mismatch.to_string()),
        Err(panic) => Err(format!("{} panicked: {}", R::name(), said(&*panic))),
    }
}

pub(crate) fn unequal(one: Name, other: Name) -> Misfit {
    format!("some elements contribute {one}, others {other}")
}
