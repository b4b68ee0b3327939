//! What each step of a message costs: the study's table of latencies and overheads, for the machine at hand.
//!
//! An *overhead* is the time that a call keeps its thread from other work; a *latency* is how long the news is under way. Times are read from the
//! processor's time-stamp counter, around many calls where these can be repeated; where they cannot, what two readings take is subtracted. Each
//! figure is a median, for others may want the CPUs.
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

use super::crew::{Crew, Part};
use super::order::{Outcome, Told};
use super::watch::{Watch, send};
use super::{NodesError, RECEIVE, Receive};
use crate::waits::{Kind, Places, Waits, WaitsError};

/// Messages that are sent in a row: less than a lane has room for.
const BATCH: u64 = 32;
/// Rallies in a row, of which the median counts.
const RALLIES: u64 = 21;
/// Calls in a row where nothing comes of them.
const CALLS: u32 = 1_000;
/// After so long a message that was sent at once is there.
const SURELY: Duration = Duration::from_micros(20);
/// How long the other side sleeps before a wake-up from the kernel.
const LATE: Duration = Duration::from_micros(500);

/// What steps cost between two nodes of this machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Overheads {
    /// A call of `send` with a message of 8 bytes that does not ring, to a node that sleeps.
    pub send: Duration,
    /// A call of `poll` while a message waits, which was sent by another CPU.
    pub poll_waiting: Duration,
    /// A call of `poll` while none does: the period of polling.
    pub poll_none: Duration,
    /// A `wait` and a `poll` while a message waits.
    pub notify_waiting: Duration,
    /// A round trip of 1 byte, polling.
    pub poll_trip: Duration,
    /// The same, notified.
    pub notify_trip: Duration,
    /// Half a round trip of a number between two threads that do nothing but look at it: the wire of this machine.
    pub wire: Duration,
    /// A ring of a wait cell whose owner is awake.
    pub wake: Duration,
    /// From the ring until the other thread runs, where it is in its wait and looks: half a round trip between two such threads, without the ring.
    pub wake_latency: Duration,
    /// The same where it sleeps in the kernel: the median.
    pub wake_asleep: Duration,
}

impl Overheads {
    /// One way of a message to a polling receiver, less the wire: what is left of half a round trip.
    ///
    /// The study has the send's part and the receiver's apart. Here a send works on while what it has stored is under way, so that their sum alone can be told.
    pub fn poll_latency(&self) -> Duration {
        (self.poll_trip / 2).saturating_sub(self.wire)
    }

    /// The same to a receiver that is notified.
    pub fn notify_latency(&self) -> Duration {
        (self.notify_trip / 2).saturating_sub(self.wire)
    }

