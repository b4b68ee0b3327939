//! A message: a call that is addressed to one worker.

/// A call for one worker ([`Post::send`](crate::Post::send)). Closures are messages.
///
/// A type of your own can be a message, too, so that `run` can be marked `#[inline(always)]`. Then
/// the worker reads the fields that it needs, where a closure may first be copied as a whole.
pub trait Message {
    /// Makes the call, on the worker that has received the message.
    fn run(self);
}

impl<F: FnOnce()> Message for F {
    #[inline]
    fn run(self) {
        self();
    }
}
