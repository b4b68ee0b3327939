//! The call that a task of kind [`Root`](super::Kind::Root) refers to.

/// A call with a result for a [`Handle`](crate::Handle).
///
/// The call is shared by its handle and its task. It runs once, on the thread that begins it first.
pub(crate) trait RootCall: Send + Sync {
    /// Returns true once a thread has begun the call. A hint.
    fn is_begun(&self) -> bool;

    /// Runs the call on the current worker unless a thread has begun it. Does not unwind.
    fn run(&self);
}
