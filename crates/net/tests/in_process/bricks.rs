//! Tests of bricks, by nodes in one process: every thread gets the right bytes, with any transport,
//! cache and way of answering, and no thread waits for ever.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use raddle_net::bricks::{
    Answers, Associativity, BrickError, BrickOptions, BrickReader, BrickServer, BrickSource,
    Bricks, HomeRule, Homes, StartError, Store,
};
use raddle_net::{NetError, Node, NodeId, Port, SendError, Shape, TransportKind};
use raddle_sync::prim::{AtomicBool, AtomicU64, Relaxed};

const BRICK_BYTES: usize = 300;
/// The port of each node at which its server receives.
const SERVER: u16 = 0;

/// The bricks of a test: 97 of them.
#[derive(Clone, Copy)]
struct Case {
    kind: TransportKind,
    nodes: u16,
    readers: u16,
    brick_count: u64,
    brick_bytes: usize,
    lines: u64,
    associativity: Associativity,
    answers: Answers,
    on_demand: bool,
}

impl Case {
    const PLAIN: Self = Self {
        kind: TransportKind::Threads,
        nodes: 3,
        readers: 2,
        brick_count: 97,
        brick_bytes: BRICK_BYTES,
        lines: 8,
        associativity: Associativity::FourWay,
        answers: Answers::Get,
        on_demand: false,
    };

    fn options(&self) -> BrickOptions {
        BrickOptions {
            brick_bytes: self.brick_bytes,
            cache_bytes: self.lines * self.brick_bytes as u64,
            associativity: self.associativity,
            answers: self.answers,
            server_port: SERVER,
        }
    }

    fn homes(&self) -> Homes {
        let nodes: Vec<_> = (0..self.nodes).map(NodeId).collect();
        Homes::new(nodes, self.brick_count, HomeRule::Cyclic).expect("valid")
    }
}

/// Produces bricks, and counts them.
#[derive(Default)]
struct Source {
    produced: AtomicU64,
    /// A brick that cannot be produced.
    fails: Option<u64>,
    /// A brick of which the production panics once.
    panics: AtomicU64,
    /// The time that it takes.
    pause: Duration,
}

impl BrickSource for Source {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        thread::sleep(self.pause);
        // Relaxed: only counts.
        self.produced.fetch_add(1, Relaxed);
        if key > 0
            && self
                .panics
                .compare_exchange(key, 0, Relaxed, Relaxed)
                .is_ok()
        {
            panic!("brick {key} panics");
        }
        if self.fails == Some(key) {
            return Err("the disk is broken".into());
        }
        fill(key, into);
        Ok(())
    }
}

fn fill(key: u64, into: &mut [u8]) {
    for (index, byte) in into.iter_mut().enumerate() {
        *byte = (7 * key + index as u64) as u8;
    }
}

fn check(key: u64, bytes: &[u8]) {
    let expected = (0..bytes.len() as u64).map(|index| (7 * key + index) as u8);
    assert!(bytes.iter().copied().eq(expected), "brick {key}");
}

fn store_of(node: &Node, case: &Case, source: &Arc<Source>) -> Store {
    if case.on_demand {
        return Store::OnDemand(Arc::clone(source) as _);
    }
    let homes = case.homes();
    let home = usize::from(node.id().0);
    let len = homes.count_of(home) as usize * case.brick_bytes;
    let (segment, ()) = node
        .read_only_segment(len, |bytes| {
            let places = bytes.chunks_exact_mut(case.brick_bytes);
            for (key, place) in homes.keys_of(home).zip(places) {
                fill(key, place);
            }
        })
        .expect("memory");
    Store::Memory(segment)
}

/// Counts a reader that has ended, also by a panic.
struct Ending<'a>(&'a AtomicU64);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        // Relaxed: the end is seen at some time.
        self.0.fetch_sub(1, Relaxed);
    }
}

/// Serves until all readers of the program have ended.
fn serve(mut server: BrickServer, mut port: Port, left: &AtomicU64) {
    // Relaxed, here and below: the end is seen at some time.
    while left.load(Relaxed) > 0 {
        let polled = port.poll(|arrival| assert!(server.receive(&arrival)));
        match polled {
            Ok(_) => {}
            Err(NetError::Died(node)) => server.node_ended(node, SendError::Died(node)),
            Err(NetError::Left(node)) => server.node_ended(node, SendError::Left(node)),
            Err(error) => panic!("{error}"),
        }
        if server.send(&mut port) && matches!(polled, Ok(0)) {
            thread::yield_now();
        }
    }
}

