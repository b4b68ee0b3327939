//! Ping-pong between two nodes, in three ways to receive.
//!
//! Polling: the node that has thrown looks until the ball is back. Notified: it waits in its wait cell, and the doorbell of the message wakes it. With
//! a receiving thread: that one waits for messages, and wakes the thread that has thrown, which waits in a cell of its own; in the other node the receiving
//! thread itself throws the ball back.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.3.1 to 4.3.3, fig. 8 to 16.

use std::sync::{Mutex, PoisonError};
use std::thread::{self, yield_now};
use std::time::Instant;

use raddle::net::{Flags, Message, NodeId, Port};
use raddle_sync::wait::{SpinBudget, Way};

use super::answer::Answer;
use super::ball::Ball;
use super::crew::{Part, Ports};
use super::order::{Outcome, Rally, Told};
use super::seats::{Seat, sit_down};
use super::watch::Watch;
use super::{NodesError, Receive, expect};
use crate::threads::spawn_in;

/// Round trips before the clock runs.
const WARM_UP: u64 = 100;
/// In a message's user field: all bytes are to be looked at.
const WHOLE: u32 = 1 << 31;
/// There: this is the last trip.
const LAST: u32 = 1 << 30;

/// Plays this node's part.
pub(super) fn run(part: &mut Part<'_>, rally: Rally) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let (first, last) = (0, count - 1);
    if me != first && me != last {
        return Ok(Outcome::default());
    }
    let peer = NodeId(if me == first { last } else { first });
    let seat = part.order.seat;
    let ball = Ball::new(part.node, peer, rally.bytes)?;
    let watch = match rally.receive {
        Receive::Poll => Watch::Poll {
            yields: seat.is_crowded,
        },
        Receive::Notify | Receive::Thread => Watch::Wait,
    };
    let mut side = Side { peer, watch, ball };
    if me != first {
        give_back(&mut side, &mut part.ports.receive)?;
        side.ball.put_away(part.node);
        return Ok(Outcome::default());
    }
    let (times, ball) = if rally.receive == Receive::Thread {
        serve_by_two(side, part.ports, seat, rally)?
    } else {
        let port = &mut part.ports.receive;
        let times = serve(
            rally,
            &mut Alone {
                side: &mut side,
                port,
            },
        )?;
        (times, side.ball)
    };
    ball.put_away(part.node);
    Ok(times)
}

/// What a side has.
struct Side {
    peer: NodeId,
    watch: Watch,
    ball: Ball,
}

impl Side {
    fn throw(&self, port: &mut Port, user: u32) -> Result<(), NodesError> {
        let flags = Flags {
            doorbell: self.watch.needs_doorbell(),
            ..Flags::default()
        };
        let message = Message {
            flags,
            user,
            metadata: &[],
        };
        self.ball.throw(port, self.peer, message)
    }

    /// Waits for the ball; returns what the message says of itself.
    fn catch(&mut self, port: &mut Port) -> Result<u32, NodesError> {
        let mut user = 0;
        let ball = &mut self.ball;
        self.watch.next(port, |arrival| {
            user = arrival.message.user;
            ball.catch(arrival.data);
        })?;
        Ok(user)
    }
}

/// Throws back what comes, until the last trip.
fn give_back(side: &mut Side, port: &mut Port) -> Result<(), NodesError> {
    loop {
        let user = side.catch(port)?;
        // The number of the trip, as far as it goes into a byte.
        let number = user as u8;
        side.ball.check_stamp(number)?;
        if user & WHOLE != 0 {
            side.ball.check_and_invert(false)?;
        }
        side.ball.stamp(number.wrapping_add(1));
        side.throw(port, user)?;
        if user & LAST != 0 {
            return Ok(());
        }
    }
}

/// Who throws first.
trait Server {
    /// Throws the ball with that number, and waits until it is back; what `user` says besides is for the other side.
    fn trip(&mut self, number: u64, user: u32) -> Result<(), NodesError>;

    /// Looks at all of the ball when the other side has.
    fn check_all(&mut self) -> Result<(), NodesError>;
}

