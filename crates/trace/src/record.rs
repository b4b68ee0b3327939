//! Recording of events: each thread writes to its own buffer, without locks.
//!
//! The runtime and the programming models call the functions of this module at the points of
//! interest. While no recording is under way, such a call is a load and a branch. During a
//! recording, it stores one to three words in the buffer of its thread, and usually reads the
//! processor's time-stamp counter.
//!
//! [`kind`] has the kinds of events. The rest is in `live`, or in `absent` if this build records
//! nothing.
//!
//! # The end of a slice
//! Tasks and messages that a worker runs in turn need one event each: the next one, a search, or
//! the end of the wait in which they ran also ends the one before. [`crate::events`] pairs them.
//!
//! # Invariants
//! 1. Only its own thread writes to a buffer. Nothing here waits for another thread, except when a
//!    buffer needs a new segment, or a name or a thread is new.
//! 2. A recording never changes the result of a program, and is never in its way: a buffer that is
//!    full drops its oldest events, and counts them.
//!
//! Models (loom and shuttle) and Miri record nothing, nor does a build with
//! `RUSTFLAGS="--cfg raddle_no_events"`, with which the benchmark compares.

#[cfg(any(loom, shuttle, miri, raddle_no_events))]
mod absent;
pub mod kind;
#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) mod live;

#[cfg(any(loom, shuttle, miri, raddle_no_events))]
use absent as side;
#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
use live as side;

use kind::{Idling, Kind, Waiting};
pub use side::{ScopeName, is_on, next_crossing};

/// The position of the worker or node in the last word of a message, and the largest number of
/// bytes below it.
pub(crate) const RECEIVER_SHIFT: u32 = 40;
pub(crate) const BYTES_MAX: u64 = (1 << RECEIVER_SHIFT) - 1;
/// Returns the last word of a message.
#[inline(always)]
const fn receiver_and_bytes(receiver: usize, bytes: usize) -> u64 {
    (receiver as u64) << RECEIVER_SHIFT | bytes as u64 & BYTES_MAX
}

/// The worker of a message, if its sender does not know it.
pub const UNKNOWN_WORKER: usize = 0xff_ffff;

/// The index that means all objects of a collection on one worker. It is in the lower 32 bits of
/// the number of an [`ObjectId`], and the worker is above it.
pub const ALL_INDEX: u32 = u32::MAX;

/// A name that is cheap to record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Name(u32);

impl Name {
    /// Returns the name `text`. Cost: about 2 ns, and more when this thread uses it first.
    #[inline]
    pub fn of(text: &'static str) -> Self {
        Self::of_member("", text)
    }

    /// Returns the name `owner::member`, or only `member` if the owner is empty.
    #[inline]
    pub fn of_member(owner: &'static str, member: &'static str) -> Self {
        Self(side::name(owner, member))
    }

    /// Returns a name that is no constant. Cost: a lock and a search.
    pub fn of_text(text: &str) -> Self {
        Self(side::number_of(text))
    }
}

/// The identity of a task: that of the memory in which it lies. Tasks that follow each other may
/// have the same one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(u32);

impl TaskId {
    /// Returns the identity of a task at this address, which is a multiple of 64.
    #[inline]
    pub const fn at(address: usize) -> Self {
        Self((address >> 6) as u32)
    }

    /// Returns the number by which records have it.
    pub const fn number(self) -> u32 {
        self.0
    }
}

/// The identity of an object that receives messages, or of a location: the number of its collection
/// or program, and its number in there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectId(u64);

impl ObjectId {
    /// The number of bits for the number within the collection.
    const BITS: u32 = 44;

    /// Returns the identity of an object.
    #[inline]
    pub const fn new(collection: u32, number: u64) -> Self {
        Self((collection as u64) << Self::BITS | number & ((1 << Self::BITS) - 1))
    }

    /// Returns the word by which records have it.
    pub const fn word(self) -> u64 {
        self.0
    }

    /// Returns the collection and the number that were packed into `word`.
    pub const fn unpack(word: u64) -> (u32, u64) {
        ((word >> Self::BITS) as u32, word & ((1 << Self::BITS) - 1))
    }
}

