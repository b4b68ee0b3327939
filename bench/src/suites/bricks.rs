//! The cost of a brick of 3,456 bytes, in ns, by where it is.
//!
//! - `local`: in memory of its own node. Peer `slice`: an element of a slice of slices.
//! - `cached`: in the cache. Peer `map`: a hash map under a lock, of values with shared ownership.
//! - `remote`: in another node that shares memory, and not in the cache. `raddle` reads the memory
//!   of the home ([`Answers::Get`]). Peers: `direct` and `handler`, the other ways of answering;
//!   `pingpong`, a round trip of one byte between two polling threads of the two nodes; `copy`, a
//!   copy of the bytes and nothing else.
//! - `remote-socket`: as `remote`, with nodes that share no memory.
//!
//! The two nodes are in one process, with mappings of their own as in two processes. All bricks
//! together fit into the cache of a core (0.9 MB), so the figures are those of the mechanism, not
//! of main memory. The reader looks at the first and the last byte of each brick.
//!
//! # Source
//! The size: Parker, Efficient user-level event notification, section 5.2. The three ways: sections
//! 6.2.7, 6.3.3 and 8.9.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use raddle::net::bricks::{
    Answers, Associativity, BrickOptions, BrickReader, Bricks, HomeRule, Homes, Store,
};
use raddle::net::{Message, Node, Port, PortId, SendError, Shape, TransportKind};
use raddle_sync::prim::{AtomicBool, Relaxed, spin_loop};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 4] = ["local", "cached", "remote", "remote-socket"];

const BRICK_BYTES: usize = 3_456;
const BRICK_COUNT: u64 = 256;
/// The repetitions of each case. Each takes some milliseconds.
const REPETITIONS: [u64; 4] = [1_000_000, 500_000, 20_000, 1_000];
/// The lines of the cache if no brick is to be found there, and if all are.
const FEW_LINES: u64 = 8;
const MANY_LINES: u64 = 8 * BRICK_COUNT;
/// The ports of a node: one for its server, one for its reader.
const SHAPE: Shape = Shape { nodes: 2, ports: 2 };
const SERVER: u16 = 0;
const READER: u16 = 1;

/// Runs the suite, always with two threads.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for (name, repetitions) in CASES.into_iter().zip(REPETITIONS) {
        if measurement.wants(name) {
            compare(measurement, name, repetitions)?;
        }
    }
    Ok(())
}

fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    repetitions: u64,
) -> Result<(), BenchError> {
    let case = Case {
        suite: "bricks",
        name,
        unit: Unit::Nanoseconds,
        repetitions,
        file: None,
        expected: (0..repetitions).map(|turn| seen(turn % BRICK_COUNT)).sum(),
        tolerance: 0,
    };
    let memory = TransportKind::Memory;
    let (mut raddle, mut peers) = match name {
        "local" => (
            reading("raddle", memory, Answers::Get, 0, BRICK_COUNT),
            vec![slices()],
        ),
        "cached" => (
            reading("raddle", memory, Answers::Get, 1, MANY_LINES),
            vec![map()],
        ),
        _ => {
            let kind = match name {
                "remote" => memory,
                _ => TransportKind::Sockets,
            };
            let way = |name, answers| reading(name, kind, answers, 1, FEW_LINES);
            let peers = vec![
                way("direct", Answers::Direct),
                way("handler", Answers::Handler),
                pingpong(kind),
                copies(),
            ];
            (way("raddle", Answers::Get), peers)
        }
    };
    measurement.compare(&case, &mut *raddle, &mut peers)
}

type Peer = Box<dyn Contender>;

/// Reads bricks of a home: 0 for the node of the reader, 1 for the other one.
fn reading(
    name: &'static str,
    kind: TransportKind,
    answers: Answers,
    home: u16,
    line_count: u64,
) -> Peer {
    let mut stage = None;
    Box::new(Local::new(name, move |request| {
        let stage = match &mut stage {
            Some(stage) => stage,
            none => none.insert(Stage::new(kind, answers, home, line_count)?),
        };
        stage.read(request.repetitions)
    }))
}

/// Two nodes with bricks.
struct Stage {
    reader: BrickReader,
    /// The bricks of each node, with the port of its server.
    served: Vec<(Arc<Bricks>, Port)>,
    _nodes: Vec<Node>,
}

impl Stage {
    fn new(
        kind: TransportKind,
        answers: Answers,
        home: u16,
        line_count: u64,
    ) -> Result<Self, BenchError> {
        let nodes = Node::in_process_by(kind, SHAPE).map_err(failure)?;
        let users: Vec<_> = SHAPE.node_ids().collect();
        let table = vec![home; BRICK_COUNT as usize];
        let rule = HomeRule::Table(table.into());
        let homes = Homes::new(users.clone(), BRICK_COUNT, rule).map_err(failure)?;
        let options = BrickOptions {
            brick_bytes: BRICK_BYTES,
            cache_bytes: line_count * BRICK_BYTES as u64,
            associativity: Associativity::FourWay,
            answers,
            server_port: SERVER,
        };
        let start = |node: &Node| {
            let home = usize::from(node.id().0);
            let len = homes.count_of(home) as usize * BRICK_BYTES;
            let store = node.read_only_segment(len, |bytes| {
                let places = bytes.chunks_exact_mut(BRICK_BYTES);
                for (key, place) in homes.keys_of(home).zip(places) {
                    place.fill(key as u8);
                }
            });
            let (segment, ()) = store.map_err(failure)?;
            let store = Some(Store::Memory(segment));
            Bricks::start(node, &users, homes.clone(), store, None, options).map_err(failure)
        };
        // Each waits for the others.
        let started: Vec<_> = thread::scope(|scope| {
            let threads = nodes.iter().map(|node| scope.spawn(move || start(node)));
            let threads: Vec<_> = threads.collect();
            let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join();
            threads.into_iter().map(join).collect()
        });
        let mut served = Vec::new();
        for (node, bricks) in nodes.iter().zip(started) {
            let bricks = bricks.map_err(|_| failure("a thread panicked"))??;
            served.push((bricks, node.port(SERVER)));
        }
        let reader = served[0].0.reader(nodes[0].port(READER));
        Ok(Self {
            reader,
            served,
            _nodes: nodes,
        })
    }

