//! The observer of a simulation, which records its events to draw them.

mod recorder;

pub use self::recorder::Recorder;

use super::client::Thread;
use super::moment::Moment;

/// An observer of the events of a simulation.
pub trait Timeline {
    /// If false, no event is reported.
    const LISTENS: bool;

    /// Reports an activity of a thread from one moment to another.
    fn thread(&mut self, thread: Thread, activity: Activity, from: Moment, to: Moment);

    /// Reports the time in which a message passed the link out of its node, or one of its packets
    /// the link into the other node. The times of a link do not overlap.
    fn passed(&mut self, node: u32, link: Link, message: u64, from: Moment, to: Moment);

    /// Reports that a thread has sent a message.
    fn sent(&mut self, message: u64, by: Thread, at: Moment);

    /// Reports that a thread has received a message.
    fn received(&mut self, message: u64, by: Thread, at: Moment);

    /// Reports the number of active threads of a node from now on.
    fn active(&mut self, node: u32, threads: u32, at: Moment);
}

/// An activity of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activity {
    /// A computation of the program.
    Computes,
    /// A call that sends.
    Sends,
    /// A call that receives.
    Receives,
    /// Polling for a message.
    Polls,
    /// A call that wakes.
    Wakes,
    /// Blocked until a message arrives.
    AwaitsMessage,
    /// Blocked until another thread wakes it.
    Sleeps,
    /// Waiting for all other threads at a meeting.
    Meets,
}

/// A direction of a node's link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Link {
    /// From the node into the network.
    Out,
    /// From the network into the node.
    In,
}

/// An observer that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Timeline for Silent {
    const LISTENS: bool = false;

    fn thread(&mut self, _: Thread, _: Activity, _: Moment, _: Moment) {}
    fn passed(&mut self, _: u32, _: Link, _: u64, _: Moment, _: Moment) {}
    fn sent(&mut self, _: u64, _: Thread, _: Moment) {}
    fn received(&mut self, _: u64, _: Thread, _: Moment) {}
    fn active(&mut self, _: u32, _: u32, _: Moment) {}
}

impl Activity {
    /// Returns the name of this activity.
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
