//! The cost of messages between processes, through memory that they share, compared with Open MPI.
//!
//! - `pingpong-1B`, `pingpong-3456B`, `pingpong-64K`: a round trip between two processes, polling
//!   and notified, in ns. Peer `openmpi`.
//! - `kneighbor`: an iteration of kNeighbor with 2 elements and k = 3, in µs, over the size.
//!   `raddle` is two workers of one process. Peers `shm` and `socket`: the same program with a
//!   process of one worker for each element.
//! - `mpi`: `openmpi-messages`, a round trip as raddle-net sends it between machines by MPI, in ns.
//!   Peer `openmpi-window`: into memory of the other process.
//!
//! `openmpi` is two processes of Open MPI, which poll. They and Raddle's are bound to the first two
//! CPUs. The data go from a buffer of the sender to a place where the receiver has them completely,
//! and are sent back from there. Both sides look at all bytes in the first and in the last trip,
//! and at the first and last bytes in every trip. In `kneighbor` the bytes are not looked at.
//! Between workers a buffer is handed over; between processes it is copied.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.3. Mei, Zheng, Gioachin, Kalé:
//! Optimizing a parallel runtime system for multicore clusters. 2010, sect. 3.

use std::ffi::OsString;
use std::process::ExitCode;

use raddle::Runtime;
use raddle::chare::nodes::Job;
use raddle::net::TransportKind;
use raddle_messages::kneighbor::{KNeighbor, Shape, claims, together};
use raddle_messages::nodes::{NodeCpus, NodeGroup, NodesError, Receive};
use raddle_topology::{Affinity, CpuId, Topology};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::peer::{OPENMPI, OPENMPI_MESSAGES, OPENMPI_WINDOW};
use crate::probe;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 5] = [
    "pingpong-1B",
    "pingpong-3456B",
    "pingpong-64K",
    "kneighbor",
    "mpi",
];

/// The bytes and the round trips of the first three cases. A run takes only some milliseconds, so
/// most runs are not disturbed by other processes, and the median hides the disturbed ones.
const ROUND_TRIPS: [(usize, u64); 3] = [(1, 10_000), (3_456, 2_000), (65_536, 250)];
/// The message sizes of kNeighbor.
const SIZES: [usize; 4] = [16, 1_024, 8_192, 65_536];
/// The maximum number of bytes that each element sends in a run.
const BYTES_SENT: u64 = 300_000_000;
/// The maximum number of iterations in a run.
const ITERATIONS: u64 = 20_000;
/// The transports of kNeighbor: those for which a program can start the nodes itself.
const KINDS: [TransportKind; 2] = [TransportKind::Memory, TransportKind::Sockets];
/// The number of neighbours on each side.
const K: usize = 3;
/// The argument that makes a process a node of kNeighbor.
const RING: &str = "kneighbor";

/// Runs the suite, always between two processes.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for (name, (bytes, trips)) in CASES.into_iter().zip(ROUND_TRIPS) {
        if measurement.wants(name) {
            pingpong(measurement, name, bytes, trips)?;
        }
    }
    if measurement.wants("kneighbor") {
        kneighbor(measurement)?;
    }
    if measurement.wants("mpi") {
        compare_mpi(measurement)?;
    }
    Ok(())
}

/// Runs a process that this suite has started as a node, with these arguments, to its end.
pub(crate) fn follow(words: &[String]) -> ExitCode {
    let is_named = |kind: &TransportKind| words.first().is_some_and(|word| word == kind.name());
    let kind = KINDS.into_iter().find(is_named);
    let kind = kind.unwrap_or_default();
    // The first process reports any failure.
    let has_followed = if words.iter().any(|word| word == RING) {
        together([job(kind)], ring(SIZES[0]), |_| ()).is_ok()
    } else {
        NodeGroup::start(kind, 2, NodeCpus::default(), None).is_ok()
    };
    if has_followed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn pingpong(
    measurement: &mut Measurement<'_>,
    name: &str,
    bytes: usize,
    trips: u64,
) -> Result<(), BenchError> {
    for receive in [Receive::Poll, Receive::Notify] {
        let name = format!("{name}/{receive}");
        let case = round_trips(&name, trips);
        let mut peers: Vec<_> = measurement.peer(OPENMPI).into_iter().collect();
        let mut nodes = OnNodes::new(TransportKind::Memory);
        let mut raddle = Local::new("raddle", |_| {
            let time = nodes.with(|group| group.total_time(receive, bytes, trips))?;
            Ok(Sample {
                time,
                result: trips,
            })
        });
        measurement.compare(&case, &mut raddle, &mut peers)?;
    }
    Ok(())
}

/// Returns a case of `trips` round trips of a message.
const fn round_trips(name: &str, trips: u64) -> Case<'_> {
    Case {
        suite: "nodes",
        name,
        unit: Unit::Nanoseconds,
        repetitions: trips,
        file: None,
        expected: trips,
        tolerance: 0,
    }
}

/// Compares the two ways of MPI to move bytes to another process.
fn compare_mpi(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let ways = [OPENMPI_MESSAGES, OPENMPI_WINDOW].map(|way| measurement.peer(way));
    let [Some(mut messages), Some(window)] = ways else {
        return Ok(());
    };
    let mut windows = [window];
    for (name, (_, trips)) in CASES.into_iter().zip(ROUND_TRIPS) {
        let name = name.replace("pingpong", "mpi");
        let case = round_trips(&name, trips);
        measurement.compare(&case, &mut *messages, &mut windows)?;
    }
    Ok(())
}

