//! The threads that make progress on the network.

use std::fmt;

/// Selects the threads that receive messages from other nodes, and when.
///
/// # Source
/// Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime system for multicore clusters. 2010,
/// section 3.1 and figure 3. [`AnySend`](Self::AnySend) is the first version there,
/// [`EachSend`](Self::EachSend) the improved one, and [`Thread`](Self::Thread) the alternative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Progress {
    /// Workers receive: between two tasks, while they look for work, and when there is no space to
    /// send.
    #[default]
    Pending,
    /// Workers receive as with `Pending`, and after everything that they send to another node.
    EachSend,
    /// Workers receive as with `EachSend`, and after every message without a priority to an element
    /// of their own node. This makes messages within a node slower. It exists for comparison.
    AnySend,
    /// One dedicated thread receives for each node. It sleeps while nothing arrives.
    Thread,
}

impl Progress {
    /// All variants, in the order of their declaration.
    pub const ALL: [Self; 4] = [Self::Pending, Self::EachSend, Self::AnySend, Self::Thread];

    /// Returns the name: `pending`, `send`, `any-send` or `thread`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::EachSend => "send",
            Self::AnySend => "any-send",
            Self::Thread => "thread",
        }
    }
}

impl fmt::Display for Progress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
