//! Chares on nodes that are processes: each test starts its own executable again, which runs the
//! same test as another node.
#![cfg(not(any(loom, shuttle)))]

#[cfg(feature = "mpi")]
#[path = "../../net/tests/mpirun/mod.rs"]
mod mpirun;

use raddle_chare::nodes::{Job, JobError, Progress};
use raddle_chare::reduce::Sum;
use raddle_chare::{Array, Chares, Cx, chare};
use raddle_net::{Launch, NetError, TransportKind};
use raddle_runtime::Runtime;
use raddle_topology::{Affinity, CpuId};

const LENGTH: usize = 64;
const STEPS: u32 = 20;

/// One point of a rod through which heat flows.
struct Piece {
    value: f64,
}

impl Piece {
    fn new(index: usize) -> Self {
        let value = if index == 0 { 1_000.0 } else { index as f64 };
        Self { value }
    }
}

#[chare(nodes)]
impl Piece {
    #[message]
    fn neighbour(step: u32, value: f64);

    #[entry]
    async fn flow(&mut self, cx: &mut Cx<Self>, steps: u32) {
        let (at, rod) = (cx.index(), cx.array());
        let beside = [at.checked_sub(1), (at + 1 < LENGTH).then_some(at + 1)];
        for step in 0..steps {
            let mut inflow = 0.0;
            for &other in beside.iter().flatten() {
                rod.at(other).neighbour(step, self.value);
            }
            for _ in beside.iter().flatten() {
                let (_, value) = cx.next_where(Self::neighbour, |news| news.0 == step).await;
                inflow += value - self.value;
            }
            self.value += inflow / 4.0;
        }
        let total: f64 = cx.reduce(Sum(self.value)).await;
        assert!(total > 0.0);
    }

    #[entry]
    fn value(&mut self) -> f64 {
        self.value
    }

    #[entry]
    fn fall(&mut self) {
        panic!("it falls");
    }

    #[entry]
    fn abort(&mut self) {
        std::process::abort();
    }
}

fn job(test: &str, kind: TransportKind, nodes: u16) -> Job {
    Job::new(nodes)
        .transport(kind)
        .runtime(Runtime::builder().workers(2))
        .arguments(["--exact", test, "--nocapture"])
        .quiet(true)
}

fn values(rod: Array<Piece>) -> Vec<f64> {
    let values: Vec<_> = (0..LENGTH).map(|at| rod.at(at).value()).collect();
    values.into_iter().map(raddle_chare::Reply::wait).collect()
}

/// Computes the expected values without chares.
fn expected() -> Vec<f64> {
    let mut values: Vec<_> = (0..LENGTH).map(|at| Piece::new(at).value).collect();
    for _ in 0..STEPS {
        let before = values.clone();
        for (at, value) in values.iter_mut().enumerate() {
            // The order of the two neighbours does not matter, because the sum of two values is the
            // same.
            let beside = [at.checked_sub(1), (at + 1 < LENGTH).then_some(at + 1)];
            let beside = beside.iter().flatten();
            let inflow: f64 = beside.map(|&other| before[other] - before[at]).sum();
            *value += inflow / 4.0;
        }
    }
    values
}

/// One test for each transport and number of nodes. A started process runs the test with the same
/// two.
macro_rules! on_nodes {
    ($($name:ident: $kind:ident, $nodes:literal, $progress:ident;)+) => {$(
        mod $name {
            #[test]
            fn the_answer_is_the_same() {
                super::the_answer_is_the_same(
                    concat!(stringify!($name), "::the_answer_is_the_same"),
                    super::TransportKind::$kind,
                    $nodes,
                    super::Progress::$progress,
                );
            }
        }
    )+};
}

on_nodes! {
    alone: Memory, 1, Pending;
    two_by_memory: Memory, 2, Pending;
    three_by_memory: Memory, 3, Pending;
    four_by_memory: Memory, 4, Pending;
    two_by_sockets: Sockets, 2, Pending;
    three_by_sockets: Sockets, 3, Pending;
    four_by_sockets: Sockets, 4, Pending;
    three_with_each_send: Memory, 3, EachSend;
    three_with_any_send: Memory, 3, AnySend;
    three_with_a_thread: Memory, 3, Thread;
    three_by_sockets_with_each_send: Sockets, 3, EachSend;
    three_by_sockets_with_a_thread: Sockets, 3, Thread;
}

/// Runs the same tests in processes that `mpirun` has started.
#[cfg(feature = "mpi")]
mod by_mpi {
    use raddle_chare::nodes::JobEnvironment;
    use raddle_net::{Launch, TransportKind};

