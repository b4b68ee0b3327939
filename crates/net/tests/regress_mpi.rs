//! The MPI counterparts of `in_process/regress_close` and `regress_stopped`: a put after the
//! connection was closed is refused, and a node that was stopped is given up, while the program
//! runs and at its end. Each test has `mpirun` run its own program again, as processes that run the
//! same test as nodes.
#![cfg(feature = "mpi")]

mod exchange;
mod mpirun;

use std::time::Duration;

use exchange::{next_end, put_after_close, say, wait_for_messages};
use raddle_net::{Launch, NetError, NodeId, Nodes, Shape, TransportKind};
use rustix::process::{Signal, getpid, kill_process};

/// The transports: with shared memory within a machine, and without, as between machines.
const KINDS: [TransportKind; 2] = [TransportKind::Mpi, TransportKind::MpiMessages];
/// The environment variable with the name of the transport.
const KIND: &str = "RADDLE_TEST_KIND";

/// Has MPI start two nodes of this test for each kind of transport, or becomes one of the nodes.
/// `is_well` says whether they succeed.
fn as_two_nodes(test: &str, is_well: bool, run: impl FnOnce(Nodes)) {
    if Launch::rank_count().is_some() {
        let named = std::env::var(KIND).expect("the variable is set for these processes");
        let kind = KINDS.into_iter().find(|kind| kind.name() == named);
        let launch = Launch::new(Shape { nodes: 2, ports: 1 })
            .transport(kind.expect("one of two kinds"))
            .silence(Duration::from_secs(2));
        return run(launch.start().expect("both processes call this"));
    }
    // Both kinds run at the same time, because a stopped process is given up only after two
    // seconds, and `mpirun` takes as long to kill it.
    std::thread::scope(|scope| {
        for kind in KINDS {
            scope.spawn(move || {
                let output = mpirun::again_beside(test, 2, [(KIND, kind.name())]);
                let printed = mpirun::printed(&output);
                assert_eq!(output.status.success(), is_well, "{kind}: {printed}");
                let is_silent = printed.contains("node 1 has not answered for 2 s");
                assert_eq!(is_silent, !is_well, "{kind}: {printed}");
            });
        }
    });
}

/// Stops this process until it is killed.
fn stop() -> ! {
    kill_process(getpid(), Signal::STOP).expect("it is this process");
    // Another thread may receive the signal, so that this one continues for a moment.
    loop {
        std::thread::sleep(Duration::from_secs(1));
    }
}

#[test]
fn a_put_after_close_is_refused() {
    as_two_nodes("a_put_after_close_is_refused", true, put_after_close);
}

#[test]
fn a_stopped_node_is_given_up() {
    as_two_nodes("a_stopped_node_is_given_up", false, |nodes| {
        let mut port = nodes.node().port(0);
        if nodes.node().id() == NodeId(0) {
            wait_for_messages(&mut port, 1);
            let error = next_end(&mut port);
            assert!(
                matches!(
                    error,
                    NetError::Silent {
                        node: NodeId(1),
                        ..
                    }
                ),
                "{error}"
            );
            drop(port);
            nodes.finish().unwrap_or_else(|error| panic!("{error}"));
        } else {
            say(&mut port, NodeId(0));
            stop();
        }
    });
}

#[test]
fn a_node_that_is_stopped_at_the_end_is_given_up() {
    as_two_nodes(
        "a_node_that_is_stopped_at_the_end_is_given_up",
        false,
        |nodes| {
            let mut port = nodes.node().port(0);
            if nodes.node().id() == NodeId(0) {
                wait_for_messages(&mut port, 1);
                drop(port);
                nodes.finish().unwrap_or_else(|error| panic!("{error}"));
            } else {
                say(&mut port, NodeId(0));
                // Let the first node begin to finish before this one is stopped.
                std::thread::sleep(Duration::from_secs(1));
                stop();
            }
        },
    );
}
