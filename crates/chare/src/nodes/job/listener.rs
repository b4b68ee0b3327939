//! Receives wire messages and passes them to the workers. Any thread may receive, but only one at a
//! time.
//!
//! By default, workers receive between two tasks, while they look for work, and while they wait for
//! space for a message to send. Alternatively a dedicated thread receives
//! ([`Progress`](super::Progress)). The receiving thread acts as a thread that is not a worker.
//! Wire messages keep their order, since one thread at a time takes them and passes them on in the
//! single order of messages from outside. Messages that the receiving thread sends meanwhile are
//! queued and sent afterwards, since a thread that frees space must not itself wait for space.
//!
//! # No wire message is left behind
//! A worker that is about to sleep announces that and then checks here (I1 of
//! [`raddle_sync::idle`]). The check is possible only if no other thread is receiving. Another
//! receiving thread may have checked before the latest wire message arrived, and no worker was
//! woken for that message, because this worker still counted as searching. So a worker that finds
//! another thread receiving does not sleep, and checks again.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! |---|---|---|---|
//! | D1 | opening sets the system, then the state | receiving loads the state | the system |

use std::fmt;
use std::sync::{Arc, OnceLock, Weak};

use raddle_runtime::{Network, Waiter};
use raddle_sync::idle::IdleSet;
use raddle_sync::prim::{
    Acquire, AtomicBool, AtomicU32, Mutex, Relaxed, Release, thread_local, yield_now,
};

use super::super::arrive::Then;
use super::super::net::{NetError, Node, NodeId, Pump};
use super::receiver::Receiver;
use crate::engine::local;
use crate::engine::system::System;
use crate::failure::{Failure, contain, said};
use crate::nodes::arrive;
use crate::remote::{self, locked, quiet};

thread_local! {
    /// True while this thread receives.
    static RECEIVES: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Wire messages are kept: the set-up is not over yet.
const CLOSED: u32 = 0;
const OPEN: u32 = 1;
/// The program is over: wire messages that still arrive are ignored.
const ENDED: u32 = 2;

/// The receiver of a node's wire messages.
pub(super) struct Listener {
    receiver: Mutex<Receiver>,
    state: AtomicU32,
    system: OnceLock<Weak<System>>,
    idle: IdleSet,
    pump: Pump,
    /// Wire messages that the receiving thread has to send after it has received.
    waiting: Mutex<Vec<(u16, Vec<u8>)>>,
    /// True if a thread must check once more whether this node is quiet.
    looks_again: AtomicBool,
    /// The outcome of the program, and the thread that waits for it.
    end: Mutex<End>,
    has_ended: AtomicBool,
    /// True if the first node has asked all nodes to stop, or is about to: from then on nodes may
    /// leave.
    stops: AtomicBool,
}

#[derive(Default)]
struct End {
    error: Option<NetError>,
    waits: Option<Waiter>,
}

impl fmt::Debug for Listener {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Listener").finish_non_exhaustive()
    }
}

impl Listener {
    pub(super) fn new(node: &Node) -> Self {
        Self {
            receiver: Mutex::new(Receiver::new(node.port(0))),
            state: AtomicU32::new(CLOSED),
            system: OnceLock::new(),
            idle: node.idle().clone(),
            pump: node.pump(),
            waiting: Mutex::default(),
            looks_again: AtomicBool::new(false),
            end: Mutex::default(),
            has_ended: AtomicBool::new(false),
            stops: AtomicBool::new(false),
        }
    }

    /// Starts to pass wire messages to this system.
    pub(super) fn open(&self, system: &Arc<System>) {
        let system = Arc::downgrade(system);
        self.system.set(system).expect("a listener is opened once");
        // ORDERING(D1): Release, the system is set for threads that find the state open.
        let _ = self.state.compare_exchange(CLOSED, OPEN, Release, Relaxed);
        // Earlier wire messages have woken no worker.
        self.idle.work_came(0);
    }

    /// Records that the program is over: from now on the other nodes may leave. Called on the first
    /// node.
    pub(super) fn stop(&self) {
        // Relaxed: the wire messages that report the end are sent after this, and nodes leave after
        // them.
        self.stops.store(true, Relaxed);
    }

    /// Stops passing wire messages on.
    pub(super) fn close(&self) {
        self.finish(Ok(()));
    }

    /// Returns true if the program is over on this node.
    pub(super) fn is_over(&self) -> bool {
        // Relaxed: waiting threads check repeatedly.
        self.state.load(Relaxed) == ENDED
    }

    fn finish(&self, result: Result<(), NetError>) {
        let mut end = locked(&self.end);
        end.error = end.error.take().or(result.err());
        // Relaxed: the lock orders it for the waiter; for others, as in `is_over`.
        self.state.store(ENDED, Relaxed);
        self.has_ended.store(true, Relaxed);
        let waits = end.waits.take();
        drop(end);
        if let Some(waiter) = waits {
            waiter.notify();
        }
    }

    /// Waits until the first node ends the program.
    pub(super) fn wait_for_end(&self) -> Result<(), NetError> {
        let waiter = Waiter::current();
        locked(&self.end).waits = Some(waiter.clone());
        // Relaxed: the result is taken under the lock.
        waiter.wait_until(|| self.has_ended.load(Relaxed));
        locked(&self.end).error.take().map_or(Ok(()), Err)
    }

    /// Returns true on a thread that is receiving now.
    pub(super) fn is_receiving() -> bool {
        RECEIVES.with(std::cell::Cell::get)
    }

