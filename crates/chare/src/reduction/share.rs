//! The type-erased merged contributions to a reduction.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::engine::local::Local;
use crate::engine::system::System;
use crate::failure::{Failure, said};
use crate::remote::{self, WireMessage, out};
use crate::state::merged::{Merged, Misfit, Output, downcast, merge_one, unequal};
use raddle_collections::reduce::Reducer;

/// The destination of a reduction's result.
pub(crate) enum Target {
    /// The result goes to the caller that claims it from the array.
    Claim,
    /// The result goes to this function.
    Call(Box<dyn FnOnce(Box<dyn Output>) + Send>),
    /// The result goes to all contributors: the function distributes it to all workers.
    All(fn(&Local, u32, u64, Box<dyn Output>)),
}

/// The kinds of [`Target`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Goes {
    Claim,
    Call,
    All,
}

impl Goes {
    const ALL: [Self; 3] = [Self::Claim, Self::Call, Self::All];

    /// Returns the number of the kind in wire messages.
    const fn number(self) -> u8 {
        self as u8
    }

    /// Returns the kind with this [`number`](Self::number).
    pub(crate) fn from_number(number: u8) -> Option<Self> {
        Self::ALL.get(usize::from(number)).copied()
    }
}

impl Target {
    /// Creates a target that calls `then` with the result of reducers `R`.
    pub(crate) fn call<R: Reducer>(then: impl FnOnce(R::Output) + Send + 'static) -> Self {
        Self::Call(Box::new(|output| {
            let output = downcast(output).expect("all elements contribute values of one type");
            then(*output);
        }))
    }
}

/// The merged contributions, their number, and the destination of the result.
#[derive(Default)]
pub(crate) struct Share {
    pub(super) count: u64,
    merged: Option<Box<dyn Merged>>,
    goes: Option<Goes>,
    pub(super) target: Option<Target>,
    misfit: Option<Misfit>,
}

impl Share {
    /// Creates a share with one contribution.
    pub(crate) fn of<R: Reducer>(reducer: R, goes: Goes, target: Target) -> Self {
        Self {
            count: 1,
            merged: Some(Box::new(reducer)),
            goes: Some(goes),
            target: Some(target),
            misfit: None,
        }
    }

    /// Creates a share from contributions of another node, or from the reason why they do not fit
    /// together.
    ///
    /// Where the result goes is determined by the local shares, because all contributors name
    /// equivalent targets.
    pub(crate) fn from_elsewhere(
        count: u64,
        goes: Goes,
        merged: Result<Box<dyn Merged>, Misfit>,
    ) -> Self {
        let (merged, misfit) = match merged {
            Ok(merged) => (Some(merged), None),
            Err(misfit) => (None, Some(misfit)),
        };
        Self {
            count,
            merged,
            goes: Some(goes),
            target: None,
            misfit,
        }
    }

    /// Returns the number of contributions.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }

    /// Sends the share to the root of a reduction on another node.
    ///
    /// # Errors
    /// If the reducer cannot cross nodes.
    pub(crate) fn send_away(
        &self,
        system: &System,
        node: u16,
        (collection, round): (u32, u64),
    ) -> Result<(), Failure> {
        let (Some(away), Some(goes)) = (remote::away(system), self.goes) else {
            return Ok(());
        };
        let written = match (&self.misfit, &self.merged) {
            (None, Some(merged)) => Ok(away.reducers.write(&**merged)?),
            (Some(misfit), _) => Err(misfit.as_str()),
            (None, None) => return Ok(()),
        };
        let (merged, body) = match written {
            Ok((kind, bytes)) => (Ok(kind), bytes),
            Err(misfit) => (Err(misfit), Vec::new()),
        };
        let wire_message = WireMessage::Share {
            collection,
            round,
            count: self.count,
            goes: goes.number(),
            merged,
        };
        out::send_away_with(system, node, &wire_message, body);
        Ok(())
    }

    /// Returns true if the result goes to a function that no contributor on this node has passed.
    pub(super) const fn lacks_its_call(&self) -> bool {
        matches!((self.goes, &self.target), (Some(Goes::Call), None))
    }

    /// Returns true if the result goes to all contributors, and all of them are on other nodes.
    pub(super) const fn is_for_others(&self) -> bool {
        matches!((self.goes, &self.target), (Some(Goes::All), None))
    }

    /// Adds other contributions. [`finish`](Self::finish) reports contributions that do not fit
    /// together.
    pub(crate) fn add(&mut self, other: Self) {
        self.count += other.count;
        self.misfit = self.misfit.take().or(other.misfit);
        if let Some(goes) = other.goes {
            self.agree(goes);
        }
        self.target = self.target.take().or(other.target);
        let result = match (&mut self.merged, other.merged) {
            (Some(merged), Some(other)) => merged.merge(other),
            (merged, other) => {
                *merged = merged.take().or(other);
                Ok(())
            }
        };
        self.note(result);
    }

    /// Adds one contribution.
    pub(super) fn contribute<R: Reducer>(
        &mut self,
        reducer: R,
        goes: Goes,
        target: impl FnOnce() -> Target,
    ) {
        self.count += 1;
        self.agree(goes);
        self.target.get_or_insert_with(target);
        let result = match &mut self.merged {
            None => {
                self.merged = Some(Box::new(reducer));
                return;
            }
            Some(merged) => {
                let name = merged.name();
                match merged.as_any().downcast_mut::<R>() {
                    Some(merged) => merge_one(merged, reducer),
                    None => Err(unequal(name, R::name())),
                }
            }
        };
        self.note(result);
    }

    fn agree(&mut self, goes: Goes) {
        if *self.goes.get_or_insert(goes) != goes {
            let what =
                "some elements wait for the result, or name a call for it, and others do not";
            self.note(Err(what.to_owned()));
        }
    }

    fn note(&mut self, result: Result<(), Misfit>) {
        if let Err(misfit) = result {
            self.misfit.get_or_insert(misfit);
        }
    }

    /// Computes the result of all contributions; `None` without any.
    pub(super) fn finish(&mut self) -> Option<Result<Box<dyn Output>, Misfit>> {
        if let Some(misfit) = self.misfit.take() {
            return Some(Err(misfit));
        }
        let merged = self.merged.take()?;
        let name = merged.name();
        let finished = catch_unwind(AssertUnwindSafe(|| merged.finish()));
        Some(finished.map_err(|panic| format!("{name} panicked: {}", said(&*panic))))
    }
}
