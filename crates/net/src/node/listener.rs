//! The listening thread of a node. It receives control frames, such as the reports of connections
//! and of the ends of nodes, and pumps packets while the threads that usually do so are asleep.

use std::collections::VecDeque;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::thread;
use rustix::io::Errno;

use super::poll_interval::PollInterval;
use crate::access::Access;
use crate::address::NodeId;
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::failure_detector::{self, FailureDetector};
use crate::grant::Grant;
use crate::mapped::{Memory, PAGE};
use crate::segment::{Remote, RemoteWindow};
use crate::shared::{Ended, LEAVING, Shared};
use crate::transport::Progress;

/// The time that the listening thread sleeps when it cannot process what has arrived.
const PAUSE: Duration = Duration::from_micros(50);

/// The listening thread of a node.
pub(super) struct Listener<'a> {
    node: &'a Arc<Shared>,
    /// The sockets to the nodes that have not ended.
    open: Vec<(NodeId, &'a OwnedFd)>,
    /// The pauses between polls, if the transport gives no notice of what arrives.
    interval: Option<PollInterval>,
    detector: Option<FailureDetector>,
    /// Answers for which there was no space yet. This thread does not wait for space, because other
    /// threads wait for it.
    answers: VecDeque<(NodeId, u64, [u64; control::WORDS - 1])>,
}

impl<'a> Listener<'a> {
    /// Creates the listening thread's state.
    pub(super) fn new(node: &'a Arc<Shared>) -> Self {
        Self {
            node,
            open: node.controls.sockets().collect(),
            interval: node.capabilities.needs_polling().then(PollInterval::new),
            detector: node
                .silence
                .map(|silence| FailureDetector::new(silence, node.shape)),
            answers: VecDeque::new(),
        }
    }

    /// Receives control frames until the node leaves, and pumps while a thread wants that.
    pub(super) fn run(mut self) {
        loop {
            let wanted = self.node.wanted();
            if wanted & LEAVING != 0 {
                return;
            }
            self.turn(wanted > 0);
        }
    }
}

impl Listener<'_> {
    /// Waits for control frames, the event and packets, and handles what has arrived.
    fn turn(&mut self, is_wanted: bool) {
        let node = self.node;
        let pause = self.poll(is_wanted);
        // Wait for control frames, for the event, and, if this thread has to pump, for packets.
        let mut sockets: Vec<_> = self
            .open
            .iter()
            .map(|(_, control)| control.as_fd())
            .collect();
        sockets.push(node.wake_event());
        if is_wanted {
            sockets.extend(node.capabilities.sockets().map(AsFd::as_fd));
        }
        // A stuck packet is tried again even if nothing else arrives, because no socket gives
        // notice of space in a lane.
        let is_stuck = pause.is_none() && is_wanted && node.capabilities.progress.is_stuck();
        let limits = [
            pause,
            (is_stuck || !self.answers.is_empty()).then_some(PAUSE),
            self.detector.as_ref().map(FailureDetector::limit),
        ];
        let limit = limits.into_iter().flatten().min();
        let waited = control::wait(&sockets, limit);
        let has_failed = waited.is_err();
        let ready = waited.unwrap_or_default();
        // Pump before the control sockets are read, so that the packets of a node are in the lanes
        // before its end is known.
        let has_data = ready.iter().any(|&index| index > self.open.len());
        let found_nothing = (has_data || is_stuck) && !node.transport.pump();
        if has_failed || (found_nothing && has_data) {
            // A lane is full, another thread pumps, or the system has no memory. That passes.
            thread::sleep(PAUSE);
        }
        if ready.contains(&self.open.len()) {
            node.reset_wake_event();
            self.interval.iter_mut().for_each(PollInterval::restart);
        }
        // Read the control sockets, from the last, so that removing one moves no unread one.
        let count = self.open.len();
        for index in ready.into_iter().rev().filter(|&index| index < count) {
            let (from, control) = self.open[index];
            if !self.handle(from, control::receive(control)) {
                self.open.swap_remove(index);
            }
        }
        self.send_answers();
        self.give_up_silent_nodes();
    }

    /// Receives frames, and pumps if that is wanted. Returns the time to sleep before the next
    /// poll, or `None` if the transport gives notice.
    fn poll(&mut self, is_wanted: bool) -> Option<Duration> {
        self.interval.as_ref()?;
        let mut has_arrived = is_wanted && self.node.transport.pump();
        while let Some((from, frame)) = self.node.controls.receive_relayed() {
            self.handle(from, Ok(Some(frame)));
            has_arrived = true;
        }
        let interval = self.interval.as_mut();
        interval.map(|interval| interval.next(has_arrived))
    }

    /// Handles what was received from `from`: a frame, or `None` at its end. Returns false if no
    /// more will arrive.
    fn handle(&mut self, from: NodeId, received: Result<Option<Frame>, Errno>) -> bool {
        let node = self.node;
        let frame = match received {
            Ok(Some(frame)) => frame,
            Err(Errno::BADMSG) => return true,
            Ok(None) | Err(_) => {
                node.transition_to(from, Ended::Died);
                return false;
            }
        };
        let words = frame.words;
        match frame.kind {
            control::OFFER => {
                self.take_offer(from, frame);
            }
            control::CLOSE => {
                self.close_grant(from, words[1]);
                self.answers.push_back((from, control::CLOSED, words));
            }
            control::CLOSED => {
                node.reports().closing.remove(&words[1]);
                node.wake_waiting();
            }
            control::ASK => self.answers.push_back((from, control::ALIVE, [0; 5])),
            control::ALIVE => {
                self.detector
                    .iter_mut()
                    .for_each(|detector| detector.record_answer(from));
            }
            control::LEAVE => {
                if words[0] != Progress::UNKNOWN {
                    node.capabilities.progress.record_total(from, words[0]);
                }
                node.transition_to(from, Ended::Left);
                return false;
            }
            _ => {}
        }
        true
    }

    /// Sends the answers for which there is space.
    fn send_answers(&mut self) {
        let controls = &self.node.controls;
        self.answers
            .retain(|&(to, kind, words)| controls.try_send(to, kind, words) == Err(Errno::AGAIN));
    }

    /// Gives up the nodes that have been silent for too long. For this node they have ended.
    fn give_up_silent_nodes(&mut self) {
        let (Some(detector), node) = (&mut self.detector, self.node) else {
            return;
        };
        let others = node.shape.node_ids().filter(|&other| other != node.me);
        let alive = others.filter(|&other| node.ended(other).is_none());
        // An external launcher starts all processes together, so that each period counts against
        // them. For a child of this process, it depends on the state of the child.
        let counts = |other, has_answered| {
            let process = node.process_of(other);
            process.is_none_or(|process| failure_detector::counts(process, has_answered))
        };
        for silent in detector.ask_if_due(&node.controls, alive, counts) {
            self.open.retain(|(node, _)| *node != silent);
            node.controls.close_to(silent);
            node.transition_to(silent, Ended::Silent);
        }
    }
}

