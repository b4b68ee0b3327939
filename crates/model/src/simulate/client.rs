//! The interface of programs on simulated nodes: a thread returns, step by step, its next action.

use super::moment::Moment;
use crate::units::Nanoseconds;

/// A thread of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// The number of the node, from 0.
    pub node: u32,
    /// The index of the thread on its node, from 0.
    pub number: u32,
}

/// A program, which determines the steps of each thread.
pub trait Client {
    /// Returns the next step of a thread after its last step has ended.
    ///
    /// `resumed` is the result of the last step. It is [`Resumed::Begun`] at the first call.
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step;

    /// Returns the thread of each node that is counted separately, as a handler of messages.
    fn handler(&self) -> Option<u32> {
        None
    }

    /// Returns the next message to a node from outside the simulated nodes. Called at the start,
    /// and after each such message.
    fn visit(&mut self, _node: u32) -> Option<Visit> {
        None
    }

    /// Returns whether the run ends now, even if threads still wait.
    fn is_over(&self) -> bool {
        false
    }

    /// Returns the number of threads that meet at [`Step::Meet`].
    fn meeting(&self) -> u32 {
        0
    }
}

/// A step of a thread.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Computes. The time is that of a thread that is alone on its core.
    Compute(Nanoseconds),
    /// Sends a message, and continues when the network interface has it.
    Send(Message),
    /// Receives a message of the thread's connection, and waits until there is one.
    Receive(Way),
    /// Sleeps until another thread of the node wakes it. Returns at once if that has happened since
    /// its last sleep.
    Sleep,
    /// Waits as [`Step::Sleep`] does, but polls instead of sleeping.
    Spin,
    /// Wakes a thread of the node.
    Wake(u32),
    /// Waits until all meeting threads have arrived, at no cost.
    Meet,
    /// Ends the thread.
    Stop,
}

/// The way in which a thread waits for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// The thread polls the network interface.
    Poll,
    /// The thread blocks in the sync table, and the message's doorbell unblocks it.
    #[default]
    Notify,
}

/// A message, as its descriptor describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// The destination node.
    pub node: u32,
    /// The connection. It determines which thread of that node gets the message, and where in
    /// memory its data may be stored.
    pub connection: u32,
    /// The number of bytes on the wire, including headers; see
    /// [`PacketFormat`](crate::packets::PacketFormat).
    pub wire_bytes: u32,
    /// The number of data bytes.
    pub data_bytes: u32,
    /// The address of the data at the sender.
    pub source: u64,
    /// The address at which the data is stored at the receiver.
    pub destination: u64,
    /// If true, the sender writes the data to the interface, instead of a descriptor with its
    /// address.
    pub is_inline: bool,
    /// If true, the message notifies a blocked thread.
    pub rings: bool,
    /// If true, the data should be put into the cache.
    pub hints_cache: bool,
    /// A value that the program sends along.
    pub tag: u64,
}

/// A message from outside the simulated nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// The time until it arrives.
    pub after: Nanoseconds,
    /// The connection by which the message arrives.
    pub connection: u32,
    /// A value that the program sends along.
    pub tag: u64,
}

/// The result of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Resumed {
    /// The thread begins.
    Begun,
    /// The computation has ended.
    Computed,
    /// The network interface has the message.
    Sent,
    /// The network interface refused the message: there is no such node or connection, or it is too
    /// long to be sent inline.
    Refused,
    /// A message has been received.
    Received(Note),
    /// The thread was woken.
    Woken,
    /// The other thread is awake, or will be.
    Waked,
    /// All meeting threads have arrived.
    Met,
}

/// The information that a receiver gets about a message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Note {
    /// The thread that sent the message.
    pub from: Thread,
    /// The value that the program sent along.
    pub tag: u64,
    /// The start of the sender's call.
    pub sent: Moment,
    /// The time to fetch the part of its data that is read into the cache, if it is not there.
    pub fetch: Nanoseconds,
}
