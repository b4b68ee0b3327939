//! Tests of the programs between nodes, which are threads of one process here, on each transport.

use super::cpus::ThreadCpus;
use super::order::{Order, Outcome, Report, RoundTrips, Task};
use super::*;
use crate::threads::tests::with_threads;
use raddle::net::TransportKind;
use raddle_topology::{Affinity, CpuId, Topology};
use std::time::Duration;

const NO_LIMIT: Duration = Duration::from_secs(600);

fn group(kind: TransportKind, nodes: u16) -> NodeGroup {
    let topology = Topology::this_machine().expect("hwloc reads this machine");
    let cpus = NodeCpus::of(topology, &Affinity::None, nodes).expect("there is a CPU");
    NodeGroup::in_process(kind, nodes, cpus).expect("nodes start")
}

fn transports() -> impl Iterator<Item = TransportKind> {
    // The transports between threads of one process.
    TransportKind::WITHIN.iter().copied()
}

#[test]
fn the_payload_comes_back_intact_with_every_way_to_receive() {
    for kind in transports() {
        let group = group(kind, 2);
        for receive in Receive::ALL {
            for bytes in [1, 2, 208, 209, 3_456, 200_000] {
                let times = group.trip_times(receive, bytes, 30, NO_LIMIT);
                let times = times.unwrap_or_else(|error| panic!("{kind}, {receive}: {error}"));
                assert_eq!(times.len(), 30, "{kind}, {receive}, {bytes}");
            }
            let _time = group
                .total_time(receive, 16, 10)
                .expect("the payload comes back");
        }
        group.finish().expect("no node fails");
    }
}

#[test]
fn a_limit_of_zero_ends_the_measurement_after_one_trip() {
    let group = group(TransportKind::Memory, 3);
    let times = group.trip_times(Receive::Notify, 16, 1_000, Duration::ZERO);
    assert_eq!(times.expect("the payload comes back").len(), 1);
    group.finish().expect("no node fails");
}

#[test]
fn two_nodes_on_one_cpu_exchange_messages_with_every_way_to_receive() {
    let topology = Topology::this_machine().expect("hwloc reads this machine");
    let cpu = topology.allowed_cpus().next().expect("there is a CPU").id;
    let affinity = Affinity::Explicit(vec![cpu, cpu]);
    let cpus = NodeCpus::of(topology, &affinity, 2).expect("the CPU is allowed");
    assert!(!cpus.receive_apart() || topology.smt_siblings(cpu).count() > 1);
    let group = NodeGroup::in_process(TransportKind::Memory, 2, cpus).expect("nodes start");
    for receive in Receive::ALL {
        let times = group
            .trip_times(receive, 16, 20, NO_LIMIT)
            .expect("the payload comes back");
        assert_eq!(times.len(), 20);
    }
    group.finish().expect("no node fails");
}

#[test]
fn every_request_gets_a_response() {
    for kind in transports() {
        for nodes in [1, 2, 3] {
            let group = group(kind, nodes);
            for receive in Receive::ALL {
                let kernel = Kernel {
                    receive,
                    requests: 15,
                    steps: 100,
                    limit: NO_LIMIT,
                };
                let served = group.serve(kernel).expect("every request gets a response");
                assert_eq!(served.round_trips.len(), 15, "{kind}, {receive}");
                assert!(served.beside > Duration::ZERO && served.speed() > 0.0);
                let has_receiver = receive != Receive::Notify;
                assert_eq!(
                    served.receiver_cpu > Duration::ZERO,
                    has_receiver,
                    "{receive}"
                );
            }
            group.finish().expect("no node fails");
        }
    }
}

#[test]
fn the_steps_of_a_message_have_positive_costs() {
    for kind in transports() {
        let group = group(kind, 2);
        let found = group.overheads(40).expect("all messages come");
        for time in [
            found.send,
            found.poll_none,
            found.poll_trip,
            found.notify_trip,
        ] {
            assert!(time > Duration::ZERO, "{kind}: {found:?}");
        }
        assert!(found.poll_latency() <= found.poll_trip, "{kind}: {found:?}");
        assert!(
            found.notify_latency() <= found.notify_trip,
            "{kind}: {found:?}"
        );
        group.finish().expect("no node fails");
    }
}

#[test]
fn orders_and_reports_are_parsed_as_they_were_written() {
    let cpus = ThreadCpus {
        compute: Some(CpuId(3)),
        receive: None,
        is_oversubscribed: true,
    };
    let wanted = RoundTrips {
        receive: Receive::Thread,
        bytes: 3_456,
        trips: 12,
        limit: Duration::from_millis(5),
        each: true,
    };
    let kernel = Kernel {
        receive: Receive::Poll,
        requests: 7,
        steps: 8,
        limit: Duration::from_secs(1),
    };
    for task in [
        Task::End,
        Task::RoundTrips(wanted),
        Task::Kernel(kernel),
        Task::Overheads { samples: 4 },
    ] {
        let order = Order { cpus, task };
        assert_eq!(Order::read(&order.write()), Some(order));
        assert_eq!(Order::read(&order.write()[1..]), None);
    }
    assert_eq!(Order::read(&[0xff; 96]), None);
    let report = Report {
        time: Duration::from_nanos(1),
        more: [3, 4, 5, 6, 7].map(Duration::from_nanos),
    };
    assert_eq!(Report::read(&report.write()), Some(report));
    assert_eq!(Outcome::default().report, Report::default());
}

// Regression: a refused thread caused a panic, or an endless wait for its part.
#[test]
fn too_few_threads_for_a_part_are_an_error() {
    let kernel = |receive| Kernel {
        receive,
        requests: 5,
        steps: 10,
        limit: NO_LIMIT,
    };
    // One thread for the other node, one for each part, and one for each receiving thread.
    for count in 0..6 {
        let (mut refused, mut done) = (0, 0);
        for program in 0..3 {
            let measured = with_threads(count, || {
                let topology = Topology::this_machine().expect("hwloc reads this machine");
                let cpus = NodeCpus::of(topology, &Affinity::None, 2).expect("there is a CPU");
                let group = NodeGroup::in_process(TransportKind::Memory, 2, cpus)?;
                match program {
                    0 => group
                        .trip_times(Receive::Thread, 16, 5, NO_LIMIT)
                        .map(drop)?,
                    1 => group
                        .trip_times(Receive::Notify, 16, 5, NO_LIMIT)
                        .map(drop)?,
                    _ => group.serve(kernel(Receive::Thread)).map(drop)?,
                }
                group.finish()
            });
            match measured {
                Ok(()) => done += 1,
                Err(NodesError::Thread(_)) => refused += 1,
                // A thread of the other node was refused.
                Err(NodesError::Net(_) | NodesError::Send(_)) => refused += 1,
                Err(error) => panic!("{count}, {program}: {error}"),
            }
        }
        assert_eq!(refused > 0, count < 5, "{count}: {done} done");
    }
}
