//! The state that the ports, handles and listening thread of one node share.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | N1 | [`Shared::transition_to`] | [`Shared::changes`], [`Shared::ended`] | its messages |
//! | N2 | a new sender sets its bit | the receiving port loads it | nothing: a lane is zero |
//! | N3 | a change of `wanted` | the listening thread loads it | that it has to pump or to end |
//!
//! - N1: the listening thread stores a node's state, then increments `changes`. A port loads
//!   `changes` before it looks into the lanes, and the state afterwards. So it finds all messages
//!   of a node that has ended.
//! - N3: threads that go to sleep, wake up or leave change `wanted`, then write to the event, which
//!   by itself orders the two.
//!
//! N4 is documented in `transport`.

mod reports;

use std::ops::DerefMut;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use raddle_sync::prim::{Acquire, AtomicU32, Mutex, Relaxed, Release};
use raddle_sync::wait::WaitCell;
use raddle_trace::trace_file::JobNumbers;
use rustix::event::{EventfdFlags, eventfd};
use rustix::io::Errno;

use crate::access::Access;
use crate::address::{NodeId, SegmentId, Shape};
use crate::connection::{Connection, Rights};
use crate::control::{self, Controls};
use crate::error::{NetError, SendError};
use crate::failure_detector::Silence;
use crate::gets::Gets;
use crate::mapped::Region;
use crate::segment::SegmentOwner;
use crate::transport::{Capabilities, Parts, Transport};

pub(crate) use reports::Reports;

/// The bit of `wanted` that says that the node leaves.
pub(crate) const LEAVING: u32 = 1 << 31;

const ALIVE: u32 = 0;
const LEFT: u32 = 1;
const DIED: u32 = 2;
const SILENT: u32 = 3;

/// The state that the ports, handles and listening thread of a node share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    pub(crate) own: Arc<Region>,
    pub(crate) rights: Arc<Rights>,
    /// The rights of all nodes if they are in this process; otherwise empty.
    all_rights: Vec<Arc<Rights>>,
    pub(crate) transport: Box<dyn Transport>,
    pub(crate) capabilities: Capabilities,
    pub(crate) controls: Controls,
    /// The reads by the ports of this node that are on their way in packets.
    pub(crate) gets: Arc<Gets>,
    /// The state of each node.
    states: Vec<AtomicU32>,
    /// The number of changes of `states`.
    changes: AtomicU32,
    /// The event by which threads of this node wake the listening thread.
    wake: OwnedFd,
    /// The number of threads that want the listening thread to pump, and the bit [`LEAVING`].
    wanted: AtomicU32,
    ports_taken: Mutex<Vec<bool>>,
    segments: AtomicU32,
    reports: Mutex<Reports>,
    /// The time for which others may be silent. Only set in the first node of several processes.
    pub(crate) silence: Option<Silence>,
    /// The numbers of the job in recordings.
    job: JobNumbers,
    /// The processes that this process has started, by their nodes.
    children: OnceLock<Vec<(NodeId, u32)>>,
}

impl Shared {
    /// Creates the shared state of a node. `silence` says how long other nodes may be silent, if
    /// this node is to detect nodes that do not run.
    pub(crate) fn new(
        parts: Parts,
        job: JobNumbers,
        silence: Option<Silence>,
    ) -> Result<Self, NetError> {
        let Parts {
            me,
            shape,
            own,
            rights,
            all_rights,
            transport,
            capabilities,
            controls,
            gets,
        } = parts;
        let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        let wake = eventfd(0, flags).map_err(NetError::system("an event"))?;
        Ok(Self {
            me,
            shape,
            own,
            rights,
            all_rights,
            transport,
            capabilities,
            controls,
            gets,
            states: shape.node_ids().map(|_| AtomicU32::new(ALIVE)).collect(),
            changes: AtomicU32::new(0),
            wake,
            wanted: AtomicU32::new(0),
            ports_taken: Mutex::new(vec![false; shape.ports.into()]),
            segments: AtomicU32::new(0),
            reports: Mutex::default(),
            silence,
            job,
            children: OnceLock::new(),
        })
    }

    /// Returns the rights that `node` grants, if that node is in this process, so that its memory
    /// need not be mapped.
    pub(crate) fn rights_of(&self, node: NodeId) -> Option<&Rights> {
        let rights = self.all_rights.get(usize::from(node.0));
        rights.map(|rights| &**rights)
    }

