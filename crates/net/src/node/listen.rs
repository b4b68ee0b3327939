//! The thread of a node that listens for what is no message: connections that others open, and their ends. It pumps while those sleep who else would.

use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use raddle_sync::prim::{Acquire, Release, thread};
use rustix::io::Errno;

use super::naps::Naps;
use super::{DIED, LEAVING, LEFT, PAGE, Shared};
use crate::address::NodeId;
use crate::control::{self, Frame};
use crate::error::NetError;
use crate::mapped::Memory;
use crate::segment::{Remote, RemoteWindow};

/// How long the listening thread rests when it can do nothing with what there is.
const PAUSE: Duration = Duration::from_micros(50);

/// Has the listening thread of a node take what comes to it while those who do that sleep; for nothing where memory is shared.
#[derive(Clone, Debug)]
pub struct Pump(pub(super) Arc<Shared>);

impl Pump {
    /// The caller is about to sleep. Before its last look for messages.
    pub fn begin(&self) {
        self.0.begin_pumping();
    }

    /// The caller is awake again.
    pub fn end(&self) {
        self.0.end_pumping();
    }
}

impl Shared {
    /// Hears what other nodes tell until the node leaves, and pumps while somebody wants that.
    pub(super) fn listen(&self) {
        let mut open: Vec<_> = self.controls.sockets().collect();
        let mut naps = self.transport.is_silent().then(Naps::new);
        loop {
            // ORDERING(N3): Acquire, as there.
            let wanted = self.wanted.load(Acquire);
            if wanted & LEAVING != 0 {
                return;
            }
            let nap = naps.as_mut().map(|naps| naps.look(self, wanted > 0));
            let mut sockets: Vec<_> = open.iter().map(|(_, control)| control.as_fd()).collect();
            sockets.push(self.wake.as_fd());
            if wanted > 0 {
                sockets.extend(self.transport.sockets());
            }
            // What is stuck is tried again even if nothing else comes: no socket tells of room.
            let is_stuck = nap.is_none() && wanted > 0 && self.transport.is_stuck();
            let limit = nap.or(is_stuck.then_some(PAUSE));
            let ready = control::wait(&sockets, limit).unwrap_or_default();
            // What has come by a socket is taken before it is known that its node has ended.
            let has_data = ready.iter().any(|&index| index > open.len());
            let is_over = (has_data || is_stuck) && !self.transport.pump();
            if (ready.is_empty() && limit.is_none()) || (is_over && has_data) {
                // A lane is full, another thread pumps, or the system has no memory: that passes.
                thread::sleep(PAUSE);
            }
            if ready.contains(&open.len()) {
                self.take_wake();
                naps.iter_mut().for_each(Naps::begin_anew);
            }
            let count = open.len();
            for index in ready.into_iter().rev().filter(|&index| index < count) {
                let (node, control) = open[index];
                if !self.hear(node, control::receive(control)) {
                    open.swap_remove(index);
                }
            }
        }
    }

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

    /// Hears what `node` tells, none at its end; false when there will be no more.
    pub(super) fn hear(&self, node: NodeId, told: Result<Option<Frame>, Errno>) -> bool {
        match told {
            Ok(Some(frame)) if frame.kind == control::OFFER => {
                // What cannot be taken is told to who waits for it.
                let remote = self.remote_of(node, frame);
                let mut offers = self.offers.lock().expect("nothing panics under this lock");
                offers.open.push_back((node, remote));
                drop(offers);
                self.tell_waiting();
                true
            }
            Ok(Some(frame)) if frame.kind == control::LEAVE => {
                self.transport.ends_after(node, frame.words[0]);
                self.becomes(node, LEFT);
                false
            }
            Ok(Some(_)) | Err(Errno::BADMSG) => true,
            Ok(None) | Err(_) => {
                self.becomes(node, DIED);
                false
            }
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
        let mapped = if let Some(rights) = self.transport.rights_of(node) {
            // One that has been closed meanwhile allows nothing, and what is sent by it is refused.
            let memory = rights.memory_of(self.me, connection, key);
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
        })
    }

    fn becomes(&self, node: NodeId, state: u32) {
        // ORDERING(N1): Release, what the node has sent lies in its lanes; whoever sees the state looks there once more.
        self.states[usize::from(node.0)].store(state, Release);
        self.changes.fetch_add(1, Release);
        self.own.notify_all();
        self.tell_waiting();
    }

    fn tell_waiting(&self) {
        let mut offers = self.offers.lock().expect("nothing panics under this lock");
        for cell in offers.waiting.drain(..) {
            let _ = cell.notify();
        }
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
