//! Round trips of a message between two nodes, with three ways to receive.
//!
//! - Poll: the node that has sent polls until the message is back.
//! - Notify: the node waits in its wait cell, and the doorbell of the message wakes it.
//! - Thread: a receiving thread waits for messages, and wakes the thread that has sent, which waits
//!   in a wait cell of its own. At the other node, one thread receives the message and returns it.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.3.1 to 4.3.3, fig. 8 to 16.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, yield_now};
use std::time::Instant;

use raddle::net::{Flags, Message, NodeId, Port};
use raddle_sync::wait::{SpinBudget, Way};

use super::answer::Answer;
use super::cpus::{ThreadCpus, bind_this_thread};
use super::error::{NodesError, expect};
use super::order::{Outcome, Report, RoundTrips};
use super::part::{Part, Ports};
use super::payload::Payload;
use super::receive::Receive;
use super::watch::Watch;
use crate::threads::spawn_in;

/// The number of round trips before the timed ones.
const WARM_UP: u64 = 100;
/// A bit of the user field of a message: the receiver checks all bytes.
const WHOLE: u32 = 1 << 31;
/// A bit of the user field: this is the last trip.
const LAST: u32 = 1 << 30;

/// Runs this node's part of the round trips.
pub(super) fn run(part: &mut Part<'_>, wanted: RoundTrips) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let (first, last) = (0, count - 1);
    if me != first && me != last {
        return Ok(Outcome::default());
    }
    let peer = NodeId(if me == first { last } else { first });
    let cpus = part.order.cpus;
    let payload = Payload::new(part.node, peer, wanted.bytes)?;
    let watch = match wanted.receive {
        Receive::Poll => Watch::Poll {
            yields: cpus.is_oversubscribed,
        },
        Receive::Notify | Receive::Thread => Watch::Wait,
    };
    let mut side = Side {
        peer,
        watch,
        payload,
    };
    if me != first {
        return_all(&mut side, &mut part.ports.receive)?;
        side.payload.close(part.node);
        return Ok(Outcome::default());
    }
    let (times, payload) = if wanted.receive == Receive::Thread {
        initiate_with_receiver(side, part.ports, cpus, wanted)?
    } else {
        let port = &mut part.ports.receive;
        let times = initiate(
            wanted,
            &mut SingleThread {
                side: &mut side,
                port,
            },
        )?;
        (times, side.payload)
    };
    payload.close(part.node);
    Ok(times)
}

/// The state of one of the two nodes.
struct Side {
    peer: NodeId,
    watch: Watch,
    payload: Payload,
}

impl Side {
    fn send(&self, port: &mut Port, user: u32) -> Result<(), NodesError> {
        let flags = Flags {
            doorbell: self.watch.needs_doorbell(),
            ..Flags::default()
        };
        let message = Message {
            flags,
            user,
            metadata: &[],
        };
        self.payload.send(port, self.peer, message)
    }

    /// Waits for the message, and returns its user field.
    fn receive(&mut self, port: &mut Port) -> Result<u32, NodesError> {
        let mut user = 0;
        let payload = &mut self.payload;
        self.watch.next(port, |arrival| {
            user = arrival.message.user;
            payload.receive(arrival.data);
        })?;
        Ok(user)
    }
}

/// Returns every message to its sender, until the last trip.
fn return_all(side: &mut Side, port: &mut Port) -> Result<(), NodesError> {
    loop {
        let user = side.receive(port)?;
        // The stamp is the low byte of the number of the trip.
        let number = user as u8;
        side.payload.check_stamp(number)?;
        if user & WHOLE != 0 {
            side.payload.check_and_invert(false)?;
        }
        side.payload.stamp(number.wrapping_add(1));
        side.send(port, user)?;
        if user & LAST != 0 {
            return Ok(());
        }
    }
}

/// The side that starts each round trip.
trait Initiator {
    /// Sends the message of trip `number`, and waits until it is back. `flags` are bits of the user
    /// field for the other side.
    fn trip(&mut self, number: u64, flags: u32) -> Result<(), NodesError>;

    /// Checks the whole payload after the other side has done so.
    fn check_all(&mut self) -> Result<(), NodesError>;
}

/// Makes all round trips: the warm-up, the timed ones, and a last one that ends the program.
fn initiate(wanted: RoundTrips, initiator: &mut impl Initiator) -> Result<Outcome, NodesError> {
    let mut number = 0;
    let mut trip = |initiator: &mut _, flags| {
        number += 1;
        Initiator::trip(initiator, number, flags)
    };
    trip(initiator, WHOLE)?;
    initiator.check_all()?;
    let warm_up_start = Instant::now();
    for _ in 1..WARM_UP {
        trip(initiator, 0)?;
        // If trips take so long, a hundred of them for the warm-up make no difference.
        if warm_up_start.elapsed() >= wanted.limit {
            break;
        }
    }
    let mut times = Vec::with_capacity(if wanted.each {
        wanted.trips as usize
    } else {
        0
    });
    let start = Instant::now();
    let mut last = start;
    for _ in 0..wanted.trips {
        trip(initiator, 0)?;
        if wanted.each {
            let now = Instant::now();
            times.push(now - last);
            last = now;
            if now - start >= wanted.limit {
                break;
            }
        }
    }
    let time = start.elapsed();
    trip(initiator, WHOLE | LAST)?;
    initiator.check_all()?;
    let report = Report {
        time,
        ..Report::default()
    };
    Ok(Outcome { times, report })
}

