//! The thread of a node that listens for what is no message: connections that others open, and their ends. It pumps while those sleep who else would.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{Acquire, AtomicU32, Relaxed, Release, thread};
use rustix::io::Errno;

use super::naps::Naps;
use super::watch::Watch;
use super::{DIED, LEAVING, LEFT, PAGE, SILENT, Shared};
use crate::address::NodeId;
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::grant::Grant;
use crate::mapped::Memory;
use crate::segment::{Remote, RemoteWindow};

/// How long the listening thread rests when it can do nothing with what there is.
const PAUSE: Duration = Duration::from_micros(50);

/// How often pumping may have been begun through one handle: more often than a system has threads, and far from [`LEAVING`].
const BEGUN_MAX: u32 = 1 << 22;

/// Has the listening thread of a node take what comes to it while those who do that sleep; for nothing where memory is shared.
///
/// What was begun through it ends when it is dropped.
#[derive(Debug)]
pub struct Pump {
    node: Arc<Shared>,
    /// How often it has been begun, and not been ended.
    begun: AtomicU32,
}

impl Pump {
    pub(super) const fn new(node: Arc<Shared>) -> Self {
        Self {
            node,
            begun: AtomicU32::new(0),
        }
    }

    /// The caller is about to sleep. Before its last look for messages.
    ///
    /// # Panics
    /// When it has been begun more often than a system has threads, and not been ended.
    pub fn begin(&self) {
        // Relaxed: a count; what it counts has orderings of its own.
        let begun = self.begun.fetch_update(Relaxed, Relaxed, |begun| {
            Some(begun + 1).filter(|&count| count <= BEGUN_MAX)
        });
        assert!(begun.is_ok(), "begun {BEGUN_MAX} times, and never ended");
        self.node.begin_pumping();
    }

    /// The caller is awake again.
    ///
    /// # Panics
    /// When it has been ended as often as it has been begun.
    pub fn end(&self) {
        // Relaxed: as in `begin`.
        let begun = self
            .begun
            .fetch_update(Relaxed, Relaxed, |begun| begun.checked_sub(1));
        assert!(begun.is_ok(), "ended, but not begun before");
        self.node.end_pumping();
    }
}

impl Clone for Pump {
    /// Another handle to the same node, through which nothing has been begun.
    fn clone(&self) -> Self {
        Self::new(Arc::clone(&self.node))
    }
}

impl Drop for Pump {
    fn drop(&mut self) {
        // Relaxed: no other thread has it any more.
        for _ in 0..self.begun.load(Relaxed) {
            self.node.end_pumping();
        }
    }
}

/// The listening thread of a node.
struct Listener<'a> {
    node: &'a Shared,
    /// The sockets to nodes of which more is to come.
    open: Vec<(NodeId, &'a OwnedFd)>,
    naps: Option<Naps>,
    watch: Option<Watch>,
    /// Answers for which there was no room yet: this thread waits for none, since others wait for it.
    answers: VecDeque<(NodeId, u64, [u64; control::WORDS - 1])>,
}

impl Shared {
    /// Hears what other nodes tell until the node leaves, and pumps while somebody wants that.
    pub(super) fn listen(&self) {
        let mut listener = Listener {
            node: self,
            open: self.controls.sockets().collect(),
            naps: self.transport.is_silent().then(Naps::new),
            watch: self.silence.map(|silence| Watch::new(silence, self.shape)),
            answers: VecDeque::new(),
        };
        loop {
            // ORDERING(N3): Acquire, as there.
            let wanted = self.wanted.load(Acquire);
            if wanted & LEAVING != 0 {
                return;
            }
            listener.turn(wanted > 0);
        }
    }
}

