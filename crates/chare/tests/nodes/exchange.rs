//! Chares on several nodes within one process. The nodes exchange the same wire messages as
//! separate processes.

use std::thread;
use std::time::{Duration, Instant};

use raddle_chare::nodes::{Job, Progress};
use raddle_chare::reduce::{Gather, Max, Sum};
use raddle_chare::{Chares, Cx, chare};
use raddle_net::TransportKind;
use raddle_runtime::Runtime;

use crate::job;
use crate::panics::panic_text;

const NODES: [u16; 4] = [1, 2, 3, 4];

/// A time limit: a wait that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs `check` with all numbers of nodes, all transports and all progress modes.
fn everywhere(check: impl Fn(&dyn Fn() -> Job)) {
    for &kind in TransportKind::WITHIN {
        for progress in Progress::ALL {
            for nodes in NODES {
                check(&|| job(nodes, kind).progress(progress));
            }
        }
    }
}

/// Passes numbers on and records the numbers that it has seen.
struct Cell {
    index: usize,
    seen: Vec<u64>,
}

impl Cell {
    fn new(index: usize) -> Self {
        Self {
            index,
            seen: Vec::new(),
        }
    }
}

#[chare(nodes)]
impl Cell {
    #[message]
    fn page(number: u64, text: String);

    /// Passes the number to the next cell until `left` is 0.
    #[entry]
    fn pass_on(&mut self, cx: &mut Cx<Self>, left: u64, count: usize) {
        self.seen.push(left);
        match left {
            0 => cx.exit(),
            _ => cx
                .array()
                .at((self.index + 1) % count)
                .pass_on(left - 1, count),
        }
    }

    #[entry]
    fn keep(&mut self, number: u64) {
        self.seen.push(number);
    }

    #[entry]
    fn seen(&mut self) -> Vec<u64> {
        self.seen.clone()
    }

    #[entry]
    fn seen_by(&mut self, cx: &mut Cx<Self>) {
        cx.contribute(Gather::new(
            (self.index as u64) << 32 | self.seen.len() as u64,
        ));
    }

    /// Asks another cell for its numbers, and sends messages to itself until the reply is here, or
    /// there were very many. Returns true if the reply came.
    #[entry]
    fn send_until_a_reply_is_here(&mut self, cx: &mut Cx<Self>, other: CellProxy) -> bool {
        let reply = other.seen();
        for _ in 0..1_000_000 {
            if reply.is_here() {
                return true;
            }
            cx.this().keep(1);
        }
        false
    }

    /// Asks all other cells for the numbers that they have seen.
    #[entry]
    async fn ask(&mut self, cx: &mut Cx<Self>, others: Vec<CellProxy>) -> u64 {
        let me = cx.this();
        let mut sum = 0;
        for other in others {
            if other != me {
                sum += other.seen().await.iter().sum::<u64>();
            }
        }
        sum
    }

    #[entry]
    async fn read(&mut self, cx: &mut Cx<Self>, pages: u64) -> String {
        let mut book = String::new();
        for wanted in 0..pages {
            let page = cx.next_where(Self::page, |page| page.0 == wanted).await;
            book += &page.1;
        }
        book
    }

    #[entry]
    async fn agree(&mut self, cx: &mut Cx<Self>) {
        let largest: usize = cx.reduce(Max(self.index)).await;
        let sum: u64 = cx.reduce(Sum(largest as u64)).await;
        self.seen.push(sum);
    }

    #[entry]
    fn fall(&mut self) -> u64 {
        panic!("element {} falls", self.index);
    }

    /// Keeps messages under way between this cell and its mirror image for ever.
    #[entry]
    fn flood(&mut self, cx: &mut Cx<Self>, text: String) {
        let (cells, count) = (cx.array(), 4);
        cells.at(count - 1 - self.index).flood(text.clone());
        if self.seen.len() < 100 {
            self.seen.push(0);
            cells.at(count - 1 - self.index).flood(text);
        }
    }

    #[entry]
    fn where_am_i(&mut self, cx: &mut Cx<Self>) -> (usize, usize) {
        (cx.node(), cx.node_count())
    }

    #[entry]
    fn leave(&mut self, cx: &mut Cx<Self>) {
        cx.end();
    }
}

