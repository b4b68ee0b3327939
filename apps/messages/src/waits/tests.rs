//! Tests of each way to wait, on two CPUs and on one.

use super::*;
use raddle_topology::{Affinity, CpuId};

const NO_LIMIT: Duration = Duration::from_secs(600);
const PAUSE: Duration = Duration::from_micros(200);

fn machine() -> &'static Topology {
    Topology::this_machine().expect("hwloc reads this machine")
}

fn supported_kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL
        .into_iter()
        .filter(|kind| kind.missing().is_none())
}

#[test]
fn every_way_to_wait_receives_every_number() {
    let topology = machine();
    let places = Places::of(topology, &Affinity::Auto).expect("there is a CPU");
    for kind in supported_kinds() {
        let waits = Waits::new(topology, &places, kind).expect("the kind is supported");
        let times = waits.soon(30, NO_LIMIT).expect("nothing is refused");
        assert_eq!(times.len(), 30, "{kind}");
        let _time = waits.run(10).expect("nothing is refused");
        let late = waits.late(3, NO_LIMIT, PAUSE).expect("nothing is refused");
        assert_eq!(late.latencies.len(), 3, "{kind}");
    }
}

#[test]
fn two_threads_on_one_cpu_exchange_numbers() {
    let topology = machine();
    let cpu = topology.allowed_cpus().next().expect("there is a CPU").id;
    let affinity = Affinity::Explicit(vec![cpu, cpu]);
    let places = Places::of(topology, &affinity).expect("the CPU is allowed");
    assert_eq!((places.waiter, places.answerer), (Some(cpu), Some(cpu)));
    for kind in supported_kinds() {
        let waits = Waits::new(topology, &places, kind).expect("the kind is supported");
        let times = waits.soon(5, NO_LIMIT).expect("nothing is refused");
        assert_eq!(times.len(), 5, "{kind}");
    }
}

#[test]
fn a_limit_of_zero_ends_a_measurement_after_one_trip() {
    let topology = machine();
    let places = Places::of(topology, &Affinity::None).expect("there is a CPU");
    let waits = Waits::new(topology, &places, Kind::Auto).expect("the kind is supported");
    let times = waits.soon(u64::MAX, Duration::ZERO);
    assert_eq!(times.expect("nothing is refused").len(), 1);
    let late = waits.late(u64::MAX, Duration::ZERO, PAUSE);
    assert_eq!(late.expect("nothing is refused").latencies.len(), 1);
}

#[test]
fn a_bystander_is_measured_only_if_the_waiter_is_bound_to_a_cpu() {
    let topology = machine();
    let places = Places::of(topology, &Affinity::Auto).expect("there is a CPU");
    let waits = Waits::new(topology, &places, Kind::Futex).expect("the kind is supported");
    let bystander = waits.bystander(1, PAUSE).expect("nothing is refused");
    assert!(bystander.is_some_and(|bystander| bystander.share > 0.0));
    let unbound = Places::of(topology, &Affinity::None).expect("there is a CPU");
    let waits = Waits::new(topology, &unbound, Kind::Futex).expect("the kind is supported");
    assert_eq!(waits.bystander(1, PAUSE).expect("nothing is refused"), None);
}

#[test]
fn a_bystander_is_on_another_thread_of_the_core_if_there_is_one() {
    let beside = |machine, affinity| {
        let topology = Topology::synthetic(machine).expect("the description is valid");
        Places::of(&topology, &affinity)
            .expect("there are CPUs")
            .bystander
    };
    let sibling = Some((CpuId(1), Beside::SiblingThread));
    assert_eq!(beside("core:2 pu:2", Affinity::Auto), sibling);
    // The answerer is on the other thread of the core.
    let same = Some((CpuId(0), Beside::SameCpu));
    assert_eq!(beside("core:2 pu:2", Affinity::Compact), same);
    assert_eq!(beside("core:2 pu:1", Affinity::Auto), same);
    assert_eq!(beside("core:2 pu:2", Affinity::None), None);
}

#[test]
fn an_unsupported_kind_is_an_error_with_a_reason() {
    let topology = machine();
    let places = Places::of(topology, &Affinity::Auto).expect("there is a CPU");
    for kind in Kind::ALL {
        match (Waits::new(topology, &places, kind), kind.missing()) {
            (Ok(_), missing) => assert_eq!(missing, None, "{kind}"),
            (Err(error), missing) => {
                let text = error.to_string();
                assert!(missing.is_some_and(|why| text.contains(why)), "{text}");
            }
        }
    }
    let elsewhere = Topology::synthetic("core:2 pu:1").expect("the description is valid");
    let waits = Waits::new(&elsewhere, &places, Kind::Futex).expect("the kind is supported");
    assert!(matches!(waits.run(1), Err(WaitsError::Bind(_))));
}
