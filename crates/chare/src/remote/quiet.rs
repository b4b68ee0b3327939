//! Quiescence over all nodes: no wire message is under way, and no message within any node.
//!
//! The first node asks all nodes, including itself, for the numbers of wire messages that they have
//! sent and received. Each node answers once it is quiet itself ([`crate::engine::system::quiet`]).
//! The requests and answers together are a wave. If the number received up to one wave equals the
//! number sent up to the next, all nodes are quiet. Proof: at a moment between the two waves no
//! wire message was under way, and each node had finished what it had received by then before it
//! answered again, without sending any more.
//!
//! A request is answered by a pair of waves that began after it, so that all that the requester had
//! sent is counted.
//!
//! # Source
//! Mattern: Algorithms for distributed termination detection. Distributed Computing 2, 1987:
//! four-counter method.

use std::mem;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use raddle_sync::prim::yield_now;

use super::{WireMessage, locked};
use crate::engine::handler::Asker;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::remote::{self, out};
use crate::reply::{Replier, Reply, What, reply};

/// A requester to notify when all nodes are quiet.
enum Requester {
    Here(Replier<()>),
    There(Asker),
}

impl Requester {
    fn answer(self, outcome: Result<(), Failure>) {
        match self {
            Self::Here(replier) => replier.give(outcome),
            Self::There(asker) => {
                let outcome = outcome.as_ref().map(|()| Vec::new());
                asker.answer(outcome, false);
            }
        }
    }
}

/// A node's state of the waves.
#[derive(Default)]
pub(crate) struct Waves {
    /// The waves that this node answers when it is quiet.
    asked: Vec<(u64, Reply<()>)>,
    // The other fields are used only by the first node.
    /// The requesters, each with the last wave before its request.
    waiting: Vec<(u64, Requester)>,
    /// The last wave, and the number of nodes that have not answered it.
    wave: u64,
    missing: u16,
    sums: Counts,
    /// The number of wire messages that had been received by the wave before.
    received_before: Option<u64>,
}

/// The numbers of wire messages sent and received.
type Counts = (u64, u64);

/// A waker that requests the receiving thread to check for work.
struct Caller(Weak<System>);

impl Wake for Caller {
    fn wake(self: Arc<Self>) {
        if let Some(system) = self.0.upgrade()
            && let Some(away) = remote::away(&system)
        {
            away.call();
        }
    }
}

/// Answers `replier` when all nodes are quiet.
pub(crate) fn notify_when_quiet(system: &Arc<System>, replier: Replier<()>) {
    let away = remote::away(system).expect("there are other nodes");
    if away.me == 0 {
        return ask(system, Requester::Here(replier));
    }
    let reply = replier.cross_to(system, 0, crate::codec::Crossing::new());
    let reply = reply.expect("there are other nodes");
    out::send_away(system, 0, &WireMessage::AskQuiet { reply });
}

/// Handles a request from another node. Runs on the first node, like the functions below except
/// `count` and `look`.
pub(crate) fn asked(system: &Arc<System>, asker: Asker) {
    ask(system, Requester::There(asker));
}

fn ask(system: &Arc<System>, requester: Requester) {
    let away = remote::away(system).expect("there are other nodes");
    let mut waves = locked(&away.waves);
    let wave = waves.wave;
    waves.waiting.push((wave, requester));
    // Looked at under the lock: a failure that comes later finds the request in the list.
    if let Some(failure) = system.failure() {
        drop(waves);
        return give_up(away, &failure);
    }
    // If no wave is under way, begin one. It cannot be paired with an earlier wave.
    if waves.missing == 0 {
        waves.received_before = None;
        begin(system, waves);
    }
}

/// Begins the next wave.
fn begin(system: &Arc<System>, mut waves: impl std::ops::DerefMut<Target = Waves>) {
    let away = remote::away(system).expect("there are other nodes");
    waves.wave += 1;
    waves.missing = away.node_count;
    waves.sums = (0, 0);
    let wave = waves.wave;
    drop(waves);
    out::send_to_others(system, &WireMessage::Count { wave });
    count(system, wave);
}

/// Answers a wave when this node is quiet. Runs on any node.
pub(crate) fn count(system: &Arc<System>, wave: u64) {
    let what = What {
        chare: "Runtime",
        entry: "quiescence",
    };
    let (replier, reply) = reply(system.id(), None, what);
    let notify = Box::new(|outcome| replier.give(outcome));
    system.quiet().notify_when_quiet(system, notify);
    let away = remote::away(system).expect("there are other nodes");
    locked(&away.waves).asked.push((wave, reply));
    away.call();
}

/// Answers the waiting waves if this node is quiet. Runs on the receiving thread of any node.
pub(crate) fn look(system: &Arc<System>) {
    let away = remote::away(system).expect("there are other nodes");
    let asked = mem::take(&mut locked(&away.waves).asked);
    let waker = Waker::from(Arc::new(Caller(Arc::downgrade(system))));
    for (wave, mut reply) in asked {
        match reply.poll_outcome(&Context::from_waker(&waker)) {
            Poll::Pending => locked(&away.waves).asked.push((wave, reply)),
            Poll::Ready(Ok(())) => {
                let (sent, received) = away.counts();
                if away.me == 0 {
                    counted(system, wave, (sent, received));
                } else {
                    let wire_message = WireMessage::Counted {
                        wave,
                        sent,
                        received,
                    };
                    out::send_away(system, 0, &wire_message);
                }
            }
            // The failure is reported to all nodes, and the first one gives up.
            Poll::Ready(Err(_)) => {}
        }
    }
}

/// Adds a node's answer to a wave. After the last answer, ends the requests for which all nodes are
/// quiet, and begins the next wave if requests remain.
pub(crate) fn counted(system: &Arc<System>, wave: u64, (sent, received): Counts) {
    let away = remote::away(system).expect("there are other nodes");
    let mut waves = locked(&away.waves);
    if waves.wave != wave {
        return;
    }
    waves.sums.0 += sent;
    waves.sums.1 += received;
    waves.missing -= 1;
    if waves.missing > 0 {
        return;
    }
    let (sent, received) = waves.sums;
    // All nodes are quiet. Answer the requests that began before the last two waves.
    let ended = if waves.received_before == Some(sent) {
        let ended = waves
            .waiting
            .extract_if(.., |(since, _)| *since + 2 <= wave);
        ended.collect()
    } else {
        Vec::new()
    };
    let has_missed = waves.received_before.is_some_and(|before| before != sent);
    waves.received_before = Some(received);
    drop(waves);
    for (_, requester) in ended {
        requester.answer(Ok(()));
    }
    if has_missed {
        // A wire message is counted and under way, or about to be. Let its sender or receiver run;
        // otherwise waves would follow each other until then.
        yield_now();
    }
    let waves = locked(&away.waves);
    // A request that has arrived meanwhile may have begun a wave.
    if waves.wave == wave && !waves.waiting.is_empty() {
        begin(system, waves);
    }
}

/// Notifies the waiters of a failure instead of quiescence.
pub(super) fn give_up(away: &super::Away, failure: &Failure) {
    let ended = mem::take(&mut locked(&away.waves).waiting);
    for (_, requester) in ended {
        requester.answer(Err(failure.clone()));
    }
}