#[test]
fn a_number_circulates_until_the_exit() {
    everywhere(|job| {
        let seen = job().run_within(
            |setup| setup.array(7, Cell::new),
            |runtime, cells| {
                cells.at(0).pass_on(100, 7);
                runtime.until_exit();
                let seen = (0..7).map(|at| cells.at(at).seen().wait());
                seen.collect::<Vec<_>>()
            },
        );
        let seen = seen.expect("the nodes start");
        for (at, seen) in seen.into_iter().enumerate() {
            let expected: Vec<u64> = (0..=100).rev().skip(at).step_by(7).collect();
            assert_eq!(seen, expected);
        }
    });
}

#[test]
fn a_worker_receives_after_sends_within_its_node_if_asked_to() {
    for &kind in TransportKind::WITHIN {
        let builder = Runtime::builder().workers(1);
        let job = job(2, kind).runtime(builder).progress(Progress::AnySend);
        let is_here = job.run_within(
            |setup| setup.array(2, Cell::new),
            |runtime, cells| {
                // There is one worker per node. While it runs the entry, only its sends receive.
                let is_here = cells.at(0).send_until_a_reply_is_here(cells.at(1));
                let is_here = is_here.wait();
                runtime.quiescence().wait();
                is_here
            },
        );
        assert!(is_here.expect("the nodes start"), "{kind}");
    }
}

#[test]
fn a_request_for_quiescence_after_a_failure_is_answered() {
    // Regression: the first node answered only requests that it had before the failure.
    for &kind in TransportKind::WITHIN {
        for place in 0..2 {
            let done = job(2, kind).run_within(
                |setup| setup.array(2, Cell::new),
                |runtime, cells| {
                    drop(cells.at(place).fall());
                    let failure = runtime.quiescence().try_wait();
                    failure.expect_err("an entry has panicked");
                    let late = runtime.quiescence();
                    let deadline = Instant::now() + PATIENCE;
                    while !late.is_here() && Instant::now() < deadline {
                        thread::yield_now();
                    }
                    assert!(late.is_here(), "the request is not answered");
                    late.try_wait().expect_err("the failure is the answer");
                },
            );
            done.expect("the waits have reported the failure");
        }
    }
}

#[test]
fn messages_between_two_chares_keep_their_order() {
    everywhere(|job| {
        let seen = job().run_within(
            |setup| setup.array(5, Cell::new),
            |runtime, cells| {
                for number in 0..2_000 {
                    cells.at(4).keep(number);
                    if number % 500 == 0 {
                        cells.all().keep(number + 10_000);
                    }
                }
                runtime.quiescence().wait();
                cells.at(4).seen().wait()
            },
        );
        let seen = seen.expect("the nodes start");
        let expected = (0..2_000).flat_map(|number| {
            let to_all = (number % 500 == 0).then_some(number + 10_000);
            std::iter::once(number).chain(to_all)
        });
        assert_eq!(seen, expected.collect::<Vec<_>>());
    });
}

#[test]
fn replies_proxies_and_buffered_messages_cross_nodes() {
    everywhere(|job| {
        let (sum, book) = job()
            .run_within(
                |setup| setup.array(6, Cell::new),
                |runtime, cells| {
                    (0..6).for_each(|at| cells.at(at).keep(at as u64));
                    // Messages of another sender could overtake these.
                    runtime.quiescence().wait();
                    let all = (0..6).map(|at| cells.at(at)).collect();
                    let book = cells.at(5).read(3);
                    for (number, text) in [(2, "down"), (0, "up"), (1, "side")] {
                        cells.at(5).page(number, text.to_owned());
                    }
                    (cells.at(3).ask(all).wait(), book.wait())
                },
            )
            .expect("the nodes start");
        assert_eq!((sum, book.as_str()), (12, "upsidedown"));
    });
}

#[test]
fn wire_messages_of_any_length_arrive() {
    everywhere(|job| {
        let lengths: [usize; 5] = [0, 1, 100_000, 131_072, 1_000_003];
        let sums = job().run_within(
            |setup| setup.array(4, Cell::new),
            |_, cells| {
                let read = |length: usize| {
                    let book = cells.at(3).read(1);
                    cells.at(3).page(0, "x".repeat(length));
                    book.wait().len()
                };
                lengths.map(read)
            },
        );
        assert_eq!(sums.expect("the nodes start"), lengths);
    });
}

#[test]
fn reductions_include_all_nodes() {
    everywhere(|job| {
        let (gathered, agreed) = job()
            .run_within(
                |setup| setup.array(9, Cell::new),
                |runtime, cells| {
                    cells.all().seen_by();
                    let gathered: Vec<u64> = cells.reduction().wait();
                    cells.all().agree();
                    runtime.quiescence().wait();
                    (gathered, cells.at(8).seen().wait())
                },
            )
            .expect("the nodes start");
        assert_eq!(gathered, (0..9).map(|at| at << 32).collect::<Vec<_>>());
        assert_eq!(agreed, [72]);
    });
}

