//! The orders that the first node sends to the others, and the reports that they send back. Both
//! are messages that consist of 64-bit numbers.

use std::time::Duration;

use raddle_topology::CpuId;

use super::cpus::ThreadCpus;
use super::receive::Receive;

/// The number of 64-bit numbers in an order or a report.
const WORDS: usize = 12;
/// Stands for "no CPU".
const NO_CPU: u64 = u64::MAX;

/// A part of a program, and the CPUs on which to run it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) cpus: ThreadCpus,
    pub(super) task: Task,
}

/// The program to run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// Makes round trips between the first node and the last.
    RoundTrips(RoundTrips),
    /// The symmetric kernel.
    Kernel(Kernel),
    /// Measures the steps of a message from the first node to the last, `samples` times each.
    Overheads { samples: u64 },
    /// Ends the node.
    End,
}

/// The parameters of a series of round trips.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RoundTrips {
    pub(super) receive: Receive,
    /// The length of the payload.
    pub(super) bytes: usize,
    /// The number of round trips that are timed.
    pub(super) trips: u64,
    /// The time after which no further trip begins. Without `each`, it limits only the warm-up.
    pub(super) limit: Duration,
    /// True if each trip is timed separately, false if only the total time is measured.
    pub(super) each: bool,
}

/// The parameters of the symmetric kernel, the same for every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The way in which nodes receive, and the thread that responds.
    pub receive: Receive,
    /// The number of requests of each node.
    pub requests: u64,
    /// The number of steps of computation before each request, about two nanoseconds each.
    pub steps: u64,
    /// The time after which a node sends no further request.
    pub limit: Duration,
}

/// The result of one node's part of a program.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// The time of each step that was timed. It is not sent to the first node.
    pub(super) times: Vec<Duration>,
    /// The part of the result that is sent to the first node.
    pub(super) report: Report,
}

/// The part of an [`Outcome`] that is sent to the first node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) time: Duration,
    /// Further times; their meaning depends on the program.
    pub(super) more: [Duration; 5],
}

/// An order or a report, serialised.
pub(super) type Bytes = [u8; WORDS * 8];

impl Order {
    pub(super) fn write(self) -> Bytes {
        let ThreadCpus {
            compute,
            receive,
            is_oversubscribed,
        } = self.cpus;
        let number = |cpu: Option<CpuId>| cpu.map_or(NO_CPU, |cpu| cpu.0.into());
        let mut words = [0; WORDS];
        words[..3].copy_from_slice(&[number(compute), number(receive), is_oversubscribed.into()]);
        words[3..9].copy_from_slice(&self.task.words());
        bytes_of(words)
    }

    /// Parses an order. Returns `None` if `bytes` is not an order.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let words = words_of(bytes)?;
        let cpu = |word: u64| u32::try_from(word).ok().map(CpuId);
        let cpus = ThreadCpus {
            compute: cpu(words[0]),
            receive: cpu(words[1]),
            is_oversubscribed: words[2] != 0,
        };
        let task = Task::of(words[3..9].try_into().ok()?)?;
        Some(Self { cpus, task })
    }
}

impl Task {
    fn words(self) -> [u64; 6] {
        match self {
            Self::End => [0; 6],
            Self::RoundTrips(wanted) => [
                1,
                wanted.receive as u64,
                wanted.bytes as u64,
                wanted.trips,
                nanos(wanted.limit),
                wanted.each.into(),
            ],
            Self::Kernel(kernel) => [
                2,
                kernel.receive as u64,
                kernel.requests,
                kernel.steps,
                nanos(kernel.limit),
                0,
            ],
            Self::Overheads { samples } => [3, samples, 0, 0, 0, 0],
        }
    }

    fn of(words: [u64; 6]) -> Option<Self> {
        let receive = |word: u64| Receive::ALL.get(usize::try_from(word).ok()?).copied();
        Some(match words {
            [0, ..] => Self::End,
            [1, how, bytes, trips, limit_ns, each] => Self::RoundTrips(RoundTrips {
                receive: receive(how)?,
                bytes: bytes.try_into().ok()?,
                trips,
                limit: Duration::from_nanos(limit_ns),
                each: each != 0,
            }),
            [2, how, requests, steps, limit_ns, _] => Self::Kernel(Kernel {
                receive: receive(how)?,
                requests,
                steps,
                limit: Duration::from_nanos(limit_ns),
            }),
            [3, samples, ..] => Self::Overheads { samples },
            _ => return None,
        })
    }
}

impl Report {
    pub(super) fn write(&self) -> Bytes {
        let mut words = [0; WORDS];
        words[0] = nanos(self.time);
        for (word, more) in words[1..].iter_mut().zip(self.more) {
            *word = nanos(more);
        }
        bytes_of(words)
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let words = words_of(bytes)?;
        Some(Self {
            time: Duration::from_nanos(words[0]),
            more: std::array::from_fn(|index| Duration::from_nanos(words[1 + index])),
        })
    }
}

/// Converts to nanoseconds, saturating at `u64::MAX`.
fn nanos(time: Duration) -> u64 {
    time.as_nanos().try_into().unwrap_or(u64::MAX)
}

fn bytes_of(words: [u64; WORDS]) -> Bytes {
    let mut bytes = [0; WORDS * 8];
    for (part, word) in bytes.chunks_exact_mut(8).zip(words) {
        part.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

fn words_of(bytes: &[u8]) -> Option<[u64; WORDS]> {
    if bytes.len() != WORDS * 8 {
        return None;
    }
    let mut words = [0; WORDS];
    for (word, part) in words.iter_mut().zip(bytes.chunks_exact(8)) {
        *word = u64::from_le_bytes(part.try_into().ok()?);
    }
    Some(words)
}
