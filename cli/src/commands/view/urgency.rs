//! Coarse pictures come first: a fine picture of any page gives way to them, and begins again when
//! none is left. So a page answers a drag at once, whatever another page has asked for.

use tokio::sync::watch;

/// The number of coarse pictures of all pages that are wanted or in progress.
#[derive(Debug)]
pub(super) struct Urgency(watch::Sender<usize>);

/// A coarse picture, from its request to its end.
#[derive(Debug)]
pub(super) struct Urgent(watch::Sender<usize>);

impl Urgency {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(0))
    }

    /// Counts a coarse picture until the result is dropped.
    pub(super) fn begin(&self) -> Urgent {
        self.0.send_modify(|count| *count += 1);
        Urgent(self.0.clone())
    }

    /// Returns true if there is a coarse picture.
    pub(super) fn is_urgent(&self) -> bool {
        *self.0.borrow() > 0
    }

    /// Waits until there is none.
    pub(super) async fn calm(&self) {
        let mut receiver = self.0.subscribe();
        // The sender exists as long as `self` does.
        let _seen = receiver.wait_for(|count| *count == 0).await;
    }
}

impl Drop for Urgent {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}