    /// Takes a port for the thread that uses it. Returns whether it was taken before, or `None` if
    /// there is no such port.
    pub(crate) fn take_port(&self, index: u16) -> Option<bool> {
        let mut taken = self
            .ports_taken
            .lock()
            .expect("nothing panics under this lock");
        let taken = taken.get_mut(usize::from(index))?;
        Some(std::mem::replace(taken, true))
    }

    /// Returns the number of a new segment.
    pub(crate) fn next_segment(&self) -> SegmentId {
        // Relaxed: the number only has to be unique.
        SegmentId(self.segments.fetch_add(1, Relaxed))
    }

    /// Returns the number of a node's process in a recording.
    pub(crate) fn recorded(&self, node: NodeId) -> u32 {
        self.job.process(node.0.into())
    }

    /// Sets the processes that this node has started.
    pub(crate) fn set_children(&self, children: Vec<(NodeId, u32)>) {
        let set = self.children.set(children);
        set.expect("the children are set once");
    }

    /// Returns the process of a node, if this process has started it.
    pub(crate) fn process_of(&self, node: NodeId) -> Option<u32> {
        let children = self.children.get().map_or(&[][..], Vec::as_slice);
        let child = children.iter().find(|(child, _)| *child == node);
        child.map(|&(_, process)| process)
    }
}

/// Methods for the states of the nodes.
impl Shared {
    /// Returns the number of changes of the states of nodes.
    #[inline]
    pub(crate) fn changes(&self) -> u32 {
        // ORDERING(N1): Acquire, the caller looks into lanes and at states afterwards.
        self.changes.load(Acquire)
    }

    /// Returns how a node has ended, if it has.
    pub(crate) fn ended(&self, node: NodeId) -> Option<Ended> {
        // ORDERING(N1): Acquire, as in the header.
        match self.states[usize::from(node.0)].load(Acquire) {
            ALIVE => None,
            LEFT => Some(Ended::Left),
            SILENT => Some(Ended::Silent),
            _ => Some(Ended::Died),
        }
    }

    /// Checks that a node has not ended.
    pub(crate) fn check_alive(&self, node: NodeId) -> Result<(), NetError> {
        self.ended(node)
            .map_or(Ok(()), |ended| Err(self.error_of(node, ended)))
    }

    /// Returns the error that reports the end of a node.
    pub(crate) fn error_of(&self, node: NodeId, ended: Ended) -> NetError {
        match ended {
            Ended::Left => NetError::Left(node),
            Ended::Died => NetError::Died(node),
            Ended::Silent => NetError::Silent {
                node,
                limit: self.silence.unwrap_or(Silence::USUAL).limit(),
            },
        }
    }

    /// Records that a node has ended, and wakes every thread that may wait for something from it.
    pub(crate) fn transition_to(&self, node: NodeId, ended: Ended) {
        let state = match ended {
            Ended::Left => LEFT,
            Ended::Died => DIED,
            Ended::Silent => SILENT,
        };
        // ORDERING(N1): Release, the messages of the node are in its lanes. A thread that sees the
        // state looks there once more.
        self.states[usize::from(node.0)].store(state, Release);
        self.changes.fetch_add(1, Release);
        self.wake_ports();
        self.wake_waiting();
    }

    /// Wakes the threads that wait at the ports of this node, because of something besides a
    /// message.
    pub(crate) fn wake_ports(&self) {
        self.own.notify_all();
    }

    /// Returns true once this node has left.
    pub(crate) fn has_left(&self) -> bool {
        self.wanted() & LEAVING != 0
    }
}

/// Methods that wake the listening thread, and that make it pump.
impl Shared {
    /// Returns the number of threads that want the listening thread to pump, with the bit
    /// [`LEAVING`].
    pub(crate) fn wanted(&self) -> u32 {
        // ORDERING(N3): Acquire, as in the header.
        self.wanted.load(Acquire)
    }

    /// Makes the listening thread end, and wakes the threads that wait for its reports. Returns
    /// false if the system does not allow it to be woken.
    pub(crate) fn stop_listening(&self) -> bool {
        // ORDERING(N3): Release as a matter of form, since nothing is published with it.
        self.wanted.fetch_or(LEAVING, Release);
        self.wake_waiting();
        self.wake_listener()
    }