impl Listener<'_> {
    /// Waits for something, and does what there is to do then.
    fn turn(&mut self, is_wanted: bool) {
        let node = self.node;
        let nap = self.nap(is_wanted);
        let mut sockets: Vec<_> = self
            .open
            .iter()
            .map(|(_, control)| control.as_fd())
            .collect();
        sockets.push(node.wake.as_fd());
        if is_wanted {
            sockets.extend(node.transport.sockets());
        }
        // What is stuck is tried again even if nothing else comes: no socket tells of room.
        let is_stuck = nap.is_none() && is_wanted && node.transport.is_stuck();
        let limits = [
            nap,
            (is_stuck || !self.answers.is_empty()).then_some(PAUSE),
            self.watch.as_ref().map(Watch::limit),
        ];
        let limit = limits.into_iter().flatten().min();
        let waited = control::wait(&sockets, limit);
        let has_failed = waited.is_err();
        let ready = waited.unwrap_or_default();
        // What has come by a socket is taken before it is known that its node has ended.
        let has_data = ready.iter().any(|&index| index > self.open.len());
        let is_over = (has_data || is_stuck) && !node.transport.pump();
        if has_failed || (is_over && has_data) {
            // A lane is full, another thread pumps, or the system has no memory: that passes.
            thread::sleep(PAUSE);
        }
        if ready.contains(&self.open.len()) {
            node.take_wake();
            self.naps.iter_mut().for_each(Naps::begin_anew);
        }
        let count = self.open.len();
        for index in ready.into_iter().rev().filter(|&index| index < count) {
            let (from, control) = self.open[index];
            if !self.hear(from, control::receive(control)) {
                self.open.swap_remove(index);
            }
        }
        self.answer();
        self.give_up_the_silent();
    }

    /// Where something comes of which nothing tells: hears what has been told, pumps if that is wanted, and says how long to nap.
    fn nap(&mut self, is_wanted: bool) -> Option<Duration> {
        self.naps.as_ref()?;
        let mut has_come = is_wanted && self.node.transport.pump();
        while let Some((from, frame)) = self.node.controls.hear() {
            self.hear(from, Ok(Some(frame)));
            has_come = true;
        }
        self.naps.as_mut().map(|naps| naps.next(has_come))
    }

    /// Hears what `from` tells, none at its end; false when there will be no more.
    fn hear(&mut self, from: NodeId, told: Result<Option<Frame>, Errno>) -> bool {
        let node = self.node;
        let frame = match told {
            Ok(Some(frame)) => frame,
            Err(Errno::BADMSG) => return true,
            Ok(None) | Err(_) => {
                node.becomes(from, DIED);
                return false;
            }
        };
        let words = frame.words;
        match frame.kind {
            control::OFFER => {
                node.take_offer(from, frame);
            }
            control::CLOSE => {
                node.close_grant(from, words[1]);
                self.answers.push_back((from, control::CLOSED, words));
            }
            control::CLOSED => {
                node.told().closing.remove(&words[1]);
                node.tell_waiting();
            }
            control::ASK => self.answers.push_back((from, control::ALIVE, [0; 5])),
            control::ALIVE => {
                self.watch.iter_mut().for_each(|watch| watch.hear(from));
            }
            control::LEAVE => {
                node.transport.ends_after(from, words[0]);
                node.becomes(from, LEFT);
                return false;
            }
            _ => {}
        }
        true
    }

    /// Sends the answers for which there is room.
    fn answer(&mut self) {
        let controls = &self.node.controls;
        self.answers
            .retain(|&(to, kind, words)| controls.try_send(to, kind, words) == Err(Errno::AGAIN));
    }

    /// Nodes that have been silent for too long have ended, as far as this one goes.
    fn give_up_the_silent(&mut self) {
        let (Some(watch), node) = (&mut self.watch, self.node) else {
            return;
        };
        let others = node.shape.node_ids().filter(|&other| other != node.me);
        let alive = others.filter(|&other| node.ended(other).is_none());
        let counts = |other, is_up| node.counts_silence(other, is_up);
        for silent in watch.look(&node.controls, alive, counts) {
            self.open.retain(|(node, _)| *node != silent);
            node.controls.close_to(silent);
            node.becomes(silent, SILENT);
        }
    }
}

impl Shared {
    /// Takes what the listening thread was woken by: it is there to wake, not to be counted.
    fn take_wake(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// Makes the listening thread look again; false when the system does not let us.
    pub(super) fn wake_listener(&self) -> bool {
        let written = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        // Full, it is awake already.
        matches!(written, Ok(_) | Err(Errno::AGAIN))
    }

    /// Has the listening thread pump while `wait` waits.
    pub(crate) fn while_pumped<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.begin_pumping();
        let result = wait();
        self.end_pumping();
        result
    }

    /// The listening thread pumps, too, from now on, if somebody has to.
    pub(crate) fn begin_pumping(&self) {
        if !self.transport.is_pumped() {
            return;
        }
        // ORDERING(N3): Release, for form's sake: the write to the event orders it. Whoever finds others there knows that they have written; but of what
        // has been stuck since, no socket tells the thread.
        if self.wanted.fetch_add(1, Release) & !LEAVING == 0 || self.transport.is_stuck() {
            self.wake_listener();
        }
    }