    /// Puts together what the nodes have found, and measures what is left.
    pub(super) fn complete(
        crew: &Crew,
        samples: u64,
        first: Told,
        last: Told,
    ) -> Result<Self, NodesError> {
        let trips = (samples / RALLIES).max(1);
        let trip = |receive| -> Result<Duration, NodesError> {
            let times = (0..RALLIES).map(|_| crew.rally_in_all(receive, 1, trips));
            let times = times.collect::<Result<_, _>>()?;
            Ok(median(times).div_f64(trips as f64))
        };
        let [poll_waiting, notify_waiting, poll_none, ..] = last.more;
        let threads = Threads::measure(crew, trips)?;
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

/// What is measured between two threads of one process.
struct Threads {
    wire: Duration,
    wake: Duration,
    trip: Duration,
    asleep: Duration,
}

impl Threads {
    fn measure(crew: &Crew, trips: u64) -> Result<Self, NodesError> {
        let topology = Topology::this_machine()?;
        let cpus: Vec<_> = crew.seats().cpus().collect();
        let places = Places {
            waiter: cpus.first().copied().flatten(),
            answerer: cpus.last().copied().flatten(),
            bystander: None,
        };
        let measured = (|| {
            let half = |kind| -> Result<Duration, WaitsError> {
                let waits = Waits::new(topology, &places, kind)?;
                let times = (0..RALLIES).map(|_| waits.run(trips));
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

/// Wait cells are on every machine: what is left is binding.
fn of_waits(error: WaitsError) -> NodesError {
    match error {
        WaitsError::Bind(error) => error.into(),
        other => NodesError::Waits(other),
    }
}

/// Measures what one node can tell alone: the first what sending costs, the last what receiving costs.
pub(super) fn run(part: &mut Part<'_>, samples: u64) -> Result<Outcome, NodesError> {
    let (me, count) = part.place();
    let last = count - 1;
    let batches = samples.div_ceil(BATCH).max(1);
    let peer = PortId {
        node: NodeId(if me == 0 { last } else { 0 }),
        index: RECEIVE,
    };
    let port = &mut part.ports.receive;
    let told = if me == 0 {
        let mut credit = Credit::default();
        let send = send_in_rows(port, &mut credit, peer, batches)?;
        for sample in 0..2 * samples {
            credit.wait_for(port, 1)?;
            // The second half is waited for: it rings.
            tell(port, peer, sample >= samples)?;
        }
        Told {
            time: send,
            ..Told::default()
        }
    } else if me == last {
        for _ in 0..batches {
            // Asleep, so that nothing but the sender touches the lane.
            port.wait_by(Way::Futex);
            Credit::default().wait_for(port, BATCH + 1)?;
            tell(port, peer, true)?;
        }
        let poll = receive_waiting(port, peer, samples, false)?;
        let notify = receive_waiting(port, peer, samples, true)?;
        let zero = Duration::ZERO;
        Told {
            more: [poll, notify, look(port)?, zero, zero],
            ..Told::default()
        }
    } else {
        Told::default()
    };
    Ok(Outcome {
        times: Vec::new(),
        told,
    })
}

fn tell(port: &mut Port, to: PortId, doorbell: bool) -> Result<(), NodesError> {
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

/// Messages that have come and were not waited for yet.
#[derive(Default)]
struct Credit(u64);

impl Credit {
    /// Waits for so many messages.
    fn wait_for(&mut self, port: &mut Port, count: u64) -> Result<(), NodesError> {
        while self.0 < count {
            Watch::Poll { yields: true }.next(port, |_| self.0 += 1)?;
        }
        self.0 -= count;
        Ok(())
    }
}

/// The time of a send to a node that sleeps: the median over rows of them.
fn send_in_rows(
    port: &mut Port,
    credit: &mut Credit,
    to: PortId,
    batches: u64,
) -> Result<Duration, NodesError> {
    let mut times = Vec::new();
    for _ in 0..batches {
        // The other side falls asleep meanwhile.
        sleep(SURELY);
        let start = Instant::now();
        for _ in 0..BATCH {
            tell(port, to, false)?;
        }
        times.push(start.elapsed());
        tell(port, to, true)?;
        credit.wait_for(port, 1)?;
    }
    Ok(median(times).div_f64(BATCH as f64))
}

/// The median time to receive a message that is there, with a wait or without.
fn receive_waiting(
    port: &mut Port,
    from: PortId,
    samples: u64,
    waits: bool,
) -> Result<Duration, NodesError> {
    let (mut times, mut clock) = (Vec::new(), Vec::new());
    for _ in 0..samples {
        tell(port, from, true)?;
        let asked = Instant::now();
        while asked.elapsed() < SURELY {
            spin_loop();
        }
        let nothing = Instant::now();
        let start = Instant::now();
        if waits {
            port.wait();
        }
        let mut came = port.poll(|_| {})?;
        let end = Instant::now();
        times.push(end - start);
        clock.push(start - nothing);
        while came == 0 {
            // It was under way for longer than it should have been: no sample.
            times.pop();
            yield_now();
            came = port.poll(|_| {})?;
        }
    }
    Ok(median(times).saturating_sub(median(clock)))
}

/// The one in the middle; nothing where there is none.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}

/// The time of a poll that finds nothing.
fn look(port: &mut Port) -> Result<Duration, NodesError> {
    let start = Instant::now();
    for _ in 0..CALLS {
        let _nothing = port.poll(|_| {})?;
    }
    Ok(start.elapsed() / CALLS)
}
