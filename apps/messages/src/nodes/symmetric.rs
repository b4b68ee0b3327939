//! The symmetrical kernel: each node computes, asks another one and waits for its answer, and answers those who ask.
//!
//! It shows how a program is built over nodes, and what it costs that somebody has to be there for those who ask. Three ways to receive:
//!
//! | way | who answers |
//! |---|---|
//! | `poll` | a receiving thread, which looks all the time |
//! | `notify` | no thread besides: who waits for its answer is notified, and answers others meanwhile; who computes, does not |
//! | `thread` | a receiving thread, which is notified, and wakes the thread that computes |
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.5: one or more threads that compute and one for messages in each node; what is compared is
//! the polling of that thread (`poll`) and its notification (`thread`).

use std::hint::black_box;
use std::thread::{self, yield_now};
use std::time::{Duration, Instant};

use raddle::net::{Flags, Message, NodeId, Port, PortId};
use raddle_sync::wait::{SpinBudget, Way};

use super::answer::Answer;
use super::crew::{Part, here};
use super::order::{Outcome, Told};
use super::seats::{Seat, sit_down};
use super::watch::{Watch, send};
use super::{NodesError, RECEIVE, Receive, expect};
use crate::threads::spawn_in;
use crate::waits::cpu_time;

/// In a message's user field: somebody asks,
const REQUEST: u32 = 1;
/// somebody answers,
const RESPONSE: u32 = 2;
/// somebody will ask no more.
const DONE: u32 = 3;
/// Pieces of work before the first request, from which is known what they take alone.
const ALONE: u32 = 200;

/// What every node does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Who answers.
    pub receive: Receive,
    /// How often each node asks.
    pub requests: u64,
    /// Steps of computation before each request: about two nanoseconds each.
    pub steps: u64,
    /// No request is made later.
    pub limit: Duration,
}

/// What came of it in the first node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Served {
    /// From each request to its answer in the hands of the thread that computes: one at least.
    pub round_trips: Vec<Duration>,
    /// A piece of work without messages.
    pub alone: Duration,
    /// A piece of work between requests, in the mean.
    pub beside: Duration,
    /// CPU time of the receiving thread, where there is one.
    pub receiver_cpu: Duration,
    /// Of all requests, with the work between.
    pub elapsed: Duration,
}

impl Served {
    pub(super) fn of(outcome: Outcome) -> Self {
        let [alone, beside, receiver_cpu, ..] = outcome.told.more;
        Self {
            round_trips: outcome.times,
            alone,
            beside,
            receiver_cpu,
            elapsed: outcome.told.time,
        }
    }

    /// How fast the thread that computes is beside the receiving one, where it is 1 alone.
    pub fn speed(&self) -> f64 {
        self.alone.as_secs_f64() / self.beside.as_secs_f64().max(1e-9)
    }

