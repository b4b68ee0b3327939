//! The other nodes as a system sees them: sending to them, and pending replies.
//!
//! This is the lower half of programs over nodes. It creates wire messages, sends them through a
//! [`NodeTransport`], and knows their target collections only by a trait ([`Reachable`]). The upper
//! half, [`crate::nodes`], handles wire messages that arrive, and starts and ends nodes.
//!
//! | module | contents |
//! |---|---|
//! | `wire_message` | the messages between nodes |
//! | `migration_message` | the messages between nodes about migration |
//! | `reachable` | a collection that is the target of wire messages |
//! | `out` | sending wire messages |
//! | `reducers` | the serialisation of reducers |
//! | `quiet` | quiescence detection over all nodes |

mod migration_message;
pub(crate) mod out;
pub(crate) mod quiet;
mod reachable;
mod reducers;
mod wire_message;

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};

pub(crate) use migration_message::{MigratingElement, MigrationMessage, MoveRequest, Waiting};
pub(crate) use quiet::{Waves, notify_when_quiet};
pub(crate) use reachable::{Reachable, SavedPart};
pub(crate) use reducers::Reducers;
pub(crate) use wire_message::WireMessage;

use crate::engine::system::{OtherNodes, Outcome, System};
use crate::failure::Failure;

/// A transport of wire messages to other nodes.
pub(crate) trait NodeTransport: fmt::Debug + Send + Sync {
    /// Sends a wire message to `node`, after all earlier ones of this thread to that node. `worker`
    /// is the number of the calling worker, `None` for other threads.
    ///
    /// # Errors
    /// If that node has ended.
    fn send(&self, worker: Option<usize>, node: u16, wire_message: &[u8]) -> Result<(), Failure>;

    /// Returns the number of a node's process in a recording.
    fn recorded(&self, node: u16) -> u32;

    /// Returns true if workers also receive after messages within this node.
    fn receives_after_any_send(&self) -> bool;

    /// Receives the wire messages that have arrived, unless another thread is receiving.
    fn receive(&self);

    /// Requests the receiving thread to check for work.
    fn call(&self);

    /// Returns true on a thread that is receiving wire messages.
    fn is_receiver(&self) -> bool;
}

/// The other nodes as a system sees them.
pub(crate) struct Away {
    pub(crate) me: u16,
    pub(crate) node_count: u16,
    transport: Box<dyn NodeTransport>,
    /// A lock that a thread which is not a worker holds, from looking up an element until its wire
    /// message has been sent.
    gate: Mutex<()>,
    /// The collections over nodes, by the number that all nodes know.
    collections: Mutex<Vec<Option<Arc<dyn Reachable>>>>,
    replies: Mutex<Replies>,
    pub(crate) reducers: Reducers,
    /// The number of wire messages of the program that were sent, for quiescence detection.
    sent: AtomicU64,
    received: AtomicU64,
    pub(crate) waves: Mutex<Waves>,
}

/// The pending replies from other nodes, by number.
#[derive(Default)]
struct Replies {
    next: u64,
    awaited: HashMap<u64, Awaited>,
}

struct Awaited {
    from: u16,
    take: Box<dyn FnOnce(Outcome<'_>) + Send>,
}

impl fmt::Debug for Away {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Away({} of {})", self.me, self.node_count)
    }
}

impl Away {
    pub(crate) fn new(me: u16, node_count: u16, transport: Box<dyn NodeTransport>) -> Self {
        Self {
            me,
            node_count,
            transport,
            gate: Mutex::default(),
            collections: Mutex::default(),
            replies: Mutex::default(),
            reducers: Reducers::new(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
            waves: Mutex::default(),
        }
    }

    /// Returns the numbers of all nodes except this one.
    pub(crate) fn others(&self) -> impl Iterator<Item = u16> + use<> {
        let me = self.me;
        (0..self.node_count).filter(move |&node| node != me)
    }

    /// Returns the number of the next collection over nodes. It is the same at all nodes, since
    /// they create collections in the same order.
    pub(crate) fn next_collection(&self) -> u32 {
        let collections = self.collections();
        u32::try_from(collections.len()).expect("fewer than 2^32 collections")
    }

    /// Adds a collection; its number is that of [`next_collection`](Self::next_collection).
    pub(crate) fn add(&self, collection: Arc<dyn Reachable>) {
        self.collections().push(Some(collection));
    }

    fn collections(&self) -> impl std::ops::DerefMut<Target = Vec<Option<Arc<dyn Reachable>>>> {
        locked(&self.collections)
    }

    /// Returns the collection that all nodes know by a number.
    pub(crate) fn collection(&self, number: u32) -> Option<Arc<dyn Reachable>> {
        self.collections().get(number as usize)?.clone()
    }

    /// Returns the numbers of counted wire messages that this node has sent and received.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Relaxed: the caller has found the node quiet, so it is ordered after all threads that
        // have counted.
        (self.sent.load(Relaxed), self.received.load(Relaxed))
    }

