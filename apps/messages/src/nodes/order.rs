//! What the first node tells the others to do, and what they answer; numbers of 64 bits in a message.

use std::time::Duration;

use raddle_topology::CpuId;

use super::Receive;
use super::seats::Seat;
use super::symmetric::Kernel;

/// Numbers of an order or an outcome.
const WORDS: usize = 12;
/// No CPU.
const NOWHERE: u64 = u64::MAX;

/// A part in a program, and where it is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Order {
    pub(super) seat: Seat,
    pub(super) task: Task,
}

/// The programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Task {
    /// Ping-pong between the first node and the last.
    Rally(Rally),
    /// The symmetrical kernel.
    Kernel(Kernel),
    /// Steps of a message from the first node to the last, so often.
    Overheads { samples: u64 },
    /// To leave.
    End,
}

/// A ping-pong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rally {
    pub(super) receive: Receive,
    pub(super) bytes: usize,
    pub(super) trips: u64,
    /// No trip begins later.
    pub(super) limit: Duration,
    /// Whether each trip is timed, or all together.
    pub(super) each: bool,
}

/// What came of a part.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Outcome {
    /// Of each step that was timed; stays in the node.
    pub(super) times: Vec<Duration>,
    /// What is told.
    pub(super) told: Told,
}

/// The numbers of an outcome that the first node hears.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) time: Duration,
    /// What else there is to say, as the program means it.
    pub(super) more: [Duration; 5],
}

/// An order or an outcome as it travels.
pub(super) type Bytes = [u8; WORDS * 8];

impl Order {
    pub(super) fn write(self) -> Bytes {
        let Seat {
            compute,
            receive,
            is_crowded,
        } = self.seat;
        let number = |cpu: Option<CpuId>| cpu.map_or(NOWHERE, |cpu| cpu.0.into());
        let mut words = [0; WORDS];
        words[..3].copy_from_slice(&[number(compute), number(receive), is_crowded.into()]);
        words[3..9].copy_from_slice(&self.task.words());
        bytes_of(words)
    }

    /// The order in a message; none where there is none.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let words = words_of(bytes)?;
        let cpu = |word: u64| u32::try_from(word).ok().map(CpuId);
        let seat = Seat {
            compute: cpu(words[0]),
            receive: cpu(words[1]),
            is_crowded: words[2] != 0,
        };
        let task = Task::of(words[3..9].try_into().ok()?)?;
        Some(Self { seat, task })
    }
}

impl Task {
    fn words(self) -> [u64; 6] {
        match self {
            Self::End => [0; 6],
            Self::Rally(rally) => [
                1,
                rally.receive as u64,
                rally.bytes as u64,
                rally.trips,
                nanos(rally.limit),
                rally.each.into(),
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
            [1, how, bytes, trips, limit_ns, each] => Self::Rally(Rally {
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

impl Told {
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

/// Nanoseconds, as many as there can be.
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
