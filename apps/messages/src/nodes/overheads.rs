//! The cost of each step of a message: the study's table of latencies and overheads, for the
//! current machine.
//!
//! An *overhead* is the time for which a call keeps its thread from other work. A *latency* is the
//! time until an event is noticed. Times are read from the time-stamp counter of the processor. A
//! call that can be repeated is timed many times in a row. For other calls, the time between two
//! readings of the counter is subtracted. Each figure is a median, because other processes may use
//! the same CPUs.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.2, tables 1 to 3.

use std::hint::{black_box, spin_loop};
use std::thread::{sleep, yield_now};
use std::time::Duration;

use quanta::Instant;
use raddle::net::{Flags, Message, NodeId, Port, PortId};
use raddle_sync::wait::{WaitCell, Way};
use raddle_topology::Topology;

use super::error::NodesError;
use super::group::NodeGroup;
use super::order::{Outcome, Report};
use super::part::{Part, RECEIVE};
use super::receive::Receive;
use super::watch::{Watch, send};
use crate::waits::{Kind, Places, Waits, WaitsError};

/// The number of messages that are sent in a row; less than the capacity of a lane.
const BATCH: u64 = 32;
/// The number of series of round trips of which the median is taken.
const SERIES: u64 = 21;
/// The number of calls in a row for calls without an effect.
const CALLS: u32 = 1_000;
/// The time after which a message that the other side sends at once has arrived.
const ARRIVAL_TIME: Duration = Duration::from_micros(20);
/// The time for which the answering thread sleeps, so that the waiting thread sleeps in the kernel.
const LATE: Duration = Duration::from_micros(500);

/// The costs of the steps of a message between two nodes of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// The time of a `send` of a message of 8 bytes that rings no doorbell, to a node that sleeps.
    pub send: Duration,
    /// The time of a `poll` that finds a message from another CPU.
    pub poll_waiting: Duration,
    /// The time of a `poll` that finds no message: the period of polling.
    pub poll_none: Duration,
    /// The time of a `wait` and a `poll` that finds a message.
    pub notify_waiting: Duration,
    /// The time of a round trip of 1 byte between nodes that poll.
    pub poll_trip: Duration,
    /// The time of a round trip of 1 byte between nodes that are notified.
    pub notify_trip: Duration,
    /// The time of half a round trip of a number between two threads that only spin on it: the wire
    /// latency of this machine.
    pub wire: Duration,
    /// The time to ring a wait cell while its owner is awake.
    pub wake: Duration,
    /// The time from a ring until the other thread runs, if that thread still spins in its wait:
    /// half a round trip between two such threads, less the ring.
    pub wake_latency: Duration,
    /// The median time from a ring until the other thread runs, if that thread sleeps in the
    /// kernel.
    pub wake_asleep: Duration,
}

impl Overheads {
    /// Returns the one-way latency to a receiver that polls: half a round trip, less the wire
    /// latency.
    ///
    /// The study measures the sender's and the receiver's parts separately. Here the sender
    /// continues to work while the data that it has stored is already on its way, so only the sum
    /// of both can be measured.
    pub fn poll_latency(&self) -> Duration {
        (self.poll_trip / 2).saturating_sub(self.wire)
    }

    /// Returns the one-way latency to a receiver that is notified: half a round trip, less the wire
    /// latency.
    pub fn notify_latency(&self) -> Duration {
        (self.notify_trip / 2).saturating_sub(self.wire)
    }

    /// Combines the reports of the first and the last node, and measures the remaining figures.
    pub(super) fn complete(
        group: &NodeGroup,
        samples: u64,
        first: Report,
        last: Report,
    ) -> Result<Self, NodesError> {
        let trips = (samples / SERIES).max(1);
        let trip = |receive| -> Result<Duration, NodesError> {
            let times = (0..SERIES).map(|_| group.total_time(receive, 1, trips));
            let times = times.collect::<Result<_, _>>()?;
            Ok(median(times).div_f64(trips as f64))
        };
        let [poll_waiting, notify_waiting, poll_none, ..] = last.more;
        let threads = Threads::measure(group, trips)?;
        Ok(Self {
            send: first.time,
            poll_waiting,
            poll_none,
            notify_waiting,
            poll_trip: trip(Receive::Poll)?,
            notify_trip: trip(Receive::Notify)?,
            wire: threads.wire,
            wake: threads.wake,
            wake_latency: threads.trip.saturating_sub(threads.wake),
            wake_asleep: threads.asleep,
        })
    }
}

/// The figures that are measured between two threads of one process.
struct Threads {
    wire: Duration,
    wake: Duration,
    /// The time of half a round trip between two threads that wait in wait cells.
    trip: Duration,
    asleep: Duration,
}