/// Runs `read` in all readers of all nodes. Each gets a number.
fn run(case: Case, source: &Arc<Source>, read: impl Fn(&mut BrickReader, u64) + Sync) {
    let shape = Shape {
        nodes: case.nodes,
        ports: case.readers + 1,
    };
    let nodes = Node::in_process_by(case.kind, shape).expect("memory");
    let reader_count = u64::from(case.nodes) * u64::from(case.readers);
    let left = AtomicU64::new(reader_count);
    thread::scope(|scope| {
        for node in &nodes {
            let (read, left) = (&read, &left);
            scope.spawn(move || {
                let users: Vec<_> = node.shape().node_ids().collect();
                let store = Some(store_of(node, &case, source));
                let bricks = Bricks::start(node, &users, case.homes(), store, None, case.options());
                let bricks = bricks.expect("all nodes run");
                let server = bricks.server();
                thread::scope(|scope| {
                    for index in 0..case.readers {
                        let mut reader = bricks.reader(node.port(index + 1));
                        let number = u64::from(node.id().0 * case.readers + index);
                        scope.spawn(move || {
                            let _ending = Ending(left);
                            read(&mut reader, number);
                        });
                    }
                    serve(server, node.port(SERVER), left);
                });
            });
        }
    });
}

/// Reads bricks in an order of its own.
fn read_many(reader: &mut BrickReader, number: u64) {
    let count = reader.bricks().homes().brick_count();
    let mut key = 31 * number;
    for turn in 0..400 {
        key = (key * 25_214_903_917 + 11 + turn) % count;
        let brick = reader.get(key).expect("all homes run");
        check(key, &brick);
    }
}

fn all_cases() -> impl Iterator<Item = Case> {
    let kinds = TransportKind::WITHIN.iter().copied();
    kinds.flat_map(|kind| {
        Answers::ALL.into_iter().flat_map(move |answers| {
            [false, true].into_iter().filter_map(move |on_demand| {
                let is_possible = !(on_demand && answers == Answers::Get);
                is_possible.then_some(Case {
                    kind,
                    answers,
                    on_demand,
                    ..Case::PLAIN
                })
            })
        })
    })
}

#[test]
fn every_reader_gets_the_right_bytes() {
    for case in all_cases() {
        for (lines, associativity) in [
            (1, Associativity::Direct),
            (2, Associativity::FourWay),
            (9, Associativity::Direct),
            (16, Associativity::FourWay),
            (7, Associativity::Clock),
            (1_000, Associativity::Clock),
        ] {
            let case = Case {
                lines,
                associativity,
                ..case
            };
            run(case, &Arc::default(), read_many);
        }
    }
}

// One line, and many threads that need different bricks at the same time.
#[test]
fn a_cache_of_one_line_serves_eight_readers() {
    for case in all_cases() {
        let case = Case {
            nodes: 2,
            readers: 8,
            lines: 1,
            ..case
        };
        run(case, &Arc::default(), read_many);
    }
}

#[test]
fn a_brick_longer_than_a_message_arrives_whole() {
    for case in all_cases() {
        let case = Case {
            brick_bytes: 300_000,
            brick_count: 5,
            lines: 2,
            readers: 1,
            ..case
        };
        run(case, &Arc::default(), |reader, _| {
            for key in [0, 1, 2, 3, 4, 0] {
                check(key, &reader.get(key).expect("all homes run"));
            }
        });
    }
}

// However many threads of a node wait for a brick, it is requested once.
#[test]
fn threads_that_wait_for_one_brick_send_one_request() {
    for answers in [Answers::Handler, Answers::Direct] {
        let source = Arc::new(Source {
            pause: Duration::from_millis(20),
            ..Source::default()
        });
        let case = Case {
            nodes: 2,
            readers: 8,
            answers,
            on_demand: true,
            ..Case::PLAIN
        };
        run(case, &source, |reader, _| {
            for key in [10, 20, 30] {
                check(key, &reader.get(key).expect("all homes run"));
            }
        });
        // Relaxed: all threads have ended. Each node has produced or requested each brick, so the
        // home produces it for itself and for the other.
        let produced = source.produced.load(Relaxed);
        assert!((3..=6).contains(&produced), "{answers}: {produced}");
    }
}

