//! How long a right to put lasts: until the node that has given it takes it back.
//!
//! A put enters the grant, writes, tells of it, and leaves. Closing is done in the process that
//! puts, by its listening thread, when the other node asks for it: it waits for puts that are
//! within, which is as long as a copy takes, and then answers. So once
//! [`Node::close`](crate::Node::close) has had that answer, no put writes any more, by whatever
//! transport, and each that is tried returns an error.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// One right to put.
#[derive(Debug)]
pub(crate) struct Grant {
    is_open: RwLock<bool>,
}

/// A put under way.
#[derive(Debug)]
pub(crate) struct Entered<'a>(#[expect(dead_code, reason = "held")] RwLockReadGuard<'a, bool>);

impl Grant {
    pub(crate) const fn new(is_open: bool) -> Self {
        Self {
            is_open: RwLock::new(is_open),
        }
    }

    /// Keeps the grant open until the result is dropped; none when it is closed.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        let is_open = self.is_open.read().unwrap_or_else(PoisonError::into_inner);
        is_open.then_some(())?;
        Some(Entered(is_open))
    }

    /// Closes it for good, when no put is within.
    pub(crate) fn close(&self) {
        *self.is_open.write().unwrap_or_else(PoisonError::into_inner) = false;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn closing_waits_for_the_put_within_and_refuses_the_next() {
        let grant = Grant::new(true);
        let (told, closed) = mpsc::channel();
        thread::scope(|scope| {
            let within = grant.enter().expect("it is open");
            scope.spawn(|| {
                grant.close();
                told.send(()).expect("it is heard");
            });
            assert_eq!(closed.try_recv(), Err(mpsc::TryRecvError::Empty));
            drop(within);
            closed.recv().expect("it is told");
        });
        assert!(grant.enter().is_none());
    }
}