impl Threads {
    fn measure(group: &NodeGroup, trips: u64) -> Result<Self, NodesError> {
        let topology = Topology::this_machine()?;
        let cpus: Vec<_> = group.cpus().compute_cpus().collect();
        let places = Places {
            waiter: cpus.first().copied().flatten(),
            answerer: cpus.last().copied().flatten(),
            bystander: None,
        };
        let measured = (|| {
            let half = |kind| -> Result<Duration, WaitsError> {
                let waits = Waits::new(topology, &places, kind)?;
                let times = (0..SERIES).map(|_| waits.run(trips));
                let times = times.collect::<Result<_, _>>()?;
                Ok(median(times).div_f64(2.0 * trips as f64))
            };
            let late = Waits::new(topology, &places, Kind::Futex)?;
            let late = late.late(200, Duration::from_secs(1), LATE)?;
            Ok::<_, WaitsError>((half(Kind::Spin)?, half(Kind::Auto)?, late.latencies))
        })();
        let (wire, trip, late) = measured.map_err(of_waits)?;
        let cell = WaitCell::new();
        let start = Instant::now();
        for _ in 0..CALLS {
            let _awake = black_box(&cell).ring();
        }
        Ok(Self {
            wire,
            wake: start.elapsed() / CALLS,
            trip,
            asleep: median(late),
        })
    }
}

/// Converts the error. Every machine has wait cells, so the usual cause is that a thread cannot be
/// bound.
fn of_waits(error: WaitsError) -> NodesError {
    match error {
        WaitsError::Bind(error) => error.into(),
        other => NodesError::Waits(other),
    }
}

/// Measures the figures that need no second clock: the first node the cost of sending, the last
/// node the cost of receiving.
pub(super) fn run(part: &mut Part<'_>, samples: u64) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let last = count - 1;
    let batches = samples.div_ceil(BATCH).max(1);
    let peer = PortId {
        node: NodeId(if me == 0 { last } else { 0 }),
        index: RECEIVE,
    };
    let port = &mut part.ports.receive;
    let report = if me == 0 {
        let mut credit = Credit::default();
        let send = send_in_rows(port, &mut credit, peer, batches)?;
        for sample in 0..2 * samples {
            credit.wait_for(port, 1)?;
            // The receiver waits in its cell for the second half of these messages, so they ring.
            send_one(port, peer, sample >= samples)?;
        }
        Report {
            time: send,
            ..Report::default()
        }
    } else if me == last {
        for _ in 0..batches {
            // This thread sleeps, so that only the sender accesses the lane.
            port.wait_by(Way::Futex);
            Credit::default().wait_for(port, BATCH + 1)?;
            send_one(port, peer, true)?;
        }
        let poll = receive_waiting(port, peer, samples, false)?;
        let notify = receive_waiting(port, peer, samples, true)?;
        let zero = Duration::ZERO;
        Report {
            more: [poll, notify, poll_empty(port)?, zero, zero],
            ..Report::default()
        }
    } else {
        Report::default()
    };
    Ok(Outcome {
        times: Vec::new(),
        report,
    })
}

/// Sends a message of 8 bytes.
fn send_one(port: &mut Port, to: PortId, doorbell: bool) -> Result<(), NodesError> {
    let flags = Flags {
        doorbell,
        ..Flags::default()
    };
    let message = Message {
        flags,
        ..Message::default()
    };
    Ok(send(port, to, message, &[7; 8])?)
}

/// The number of messages that have arrived before the caller waited for them.
#[derive(Default)]
struct Credit(u64);

impl Credit {
    /// Waits for `count` messages.
    fn wait_for(&mut self, port: &mut Port, count: u64) -> Result<(), NodesError> {
        while self.0 < count {
            Watch::Poll { yields: true }.next(port, |_| self.0 += 1)?;
        }
        self.0 -= count;
        Ok(())
    }
}

/// Returns the time of a send to a node that sleeps: the median over `batches` rows of sends.
fn send_in_rows(
    port: &mut Port,
    credit: &mut Credit,
    to: PortId,
    batches: u64,
) -> Result<Duration, NodesError> {
    let mut times = Vec::new();
    for _ in 0..batches {
        // The other side falls asleep in the meantime.
        sleep(ARRIVAL_TIME);
        let start = Instant::now();
        for _ in 0..BATCH {
            send_one(port, to, false)?;
        }
        times.push(start.elapsed());
        send_one(port, to, true)?;
        credit.wait_for(port, 1)?;
    }
    Ok(median(times).div_f64(BATCH as f64))
}

/// Returns the median time to receive a message that has already arrived. If `waits` is true, the
/// receiver calls `wait` before `poll`.
fn receive_waiting(
    port: &mut Port,
    from: PortId,
    samples: u64,
    waits: bool,
) -> Result<Duration, NodesError> {
    let (mut times, mut clock) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        // Ask the other side for a message, and give it time to arrive.
        send_one(port, from, true)?;
        let asked = Instant::now();
        while asked.elapsed() < ARRIVAL_TIME {
            spin_loop();
        }
        let before_clock = Instant::now();
        let start = Instant::now();
        if waits {
            port.wait();
        }
        let mut count = port.poll(|_| {})?;
        let end = Instant::now();
        times.push(end - start);
        clock.push(start - before_clock);
        while count == 0 {
            // The message took longer than expected, so this sample does not count.
            times.pop();
            yield_now();
            count = port.poll(|_| {})?;
        }
    }
    Ok(median(times).saturating_sub(median(clock)))
}

/// Returns the median; zero if there are no times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// Returns the time of a poll that finds no message.
fn poll_empty(port: &mut Port) -> Result<Duration, NodesError> {
    let start = Instant::now();
    for _ in 0..CALLS {
        let _no_messages = port.poll(|_| {})?;
    }
    Ok(start.elapsed() / CALLS)
}