/// Defines functions that record an event if a recording is under way.
macro_rules! recorded {
    ($($(#[$attribute:meta])* $name:ident($($argument:ident: $type:ty),*)
        => $kind:expr, $a:expr $(, $more:expr)*;)*) => {
        $(
            $(#[$attribute])*
            #[inline(always)]
            pub fn $name($($argument: $type),*) {
                if is_on() {
                    side::put($kind, $a, [$($more),*]);
                }
            }
        )*
    };
}

recorded! {
    /// Records that this worker begins to run a task, which was [put](put) before.
    run_task(task: TaskId) => Kind::RunTask, task.0;
    /// Records that this worker begins to run a fork that it has taken.
    run_fork(task: TaskId) => Kind::RunFork, task.0;
    /// Records that this worker begins to run a message.
    run_message() => Kind::RunMessage, 0;
    /// Records that this thread begins to run a call from outside, or a blocking call.
    run_call(name: Name) => Kind::RunCall, name.0;
    /// Records that this thread has no work from now on.
    idle(reason: Idling) => Kind::Idle, reason as u32;
    /// Records that this worker begins to wait inside a task. `subject` is a name or a number,
    /// depending on the reason.
    wait(reason: Waiting, subject: u32) => Kind::Wait, reason as u32, u64::from(subject);
    /// Records that this thread begins to wait for a location.
    wait_for_location(location: Name)
        => Kind::Wait, Waiting::Location as u32, u64::from(location.0);
    /// Records that this worker's innermost wait is over.
    end_wait() => Kind::EndWait, 0;
    /// Records that a task was put where workers find it.
    put(task: TaskId, name: Name) => Kind::Put, task.0, u64::from(name.0);
    /// Records that the fork of `owner`, made at `depth` of its stack, became a task.
    publish(task: TaskId, owner: usize, depth: usize)
        => Kind::Publish, task.0, (owner as u64) << 32 | depth as u64 & 0xffff_ffff;
    /// Records that this worker took a task from another worker.
    steal(victim: usize) => Kind::Steal, victim as u32;
    /// Records a fork at `depth` of this worker's stack: its first half begins.
    fork(depth: usize) => Kind::Fork, depth as u32;
    /// Records that the first half of a fork has ended, and this worker begins the second.
    second_half(depth: usize) => Kind::SecondHalf, depth as u32;
    /// Records that both halves of a fork have ended.
    end_join(depth: usize) => Kind::EndJoin, depth as u32;
    /// Records that a parallel loop begins.
    begin_loop(name: Name, items: usize) => Kind::Loop, name.0, items as u64;
    /// Records that this worker's innermost loop has ended.
    end_loop() => Kind::EndLoop, 0;
    /// Records a message of `bytes` bytes that is sent to an object on `worker` of this node.
    send(entry: Name, to: ObjectId, worker: usize, bytes: usize)
        => Kind::Send, entry.0, to.0, receiver_and_bytes(worker, bytes);
    /// Records a message of `bytes` bytes that is sent to an object on another node, which has this
    /// number of a process ([`JobNumbers::process`](crate::trace_file::JobNumbers::process)).
    send_to_node(entry: Name, to: ObjectId, process: u32, bytes: usize)
        => Kind::SendToNode, entry.0, to.0, receiver_and_bytes(process as usize, bytes);
    /// Records that the message that this thread has just sent to another node has this
    /// [number](next_crossing).
    cross(number: u64) => Kind::Cross, 0, number;
    /// Records that the message with this number has arrived for an object.
    arrive(entry: Name, to: ObjectId, number: u64) => Kind::Arrive, entry.0, to.0, number;
    /// Records that `bytes` bytes were sent to another node, which was notified of them.
    node_send(process: u32, bytes: usize) => Kind::NodeSend, process, bytes as u64;
    /// Records that `bytes` bytes of another node have arrived.
    node_receive(process: u32, bytes: usize) => Kind::NodeReceive, process, bytes as u64;
    /// Records that the entry of an object begins, in the message that runs.
    entry(entry: Name, of: ObjectId) => Kind::Entry, entry.0, of.0;
    /// Records that a section of a location begins.
    section(location: Name, is_write: bool) => Kind::Section, location.0, u64::from(is_write);
    /// Records that the section of a location has ended, and that the next request for it was put
    /// in, unless `is_last`.
    end_section(location: Name, is_last: bool) => Kind::EndSection, location.0, u64::from(is_last);
    /// Records a rare event of a feature: a reduction, a move, a choice.
    note(name: Name, value: u64) => Kind::Note, name.0, value;
}

/// Records that a scope of the program begins.
#[inline(always)]
pub fn begin_scope(name: Name) {
    if is_on() {
        side::put_scope::<false>(name.0);
    }
}

/// Records that a scope of the program has ended.
#[inline(always)]
pub fn end_scope(name: Name) {
    if is_on() {
        side::put_scope::<true>(name.0);
    }
}

/// A scope of the program: from its creation to its drop.
#[derive(Debug)]
#[must_use = "a scope ends when it is dropped"]
pub struct Scope(Option<Name>);

impl Scope {
    /// Begins a scope.
    #[inline(always)]
    pub fn begin(name: &'static str) -> Self {
        match is_on() {
            true => Self::begin_named(Name::of(name)),
            false => Self(None),
        }
    }

    /// Begins a scope with a name that remembers its number.
    #[inline(always)]
    pub fn begin_known(name: &ScopeName) -> Self {
        match is_on() {
            true => Self::begin_named(Name(name.number())),
            false => Self(None),
        }
    }

    #[inline(always)]
    fn begin_named(name: Name) -> Self {
        side::put_scope::<false>(name.0);
        Self(Some(name))
    }
}

impl Drop for Scope {
    #[inline(always)]
    fn drop(&mut self) {
        if let Some(name) = self.0 {
            end_scope(name);
        }
    }
}

/// Records a scope of the program, from here to the end of the enclosing block.
///
/// Costs a load and a branch while nothing is recorded.
///
/// # Examples
/// ```
/// fn build() {
///     raddle_trace::scope!("build");
///     // The work of this phase.
/// }
/// build();
/// ```
#[macro_export]
macro_rules! scope {
    ($name:literal) => {
        static NAME: $crate::record::ScopeName = $crate::record::ScopeName::new($name);
        let _scope = $crate::record::Scope::begin_known(&NAME);
    };
}

/// A parallel loop: from its creation to its drop.
#[derive(Debug)]
#[must_use = "a loop ends when it is dropped"]
pub struct Loop(bool);

impl Loop {
    /// Begins a loop over `items` items, with a body of the type `name`.
    #[inline(always)]
    pub fn begin(name: &'static str, items: usize) -> Self {
        let is_recorded = is_on();
        if is_recorded {
            begin_loop(Name::of(name), items);
        }
        Self(is_recorded)
    }
}

impl Drop for Loop {
    #[inline(always)]
    fn drop(&mut self) {
        if self.0 {
            end_loop();
        }
    }
}

/// Gives this thread a label in recordings: worker `index` of runtime `runtime`, which may be a
/// compensating thread.
pub fn this_is_worker(runtime: u32, index: usize, is_compensating: bool) {
    side::set_worker((runtime, index, is_compensating));
}