/// Connections that other nodes open and close for this one.
impl Listener<'_> {
    /// Records that a connection was opened for this node. If its memory cannot be mapped, the
    /// thread that accepts the connection gets the error.
    fn take_offer(&self, from: NodeId, frame: Frame) {
        let key = frame.words[1];
        let remote = self.remote_of(from, frame);
        let mut reports = self.node.reports();
        if let Ok(remote) = &remote {
            let grant = Arc::downgrade(&remote.grant);
            reports.grants.insert((from, key), grant);
        }
        reports.offers.push_back((from, remote));
        drop(reports);
        self.node.wake_waiting();
    }

    /// Handles the close of the connection with that key: when this returns, nothing is put by it
    /// any more.
    fn close_grant(&self, from: NodeId, key: u64) {
        let grant = self.node.reports().grants.remove(&(from, key));
        // If the `Remote` was dropped, the connection is no longer in use.
        if let Some(grant) = grant.and_then(|grant| grant.upgrade()) {
            grant.close();
            // A read that is on its way may get no answer any more.
            self.node.wake_ports();
        }
    }

    /// Returns the right that an offer of `from` gives.
    ///
    /// # Errors
    /// [`NetError::System`] if the memory cannot be mapped, or the offer is invalid.
    fn remote_of(&self, from: NodeId, frame: Frame) -> Result<Remote, NetError> {
        let node = self.node;
        let refused = NetError::system("memory that another node has allowed this one");
        let [connection, key, start, end, access] = frame.words;
        let len = end.checked_sub(start).ok_or(Errno::INVAL);
        let len = len.map_err(&refused)?;
        let connection = u16::try_from(connection).map_err(|_| refused(Errno::INVAL))?;
        let access = Access::of_word(access).ok_or_else(|| refused(Errno::INVAL))?;
        let mut is_open = true;
        let mapped = if let Some(rights) = node.rights_of(from) {
            let memory = rights.memory_of(node.me, connection, key);
            // Without memory, the connection has been closed in the meantime.
            is_open = memory.is_some();
            memory.map(|memory| (memory, start as usize))
        } else if node.capabilities.shares_memory_with(from) {
            let lacking = if frame.lacks_files {
                Errno::MFILE
            } else {
                Errno::BADF
            };
            let file = frame.files.into_iter().next();
            let file = file.ok_or_else(|| refused(lacking))?;
            let page = start / PAGE * PAGE;
            // Addresses have 64 bits, as these offsets.
            let mapped = page as usize..end.max(page + 1) as usize;
            let memory = match access {
                Access::Put => Memory::open(file, mapped),
                Access::Get => Memory::open_to_read(file, mapped),
            };
            let memory = memory.map_err(&refused)?;
            Some((Arc::new(memory), (start - page) as usize))
        } else {
            None
        };
        Ok(Remote {
            node: from,
            connection,
            key,
            window: RemoteWindow {
                len,
                access,
                mapped,
            },
            holder: Arc::downgrade(&node.rights),
            grant: Arc::new(Grant::new(is_open)),
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Flags, Message, Node, PortId, SendError, Shape, TransportKind};

    // Regression: a packet for which its lane had no space stayed where it was once there was
    // space. The threads that had made the space slept, because they saw no message. The listening
    // thread slept, because no socket gave notice.
    #[test]
    fn a_stuck_packet_is_news_once_there_is_space() {
        let shape = Shape { nodes: 2, ports: 1 };
        let nodes = Node::in_process_by(TransportKind::Sockets, shape).expect("the nodes start");
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
                    if nodes[1].shared.capabilities.progress.is_stuck() {
                        has_been_stuck = true;
                        received += receiver.poll(|_| ()).expect("no node ends");
                        assert!(
                            receiver.has_news()
                                || !nodes[1].shared.capabilities.progress.is_stuck()
                        );
                    }
                }
                Err(error) => panic!("{error}"),
            }
        }
        assert!(has_been_stuck);
        while received < sent {
            received += receiver.poll(|_| ()).expect("no node ends");
        }
    }
}