    /// What the receiving thread uses of a CPU.
    pub fn receiver_share(&self) -> f64 {
        self.receiver_cpu.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Runs this node's threads.
pub(super) fn run(part: &mut Part<'_>, kernel: Kernel) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let seat = part.order.seat;
    let mut asker = Asker {
        kernel,
        to: NodeId((me + 1) % count),
        count,
        rings: kernel.receive != Receive::Poll,
        tally: Tally::default(),
    };
    let alone = Instant::now();
    for _ in 0..ALONE {
        work(kernel.steps);
    }
    let alone = alone.elapsed() / ALONE;
    let receiver_cpu = if kernel.receive == Receive::Notify {
        asker.ask_alone(&mut part.ports.receive)?;
        Duration::ZERO
    } else {
        let answer = Answer::default();
        let (compute, receive) = (&mut part.ports.compute, &mut part.ports.receive);
        thread::scope(|scope| {
            let receiver = spawn_in(scope, "receiver", || {
                let received = sit_down(seat.receive)
                    .and_then(|()| receive_for(&asker.server(), &answer, receive, seat));
                if received.is_err() {
                    answer.fail();
                }
                received
            })?;
            let mut asker = asker.clone();
            let asked = asker.ask_beside(compute, &answer, seat);
            let cpu = receiver.join().expect("who receives panics nowhere")?;
            asked.map(|()| (asker.tally, cpu))
        })
        .map(|(tally, cpu)| {
            asker.tally = tally;
            cpu
        })?
    };
    Ok(asker.tally.outcome(alone, receiver_cpu))
}

/// The thread that computes.
#[derive(Clone)]
struct Asker {
    kernel: Kernel,
    to: NodeId,
    count: u16,
    rings: bool,
    tally: Tally,
}

/// What it has found.
#[derive(Clone, Default)]
struct Tally {
    round_trips: Vec<Duration>,
    worked: Duration,
    elapsed: Duration,
}

impl Tally {
    fn outcome(self, alone: Duration, receiver_cpu: Duration) -> Outcome {
        let pieces = self.round_trips.len().max(1) as u32;
        let zero = Duration::ZERO;
        Outcome {
            told: Told {
                time: self.elapsed,
                more: [alone, self.worked / pieces, receiver_cpu, zero, zero],
            },
            times: self.round_trips,
        }
    }
}

impl Asker {
    fn server(&self) -> Server {
        Server {
            count: self.count,
            rings: self.rings,
        }
    }

    /// Computes and asks; `answered` sends a request and waits for its answer.
    fn ask(
        &mut self,
        mut answered: impl FnMut(&Server, u64, NodeId) -> Result<(), NodesError>,
    ) -> Result<(), NodesError> {
        let server = self.server();
        let start = Instant::now();
        let mut last = start;
        for number in 1..=self.kernel.requests {
            work(self.kernel.steps);
            let worked = Instant::now();
            answered(&server, number, self.to)?;
            let now = Instant::now();
            self.tally.worked += worked - last;
            self.tally.round_trips.push(now - worked);
            last = now;
            if now - start >= self.kernel.limit {
                break;
            }
        }
        self.tally.elapsed = last - start;
        Ok(())
    }

    /// With a thread that receives.
    fn ask_beside(
        &mut self,
        port: &mut Port,
        answer: &Answer,
        seat: Seat,
    ) -> Result<(), NodesError> {
        let mut budget = SpinBudget::default();
        // Where both have one CPU, who spins keeps away what it waits for.
        let way = if seat.receive_shares() {
            Way::Futex
        } else {
            Way::Auto
        };
        self.ask(|server, number, to| {
            server.tell(port, to, REQUEST, number)?;
            if answer.wait(&mut budget, way, number) {
                return Ok(());
            }
            // What the receiving thread has to say will be said by it.
            expect("answers:", 0, 1)
        })?;
        self.server().tell_done(port)
    }

    /// Without: who waits for its answer answers others meanwhile.
    fn ask_alone(&mut self, port: &mut Port) -> Result<(), NodesError> {
        let mut heard = Heard::default();
        self.ask(|server, number, to| {
            server.tell(port, to, REQUEST, number)?;
            while heard.answered < number {
                Watch::Wait.next(port, |arrival| heard.take(&arrival))?;
                server.answer_all(port, &mut heard)?;
            }
            expect("the answer:", heard.answered, number)
        })?;
        let server = self.server();
        server.tell_done(port)?;
        while heard.done < self.count {
            Watch::Wait.next(port, |arrival| heard.take(&arrival))?;
            server.answer_all(port, &mut heard)?;
        }
        Ok(())
    }
}

/// What has come.
#[derive(Default)]
struct Heard {
    asked: Vec<(NodeId, u64)>,
    answered: u64,
    done: u16,
}

impl Heard {
    fn take(&mut self, arrival: &raddle::net::Arrival<'_>) {
        let number = here(arrival).try_into().map_or(0, u64::from_le_bytes);
        match arrival.message.user {
            REQUEST => self.asked.push((arrival.from.node, number)),
            RESPONSE => self.answered = number,
            _ => self.done += 1,
        }
    }
}

/// Who sends and answers.
struct Server {
    count: u16,
    rings: bool,
}

impl Server {
    fn tell(
        &self,
        port: &mut Port,
        node: NodeId,
        what: u32,
        number: u64,
    ) -> Result<(), NodesError> {
        let flags = Flags {
            doorbell: self.rings,
            ..Flags::default()
        };
        let message = Message {
            flags,
            user: what,
            metadata: &[],
        };
        let index = RECEIVE;
        Ok(send(
            port,
            PortId { node, index },
            message,
            &number.to_le_bytes(),
        )?)
    }

    /// Tells all nodes, this one too, that it will ask no more.
    fn tell_done(&self, port: &mut Port) -> Result<(), NodesError> {
        (0..self.count).try_for_each(|node| self.tell(port, NodeId(node), DONE, 0))
    }

    fn answer_all(&self, port: &mut Port, heard: &mut Heard) -> Result<(), NodesError> {
        let mut asked = heard.asked.drain(..);
        asked.try_for_each(|(node, number)| self.tell(port, node, RESPONSE, number))
    }
}

/// Answers, and wakes the thread that computes, until nobody asks any more; returns the CPU time that it took.
fn receive_for(
    server: &Server,
    answer: &Answer,
    port: &mut Port,
    seat: Seat,
) -> Result<Duration, NodesError> {
    let before = cpu_time();
    let watch = if server.rings {
        Watch::Wait
    } else {
        Watch::Poll {
            yields: seat.receive_shares(),
        }
    };
    let mut heard = Heard::default();
    let mut last = 0;
    while heard.done < server.count {
        watch.next(port, |arrival| heard.take(&arrival))?;
        server.answer_all(port, &mut heard)?;
        if heard.answered != last {
            last = heard.answered;
            answer.give(last);
            if seat.receive_shares() {
                yield_now();
            }
        }
    }
    Ok(cpu_time().saturating_sub(before))
}

/// A piece of work: so many steps, each of which needs the one before.
pub fn work(steps: u64) {
    let mut number = black_box(1_u64);
    for _ in 0..steps {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(number);
}
