//! Grants: how long a right to put or to read lasts, which is until the node that has granted it
//! closes it.
//!
//! A put enters the grant, writes, sends its message, and leaves the grant. A read copies instead,
//! and sends nothing. The listening thread of
//! the process that puts closes the grant when the other node asks for it. It waits for puts in
//! progress, which takes as long as a copy, and then answers. So once
//! [`Node::close`](crate::Node::close) has received that answer, no put writes any more, with any
//! transport, and each later attempt returns an error.

use std::sync::{PoisonError, RwLock, RwLockReadGuard};

/// A right to put or to read.
#[derive(Debug)]
pub(crate) struct Grant {
    is_open: RwLock<bool>,
}

/// A put or a read in progress.
#[derive(Debug)]
pub(crate) struct Entered<'a>(#[expect(dead_code, reason = "held")] RwLockReadGuard<'a, bool>);

impl Grant {
    pub(crate) const fn new(is_open: bool) -> Self {
        Self {
            is_open: RwLock::new(is_open),
        }
    }

    /// Keeps the grant open until the result is dropped. Returns `None` if the grant is closed.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        let is_open = self.is_open.read().unwrap_or_else(PoisonError::into_inner);
        is_open.then_some(())?;
        Some(Entered(is_open))
    }

    /// Returns true until the grant is closed.
    pub(crate) fn is_open(&self) -> bool {
        *self.is_open.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until no put is in progress, and closes the grant for good.
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
    fn close_waits_for_the_put_in_progress_and_refuses_the_next() {
        let grant = Grant::new(true);
        let (report, closed) = mpsc::channel();
        thread::scope(|scope| {
            let entered = grant.enter().expect("the grant is open");
            scope.spawn(|| {
                grant.close();
                report.send(()).expect("the receiver exists");
            });
            assert_eq!(closed.try_recv(), Err(mpsc::TryRecvError::Empty));
            drop(entered);
            closed.recv().expect("the grant was closed");
        });
        assert!(grant.enter().is_none());
    }
}