    /// Requests one more check whether this node is quiet, after this receiving thread has sent its
    /// messages.
    pub(super) fn look_again(&self) {
        // Relaxed: the lock of the receiver orders it.
        self.looks_again.store(true, Relaxed);
    }

    /// Sends a wire message later, after those being received.
    pub(super) fn send_later(&self, node: u16, wire_message: Vec<u8>) {
        locked(&self.waiting).push((node, wire_message));
    }

    /// Waits for a read-only value of the first node, during the set-up. All other wire messages
    /// are kept.
    pub(super) fn wait_for_readonly(&self) -> Result<Vec<u8>, NetError> {
        let mut receiver = locked(&self.receiver);
        loop {
            if let Some(value) = receiver.take_readonly() {
                return Ok(value);
            }
            let has_come = receiver.keep();
            if let Some(error) = receiver.next_end() {
                return Err(error);
            }
            if !has_come {
                receiver.wait();
            }
        }
    }

    /// Waits until there is something to receive. Called by the dedicated thread.
    pub(super) fn wait(&self) {
        let mut receiver = locked(&self.receiver);
        // Relaxed: the lock orders it.
        if !receiver.has_news() && !self.looks_again.load(Relaxed) {
            receiver.wait();
        }
    }

    /// Receives the wire messages that have arrived, unless another thread is receiving. Returns
    /// true if there were any.
    pub(super) fn try_receive(&self) -> bool {
        struct Leave;
        impl Drop for Leave {
            fn drop(&mut self) {
                RECEIVES.with(|receives| receives.set(false));
            }
        }
        if RECEIVES.with(|receives| receives.replace(true)) {
            return false;
        }
        let _leave = Leave;
        let Ok(mut receiver) = self.receiver.try_lock() else {
            return false;
        };
        local::as_outside_thread(|| self.receive(&mut receiver))
    }

    fn receive(&self, receiver: &mut Receiver) -> bool {
        // ORDERING(D1): Acquire, so that the system is set if the state is open.
        if self.state.load(Acquire) != OPEN {
            return receiver.keep();
        }
        let system = self.system.get().and_then(Weak::upgrade);
        let Some(system) = system else {
            // The runtime of the system has ended.
            self.close();
            return false;
        };
        let mut has_done = false;
        // First the messages that were kept during the set-up, then the new ones.
        while let Some((from, wire_message)) = receiver.next_kept() {
            self.hand_out(&system, from, &wire_message);
            has_done = true;
        }
        has_done |=
            receiver.collect(|from, wire_message| self.hand_out(&system, from, wire_message));
        while let Some(error) = receiver.next_end() {
            self.report_end(&system, error);
        }
        // Relaxed: if another thread receives next, it checks again.
        self.looks_again.store(false, Relaxed);
        // Answer quiescence detection if this node is quiet now, then send what was queued
        // meanwhile.
        quiet::look(&system);
        receiver.send(std::mem::take(&mut *locked(&self.waiting)));
        if !has_done && receiver.has_outgoing() {
            // No notification will come when there is space, so the caller checks again.
            yield_now();
        }
        // Relaxed: as above.
        has_done || self.looks_again.load(Relaxed)
    }

    fn is_first(system: &System) -> bool {
        remote::away(system).is_some_and(|away| away.me == 0)
    }

    fn hand_out(&self, system: &Arc<System>, from: u16, wire_message: &[u8]) {
        if self.is_over() {
            return;
        }
        let arrive = || match arrive::arrive(system, from, wire_message) {
            Ok(Then::GoOn) => {}
            Ok(Then::Stop) => self.close(),
            Err(failure) => system.fail(failure),
        };
        contain(arrive, |panic| {
            let said = said(panic);
            system.fail(Failure::new(format!(
                "reading a message of node {from} panicked: {said}"
            )));
        });
    }

    /// Reports the end of a node, or invalid messages of a node.
    fn report_end(&self, system: &Arc<System>, error: NetError) {
        match error {
            NetError::Left(NodeId(0)) => return self.close(),
            // A node other than the first may see another node leave before it is asked to stop
            // itself. If that node left too early, the first node reports it.
            // Relaxed: as in `stop`.
            NetError::Left(_) if !Self::is_first(system) || self.stops.load(Relaxed) => return,
            _ => {}
        }
        let failure = match error {
            NetError::Left(node) => {
                Failure::new(format!("{node} has left before the program was over"))
            }
            _ => Failure::new(error.to_string()),
        };
        let ended = match &error {
            NetError::Died(node) | NetError::Left(node) => Some(node),
            // Only the first node detects this, and then all nodes end.
            #[cfg(not(any(loom, shuttle)))]
            NetError::Silent { node, .. } => Some(node),
            _ => None,
        };
        if let (Some(node), Some(away)) = (ended, remote::away(system)) {
            away.lose(node.0, &failure);
        }
        system.fail(failure);
        if matches!(error, NetError::Died(NodeId(0))) {
            self.finish(Err(error));
        }
    }
}

impl Network for Listener {
    fn idle(&self) -> IdleSet {
        self.idle.clone()
    }

    fn receive(&self) {
        self.try_receive();
    }

    fn has_news(&self) -> bool {
        // Relaxed: `open` wakes the sleeping workers.
        self.state.load(Relaxed) == OPEN
            && self.receiver.try_lock().map_or(true, |receiver| {
                // Relaxed: the lock orders it.
                receiver.has_news() || self.looks_again.load(Relaxed)
            })
    }

    fn before_sleep(&self) {
        self.pump.begin();
    }

    fn after_sleep(&self) {
        self.pump.end();
    }
}
