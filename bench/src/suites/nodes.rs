//! What messages cost from process to process, by memory that they share, against Open MPI.
//!
//! | case | measured | unit | peers |
//! |---|---|---|---|
//! | `pingpong-1B`, `pingpong-3456B`, `pingpong-64K` | a round trip between two processes, polling and notified | ns | `openmpi` |
//! | `kneighbor` | an iteration of kNeighbor, 2 elements, k = 3, over the size: `raddle` is two workers of one process | us | `shm`, `socket`: a process for each element |
//!
//! `openmpi` is two processes of Open MPI, which poll; both they and ours are bound to the first two CPUs. The data go from a buffer of the sender to where the
//! receiver has them whole, and are sent back from there. Both look at all bytes in the first trip and in the last, at both ends in every one. In
//! `kneighbor` nobody looks at more than both ends; between workers a buffer goes from hand to hand, between processes it is copied.
//!
//! # Source
//! Parker: Efficient user-level event notification. 2013, sect. 4.3. Mei, Zheng, Gioachin, Kalé: Optimizing a parallel runtime
//! system for multicore clusters. 2010, sect. 3.

use std::ffi::OsString;
use std::process::ExitCode;

use raddle::Runtime;
use raddle::net::TransportKind;
use raddle_messages::kneighbor::{KNeighbor, Shape};
use raddle_messages::nodes::{Crew, NodeRing, NodesError, Receive, Seats};
use raddle_topology::{Affinity, CpuId, Topology};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::peer::OPENMPI;
use crate::pools::RaddlePools;
use crate::probe;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 4] = ["pingpong-1B", "pingpong-3456B", "pingpong-64K", "kneighbor"];

/// Bytes and round trips of the first three: some milliseconds, so that others who want a CPU miss most runs, and the median does not show them.
const RALLIES: [(usize, u64); 3] = [(1, 10_000), (3_456, 2_000), (65_536, 250)];
/// The sizes of kNeighbor.
const SIZES: [usize; 4] = [16, 1_024, 8_192, 65_536];
/// Bytes that each element sends in a run, and iterations, at most.
const BYTES_SENT: u64 = 300_000_000;
const ITERATIONS: u64 = 20_000;
/// Neighbours on each side.
const K: u32 = 3;

/// Runs the suite, between two processes at whatever numbers of workers were asked for.
///
/// # Errors
/// As [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for (name, (bytes, trips)) in CASES.into_iter().zip(RALLIES) {
        if measurement.wants(name) {
            rally(measurement, name, bytes, trips)?;
        }
    }
    if measurement.wants("kneighbor") {
        for bytes in SIZES {
            kneighbor(measurement, bytes)?;
        }
    }
    Ok(())
}

