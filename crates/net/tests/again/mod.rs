//! Starts a test's own program again, as the other nodes of the test.

use raddle_net::{Launch, Nodes, Shape, TransportKind};
use rustix::process::{Pid, Signal, kill_process};

/// Defines a test of each function for each transport between processes, except those of MPI. A
/// process that is started runs one test, with one transport.
macro_rules! by_each_transport {
    ($($test:ident)*) => {
        /// Fails when a transport is missing below.
        #[test]
        fn every_transport_between_processes_is_tested() {
            let kinds = TransportKind::OF_PROCESSES.iter().copied();
            let kinds = kinds.filter(|kind| !kind.is_by_mpi());
            assert!(kinds.eq([TransportKind::Memory, TransportKind::Sockets]));
        }

        mod shm {
            $(#[test]
            fn $test() {
                super::$test(concat!("shm::", stringify!($test)), super::TransportKind::Memory);
            })*
        }

        mod socket {
            $(#[test]
            fn $test() {
                super::$test(concat!("socket::", stringify!($test)), super::TransportKind::Sockets);
            })*
        }
    };
}

pub(crate) use by_each_transport;

/// Describes the nodes of `test`, with one port each.
pub(crate) fn launch(test: &str, kind: TransportKind, nodes: u16) -> Launch {
    Launch::new(Shape { nodes, ports: 1 })
        .transport(kind)
        .arguments(["--exact", test, "--nocapture"])
        .quiet(true)
}

/// Starts or joins the nodes of `launch`.
pub(crate) fn start(launch: Launch) -> Nodes {
    launch.start().expect("processes can be started")
}

/// Sends a signal to a process that this one has started.
pub(crate) fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process.cast_signed()).expect("not zero");
    kill_process(process, signal).expect("it runs, or has not been waited for");
}