    /// It need not for whoever has begun that.
    pub(crate) fn end_pumping(&self) {
        if self.transport.is_pumped() {
            // ORDERING(N3): as above.
            self.wanted.fetch_sub(1, Release);
        }
    }

    /// A connection was opened for this node. What cannot be had is told to the thread that accepts it.
    fn take_offer(&self, from: NodeId, frame: Frame) {
        let key = frame.words[1];
        let remote = self.remote_of(from, frame);
        let mut told = self.told();
        if let Ok(remote) = &remote {
            let grant = Arc::downgrade(&remote.grant);
            told.grants.insert((from, key), grant);
        }
        told.offers.push_back((from, remote));
        drop(told);
        self.tell_waiting();
    }

    /// The connection of that key was closed: nothing is put by it any more when this returns.
    fn close_grant(&self, from: NodeId, key: u64) {
        let grant = self.told().grants.remove(&(from, key));
        // One that was dropped is not used.
        if let Some(grant) = grant.and_then(|grant| grant.upgrade()) {
            grant.close();
        }
    }

    /// What an offer allows.
    ///
    /// # Errors
    /// [`NetError::System`] where the memory cannot be had, or the offer makes no sense.
    fn remote_of(&self, node: NodeId, frame: Frame) -> Result<Remote, NetError> {
        let refused = NetError::system("memory that another node has allowed this one");
        let [connection, key, start, end, _] = frame.words;
        let len = end.checked_sub(start).ok_or(Errno::INVAL);
        let len = len.map_err(&refused)?;
        let connection = u16::try_from(connection).map_err(|_| refused(Errno::INVAL))?;
        let mut is_open = true;
        let mapped = if let Some(rights) = self.transport.rights_of(node) {
            let memory = rights.memory_of(self.me, connection, key);
            // Else it has been closed meanwhile.
            is_open = memory.is_some();
            memory.map(|memory| (memory, start as usize))
        } else if self.transport.shares_memory_with(node) {
            let lacking = if frame.lacks_files {
                Errno::MFILE
            } else {
                Errno::BADF
            };
            let file = frame.files.into_iter().next();
            let file = file.ok_or_else(|| refused(lacking))?;
            let page = start / PAGE * PAGE;
            // As many as an address has.
            let mapped = page as usize..end.max(page + 1) as usize;
            let memory = Memory::open(file, mapped).map_err(&refused)?;
            Some((Arc::new(memory), (start - page) as usize))
        } else {
            None
        };
        Ok(Remote {
            node,
            connection,
            key,
            window: RemoteWindow { len, mapped },
            holder: self.this.clone(),
            grant: Arc::new(Grant::new(is_open)),
        })
    }

    fn becomes(&self, node: NodeId, state: u32) {
        // ORDERING(N1): Release, what the node has sent lies in its lanes; whoever sees the state looks there once more.
        self.states[usize::from(node.0)].store(state, Release);
        self.changes.fetch_add(1, Release);
        self.own.notify_all();
        self.tell_waiting();
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, Message, Node, PortId, SendError, Shape, TransportKind};

    /// A packet that had found no room stayed where it was when there was some: the threads that had made it slept, since they saw nothing, and this one, since
    /// no socket told it of anything.
    #[test]
    fn what_found_no_room_is_news_once_there_is_some() {
        let shape = Shape { nodes: 2, ports: 1 };
        let nodes = Node::in_process_by(TransportKind::Sockets, shape).expect("the nodes come up");
        let (mut sender, mut receiver) = (nodes[0].port(0), nodes[1].port(0));
        let message = Message {
            flags: Flags {
                doorbell: true,
                ..Flags::default()
            },
            ..Message::default()
        };
        let to = PortId {
            node: nodes[1].id(),
            index: 0,
        };
        let (mut sent, mut received) = (0, 0);
        let mut has_been_stuck = false;
        while sent < 1_000 {
            match sender.send(to, message, &[1; 30_000]) {
                Ok(()) => sent += 1,
                Err(SendError::Full) => {
                    nodes[1].shared.transport.pump();
                    if nodes[1].shared.transport.is_stuck() {
                        has_been_stuck = true;
                        received += receiver.poll(|_| ()).expect("nobody ends");
                        assert!(receiver.has_news() || !nodes[1].shared.transport.is_stuck());
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(has_been_stuck);
        while received < sent {
            received += receiver.poll(|_| ()).expect("nobody ends");
        }
    }
}