    /// Reads the bricks in turn, while the servers that are needed run.
    fn read(&mut self, repetitions: u64) -> Result<Sample, BenchError> {
        let Self { reader, served, .. } = self;
        let answers = reader.bricks().options().answers;
        let serving = match answers {
            Answers::Get => &mut served[..0],
            // The home serves, which is the other node.
            Answers::Direct => &mut served[1..],
            Answers::Handler => &mut served[..],
        };
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            for (bricks, port) in serving {
                let mut server = bricks.server();
                let is_over = &is_over;
                scope.spawn(move || {
                    // Relaxed: the end is seen at some time.
                    while !is_over.load(Relaxed) {
                        let polled = port.poll(|arrival| {
                            server.receive(&arrival);
                        });
                        server.send(port);
                        if matches!(polled, Ok(0)) {
                            spin_loop();
                        }
                    }
                });
            }
            let mut result = 0;
            let begun = Instant::now();
            for turn in 0..repetitions {
                match reader.get(turn % BRICK_COUNT) {
                    Ok(brick) => result += seen_in(&brick),
                    Err(error) => {
                        // Relaxed: as above.
                        is_over.store(true, Relaxed);
                        return Err(failure(error));
                    }
                }
            }
            let time = begun.elapsed();
            // Relaxed: as above.
            is_over.store(true, Relaxed);
            Ok(Sample { time, result })
        })
    }
}

/// Sends a byte to a thread of the other node and back.
fn pingpong(kind: TransportKind) -> Peer {
    Box::new(Local::new("pingpong", move |request| {
        let nodes = Node::in_process_by(kind, SHAPE).map_err(failure)?;
        let (mut here, mut there) = (nodes[0].port(READER), nodes[1].port(SERVER));
        let repetitions = request.repetitions;
        let (from, to) = (here.id(), there.id());
        thread::scope(|scope| {
            scope.spawn(move || {
                for _ in 0..repetitions {
                    let byte = receive(&mut there);
                    send(&mut there, from, byte);
                }
            });
            let mut result = 0;
            let begun = Instant::now();
            for turn in 0..repetitions {
                send(&mut here, to, turn as u8);
                result += 2 * u64::from(receive(&mut here));
            }
            let time = begun.elapsed();
            Ok(Sample { time, result })
        })
    }))
}

fn send(port: &mut Port, to: PortId, byte: u8) {
    let sent = port.send(to, Message::default(), &[byte]);
    assert_ne!(sent, Err(SendError::Full), "one message is on its way");
}

fn receive(port: &mut Port) -> u8 {
    let mut byte = None;
    loop {
        let polled = port.poll(|arrival| {
            if let raddle::net::Data::Here(bytes) = arrival.data {
                byte = bytes.first().copied();
            }
        });
        match (byte, polled) {
            (Some(byte), _) => return byte,
            (None, Ok(_)) => spin_loop(),
            (None, Err(_)) => return 0,
        }
    }
}

fn slices() -> Peer {
    let bricks: Vec<Vec<u8>> = (0..BRICK_COUNT).map(brick).collect();
    Box::new(Local::new("slice", move |request| {
        Ok(timed(request.repetitions, |key| {
            seen_in(&bricks[key as usize])
        }))
    }))
}

fn map() -> Peer {
    let bricks = (0..BRICK_COUNT).map(|key| (key, Arc::<[u8]>::from(brick(key))));
    let bricks: Mutex<HashMap<u64, Arc<[u8]>>> = Mutex::new(bricks.collect());
    Box::new(Local::new("map", move |request| {
        Ok(timed(request.repetitions, |key| {
            let bricks = bricks.lock().expect("nothing panics under this lock");
            let brick = Arc::clone(&bricks[&key]);
            drop(bricks);
            seen_in(&brick)
        }))
    }))
}

fn copies() -> Peer {
    let bricks: Vec<Vec<u8>> = (0..BRICK_COUNT).map(brick).collect();
    let mut lines = vec![vec![0; BRICK_BYTES]; FEW_LINES as usize];
    Box::new(Local::new("copy", move |request| {
        Ok(timed(request.repetitions, |key| {
            let line = &mut lines[(key % FEW_LINES) as usize];
            line.copy_from_slice(&bricks[key as usize]);
            seen_in(line)
        }))
    }))
}

fn timed(repetitions: u64, mut read: impl FnMut(u64) -> u64) -> Sample {
    let begun = Instant::now();
    let result = (0..repetitions).map(|turn| read(turn % BRICK_COUNT)).sum();
    Sample {
        time: Duration::max(begun.elapsed(), Duration::from_nanos(1)),
        result,
    }
}

fn brick(key: u64) -> Vec<u8> {
    vec![key as u8; BRICK_BYTES]
}

/// Returns the sum of the bytes that a reader looks at in a brick.
const fn seen(key: u64) -> u64 {
    2 * (key & 0xFF)
}

#[inline]
fn seen_in(bytes: &[u8]) -> u64 {
    match bytes {
        [first, .., last] => u64::from(*first) + u64::from(*last),
        _ => 0,
    }
}

fn failure(error: impl ToString) -> BenchError {
    BenchError::contender("bricks", error.to_string())
}
