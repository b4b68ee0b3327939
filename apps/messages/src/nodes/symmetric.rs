//! The symmetric kernel: each node computes, sends a request to the next node, waits for the
//! response, and responds to the requests that it receives.
//!
//! It shows how a program is built over nodes, and what it costs that some thread must always be
//! ready to respond. There are three ways to receive:
//!
//! | way | thread that responds |
//! |---|---|
//! | `poll` | a receiving thread, which polls continuously |
//! | `notify` | the computing thread, but only while it waits (notified) for its own response |
//! | `thread` | a receiving thread, which is notified and wakes the thread that computes |
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.5: each node has one or more
//! threads that compute and one for messages. The study compares a message thread that polls
//! (`poll`) with one that is notified (`thread`).

use std::hint::black_box;
use std::thread::{self, yield_now};
use std::time::{Duration, Instant};

use raddle::net::{Arrival, Flags, Message, NodeId, Port, PortId};
use raddle_sync::prim::thread_cpu_time;
use raddle_sync::wait::{SpinBudget, Way};

use super::answer::Answer;
use super::cpus::{ThreadCpus, bind_this_thread};
use super::error::{NodesError, expect};
use super::order::{Kernel, Outcome, Report};
use super::part::{Part, RECEIVE, inline_data};
use super::receive::Receive;
use super::watch::{Watch, send};
use crate::threads::spawn_in;

/// The user field of a request.
const REQUEST: u32 = 1;
/// The user field of a response.
const RESPONSE: u32 = 2;
/// The user field of a message of a node that will send no further request.
const DONE: u32 = 3;
/// The number of pieces of work before the first request. They measure the speed without messages.
const ALONE: u32 = 200;

/// The result of the kernel in the first node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Served {
    /// The time from each request until the computing thread has the response. At least one.
    pub round_trips: Vec<Duration>,
    /// The time of a piece of work while there are no messages.
    pub alone: Duration,
    /// The mean time of a piece of work between requests.
    pub beside: Duration,
    /// The CPU time of the receiving thread; zero if there is none.
    pub receiver_cpu: Duration,
    /// The time of all requests, with the work between them.
    pub elapsed: Duration,
}

impl Served {
    pub(super) fn of(outcome: Outcome) -> Self {
        let [alone, beside, receiver_cpu, ..] = outcome.report.more;
        Self {
            round_trips: outcome.times,
            alone,
            beside,
            receiver_cpu,
            elapsed: outcome.report.time,
        }
    }

    /// Returns the speed of the computing thread between requests, relative to its speed while
    /// there are no messages.
    pub fn speed(&self) -> f64 {
        self.alone.as_secs_f64() / self.beside.as_secs_f64().max(1e-9)
    }