/// Plays: some trips before the clock runs, those that count, and one for the end.
fn serve(rally: Rally, server: &mut impl Server) -> Result<Outcome, NodesError> {
    let mut number = 0;
    let mut trip = |server: &mut _, user| {
        number += 1;
        Server::trip(server, number, user)
    };
    trip(server, WHOLE)?;
    server.check_all()?;
    let warms_up = Instant::now();
    for _ in 1..WARM_UP {
        trip(server, 0)?;
        // A ball that takes so long is not made quicker by a hundred throws.
        if warms_up.elapsed() >= rally.limit {
            break;
        }
    }
    let mut times = Vec::with_capacity(if rally.each { rally.trips as usize } else { 0 });
    let start = Instant::now();
    let mut last = start;
    for _ in 0..rally.trips {
        trip(server, 0)?;
        if rally.each {
            let now = Instant::now();
            times.push(now - last);
            last = now;
            if now - start >= rally.limit {
                break;
            }
        }
    }
    let time = start.elapsed();
    trip(server, WHOLE | LAST)?;
    server.check_all()?;
    let told = Told {
        time,
        ..Told::default()
    };
    Ok(Outcome { times, told })
}

/// A thread that throws and receives.
struct Alone<'part> {
    side: &'part mut Side,
    port: &'part mut Port,
}

impl Server for Alone<'_> {
    #[inline]
    fn trip(&mut self, number: u64, user: u32) -> Result<(), NodesError> {
        self.side.ball.stamp(number as u8);
        let user = user | (number as u32 & (LAST - 1));
        self.side.throw(self.port, user)?;
        let back = self.side.catch(self.port)?;
        self.side.ball.check_stamp((number as u8).wrapping_add(1))?;
        expect_same(back, user)
    }

    fn check_all(&mut self) -> Result<(), NodesError> {
        self.side.ball.check_and_invert(true)
    }
}

#[inline]
fn expect_same(back: u32, user: u32) -> Result<(), NodesError> {
    if back == user {
        return Ok(());
    }
    expect("the message that came back:", back.into(), user.into())
}

/// A thread that throws, and waits for the one that receives.
struct WithReceiver<'part> {
    side: &'part Mutex<Side>,
    port: &'part mut Port,
    answer: &'part Answer,
    budget: SpinBudget,
    way: Way,
}

impl Server for WithReceiver<'_> {
    #[inline]
    fn trip(&mut self, number: u64, user: u32) -> Result<(), NodesError> {
        let user = user | (number as u32 & (LAST - 1));
        {
            let mut side = lock(self.side);
            side.ball.stamp(number as u8);
            side.throw(self.port, user)?;
        }
        if !self.answer.wait(&mut self.budget, self.way, number) {
            // What the receiving thread has to say will be said by it.
            return expect("answers:", 0, 1);
        }
        lock(self.side)
            .ball
            .check_stamp((number as u8).wrapping_add(1))
    }

    fn check_all(&mut self) -> Result<(), NodesError> {
        lock(self.side).ball.check_and_invert(true)
    }
}

/// Serves by two threads: the calling one throws, another receives.
fn serve_by_two(
    side: Side,
    ports: &mut Ports,
    seat: Seat,
    rally: Rally,
) -> Result<(Outcome, Ball), NodesError> {
    let Ports { compute, receive } = ports;
    let watch = side.watch;
    let side = Mutex::new(side);
    let answer = Answer::default();
    let outcome = thread::scope(|scope| {
        let receiver = spawn_in(scope, "receiver", || {
            let received = sit_down(seat.receive)
                .and_then(|()| receive_for(&side, &answer, watch, receive, seat));
            if received.is_err() {
                answer.fail();
            }
            received
        })?;
        let mut server = WithReceiver {
            side: &side,
            port: compute,
            answer: &answer,
            budget: SpinBudget::default(),
            // Where both have one CPU, who spins keeps away what it waits for.
            way: if seat.receive_shares() {
                Way::Futex
            } else {
                Way::Auto
            },
        };
        let served = serve(rally, &mut server);
        if served.is_err() {
            // Ends the wait of the receiving thread: the other side throws it back, or ends.
            let _gone = lock(&side).throw(server.port, LAST);
        }
        receiver.join().expect("who receives panics nowhere")?;
        served
    })?;
    let side = side.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok((outcome, side.ball))
}

/// Receives the ball, and wakes the thread that has thrown it, until the last trip.
fn receive_for(
    side: &Mutex<Side>,
    answer: &Answer,
    watch: Watch,
    port: &mut Port,
    seat: Seat,
) -> Result<(), NodesError> {
    let mut number = 0;
    loop {
        let mut user = 0;
        watch.next(port, |arrival| {
            user = arrival.message.user;
            lock(side).ball.catch(arrival.data);
        })?;
        number += 1;
        answer.give(number);
        if user & LAST != 0 {
            return Ok(());
        }
        if seat.receive_shares() {
            yield_now();
        }
    }
}

fn lock(side: &Mutex<Side>) -> std::sync::MutexGuard<'_, Side> {
    side.lock().unwrap_or_else(PoisonError::into_inner)
}