#[test]
fn a_pinned_brick_stays_while_others_are_loaded() {
    for case in all_cases() {
        let case = Case {
            nodes: 2,
            readers: 2,
            lines: 1,
            ..case
        };
        let is_over = AtomicBool::new(false);
        run(case, &Arc::default(), |reader, number| {
            // A brick of the other node.
            let key = 1 - number / 2;
            if number % 2 == 1 {
                while !is_over.load(Relaxed) {
                    read_many(reader, number);
                }
                return;
            }
            for _ in 0..20 {
                let brick = reader.get(key).expect("all homes run");
                thread::sleep(Duration::from_micros(200));
                check(key, &brick);
            }
            is_over.store(true, Relaxed);
        });
    }
}

#[test]
fn several_bricks_are_requested_at_once() {
    for case in all_cases() {
        for lines in [1, 64] {
            let case = Case { lines, ..case };
            run(case, &Arc::default(), |reader, number| {
                for turn in 0..30 {
                    let keys: Vec<u64> = (0..20).map(|at| (7 * at + turn + number) % 97).collect();
                    reader.prefetch(&keys).expect("all homes run");
                    let before = reader.counters().misses;
                    for &key in &keys {
                        check(key, &reader.get(key).expect("all homes run"));
                    }
                    if lines == 64 && case.readers == 1 {
                        assert_eq!(reader.counters().misses, before);
                    }
                }
                let error = reader.prefetch(&[0, 97]).expect_err("there are 97");
                assert_eq!(error.to_string(), "brick 97; expected a number below 97");
            });
        }
    }
}

#[test]
fn a_brick_that_cannot_be_produced_is_an_error_for_all_that_wait() {
    for answers in [Answers::Handler, Answers::Direct] {
        let source = Arc::new(Source {
            fails: Some(1),
            pause: Duration::from_millis(1),
            ..Source::default()
        });
        let case = Case {
            nodes: 2,
            readers: 4,
            answers,
            on_demand: true,
            ..Case::PLAIN
        };
        run(case, &source, |reader, _| {
            for _ in 0..3 {
                let error = reader.get(1).expect_err("it cannot be produced");
                let expected = "brick 1 of node 1: the disk is broken";
                assert_eq!(error.to_string(), expected);
                let error = reader.prefetch(&[3, 1, 5]).err();
                // Another thread may have got the error.
                assert!(error.is_none_or(|error| error.to_string() == expected));
                check(3, &reader.get(3).expect("all homes run"));
            }
        });
    }
}

// Safe code: the source panics in the thread that loads a brick of its own node. The threads that
// wait for the brick go on.
#[test]
fn a_panic_of_the_thread_that_loads_a_brick_stops_no_other() {
    let source = Arc::new(Source {
        panics: AtomicU64::new(4),
        pause: Duration::from_millis(5),
        ..Source::default()
    });
    let case = Case {
        nodes: 1,
        readers: 6,
        answers: Answers::Direct,
        on_demand: true,
        ..Case::PLAIN
    };
    let panics = AtomicU64::new(0);
    run(case, &source, |reader, _| {
        let got = catch_unwind(AssertUnwindSafe(|| {
            check(4, &reader.get(4).expect("it can be produced"));
        }));
        panics.fetch_add(got.is_err().into(), Relaxed);
        check(4, &reader.get(4).expect("it can be produced"));
    });
    assert_eq!(panics.load(Relaxed), 1);
}

// Safe code: bricks that are forgotten stay pinned, so that other bricks get memory of their own.
#[test]
fn forgotten_bricks_stop_no_thread() {
    let case = Case {
        lines: 2,
        ..Case::PLAIN
    };
    run(case, &Arc::default(), |reader, number| {
        for key in 0..10 {
            std::mem::forget(reader.get(key).expect("all homes run"));
        }
        read_many(reader, number);
    });
}

#[test]
fn a_node_without_a_server_does_not_wait_for_answers() {
    let case = Case {
        nodes: 2,
        answers: Answers::Handler,
        ..Case::PLAIN
    };
    let shape = Shape { nodes: 2, ports: 2 };
    let nodes = Node::in_process(shape).expect("memory");
    let users: Vec<_> = shape.node_ids().collect();
    let source = Arc::default();
    let start = |node: &Node| {
        let store = Some(store_of(node, &case, &source));
        Bricks::start(node, &users, case.homes(), store, None, case.options()).expect("it runs")
    };
    let [first, _second] = [start(&nodes[0]), start(&nodes[1])];
    let mut reader = first.reader(nodes[0].port(1));
    let expected = BrickError::NoServer { key: 1 };
    assert_eq!(reader.get(1).err(), Some(expected.clone()));
    assert_eq!(reader.prefetch(&[1]).err(), Some(expected));
    // The server ends while a thread waits.
    let server = first.server();
    thread::scope(|scope| {
        let waiting = scope.spawn(|| reader.get(1).err());
        thread::sleep(Duration::from_millis(20));
        drop(server);
        let error = waiting.join().expect("no panic");
        assert_eq!(error, Some(BrickError::NoServer { key: 1 }));
    });
}

