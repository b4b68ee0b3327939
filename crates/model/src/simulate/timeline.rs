//! Who hears what happens, to draw it.

mod chrome;

pub use self::chrome::Chrome;

use super::client::Thread;
use super::moment::Moment;

/// Hears of everything that happens in a simulation.
pub trait Timeline {
    /// Whether anybody listens; if not, nothing is told.
    const LISTENS: bool;

    /// A thread did something, from one moment to another.
    fn thread(&mut self, thread: Thread, activity: Activity, from: Moment, to: Moment);

    /// A packet of a message passed a link of a node.
    fn packet(&mut self, node: u32, link: Link, message: u64, from: Moment, to: Moment);

    /// A message has been sent by a thread.
    fn sent(&mut self, message: u64, by: Thread, at: Moment);

    /// A thread has received it.
    fn received(&mut self, message: u64, by: Thread, at: Moment);

    /// So many threads of a node are active from now on.
    fn active(&mut self, node: u32, threads: u32, at: Moment);
}

/// What threads do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// What the program wants computed.
    Computes,
    /// A call that sends.
    Sends,
    /// A call that receives.
    Receives,
    /// Looking for a message again and again.
    Polls,
    /// A call that wakes.
    Wakes,
    /// Blocked, until a message comes.
    AwaitsMessage,
    /// Blocked, until another thread wakes it.
    Sleeps,
    /// Waiting for all others.
    Meets,
}

/// A direction of a node's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// Into the network.
    Out,
    /// Out of it.
    In,
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Timeline for Silent {
    const LISTENS: bool = false;

    fn thread(&mut self, _: Thread, _: Activity, _: Moment, _: Moment) {}
    fn packet(&mut self, _: u32, _: Link, _: u64, _: Moment, _: Moment) {}
    fn sent(&mut self, _: u64, _: Thread, _: Moment) {}
    fn received(&mut self, _: u64, _: Thread, _: Moment) {}
    fn active(&mut self, _: u32, _: u32, _: Moment) {}
}

impl Activity {
    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Computes => "compute",
            Self::Sends => "send",
            Self::Receives => "receive",
            Self::Polls => "poll",
            Self::Wakes => "wake",
            Self::AwaitsMessage => "await message",
            Self::Sleeps => "sleep",
            Self::Meets => "meet",
        }
    }
}
