//! What went wrong in a chare, told to whoever waits.

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// Why what was waited for will not come.
///
/// A reply that is lost fails its waiter alone. A panic in an entry to which nobody waits for a reply, or a message to an element that is
/// gone, fails all who wait for anything of that runtime's chares from outside of it, since nobody knows what was to come of it. A value that
/// has come is there all the same; quiescence and the exit are no values, and where anything has failed they do not come.
///
/// A program that has not been told of a panic by the end of its runtime is told then: dropping the
/// [`Runtime`](raddle_runtime::Runtime) panics with it, a [`Job`](crate::nodes::Job) returns it,
/// and where neither happens the process does not end with exit code 0, but with 101.
///
/// `async` entries are told only of what fails their own replies. What else they wait for (a message, a reduction) may come or not, and those
/// for which it does not come stay suspended until the runtime ends: [`Chares::who_waits`](crate::Chares::who_waits) names them.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", .0.text)]
pub struct Failure(Arc<Cause>);

/// The cause of a failure. A [`Failure`] is one word, since many functions on the way of a message
/// return one or none.
#[derive(PartialEq, Eq)]
struct Cause {
    text: Box<str>,
    is_panic: bool,
}

impl fmt::Debug for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Failure({})", self.0.text)
    }
}

impl Failure {
    pub(crate) fn new(text: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Cause {
            text: text.into(),
            is_panic: false,
        }))
    }

    /// The same for a panic, which a program must not hide: see
    /// [`Unreported`](crate::engine::system::unreported::Unreported).
    pub(crate) fn of_panic(text: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Cause {
            text: text.into(),
            is_panic: true,
        }))
    }

    /// `who` panicked in `entry`.
    pub(crate) fn panicked(who: &str, entry: &str, panic: &(dyn Any + Send)) -> Self {
        Self::of_panic(format!("{who} panicked in `{entry}`: {}", said(panic)))
    }

    /// True for a panic.
    pub(crate) fn is_panic(&self) -> bool {
        self.0.is_panic
    }

    /// A message for `entry` of an element that is no more, perhaps since it `died`.
    pub(crate) fn gone(who: &str, entry: &str, died: Option<&Self>) -> Self {
        let reason = died.map_or(String::new(), |died| format!(": {died}"));
        Self::new(format!(
            "`{entry}` was sent to {who}, which has ended{reason}"
        ))
    }
}

/// Calls what may panic; `tell` is given what it panics with.
#[inline]
pub(crate) fn contain(call: impl FnOnce(), tell: impl FnOnce(&(dyn Any + Send))) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        tell(&*panic);
        // Its destructor might panic in turn.
        mem::forget(panic);
    }
}

/// What a panic says.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is no text")
}