// The home ends while threads of another node wait for its bricks, or before they ask.
#[test]
fn bricks_of_a_node_that_has_ended_are_errors() {
    for case in all_cases() {
        let case = Case { nodes: 2, ..case };
        let shape = Shape { nodes: 2, ports: 3 };
        let mut nodes = Node::in_process_by(case.kind, shape).expect("memory");
        let users: Vec<_> = shape.node_ids().collect();
        let source = Arc::default();
        let start = |node: &Node| {
            let store = Some(store_of(node, &case, &source));
            Bricks::start(node, &users, case.homes(), store, None, case.options())
        };
        let started = thread::scope(|scope| {
            let starts = nodes.iter().map(|node| scope.spawn(move || start(node)));
            let starts: Vec<_> = starts.collect();
            let join = |start: thread::ScopedJoinHandle<'_, _>| start.join().expect("no panic");
            starts.into_iter().map(join).collect::<Vec<_>>()
        });
        let [first, second]: [_; 2] = started.try_into().expect("two");
        let (first, second) = (first.expect("it runs"), second.expect("it runs"));
        let home = nodes.pop().expect("two");
        let left = AtomicU64::new(2);
        let server = first.server();
        thread::scope(|scope| {
            for index in 1..3 {
                let mut reader = first.reader(nodes[0].port(index));
                let left = &left;
                scope.spawn(move || {
                    let _ending = Ending(left);
                    // The home answers nothing, so this waits, unless it reads its memory.
                    let error = loop {
                        if let Err(error) = reader.get(1) {
                            break error;
                        }
                        let _ = reader.prefetch(&[3, 5, 7, 9, 11, 13, 15, 17, 19]);
                        let _ = reader.get(21);
                    };
                    assert!(
                        matches!(
                            error,
                            BrickError::Home {
                                home: NodeId(1),
                                ..
                            }
                        ),
                        "{error}"
                    );
                });
            }
            scope.spawn(|| serve(server, nodes[0].port(SERVER), &left));
            thread::sleep(Duration::from_millis(10));
            drop(second);
            drop(home);
        });
    }
}

// With a backup, the bricks of a home that has ended are produced by the node that needs them.
#[test]
fn a_backup_replaces_a_home_that_has_ended() {
    for case in all_cases() {
        let case = Case { nodes: 2, ..case };
        let shape = Shape { nodes: 2, ports: 2 };
        let mut nodes = Node::in_process_by(case.kind, shape).expect("memory");
        let users: Vec<_> = shape.node_ids().collect();
        let source: Arc<Source> = Arc::default();
        let start = |node: &Node| {
            let store = Some(store_of(node, &case, &source));
            let backup = Some(Arc::clone(&source) as _);
            Bricks::start(node, &users, case.homes(), store, backup, case.options())
        };
        let [first, second] = thread::scope(|scope| {
            let second = scope.spawn(|| start(&nodes[1]));
            let first = start(&nodes[0]).expect("it runs");
            [first, second.join().expect("no panic").expect("it runs")]
        });
        let home = nodes.pop().expect("two");
        let left = AtomicU64::new(1);
        let server = first.server();
        thread::scope(|scope| {
            let mut reader = first.reader(nodes[0].port(1));
            let left = &left;
            scope.spawn(move || {
                let _ending = Ending(left);
                while reader.counters().recovered < 30 {
                    reader.prefetch(&[1, 3, 5, 7]).expect("there is a backup");
                    read_many(&mut reader, 1);
                }
            });
            scope.spawn(|| serve(server, nodes[0].port(SERVER), left));
            thread::sleep(Duration::from_millis(5));
            drop(second);
            drop(home);
        });
    }
}

