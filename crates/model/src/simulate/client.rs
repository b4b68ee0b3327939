//! What runs on simulated nodes: threads that say, step by step, what they do.

use super::moment::Moment;
use crate::units::Nanoseconds;

/// A thread of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Thread {
    /// Which node, from 0.
    pub node: u32,
    /// Which of its threads, from 0.
    pub number: u32,
}

/// A program: what each thread does next.
pub trait Client {
    /// What a thread does, now that its last step is over. `resumed` says how that ended; the first time it is [`Resumed::Begun`].
    fn step(&mut self, thread: Thread, resumed: Resumed, now: Moment) -> Step;

    /// Which thread of each node is counted apart from the others, as a handler of messages.
    fn handler(&self) -> Option<u32> {
        None
    }

    /// A message from outside of the simulated nodes: the next one for a node, asked for at the begin and after each.
    fn visit(&mut self, _node: u32) -> Option<Visit> {
        None
    }

    /// Whether the run ends here, whatever threads still wait for.
    fn is_over(&self) -> bool {
        false
    }

    /// How many threads meet at [`Step::Meet`].
    fn meeting(&self) -> u32 {
        0
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Step {
    /// Computes for so long, as long as that takes a thread alone.
    Compute(Nanoseconds),
    /// Sends a message, and goes on when the network interface has it.
    Send(Message),
    /// Receives a message of its connection, and waits until there is one.
    Receive(Way),
    /// Sleeps until another thread of the node wakes it, or has done so since it last slept.
    Sleep,
    /// The same, but it keeps looking instead of sleeping.
    Spin,
    /// Wakes a thread of the node.
    Wake(u32),
    /// Waits for all who meet; that costs nothing.
    Meet,
    /// Ends.
    Stop,
}

/// How a thread waits for a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Way {
    /// It asks the network interface again and again.
    Poll,
    /// It blocks in the sync table, and the message's doorbell unblocks it.
    #[default]
    Notify,
}

/// A message: what its descriptor says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// Which node it goes to.
    pub node: u32,
    /// By which connection: which of that node's threads gets it, and where in its memory data may be put.
    pub connection: u32,
    /// Bytes on the wire, headers and all; see [`PacketFormat`](crate::packets::PacketFormat).
    pub wire_bytes: u32,
    /// Bytes of data.
    pub data_bytes: u32,
    /// Where they lie.
    pub source: u64,
    /// Where they are put.
    pub destination: u64,
    /// Whether the sender writes them to the interface, instead of a descriptor that says where they are.
    pub is_inline: bool,
    /// Whether a thread that is blocked is told.
    pub rings: bool,
    /// Whether the data should be put into the cache.
    pub hints_cache: bool,
    /// What the program wants to say.
    pub tag: u64,
}

/// A message from outside, which just arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visit {
    /// After how long.
    pub after: Nanoseconds,
    /// By which connection.
    pub connection: u32,
    /// What the program wants to say.
    pub tag: u64,
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Resumed {
    /// The thread begins.
    Begun,
    /// It has computed.
    Computed,
    /// The network interface has the message.
    Sent,
    /// It has not: there is no such node or connection, or the message is too long to be sent inline.
    Refused,
    /// A message is there.
    Received(Note),
    /// It was woken.
    Woken,
    /// The other thread will be, or is, awake.
    Waked,
    /// All are there.
    Met,
}

/// What a receiver is told of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Note {
    /// Who sent it.
    pub from: Thread,
    /// What the program said.
    pub tag: u64,
    /// When the sender's call began.
    pub sent: Moment,
    /// What it takes to bring what is read of its data into the cache, if it is not there.
    pub fetch: Nanoseconds,
}