    /// Returns the descriptor that becomes readable to wake the listening thread.
    pub(crate) fn wake_event(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Resets the event that woke the listening thread. Its count is not used.
    pub(crate) fn reset_wake_event(&self) {
        let _ = rustix::io::read(&self.wake, &mut [0; 8]);
    }

    /// Makes the listening thread look again. Returns false if the system does not allow it.
    fn wake_listener(&self) -> bool {
        let written = rustix::io::write(&self.wake, &1_u64.to_ne_bytes());
        // If the event's counter is full, the thread is about to wake up anyway.
        matches!(written, Ok(_) | Err(Errno::AGAIN))
    }

    /// Makes the listening thread pump while `wait` waits.
    pub(crate) fn while_pumped<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.begin_pumping();
        let result = wait();
        self.end_pumping();
        result
    }

    /// Makes the listening thread pump from now on, if the transport needs it.
    pub(crate) fn begin_pumping(&self) {
        if !self.capabilities.needs_pump() {
            return;
        }
        // ORDERING(N3): Release as a matter of form: the write to the event orders it. If other
        // threads had begun before, they have written to the event. But no socket gives notice of a
        // packet that got stuck since then, so the thread is woken in that case, too.
        if self.wanted.fetch_add(1, Release) & !LEAVING == 0
            || self.capabilities.progress.is_stuck()
        {
            self.wake_listener();
        }
    }

    /// Undoes one call of [`begin_pumping`](Self::begin_pumping).
    pub(crate) fn end_pumping(&self) {
        if self.capabilities.needs_pump() {
            // ORDERING(N3): as in `begin_pumping`.
            self.wanted.fetch_sub(1, Release);
        }
    }
}

/// Methods that wait for the reports of other nodes.
impl Shared {
    /// Locks the reports of other nodes.
    pub(crate) fn reports(&self) -> impl DerefMut<Target = Reports> {
        self.reports.lock().expect("nothing panics under this lock")
    }

    /// Waits until `look` finds something in the reports. It is called again after each change.
    pub(crate) fn wait_for<R>(&self, mut look: impl FnMut(&mut Reports) -> Option<R>) -> R {
        let cell = Arc::new(WaitCell::new());
        loop {
            let mut reports = self.reports();
            if let Some(found) = look(&mut reports) {
                return found;
            }
            reports.waiting.push(Arc::clone(&cell));
            drop(reports);
            cell.wait(Duration::ZERO);
        }
    }

    /// Wakes the threads that wait for reports.
    pub(crate) fn wake_waiting(&self) {
        let mut reports = self.reports();
        for cell in reports.waiting.drain(..) {
            let _ = cell.notify();
        }
    }

    /// Closes connections that this node has opened, by number and key. Waits until nothing is put
    /// by any of them any more.
    pub(crate) fn close_all(&self, connections: impl IntoIterator<Item = (u16, u64)>) {
        let mut closed = Vec::new();
        for (number, key) in connections {
            let Some(Connection { peer, window, .. }) = self.rights.close(number, key) else {
                continue;
            };
            let is_read = window.is_some_and(|window| window.access == Access::Get);
            if is_read && !self.capabilities.shares_memory_with(peer) {
                self.end_pumping();
            }
            self.reports().closing.insert(key);
            let words = [number.into(), key, 0, 0, 0];
            // A node that is gone puts nothing, and a node that has left sends no frames.
            if !self.has_left() && self.controls.send(peer, control::CLOSE, words, &[]).is_ok() {
                closed.push((peer, key));
            } else {
                self.reports().closing.remove(&key);
            }
        }
        for (peer, key) in closed {
            self.wait_for(|reports| {
                // A node that has ended answers nothing, and once this node has left, it receives
                // no answers.
                if self.ended(peer).is_some() || self.has_left() {
                    reports.closing.remove(&key);
                }
                (!reports.closing.contains(&key)).then_some(())
            });
        }
    }
}

impl SegmentOwner for Shared {
    fn close_all_to(&self, segment: SegmentId) {
        self.close_all(self.rights.open_to(segment));
    }
}

/// The way in which a node has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    Left,
    Died,
    /// The node does not answer.
    Silent,
}

impl Ended {
    /// Returns the error of a send to the node.
    pub(crate) const fn for_sender(self, node: NodeId) -> SendError {
        match self {
            Self::Left => SendError::Left(node),
            Self::Died => SendError::Died(node),
            Self::Silent => SendError::Silent(node),
        }
    }
}