#[test]
fn options_that_do_not_suit_are_errors() {
    let [node]: [Node; 1] = Node::in_process(Shape { nodes: 1, ports: 1 })
        .expect("memory")
        .try_into()
        .expect("one");
    let source: Arc<Source> = Arc::default();
    let case = Case {
        nodes: 1,
        ..Case::PLAIN
    };
    let error_of = |case: Case, homes: Homes, store: Option<Store>| {
        let started = Bricks::start(&node, &[NodeId(0)], homes, store, None, case.options());
        started
            .map(|_| ())
            .expect_err("it does not suit")
            .to_string()
    };
    let store = |case: &Case| Some(store_of(&node, case, &source));
    let on_demand = Case {
        on_demand: true,
        ..case
    };
    assert!(error_of(on_demand, case.homes(), store(&on_demand)).contains("on demand"));
    assert_eq!(
        error_of(case, case.homes(), None),
        "no bricks in a node that is a home"
    );
    let elsewhere = Homes::new([NodeId(5)], 97, HomeRule::Cyclic).expect("valid");
    assert_eq!(
        error_of(case, elsewhere, store(&case)),
        "bricks in a node that is not a home"
    );
    let huge = Case {
        brick_count: 1 << 40,
        lines: 1 << 33,
        on_demand: true,
        answers: Answers::Direct,
        ..case
    };
    let store = store_of(&node, &huge, &source);
    let started = Bricks::start(&node, &[], huge.homes(), Some(store), None, huge.options());
    assert!(
        matches!(started, Err(StartError::NoMemory(_))),
        "{started:?}"
    );
    let more = Case {
        brick_count: 1_000,
        ..case
    };
    let short = Some(store_of(&node, &case, &source));
    assert!(error_of(more, more.homes(), short).starts_with("a segment of "));
}

// A brick counts once, whether it was requested alone or with others, by any way and transport.
#[test]
fn a_brick_that_was_requested_ahead_counts_once() {
    for case in all_cases() {
        let case = Case {
            nodes: 2,
            readers: 1,
            lines: 97,
            ..case
        };
        let is_far = case.answers != Answers::Get || case.kind == TransportKind::Sockets;
        run(case, &Arc::default(), |reader, _| {
            let keys: Vec<u64> = (0..40).collect();
            for _ in 0..3 {
                reader.prefetch(&keys).expect("all homes run");
                for &key in &keys {
                    check(key, &reader.get(key).expect("all homes run"));
                }
            }
            let counters = *reader.counters();
            assert_eq!((counters.misses, counters.joined), (20, 0));
            assert_eq!(counters.hits + counters.local, 100);
            assert_eq!(counters.requests > 0, is_far, "{counters:?}");
        });
    }
}

// With `Answers::Get`, the nodes compare the sizes when they begin. Otherwise a part of an answer
// shows that they differ.
#[test]
fn bricks_of_another_size_are_errors() {
    for answers in [Answers::Handler, Answers::Direct] {
        for (bytes, expected) in [
            (BRICK_BYTES - 1, "the answer has 299 bytes; expected 300"),
            (BRICK_BYTES + 9, "the answer has 309 bytes; expected 300"),
            (400_000, "the answer has more than"),
        ] {
            let [home, own] = [bytes, BRICK_BYTES].map(|brick_bytes| Case {
                nodes: 2,
                readers: 1,
                brick_bytes,
                answers,
                ..Case::PLAIN
            });
            let shape = Shape { nodes: 2, ports: 2 };
            let nodes = Node::in_process_by(TransportKind::Memory, shape).expect("memory");
            let users = [NodeId(0), NodeId(1)];
            let bricks = [home, own].into_iter().zip(&nodes).map(|(case, node)| {
                let store = Some(store_of(node, &case, &Arc::default()));
                Bricks::start(node, &users, case.homes(), store, None, case.options())
            });
            let bricks: Vec<_> = bricks.map(|bricks| bricks.expect("valid")).collect();
            let left = AtomicU64::new(1);
            thread::scope(|scope| {
                for (node, bricks) in nodes.iter().zip(&bricks) {
                    let (server, left) = (bricks.server(), &left);
                    scope.spawn(move || serve(server, node.port(SERVER), left));
                }
                let _ending = Ending(&left);
                let mut reader = bricks[1].reader(nodes[1].port(1));
                let error = reader.get(0).expect_err("another size").to_string();
                assert!(error.contains(expected), "{error}");
            });
        }
    }
}

#[test]
fn counters_count_each_brick_once() {
    let case = Case {
        nodes: 2,
        readers: 1,
        lines: 64,
        associativity: Associativity::Clock,
        ..Case::PLAIN
    };
    run(case, &Arc::default(), |reader, number| {
        for _ in 0..3 {
            for key in 0..40 {
                check(key, &reader.get(key).expect("all homes run"));
            }
        }
        let counters = *reader.counters();
        assert_eq!((counters.local, counters.misses), (60, 20), "{number}");
        assert_eq!((counters.hits, counters.joined), (40, 0));
        assert_eq!(counters.hit_rate(), Some(40.0 / 60.0));
    });
}