    /// Counts a wire message of the program as processed.
    pub(crate) fn count_received(&self) {
        // Relaxed: as in `counts`.
        self.received.fetch_add(1, Relaxed);
    }

    /// Registers `take` for a reply of node `from`. Returns the number under which the reply will
    /// arrive.
    pub(crate) fn await_reply(
        &self,
        from: u16,
        take: impl FnOnce(Outcome<'_>) + Send + 'static,
    ) -> u64 {
        let mut replies = locked(&self.replies);
        let number = replies.next;
        replies.next += 1;
        let take = Box::new(take);
        replies.awaited.insert(number, Awaited { from, take });
        number
    }

    /// Records that a reply will arrive from another node than expected.
    pub(crate) fn redirect(&self, reply: Option<u64>, from: u16) {
        let Some(reply) = reply else { return };
        if let Some(awaited) = locked(&self.replies).awaited.get_mut(&reply) {
            awaited.from = from;
        }
    }

    /// Takes the gate, which orders the sends of this thread before or after a marker. The thread
    /// is not a worker. Returns `None` on the receiving thread, which enters epochs by itself.
    pub(crate) fn enter(&self) -> Option<impl Sized + use<'_>> {
        (!self.transport.is_receiver()).then(|| locked(&self.gate))
    }

    /// Sends the marker of the threads that are neither workers nor receiving.
    pub(crate) fn send_outside_marker(&self, node: u16, epoch: u32) -> Result<(), Failure> {
        let wire_message = WireMessage::Migration(MigrationMessage::Marker { epoch });
        let bytes = wire_message.seal(Vec::new());
        // Relaxed: as in `counts`.
        self.sent.fetch_add(1, Relaxed);
        let _gate = locked(&self.gate);
        self.transport.send(None, node, &bytes)
    }

    /// Delivers a reply that has arrived.
    pub(crate) fn reply(&self, number: u64, outcome: Outcome<'_>) {
        let awaited = locked(&self.replies).awaited.remove(&number);
        if let Some(awaited) = awaited {
            (awaited.take)(outcome);
        }
    }

    /// Fails the replies that a node should have sent: it has ended.
    pub(crate) fn lose(&self, node: u16, failure: &Failure) {
        let mut replies = locked(&self.replies);
        let lost = replies
            .awaited
            .extract_if(|_, awaited| awaited.from == node);
        let lost: Vec<_> = lost.collect();
        drop(replies);
        for (_, awaited) in lost {
            (awaited.take)(Outcome::Failed(failure.clone()));
        }
    }

    /// Requests the receiving thread to check for work.
    pub(crate) fn call(&self) {
        self.transport.call();
    }
}

/// Removes a collection over nodes, so that wire messages no longer find it.
pub(crate) fn forget_wide(system: &System, number: u32) {
    if let Some(away) = away(system) {
        let mut collections = away.collections();
        let collection = collections.get_mut(number as usize).and_then(Option::take);
        drop(collections);
        // Dropped without the lock: the collection may contain values of the program.
        drop(collection);
    }
}

/// Returns the other nodes of a system; `None` for a program on one node.
pub(crate) fn away(system: &System) -> Option<&Away> {
    let nodes: &dyn Any = system.other_nodes()?;
    nodes.downcast_ref()
}

impl OtherNodes for Away {
    fn me(&self) -> u16 {
        self.me
    }

    fn node_count(&self) -> u16 {
        self.node_count
    }

    fn receives_after_any_send(&self) -> bool {
        self.transport.receives_after_any_send()
    }

    fn receive(&self) {
        self.transport.receive();
    }

    fn fail(&self, system: &System, failure: &Failure) {
        out::send_to_others(
            system,
            &WireMessage::Failed {
                text: &failure.to_string(),
                is_panic: failure.is_panic(),
            },
        );
    }

    fn give_up(&self, failure: &Failure) {
        quiet::give_up(self, failure);
    }

    fn exit(&self, system: &System) {
        out::send_to_others(system, &WireMessage::Exit);
    }

    fn await_reply(&self, from: u16, take: Box<dyn FnOnce(Outcome<'_>) + Send>) -> u64 {
        Self::await_reply(self, from, take)
    }

    fn reply(
        &self,
        system: &System,
        node: u16,
        reply: u64,
        outcome: Result<Vec<u8>, &Failure>,
        panicked: bool,
    ) {
        let text = outcome.as_ref().err().map(ToString::to_string);
        let wire_message = WireMessage::Reply {
            reply,
            outcome: text.as_deref().map_or(Ok(()), Err),
            panicked,
        };
        out::send_away_with(system, node, &wire_message, outcome.unwrap_or_default());
    }
}

pub(crate) fn locked<T>(lock: &Mutex<T>) -> impl std::ops::DerefMut<Target = T> {
    lock.lock().expect("nothing panics under this lock")
}
