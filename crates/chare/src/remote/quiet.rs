//! When all nodes are quiet: no letter is under way, and no message within any node.
//!
//! The first node asks all, itself too, for the numbers of letters that they have sent and received; each waits with its answer until it is quiet within
//! ([`crate::engine::system::quiet`]). That is a wave. If as many letters had been received by one wave as had been sent by the next, all is quiet: at a moment
//! between the two none was under way, and what each had received by then it has been done with before it answered again, without sending any more.
//! Who asks is told by a pair of waves that began after that, so that what he had sent is counted.
//!
//! # Source
//! Mattern: Algorithms for distributed termination detection. Distributed Computing 2, 1987: four counters.

use std::mem;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};

use raddle_sync::prim::yield_now;

use super::{WireMessage, locked};
use crate::engine::object::handler::Asker;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::remote;
use crate::remote::out;
use crate::reply::{Replier, Reply, What, reply};

/// Who wants to know when all is quiet.
enum Notify {
    Here(Replier<()>),
    There(Asker),
}

impl Notify {
    fn tell(self, outcome: Result<(), Failure>) {
        match self {
            Self::Here(replier) => replier.give(outcome),
            Self::There(asker) => {
                let outcome = outcome.as_ref().map(|()| Vec::new());
                asker.tell(outcome, false);
            }
        }
    }
}

/// What a node knows of waves.
#[derive(Default)]
pub(crate) struct Waves {
    /// Those that wait for this node to be quiet within.
    asked: Vec<(u64, Reply<()>)>,
    // The rest is the first node's.
    /// Who wants to know, and the wave that was the last when he asked.
    waiting: Vec<(u64, Notify)>,
    /// The last wave, and how many have not answered it.
    wave: u64,
    missing: u16,
    sums: Counts,
    /// How many had been received by the wave before.
    received_before: Option<u64>,
}

/// WireMessages sent and received.
type Counts = (u64, u64);

/// Has somebody who receives look.
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

/// Replies when all is quiet.
pub(crate) fn tell_when_quiet(system: &Arc<System>, replier: Replier<()>) {
    let away = remote::away(system).expect("there are other nodes");
    if away.me == 0 {
        return ask(system, Notify::Here(replier));
    }
    let reply = replier.cross_to(system, 0, crate::codec::Crossing::new());
    let reply = reply.expect("there are other nodes");
    out::send_away(system, 0, &WireMessage::AskQuiet { reply });
}

/// Somebody on another node asks. At the first node, as those below but the next.
pub(crate) fn asked(system: &Arc<System>, asker: Asker) {
    ask(system, Notify::There(asker));
}

fn ask(system: &Arc<System>, notify: Notify) {
    let away = remote::away(system).expect("there are other nodes");
    let mut waves = locked(&away.waves);
    let wave = waves.wave;
    waves.waiting.push((wave, notify));
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

/// Answers a wave when this node is quiet within. At any node.
pub(crate) fn count(system: &Arc<System>, wave: u64) {
    let what = What {
        chare: "Runtime",
        entry: "quiescence",
    };
    let (replier, reply) = reply(system.id(), None, what);
    let notify = Box::new(|outcome| replier.give(outcome));
    system.quiet().tell_when_quiet(system, notify);
    let away = remote::away(system).expect("there are other nodes");
    locked(&away.waves).asked.push((wave, reply));
    away.call();
}

/// Answers the waves that wait, if this node is quiet. For who receives.
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
            // All nodes hear of it, and the first gives up.
            Poll::Ready(Err(_)) => {}
        }
    }
}

/// A node has answered.
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
    for (_, notify) in ended {
        notify.tell(Ok(()));
    }
    if has_missed {
        // A letter has been counted and is under way, or about to be: whoever has it goes first, or waves would follow each other until then.
        yield_now();
    }
    let waves = locked(&away.waves);
    // Whoever has asked meanwhile has begun one.
    if waves.wave == wave && !waves.waiting.is_empty() {
        begin(system, waves);
    }
}

/// Something has failed: no waiter is told any longer that all is quiet.
pub(super) fn give_up(away: &super::Away, failure: &Failure) {
    let ended = mem::take(&mut locked(&away.waves).waiting);
    for (_, notify) in ended {
        notify.tell(Err(failure.clone()));
    }
}