/// Compares all sizes between threads and by each transport. All nodes run from first to last.
fn kneighbor(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let builder = Runtime::builder().workers(2).claims(claims("threads"));
    let threads = Job::new(1).runtime(builder);
    let jobs = KINDS.map(job);
    let jobs = [threads].into_iter().chain(jobs);
    let measured = together(jobs, ring(SIZES[0]), |rings| {
        SIZES
            .into_iter()
            .try_for_each(|bytes| kneighbor_of_size(measurement, rings, bytes))
    });
    let measured = measured.map_err(|error| failure(&error))?;
    measured.ok_or_else(|| failure(&"this process is not the first node"))?
}

fn kneighbor_of_size(
    measurement: &mut Measurement<'_>,
    rings: &[KNeighbor<'_>],
    bytes: usize,
) -> Result<(), BenchError> {
    let sent = (2 * K * bytes) as u64;
    let iterations = ITERATIONS.min(BYTES_SENT / sent);
    let name = format!("{RING}/{bytes}");
    let case = Case {
        suite: "nodes",
        name: &name,
        unit: Unit::Microseconds,
        repetitions: iterations,
        file: None,
        expected: ring(bytes).messages() * iterations,
        tolerance: 0,
    };
    let names = KINDS.map(TransportKind::name);
    let mut all = ["raddle"]
        .into_iter()
        .chain(names)
        .zip(rings)
        .map(|(name, ring)| {
            Box::new(Local::new(name, move |_| {
                let exchange = ring.run_with(bytes, iterations);
                let exchange = exchange.map_err(|error| failure(&error))?;
                Ok(Sample {
                    time: exchange.time,
                    result: exchange.messages,
                })
            })) as Box<dyn Contender + '_>
        });
    let mut raddle = all.next().expect("threads come first");
    let mut peers: Vec<_> = all.collect();
    measurement.compare(&case, &mut *raddle, &mut peers)
}

/// Returns the ring, which is the same for threads and for processes.
const fn ring(bytes: usize) -> Shape {
    Shape {
        elements: 2,
        k: K,
        bytes,
        touch: false,
    }
}

/// Describes two nodes of one worker each.
fn job(kind: TransportKind) -> Job {
    let builder = Runtime::builder().workers(1).claims(claims(kind.name()));
    Job::new(2)
        .transport(kind)
        .runtime(builder)
        .arguments([kind.name(), RING])
        .quiet(true)
}

/// Two nodes that start when they are first used.
struct OnNodes {
    kind: TransportKind,
    group: Option<NodeGroup>,
}

impl OnNodes {
    const fn new(kind: TransportKind) -> Self {
        Self { kind, group: None }
    }

    fn with<R>(
        &mut self,
        measure: impl FnOnce(&NodeGroup) -> Result<R, NodesError>,
    ) -> Result<R, BenchError> {
        if self.group.is_none() {
            self.group = start(self.kind)?;
        }
        let group = self.group.as_ref();
        let group = group.ok_or_else(|| failure(&"this process is not the first node"))?;
        measure(group).map_err(|error| failure(&error))
    }
}

fn start(kind: TransportKind) -> Result<Option<NodeGroup>, BenchError> {
    let cpus = probe::two_cpus();
    let affinity = cpus.map_or(Affinity::None, |(first, second)| {
        Affinity::Explicit([first, second].map(|cpu| CpuId(cpu as u32)).to_vec())
    });
    let topology = Topology::this_machine().map_err(|error| failure(&error))?;
    let cpus = NodeCpus::of(topology, &affinity, 2).map_err(|error| failure(&error))?;
    let arguments = vec![OsString::from(kind.name())];
    NodeGroup::start(kind, 2, cpus, Some(arguments)).map_err(|error| failure(&error))
}

fn failure(error: &dyn std::fmt::Display) -> BenchError {
    BenchError::contender("raddle", error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_messages_of_a_case_have_the_size_in_its_name() {
        let names = ["1B", "3456B", "64K"].map(|size| format!("pingpong-{size}"));
        assert_eq!(names[..], CASES[..3]);
        assert_eq!(ROUND_TRIPS.map(|(bytes, _)| bytes), [1, 3_456, 64 << 10]);
    }

    #[test]
    fn open_mpi_answers_or_is_reported_as_missing() {
        for way in [OPENMPI, OPENMPI_MESSAGES, OPENMPI_WINDOW] {
            let mut peer = match crate::peer::Peer::start(way) {
                Ok(peer) => peer,
                Err(missing) => {
                    assert!(missing.to_string().contains("openmpi"), "{missing}");
                    return;
                }
            };
            check_round_trips(&mut peer);
        }
    }

    fn check_round_trips(peer: &mut crate::peer::Peer) {
        for name in [
            "pingpong-1B/poll",
            "pingpong-3456B/notify",
            "pingpong-64K/poll",
        ] {
            let request = crate::harness::Request {
                case: name,
                workers: 2,
                repetitions: 20,
                file: None,
            };
            let sample = peer.measure(&request).expect("the peer answers");
            assert_eq!(sample.result, 20);
            assert!(!sample.time.is_zero(), "{name}");
        }
    }
}
