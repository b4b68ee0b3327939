//! Failures of chares, which are reported to waiters.

use std::any::Any;
use std::fmt;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// The reason why an awaited value will not come.
///
/// A lost reply fails only its waiter. A panic in an entry without an awaited reply, or a message
/// to an ended element, fails all waits for anything of that runtime's chares from outside of it,
/// since it is not known what would have followed from it. A value that has arrived can still be
/// read. Quiescence and the exit are not values: after a failure they are not reported.
///
/// A panic that has not been reported by the end of the runtime is reported then. Dropping the
/// [`Runtime`](raddle_runtime::Runtime) panics with it, or a [`Job`](crate::nodes::Job) returns it.
/// If neither happens, the process ends with exit code 101 instead of 0.
///
/// `async` entries are notified only of failures of their own replies. Other things that an entry
/// waits for (a message, a reduction) may or may not arrive. If they do not, the entry stays
/// suspended until the runtime ends: [`Chares::explain_waits`](crate::Chares::explain_waits) lists
/// it.
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

    /// Creates the failure of a panic, which a program must not hide: see
    /// [`Unreported`](crate::engine::system::unreported::Unreported).
    pub(crate) fn of_panic(text: impl Into<Box<str>>) -> Self {
        Self(Arc::new(Cause {
            text: text.into(),
            is_panic: true,
        }))
    }

    /// Creates the failure of a panic in `entry` of `element`.
    pub(crate) fn panicked(element: &str, entry: &str, panic: &(dyn Any + Send)) -> Self {
        Self::of_panic(format!("{element} panicked in `{entry}`: {}", said(panic)))
    }

    /// Returns true if the cause is a panic.
    pub(crate) fn is_panic(&self) -> bool {
        self.0.is_panic
    }

    /// Creates the failure of a message for `entry` of an element that has ended, perhaps because
    /// it `died` from another failure.
    pub(crate) fn gone(element: &str, entry: &str, died: Option<&Self>) -> Self {
        let reason = died.map_or(String::new(), |died| format!(": {died}"));
        Self::new(format!(
            "`{entry}` was sent to {element}, which has ended{reason}"
        ))
    }
}

/// Calls `call`, and passes a panic to `on_panic`.
#[inline(always)]
pub(crate) fn contain(call: impl FnOnce(), on_panic: impl FnOnce(&(dyn Any + Send))) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(call)) {
        on_panic(&*panic);
        // The destructor of the panic's value might panic in turn.
        mem::forget(panic);
    }
}

/// Returns the text of a panic.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a value that is not a text")
}
