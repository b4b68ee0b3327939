//! The kinds of events, and the words of each.
//!
//! A record is one to three words. The first has, from its lowest bit:
//!
//! | bits | contents |
//! |---|---|
//! | 6 | the [`Kind`] |
//! | 2 | the number of words that follow |
//! | 24 | the ticks since the last event with a time; zero if this event has none of its own |
//! | 32 | the first argument |
//!
//! | kind | first argument | second word | third word |
//! |---|---|---|---|
//! | `Time` | | the counter | |
//! | `Resume` | | the counter | |
//! | `RunTask`, `RunFork` | the task | | |
//! | `RunCall` | the name | | |
//! | `Idle` | an [`Idling`] | | |
//! | `Wait` | a [`Waiting`] | its subject | |
//! | `Put` | the task | the name | |
//! | `Publish` | the task | owner (32 bits), depth | |
//! | `Steal` | the victim | | |
//! | `Fork`, `SecondHalf`, `EndJoin` | the depth | | |
//! | `Loop` | the name | the items | |
//! | `Send` | the entry | the object | worker (24 bits), bytes |
//! | `SendToNode` | the entry | the object | node (24 bits), bytes |
//! | `Cross` | | the number of the message | |
//! | `Arrive` | the entry | the object | the number of the message |
//! | `NodeSend` | the node | the bytes | |
//! | `NodeReceive` | the node | the bytes | |
//! | `Entry` | the entry | the object | |
//! | `Section` | the location | 1 for a writer | |
//! | `EndSection` | the location | 1 in the last turn | |
//! | `Scope`, `EndScope` | the name | | |
//! | `Note` | the name | a value | |

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A time, for the event that follows.
    Time = 1,
    /// A task of the pool begins.
    RunTask,
    /// A fork that was taken begins.
    RunFork,
    /// A message begins.
    RunMessage,
    /// A call from outside, or a blocking call, begins.
    RunCall,
    /// The thread has no work.
    Idle,
    /// A wait inside a task begins.
    Wait,
    /// The innermost wait is over.
    EndWait,
    /// A task was put where workers find it.
    Put,
    /// A fork became a task.
    Publish,
    /// A task was taken from another worker.
    Steal,
    /// A fork was made; its first half begins.
    Fork,
    /// The second half of a fork begins.
    SecondHalf,
    /// Both halves of a fork have ended.
    EndJoin,
    /// A parallel loop begins.
    Loop,
    /// The innermost parallel loop has ended.
    EndLoop,
    /// A message was sent within the node.
    Send,
    /// A message was sent to another node.
    SendToNode,
    /// The entry of an object begins.
    Entry,
    /// A section of a location begins.
    Section,
    /// A section of a location has ended.
    EndSection,
    /// A scope of the program begins.
    Scope,
    /// A scope of the program has ended.
    EndScope,
    /// A rare event of a feature.
    Note,
    /// Bytes were sent to another node, which was notified.
    NodeSend,
    /// Bytes of another node have arrived.
    NodeReceive,
    /// The first event of a thread after a pause of the recording comes next.
    Resume,
    /// The message that this thread has just sent crosses to another node.
    Cross,
    /// A message of another node has arrived, and is put into the mailbox of its worker.
    Arrive,
}

impl Kind {
    /// All kinds in the order of their numbers, from 1.
    pub const ALL: [Self; 29] = [
        Self::Time,
        Self::RunTask,
        Self::RunFork,
        Self::RunMessage,
        Self::RunCall,
        Self::Idle,
        Self::Wait,
        Self::EndWait,
        Self::Put,
        Self::Publish,
        Self::Steal,
        Self::Fork,
        Self::SecondHalf,
        Self::EndJoin,
        Self::Loop,
        Self::EndLoop,
        Self::Send,
        Self::SendToNode,
        Self::Entry,
        Self::Section,
        Self::EndSection,
        Self::Scope,
        Self::EndScope,
        Self::Note,
        Self::NodeSend,
        Self::NodeReceive,
        Self::Resume,
        Self::Cross,
        Self::Arrive,
    ];

    /// The number of values that a kind may have in a table, more than there are kinds.
    pub const SPAN: usize = 32;

    /// Returns the kind with this number.
    pub fn from_number(number: u64) -> Option<Self> {
        let index = usize::try_from(number).ok()?.checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

/// The name of the note that a thread with work was not on its CPU, because it waited in the
/// operating system. The value is the time, in nanoseconds.
pub const BLOCKED: &str = "blocked";
/// The name of the note that a thread with work was not on its CPU, because the CPU was used for
/// something else. The value is the time, in nanoseconds.
pub const PREEMPTED: &str = "preempted";

/// The reason why a thread has no work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Idling {
    /// It searches for work.
    Searches,
    /// It sleeps until there is work.
    Sleeps,
    /// It is a compensating thread that is not needed.
    Rests,
}

/// The reason why a worker waits inside a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Waiting {
    /// For the other half of a join. The subject is the worker that has it, plus one.
    Join,
    /// For the tasks of a scope.
    Scope,
    /// For a handle, or for a call on another runtime.
    Handle,
    /// For a location. The subject is its name.
    Location,
}

impl Idling {
    /// All reasons in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Searches, Self::Sleeps, Self::Rests];

    /// Returns the name of a slice in which a thread has no work for this reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Searches => "search",
            Self::Sleeps => "sleep",
            Self::Rests => "rest",
        }
    }
}

impl Waiting {
    /// All reasons in the order of their numbers.
    pub const ALL: [Self; 4] = [Self::Join, Self::Scope, Self::Handle, Self::Location];

    /// Returns the name of a slice in which a worker waits for this reason.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Join => "wait for join",
            Self::Scope => "wait for scope",
            Self::Handle => "wait for handle",
            Self::Location => "wait for location",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_number() {
        for kind in Kind::ALL {
            assert_eq!(Kind::from_number(kind as u64), Some(kind));
            assert!((kind as usize) < Kind::SPAN);
        }
        assert_eq!(Kind::from_number(0), None);
        assert_eq!(Kind::from_number(Kind::ALL.len() as u64 + 1), None);
    }
}
