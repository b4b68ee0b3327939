//! Messages that asynchronous entries wait for, until they do.

use std::any::Any;
use std::collections::VecDeque;
use std::fmt;

use crate::failure::contain;

/// The messages that have reached an element but are not yet received, with a [`Queue`] for each
/// kind. The attribute [`chare`](macro@crate::chare) implements this trait.
pub trait Inbox: Default + Send + 'static {
    /// Returns the first kind with messages.
    fn waiting(&self) -> Option<&'static str>;

    /// Gives up the messages of each kind.
    fn give_up(&mut self, lost: &mut Lost<'_>);
}

/// Messages of one kind, the oldest first.
pub struct Queue<C> {
    messages: VecDeque<Filed<C>>,
}

struct Filed<C> {
    content: C,
    /// The message went to all elements, so that an element that ends need not have received it.
    is_to_all: bool,
}

impl<C> Default for Queue<C> {
    fn default() -> Self {
        Self {
            messages: VecDeque::new(),
        }
    }
}

impl<C> fmt::Debug for Queue<C> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Queue({})", self.messages.len())
    }
}

impl<C> Queue<C> {
    /// Returns true if no message is kept.
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    pub(crate) fn put(&mut self, content: C, is_to_all: bool) {
        self.messages.push_back(Filed { content, is_to_all });
    }

    /// Takes the oldest message for which `is_it` returns true.
    pub(crate) fn take_first(&mut self, mut is_it: impl FnMut(&C) -> bool) -> Option<C> {
        let at = self
            .messages
            .iter()
            .position(|filed| is_it(&filed.content))?;
        self.messages.remove(at).map(|filed| filed.content)
    }
}

/// Takes the messages of an inbox after its element has ended.
pub struct Lost<'a> {
    /// Reports a panic in the destructor of a message.
    report_panic: &'a dyn Fn(&(dyn Any + Send)),
    /// Reports the kind of a message that was for this element alone.
    report_kind: &'a dyn Fn(&'static str),
}

impl fmt::Debug for Lost<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lost").finish_non_exhaustive()
    }
}

impl<'a> Lost<'a> {
    pub(crate) fn new(
        report_panic: &'a dyn Fn(&(dyn Any + Send)),
        report_kind: &'a dyn Fn(&'static str),
    ) -> Self {
        Self {
            report_panic,
            report_kind,
        }
    }

    /// Takes the messages of a kind. Each message is dropped separately, so that a panicking
    /// destructor does not affect the others.
    pub fn take<C>(&mut self, kind: &'static str, queue: &mut Queue<C>) {
        for Filed { content, is_to_all } in queue.messages.drain(..) {
            if !is_to_all {
                (self.report_kind)(kind);
            }
            contain(|| drop(content), self.report_panic);
        }
    }
}