    use super::{Progress, mpirun};

    fn the_answer_is_the_same(test: &str, nodes: u16, progress: Progress) {
        if Launch::rank_count().is_some() {
            let environment = JobEnvironment::read().expect("it makes sense");
            let kind = environment.transport.expect("one was said");
            return super::the_answer_is_the_same(test, kind, nodes, progress);
        }
        let kinds = TransportKind::OF_PROCESSES.iter();
        for kind in kinds.filter(|kind| kind.is_by_mpi()) {
            let output = mpirun::again(test, nodes, [("RADDLE_TRANSPORT", kind.name())]);
            assert!(output.status.success(), "{}", mpirun::printed(&output));
        }
    }

    #[test]
    fn one() {
        the_answer_is_the_same("by_mpi::one", 1, Progress::Pending);
    }

    #[test]
    fn two() {
        the_answer_is_the_same("by_mpi::two", 2, Progress::Pending);
    }

    #[test]
    fn four() {
        the_answer_is_the_same("by_mpi::four", 4, Progress::Pending);
    }

    #[test]
    fn two_with_each_send() {
        the_answer_is_the_same("by_mpi::two_with_each_send", 2, Progress::EachSend);
    }

    #[test]
    fn two_with_a_thread() {
        the_answer_is_the_same("by_mpi::two_with_a_thread", 2, Progress::Thread);
    }
}

fn the_answer_is_the_same(test: &str, kind: TransportKind, nodes: u16, progress: Progress) {
    let values = job(test, kind, nodes).progress(progress).run(
        |setup| setup.array(LENGTH, Piece::new),
        |runtime, rod| {
            rod.all().flow(STEPS);
            runtime.quiescence().wait();
            values(rod)
        },
    );
    if let Some(values) = values.expect("the nodes start") {
        assert_eq!(values, expected());
    }
}

#[test]
fn a_panic_on_another_node_is_reported() {
    let failed = job(
        "a_panic_on_another_node_is_reported",
        TransportKind::Memory,
        2,
    )
    .run(
        |setup| setup.array(LENGTH, Piece::new),
        |runtime, rod| {
            rod.at(LENGTH - 1).fall();
            runtime.quiescence().try_wait()
        },
    );
    if let Some(failed) = failed.expect("the nodes come up and go") {
        let failure = failed.expect_err("it has failed").to_string();
        assert!(failure.contains("it falls"), "{failure}");
    }
}

mod dies {
    use super::TransportKind;

    #[test]
    fn by_memory() {
        super::the_death_of_a_node_is_reported("dies::by_memory", TransportKind::Memory);
    }

    #[test]
    fn by_sockets() {
        super::the_death_of_a_node_is_reported("dies::by_sockets", TransportKind::Sockets);
    }
}

fn the_death_of_a_node_is_reported(test: &str, kind: TransportKind) {
    let mut report = None;
    let ended = job(test, kind, 3).run(
        |setup| setup.array(LENGTH, Piece::new),
        |runtime, rod| {
            rod.at(LENGTH - 1).abort();
            report = Some(runtime.quiescence().try_wait());
        },
    );
    match report {
        Some(outcome) => {
            let failure = outcome.expect_err("it has died").to_string();
            assert!(failure.contains("node 2 has died"), "{failure}");
            // The process of the node has ended abnormally.
            assert!(
                matches!(ended, Err(JobError::Net(NetError::Failed { .. }))),
                "{ended:?}"
            );
        }
        // This is a started node that has finished.
        None => assert!(matches!(ended, Ok(None)), "{ended:?}"),
    }
}

// Regression: a node without a runtime, because it could not be built, left the job. The first
// node took this for a regular end, and waited for ever for the work of that node.
#[test]
fn a_node_that_fails_to_start_fails_the_program() {
    let test = "a_node_that_fails_to_start_fails_the_program";
    let nowhere = Runtime::builder()
        .workers(2)
        .affinity(Affinity::Explicit(vec![CpuId(1 << 20), CpuId(1 << 20)]));
    let mut job = job(test, TransportKind::Memory, 2);
    if Launch::is_started() {
        job = job.runtime(nowhere);
    }
    let done = job.run(
        |setup| setup.array(LENGTH, Piece::new),
        |_, rod| rod.at(LENGTH - 1).value().try_wait(),
    );
    if Launch::is_started() {
        assert!(matches!(done, Err(JobError::Build(_))), "{done:?}");
        return;
    }
    match done {
        Ok(Some(Err(failure))) => {
            let report = failure.to_string();
            assert!(report.contains("node 1 has left"), "{report}");
        }
        done => panic!("{done:?}"),
    }
}
