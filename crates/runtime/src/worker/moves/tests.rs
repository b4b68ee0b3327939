//! Tests with workers that move because of observed traffic.

use std::sync::mpsc;
use std::time::Duration;

use raddle_topology::{
    Affinity, Claims, CpuId, Decision, Matrix, PlaceOptions, Relocation, Topology,
};

use crate::Runtime;
use crate::placing::{Claiming, Decide};
use crate::runtime::Builder;

/// Decides that two workers change places once the first has sent the second more than a hundred
/// messages, if the worker with the lower index has the lower CPU.
fn swap(
    matrix: &Matrix,
    observed: Duration,
    present: &[Option<CpuId>],
    _: &Topology,
    _: &PlaceOptions,
) -> Decision {
    let steps = match present {
        &[Some(first), Some(second)] if first < second && matrix.get(0, 1) > 12_800.0 => vec![
            Relocation {
                party: 0,
                from: first,
                to: second,
            },
            Relocation {
                party: 1,
                from: second,
                to: first,
            },
        ],
        _ => Vec::new(),
    };
    Decision::weigh(steps, 1e12, 1e3, observed)
}

fn start(name: &str, decide: Decide, is_never_alike: bool) -> Runtime {
    let group = format!("raddle-test-{}-{name}", std::process::id());
    let mut resolved = Builder::new()
        .workers(2)
        .affinity(Affinity::Auto)
        .claims(Claims::in_group(group))
        .resolve(Claiming::Claim)
        .expect("two workers can be placed");
    resolved.placed.decide = decide;
    resolved.placed.is_never_alike = is_never_alike;
    Runtime::start(resolved, None).expect("workers start")
}

/// Sends one message from the first worker to the second, and waits for it.
fn talk(runtime: &Runtime) {
    let (post, (done, is_done)) = (runtime.post(), mpsc::channel());
    runtime.post().send(0, move || {
        post.send(1, move || done.send(()).expect("the test waits"));
    });
    is_done.recv().expect("the message runs");
}

/// Returns the CPU to which each worker's thread is bound, according to the system.
fn bindings(runtime: &Runtime) -> Vec<Option<CpuId>> {
    let ask = |worker| {
        let (reply, answer) = mpsc::channel();
        runtime.post().send(worker, move || {
            let topology = Topology::this_machine().expect("hwloc knows this machine");
            let cpus = topology.this_thread_cpus().expect("a set");
            reply
                .send(cpus.first().filter(|_| cpus.len() == 1))
                .expect("the test waits");
        });
        answer.recv().expect("the worker answers")
    };
    (0..runtime.worker_count()).map(ask).collect()
}

#[test]
fn workers_change_places_because_of_their_traffic() {
    let runtime = start("swap", swap, true);
    let before = runtime.plan();
    let cpus: Vec<_> = before.entries.iter().map(|entry| entry.cpu).collect();
    if cpus.iter().flatten().count() < 2 {
        // With one CPU, no workers can change places.
        return;
    }
    // Repeat until a worker looks at the traffic. After every message both workers run out of work.
    while !runtime.plan().summary.starts_with("placed by traffic") {
        talk(&runtime);
    }
    let wanted = [cpus[1], cpus[0]];
    while bindings(&runtime) != wanted {}
    let after = runtime.plan();
    assert_eq!(
        after
            .entries
            .iter()
            .map(|entry| entry.cpu)
            .collect::<Vec<_>>(),
        wanted
    );
    let report = runtime.report();
    let [moves] = &report.moves[..] else {
        panic!("only workers were moved: {:?}", report.moves);
    };
    assert_eq!(
        (moves.what.as_str(), moves.moves, moves.moved),
        ("workers", 1, 2)
    );
    assert!(moves.why.starts_with("2 move: it saves "), "{}", moves.why);
    assert!(report.to_string().contains("workers: looked "), "{report}");
    // The traffic goes on, and no worker moves back.
    for _ in 0..1_000 {
        talk(&runtime);
    }
    assert_eq!(bindings(&runtime), wanted);
    assert!(runtime.traffic().get(0, 1) >= 1_000.0 * 64.0);
}

#[test]
fn placement_is_not_reviewed_where_nothing_can_be_gained() {
    fn never(
        _: &Matrix,
        _: Duration,
        _: &[Option<CpuId>],
        _: &Topology,
        _: &PlaceOptions,
    ) -> Decision {
        panic!("all placements cost the same here");
    }
    let topology = Topology::this_machine().expect("hwloc knows this machine");
    if !raddle_topology::alike(topology, &topology.allowed_set()) {
        return;
    }
    let runtime = start("alike", never, false);
    assert!(!runtime.shared().placing().is_reviewed());
    talk(&runtime);
    assert!(runtime.report().moves.is_empty());
}