/// Returns the user field of trip `number`.
const fn user_field(number: u64, flags: u32) -> u32 {
    flags | (number as u32 & (LAST - 1))
}

/// An initiator that sends and receives with one thread.
struct SingleThread<'part> {
    side: &'part mut Side,
    port: &'part mut Port,
}

impl Initiator for SingleThread<'_> {
    #[inline]
    fn trip(&mut self, number: u64, flags: u32) -> Result<(), NodesError> {
        self.side.payload.stamp(number as u8);
        let user = user_field(number, flags);
        self.side.send(self.port, user)?;
        let returned = self.side.receive(self.port)?;
        self.side
            .payload
            .check_stamp((number as u8).wrapping_add(1))?;
        expect_same(returned, user)
    }

    fn check_all(&mut self) -> Result<(), NodesError> {
        self.side.payload.check_and_invert(true)
    }
}

#[inline]
fn expect_same(returned: u32, sent: u32) -> Result<(), NodesError> {
    if returned == sent {
        return Ok(());
    }
    expect("user field of the message:", returned.into(), sent.into())
}

/// An initiator that sends, and waits for the thread that receives.
struct WithReceiver<'part> {
    side: &'part Mutex<Side>,
    port: &'part mut Port,
    answer: &'part Answer,
    budget: SpinBudget,
    way: Way,
}

impl Initiator for WithReceiver<'_> {
    #[inline]
    fn trip(&mut self, number: u64, flags: u32) -> Result<(), NodesError> {
        {
            let mut side = lock(self.side);
            side.payload.stamp(number as u8);
            side.send(self.port, user_field(number, flags))?;
        }
        if !self.answer.wait(&mut self.budget, self.way, number) {
            // The receiving thread returns the error that explains this one.
            return expect("answers:", 0, 1);
        }
        lock(self.side)
            .payload
            .check_stamp((number as u8).wrapping_add(1))
    }

    fn check_all(&mut self) -> Result<(), NodesError> {
        lock(self.side).payload.check_and_invert(true)
    }
}

/// Makes all round trips with two threads: the calling thread sends, and a new thread receives.
fn initiate_with_receiver(
    side: Side,
    ports: &mut Ports,
    cpus: ThreadCpus,
    wanted: RoundTrips,
) -> Result<(Outcome, Payload), NodesError> {
    let Ports { compute, receive } = ports;
    let watch = side.watch;
    let side = Mutex::new(side);
    let answer = Answer::default();
    let outcome = thread::scope(|scope| {
        let receiver = spawn_in(scope, "receiver", || {
            let received = bind_this_thread(cpus.receive)
                .and_then(|()| receive_for(&side, &answer, watch, receive, cpus));
            if received.is_err() {
                answer.fail();
            }
            received
        })?;
        let mut initiator = WithReceiver {
            side: &side,
            port: compute,
            answer: &answer,
            budget: SpinBudget::default(),
            // On a shared CPU, a spinning thread would delay the thread that it waits for.
            way: if cpus.receive_shares() {
                Way::Futex
            } else {
                Way::Auto
            },
        };
        let outcome = initiate(wanted, &mut initiator);
        if outcome.is_err() {
            // The receiving thread still waits for a message. The other side returns this one, or
            // ends; either ends the wait.
            let _has_ended = lock(&side).send(initiator.port, LAST);
        }
        receiver
            .join()
            .expect("the receiving thread never panics")?;
        outcome
    })?;
    let side = side.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((outcome, side.payload))
}

/// Receives each message and wakes the thread that has sent it, until the last trip.
fn receive_for(
    side: &Mutex<Side>,
    answer: &Answer,
    watch: Watch,
    port: &mut Port,
    cpus: ThreadCpus,
) -> Result<(), NodesError> {
    let mut number = 0;
    loop {
        let mut user = 0;
        watch.next(port, |arrival| {
            user = arrival.message.user;
            lock(side).payload.receive(arrival.data);
        })?;
        number += 1;
        answer.publish(number);
        if user & LAST != 0 {
            return Ok(());
        }
        if cpus.receive_shares() {
            yield_now();
        }
    }
}

fn lock(side: &Mutex<Side>) -> std::sync::MutexGuard<'_, Side> {
    side.lock().unwrap_or_else(PoisonError::into_inner)
}
