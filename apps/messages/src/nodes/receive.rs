//! The ways in which a node receives messages.

use std::fmt;

/// The way in which a node receives messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Receive {
    /// The waiting thread polls its port, and senders ring no doorbell.
    Poll,
    /// The waiting thread waits in its wait cell, and the doorbell of a message wakes it.
    Notify,
    /// A separate thread receives all messages. It wakes the computing thread, which waits in a
    /// wait cell of its own.
    Thread,
}

impl Receive {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Poll, Self::Notify, Self::Thread];

    /// Returns the name, as on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Poll => "poll",
            Self::Notify => "notify",
            Self::Thread => "thread",
        }
    }
}

impl fmt::Display for Receive {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