#[test]
fn reductions_skip_ended_elements() {
    everywhere(|job| {
        let gathered = job().run_within(
            |setup| setup.array(8, Cell::new),
            |runtime, cells| {
                [3, 7].iter().for_each(|&at| cells.at(at).leave());
                runtime.quiescence().wait();
                cells.all().seen_by();
                cells.reduction::<Vec<u64>>().wait().len()
            },
        );
        assert_eq!(gathered.expect("the nodes start"), 6);
    });
}

#[test]
fn failures_are_reported_on_all_nodes() {
    everywhere(|job| {
        let (reply, after) = job()
            .run_within(
                |setup| setup.array(4, Cell::new),
                |runtime, cells| {
                    let reply = cells.at(3).fall().try_wait();
                    drop(cells.at(2).fall());
                    let after = runtime.quiescence().try_wait();
                    (reply, after)
                },
            )
            .expect("the nodes start");
        let reply = reply.expect_err("it has panicked").to_string();
        assert!(reply.contains("element 3 falls"), "{reply}");
        let after = after.map_err(|failure| failure.to_string());
        // No caller waits for the second reply, so that its panic may be reported at any time.
        if let Err(after) = after {
            assert!(after.contains("element 2 falls"), "{after}");
        }
    });
}

#[test]
fn read_only_values_come_from_the_first_node() {
    everywhere(|job| {
        let values = job().run_within(
            |setup| {
                let me = setup.node();
                let first: usize = setup.readonly(|| me + 10);
                let second: String = setup.readonly(|| format!("of {me}"));
                let cells = setup.array(4, move |_| Cell::new(first));
                (cells, second)
            },
            |_, (cells, second)| {
                cells.all().seen_by();
                (cells.reduction::<Vec<u64>>().wait(), second)
            },
        );
        let (first, second) = values.expect("the nodes start");
        assert_eq!(first, [10 << 32; 4]);
        assert_eq!(second, "of 0");
    });
}

#[test]
fn the_main_part_may_end_while_wire_messages_are_under_way() {
    everywhere(|job| {
        let ended = job().run_within(
            |setup| setup.array(4, Cell::new),
            |_, cells| {
                (0..4).for_each(|at| cells.at(at).flood("x".repeat(5_000)));
                std::thread::sleep(std::time::Duration::from_millis(20));
            },
        );
        ended.expect("the nodes end");
    });
}

#[test]
fn elements_are_spread_over_the_nodes() {
    for nodes in NODES {
        let places = job(nodes, TransportKind::Memory).run_within(
            |setup| setup.array(12, Cell::new),
            |_, cells| {
                (0..12)
                    .map(|at| cells.at(at).where_am_i().wait())
                    .collect::<Vec<_>>()
            },
        );
        let count = usize::from(nodes);
        let expected = (0..12).map(|at| (at * 2 * count / 12 / 2, count));
        assert_eq!(
            places.expect("the nodes start"),
            expected.collect::<Vec<_>>()
        );
    }
}

#[test]
fn elements_can_be_removed_and_arrays_destroyed() {
    everywhere(|job| {
        let (left, gone) = job()
            .run_within(
                |setup| (setup.array(8, Cell::new), setup.array(8, Cell::new)),
                |runtime, (cells, others)| {
                    [0, 7].iter().for_each(|&at| cells.remove(at));
                    others.destroy();
                    runtime.quiescence().wait();
                    cells.all().seen_by();
                    let left = cells.reduction::<Vec<u64>>().wait().len();
                    (left, others.get(7).is_none())
                },
            )
            .expect("the nodes start");
        assert!(left == 6 && gone);
    });
}

#[test]
fn insertions_and_sections_over_several_nodes_are_refused() {
    let refused = job(2, TransportKind::Memory).run_within(
        |setup| setup.array(4, Cell::new),
        |_, cells| {
            let insert = || {
                let _ = cells.insert(1, |_| Cell::new(1));
            };
            let section = || {
                let _ = cells.section([0, 3]);
            };
            [panic_text(insert), panic_text(section)]
        },
    );
    for (refused, what) in refused
        .expect("the nodes start")
        .iter()
        .zip(["have insertions", "have sections"])
    {
        let expected = format!("an array of Cell over nodes cannot {what}");
        assert!(refused.contains(&expected), "{refused}");
    }
}