    /// Returns the share of a CPU that the receiving thread uses.
    pub fn receiver_share(&self) -> f64 {
        self.receiver_cpu.as_secs_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Runs this node's part of the kernel.
pub(super) fn run(part: &mut Part<'_>, kernel: Kernel) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let cpus = part.order.cpus;
    let mut client = Client {
        kernel,
        to: NodeId((me + 1) % count),
        sender: Sender {
            count,
            rings: kernel.receive != Receive::Poll,
        },
        timings: Timings::default(),
    };
    let alone = Instant::now();
    for _ in 0..ALONE {
        work(kernel.steps);
    }
    let alone = alone.elapsed() / ALONE;
    let receiver_cpu = if kernel.receive == Receive::Notify {
        client.run_alone(&mut part.ports.receive)?;
        Duration::ZERO
    } else {
        let answer = Answer::default();
        let (compute, receive) = (&mut part.ports.compute, &mut part.ports.receive);
        let sender = client.sender;
        thread::scope(|scope| {
            let receiver = spawn_in(scope, "receiver", || {
                let received = bind_this_thread(cpus.receive)
                    .and_then(|()| receive_for(sender, &answer, receive, cpus));
                if received.is_err() {
                    answer.fail();
                }
                received
            })?;
            let ran = client.run_with_receiver(compute, &answer, cpus);
            // If both threads fail, the receiving thread has the reason.
            let cpu = receiver
                .join()
                .expect("the receiving thread never panics")?;
            ran.map(|()| cpu)
        })?
    };
    Ok(client.timings.outcome(alone, receiver_cpu))
}

/// The thread that computes and sends requests.
struct Client {
    kernel: Kernel,
    /// The node to which the requests go.
    to: NodeId,
    sender: Sender,
    timings: Timings,
}

/// The measured times of a [`Client`].
#[derive(Default)]
struct Timings {
    round_trips: Vec<Duration>,
    /// The total time of the work between requests.
    worked: Duration,
    elapsed: Duration,
}

impl Timings {
    fn outcome(self, alone: Duration, receiver_cpu: Duration) -> Outcome {
        let pieces = self.round_trips.len().max(1) as u32;
        let zero = Duration::ZERO;
        Outcome {
            report: Report {
                time: self.elapsed,
                more: [alone, self.worked / pieces, receiver_cpu, zero, zero],
            },
            times: self.round_trips,
        }
    }
}

impl Client {
    /// Computes and sends requests in turn. `call(number, to)` sends a request and waits for its
    /// response.
    fn run(
        &mut self,
        mut call: impl FnMut(u64, NodeId) -> Result<(), NodesError>,
    ) -> Result<(), NodesError> {
        let start = Instant::now();
        let mut last = start;
        for number in 1..=self.kernel.requests {
            work(self.kernel.steps);
            let worked = Instant::now();
            call(number, self.to)?;
            let now = Instant::now();
            self.timings.worked += worked - last;
            self.timings.round_trips.push(now - worked);
            last = now;
            if now - start >= self.kernel.limit {
                break;
            }
        }
        self.timings.elapsed = last - start;
        Ok(())
    }

    /// Runs while another thread receives and responds.
    fn run_with_receiver(
        &mut self,
        port: &mut Port,
        answer: &Answer,
        cpus: ThreadCpus,
    ) -> Result<(), NodesError> {
        let sender = self.sender;
        let mut budget = SpinBudget::default();
        // On a shared CPU, a spinning thread would delay the thread that it waits for.
        let way = if cpus.receive_shares() {
            Way::Futex
        } else {
            Way::Auto
        };
        self.run(|number, to| {
            sender.send(port, to, REQUEST, number)?;
            if answer.wait(&mut budget, way, number) {
                return Ok(());
            }
            // The receiving thread returns the error that explains this one.
            expect("answers:", 0, 1)
        })?;
        sender.send_done(port)
    }

    /// Runs without a receiving thread: while this thread waits for a response, it also responds to
    /// the requests of other nodes.
    fn run_alone(&mut self, port: &mut Port) -> Result<(), NodesError> {
        let sender = self.sender;
        let mut inbox = Inbox::default();
        self.run(|number, to| {
            sender.send(port, to, REQUEST, number)?;
            while inbox.answered < number {
                Watch::Wait.next(port, |arrival| inbox.take(&arrival))?;
                sender.respond_to_all(port, &mut inbox)?;
            }
            expect("number of the answer:", inbox.answered, number)
        })?;
        // This node has no further request. It responds until no other node has one either.
        sender.send_done(port)?;
        while inbox.done < sender.count {
            Watch::Wait.next(port, |arrival| inbox.take(&arrival))?;
            sender.respond_to_all(port, &mut inbox)?;
        }
        Ok(())
    }
}

/// The messages that have been received.
#[derive(Default)]
struct Inbox {
    /// The requests without a response yet: the node and the number of each.
    requests: Vec<(NodeId, u64)>,
    /// The number of the last request of this node that was answered.
    answered: u64,
    /// The number of nodes that will send no further request.
    done: u16,
}

impl Inbox {
    fn take(&mut self, arrival: &Arrival<'_>) {
        let number = inline_data(arrival)
            .try_into()
            .map_or(0, u64::from_le_bytes);
        match arrival.message.user {
            REQUEST => self.requests.push((arrival.from.node, number)),
            RESPONSE => self.answered = number,
            _ => self.done += 1,
        }
    }
}

/// Sends the messages of the kernel.
#[derive(Clone, Copy)]
struct Sender {
    /// The number of nodes.
    count: u16,
    /// True if messages ring the doorbell of their receiver.
    rings: bool,
}

impl Sender {
    fn send(self, port: &mut Port, node: NodeId, user: u32, number: u64) -> Result<(), NodesError> {
        let flags = Flags {
            doorbell: self.rings,
            ..Flags::default()
        };
        let message = Message {
            flags,
            user,
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

    /// Tells all nodes, including this one, that this node will send no further request.
    fn send_done(self, port: &mut Port) -> Result<(), NodesError> {
        (0..self.count).try_for_each(|node| self.send(port, NodeId(node), DONE, 0))
    }

    fn respond_to_all(self, port: &mut Port, inbox: &mut Inbox) -> Result<(), NodesError> {
        let mut requests = inbox.requests.drain(..);
        requests.try_for_each(|(node, number)| self.send(port, node, RESPONSE, number))
    }
}

/// Responds to requests, and wakes the computing thread for each response, until no node sends
/// requests any more. Returns the CPU time of this thread.
fn receive_for(
    sender: Sender,
    answer: &Answer,
    port: &mut Port,
    cpus: ThreadCpus,
) -> Result<Duration, NodesError> {
    let before = thread_cpu_time();
    let watch = if sender.rings {
        Watch::Wait
    } else {
        Watch::Poll {
            yields: cpus.receive_shares(),
        }
    };
    let mut inbox = Inbox::default();
    let mut last = 0;
    while inbox.done < sender.count {
        watch.next(port, |arrival| inbox.take(&arrival))?;
        sender.respond_to_all(port, &mut inbox)?;
        if inbox.answered != last {
            last = inbox.answered;
            answer.publish(last);
            if cpus.receive_shares() {
                yield_now();
            }
        }
    }
    Ok(thread_cpu_time().saturating_sub(before))
}

/// Computes `steps` steps, each of which depends on the one before.
pub fn work(steps: u64) {
    let mut number = black_box(1_u64);
    for _ in 0..steps {
        number = number
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
    }
    black_box(number);
}