/// What a process does that another has started as its node.
pub(crate) fn follow() -> ExitCode {
    let named = std::env::args().nth(1);
    let kind = TransportKind::LOCAL
        .into_iter()
        .find(|kind| Some(kind.name()) == named.as_deref());
    let done = Crew::start(kind.unwrap_or_default(), 2, Seats::default(), None);
    // What went wrong the first process says.
    match done {
        Ok(_) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn rally(
    measurement: &mut Measurement<'_>,
    name: &str,
    bytes: usize,
    trips: u64,
) -> Result<(), BenchError> {
    for receive in [Receive::Poll, Receive::Notify] {
        let name = format!("{name}/{receive}");
        let case = Case {
            suite: "nodes",
            name: &name,
            unit: Unit::Nanoseconds,
            repetitions: trips,
            file: None,
            expected: trips,
            tolerance: 0,
        };
        let mut peers: Vec<_> = measurement.peer(OPENMPI).into_iter().collect();
        let mut nodes = OnNodes::new(TransportKind::Memory);
        let mut raddle = Local::new("raddle", |_| {
            let time = nodes.with(|crew| crew.rally_in_all(receive, bytes, trips))?;
            Ok(Sample {
                time,
                result: trips,
            })
        });
        measurement.compare(&case, &mut raddle, &mut peers)?;
    }
    Ok(())
}

fn kneighbor(measurement: &mut Measurement<'_>, bytes: usize) -> Result<(), BenchError> {
    let sent = 2 * u64::from(K) * bytes as u64;
    let ring = NodeRing {
        k: K,
        bytes,
        iterations: ITERATIONS.min(BYTES_SENT / sent),
        touch: false,
    };
    let name = format!("kneighbor/{bytes}");
    let case = Case {
        suite: "nodes",
        name: &name,
        unit: Unit::Microseconds,
        repetitions: ring.iterations,
        file: None,
        expected: ring.messages(2) * ring.iterations,
        tolerance: 0,
    };
    let mut peers: Vec<Box<dyn Contender>> = Vec::new();
    for kind in TransportKind::LOCAL {
        let mut nodes = OnNodes::new(kind);
        peers.push(Box::new(Local::new(kind.name(), move |_| {
            let exchange = nodes.with(|crew| crew.exchange(ring))?;
            Ok(Sample {
                time: exchange.time,
                result: exchange.messages,
            })
        })));
    }
    let mut runtimes = RaddlePools::of(Runtime::builder());
    let mut raddle = Local::new("raddle", |request| {
        let shape = Shape {
            elements: 2,
            k: K as usize,
            bytes,
            touch: false,
        };
        let elements = KNeighbor::new(runtimes.of_workers(request.workers)?, shape);
        let exchange = elements
            .run(ring.iterations)
            .map_err(|error| refused(&error))?;
        Ok(Sample {
            time: exchange.time,
            result: exchange.messages,
        })
    });
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Two nodes that come up when they are first asked.
struct OnNodes {
    kind: TransportKind,
    crew: Option<Crew>,
}

impl OnNodes {
    const fn new(kind: TransportKind) -> Self {
        Self { kind, crew: None }
    }

    fn with<R>(
        &mut self,
        measure: impl FnOnce(&Crew) -> Result<R, NodesError>,
    ) -> Result<R, BenchError> {
        if self.crew.is_none() {
            self.crew = start(self.kind)?;
        }
        let crew = self.crew.as_ref();
        let crew = crew.ok_or_else(|| refused(&"this process is not the first node"))?;
        measure(crew).map_err(|error| refused(&error))
    }
}

fn start(kind: TransportKind) -> Result<Option<Crew>, BenchError> {
    let cpus = probe::two_cpus();
    let affinity = cpus.map_or(Affinity::None, |(first, second)| {
        Affinity::Explicit([first, second].map(|cpu| CpuId(cpu as u32)).to_vec())
    });
    let topology = Topology::this_machine().map_err(|error| refused(&error))?;
    let seats = Seats::of(topology, &affinity, 2).map_err(|error| refused(&error))?;
    let arguments = vec![OsString::from(kind.name())];
    Crew::start(kind, 2, seats, Some(arguments)).map_err(|error| refused(&error))
}

fn refused(what: &dyn std::fmt::Display) -> BenchError {
    BenchError::Contender {
        who: "raddle".to_owned(),
        message: what.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ball_of_a_case_has_the_bytes_in_its_name() {
        let names = ["1B", "3456B", "64K"].map(|size| format!("pingpong-{size}"));
        assert_eq!(names[..], CASES[..3]);
        assert_eq!(RALLIES.map(|(bytes, _)| bytes), [1, 3_456, 64 << 10]);
    }

    #[test]
    fn open_mpi_throws_the_ball_back_or_is_named() {
        let mut peer = match crate::peer::Peer::start(OPENMPI) {
            Ok(peer) => peer,
            Err(missing) => {
                assert!(missing.to_string().contains("openmpi"), "{missing}");
                return;
            }
        };
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
            let sample = peer.measure(&request).expect("it answers");
            assert_eq!(sample.result, 20);
            assert!(!sample.time.is_zero(), "{name}");
        }
    }
}
