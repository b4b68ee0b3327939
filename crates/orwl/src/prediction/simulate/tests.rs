//! Simulated runs with times that can be computed by hand.

mod properties;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use raddle_topology::{CpuId, Topology};

use super::super::sketch::{Sketch, SketchUse};
use super::flows::Flows;
use super::{MachineSpeed, Mapping, Simulated};
use raddle_sync::fifo::Access::{Read, Write};

/// A speed at which bytes take no time within a node, and a nanosecond each between nodes.
const SPEED: MachineSpeed = MachineSpeed {
    core: f64::INFINITY,
    node: f64::INFINITY,
    link: 1.0,
};

fn simulated(sketch: &Sketch, cpus: &[u32], turns: u64) -> Simulated {
    let topology = Topology::synthetic("numa:2 core:3 pu:1").expect("it is well formed");
    let cpus = cpus.iter().map(|&cpu| CpuId(cpu)).collect();
    sketch.simulate(&topology, SPEED, &Mapping::Bound(cpus), turns)
}

/// Returns a pipeline of three stages of 100, 200 and 100 ns.
///
/// The locations between them have 10 bytes and keep `depth` values.
fn pipeline(depth: usize) -> Sketch {
    let mut sketch = Sketch::new("pipeline");
    let (first, second) = (sketch.location(10, depth), sketch.location(10, depth));
    sketch.operation("source", 100.0, 0.0, &[(first, Write)]);
    sketch.operation("stage", 200.0, 0.0, &[(first, Read), (second, Write)]);
    sketch.operation("sink", 100.0, 0.0, &[(second, Read)]);
    sketch
}

#[test]
fn a_pipeline_is_as_fast_as_its_slowest_stage_where_values_are_kept() {
    let ns = |depth, cpus| simulated(&pipeline(depth), cpus, 10).time;
    // With two values, a stage works while its neighbours work. With one, stages that are
    // neighbours alternate.
    assert_eq!(ns(2, &[0, 1, 1]), Duration::from_nanos(100 + 10 * 300));
    assert_eq!(
        ns(2, &[0, 1, 2]),
        Duration::from_nanos(100 + 10 * 200 + 100)
    );
    assert_eq!(ns(1, &[0, 1, 2]), Duration::from_nanos(10 * 300 + 100));
    assert_eq!(ns(1, &[0, 0, 0]), Duration::from_nanos(10 * 400));
}

#[test]
fn bytes_between_nodes_take_the_link() {
    let near = simulated(&pipeline(1), &[0, 1, 0], 10);
    let far = simulated(&pipeline(1), &[0, 3, 0], 10);
    assert_eq!(near.remote_bytes, 0);
    assert_eq!(far.remote_bytes, 200);
    // One transfer to the stage and one back to the source, which writes its next value after the
    // previous one was read.
    assert!(
        far.time >= near.time + Duration::from_nanos(10 * 10),
        "{far:?} {near:?}"
    );
}

#[test]
fn tasks_on_one_cpu_take_turns_and_others_do_not_wait() {
    let mut sketch = Sketch::new("apart");
    for name in ["one", "two"] {
        let own = sketch.location(8, 1);
        sketch.operation(name, 50.0, 0.0, &[(own, Write)]);
    }
    assert_eq!(
        simulated(&sketch, &[0, 0], 4).time,
        Duration::from_nanos(400)
    );
    assert_eq!(
        simulated(&sketch, &[0, 1], 4).time,
        Duration::from_nanos(200)
    );
}

#[test]
fn an_operation_that_wanders_leaves_its_memory_behind() {
    let mut sketch = Sketch::new("memory");
    let own = sketch.location(0, 1);
    sketch.operation("sweep", 10.0, 1_000.0, &[(own, Write)]);
    let topology = Topology::synthetic("numa:2 core:1 pu:1").expect("it is well formed");
    let wanders = Mapping::Wanders {
        cpus: vec![CpuId(0), CpuId(1)],
        turns_per_stay: 1,
        seed: 1,
    };
    let wandering = sketch.simulate(&topology, SPEED, &wanders, 64);
    let bound = sketch.simulate(&topology, SPEED, &Mapping::Bound(vec![CpuId(0)]), 64);
    assert_eq!(
        (bound.migrations, bound.remote_bytes, bound.time),
        (0, 0, Duration::from_nanos(640))
    );
    assert!(
        wandering.migrations > 16 && wandering.remote_bytes > 16_000,
        "{wandering:?}"
    );
    assert!(wandering.time > 20 * bound.time, "{wandering:?}");
}

#[test]
fn transfers_share_what_limits_them_and_small_ones_pass() {
    let speed = MachineSpeed {
        core: 10.0,
        node: 12.0,
        link: 4.0,
    };
    let mut flows = Flows::new(speed, 3);
    // Two transfers use the link of node 1, so each gets 2 bytes per nanosecond. The third one gets
    // the rest of memory 0, up to the bandwidth of its core.
    flows.begin(0.0, 0, 20.0, (0, 1), 1.0);
    flows.begin(0.0, 1, 100.0, (2, 1), 1.0);
    flows.begin(0.0, 2, 100.0, (0, 0), 1.0);
    let mut ends = Vec::new();
    while let Some(end) = flows.next_end() {
        ends.push((flows.end_next(), end));
    }
    // From 10 ns on, the second transfer has the link for itself: 80 bytes at 4 bytes per ns.
    assert_eq!(ends, [(Some(0), 10.0), (Some(2), 10.0), (Some(1), 30.0)]);
}

#[test]
fn bytes_that_go_farther_take_more_of_the_links() {
    let mut flows = Flows::new(SPEED, 2);
    flows.begin(5.0, 0, 10.0, (0, 1), 2.0);
    assert_eq!(flows.next_end(), Some(25.0));
}

#[test]
fn a_piece_comes_from_the_writer_of_the_whole() {
    let mut sketch = Sketch::new("split");
    let whole = sketch.location(30, 1);
    let pieces = [sketch.piece(whole, 10), sketch.piece(whole, 20)];
    sketch.operation("deals", 1.0, 0.0, &[(whole, Write)]);
    sketch.operation("near", 1.0, 0.0, &[(pieces[0], Write)]);
    sketch.operation("far", 1.0, 0.0, &[(pieces[1], Write)]);
    sketch.operation("collects", 1.0, 0.0, &[(whole, Read)]);
    // 20 bytes are transferred to the far operation, and the collector fetches them back. The
    // dealer is on the collector's CPU.
    let once = simulated(&sketch, &[0, 1, 3, 0], 1);
    assert_eq!(once.remote_bytes, 40);
    assert_eq!(once.time, Duration::from_nanos(1 + 20 + 1 + 20 + 1));
}

#[test]
fn only_the_touched_bytes_of_a_block_are_transferred() {
    let mut sketch = Sketch::new("edge");
    let block = sketch.location(1_000_000, 1);
    sketch.operation("sweep", 1.0, 0.0, &[(block, Write)]);
    let edge = sketch.operation("edge", 1.0, 0.0, &[(block, Read)]);
    sketch.touches(edge, block, 8);
    assert_eq!(simulated(&sketch, &[0, 3], 1).remote_bytes, 8);
    assert_eq!(sketch.dependencies().get(0, 1), 8.0);
}

#[test]
fn values_that_are_exchanged_stay_where_they_are() {
    let mut sketch = Sketch::new("ring");
    let (left, right) = (sketch.location(10, 1), sketch.location(10, 1));
    sketch.operation("left", 1.0, 0.0, &[(left, Read)]);
    sketch.operation("right", 1.0, 0.0, &[(right, Read)]);
    let pass = sketch.operation("pass", 1.0, 0.0, &[(left, Write), (right, Write)]);
    sketch.exchanges(pass);
    // Each value is on its reader's CPU in the first turn, on the other CPU in the second, and back
    // in the third.
    let remote = |turns| simulated(&sketch, &[0, 3, 1], turns).remote_bytes;
    assert_eq!([1, 2, 3].map(remote), [0, 20, 20]);
}

#[test]
fn operations_that_stay_together_have_one_label_in_any_order_of_declaration() {
    for pairs in [[(2, 1), (1, 0)], [(1, 0), (2, 1)], [(0, 2), (1, 2)]] {
        let mut sketch = Sketch::new("three of four");
        for name in ["a", "b", "c", "d"] {
            sketch.operation(name, 1.0, 0.0, &[]);
        }
        for (operation, other) in pairs {
            sketch.keep_together(operation, other);
            sketch.keep_together(other, operation);
        }
        let labels = sketch.together();
        assert!(labels[0] == labels[1] && labels[1] == labels[2]);
        assert_ne!(labels[2], labels[3]);
    }
}

/// Declares an operation that uses these parts of a whole (0) and its two pieces (1, 2).
///
/// Returns the panic message, if it panics.
fn refusal_of(uses: &[usize]) -> Option<String> {
    let mut sketch = Sketch::new("twice");
    let whole = sketch.location(10, 2);
    let places = [whole, sketch.piece(whole, 5), sketch.piece(whole, 5)];
    let uses: Vec<_> = uses.iter().map(|&at| (places[at], Write)).collect();
    let declare = || sketch.operation("reverse", 1.0, 0.0, &uses);
    let panic = catch_unwind(AssertUnwindSafe(declare)).err()?;
    Some(*panic.downcast::<String>().expect("it has values"))
}

// Regression: such an operation waited for itself, and the simulation ended at once with a time of
// 0.
#[test]
fn an_operation_that_would_wait_for_itself_is_refused_as_a_task_is() {
    for uses in [[0, 0], [1, 1], [0, 1], [2, 0]] {
        let message = refusal_of(&uses).expect("it is refused");
        let expected = "which would wait for each other; expected one";
        assert!(
            message.starts_with("operation reverse has two handles on location"),
            "{uses:?}: {message}"
        );
        assert!(message.ends_with(expected), "{uses:?}: {message}");
    }
    assert_eq!(refusal_of(&[1, 2]), None);
}

// Such an order cannot be declared. If there is one because of a bug, no time is returned.
#[test]
#[should_panic(expected = "operation sink waits forever in turn 0")]
fn a_run_that_does_not_end_has_no_time() {
    let mut sketch = pipeline(1);
    let twice = sketch.operations[2].uses[0].clone();
    sketch.operations[2].uses.push(SketchUse {
        access: Write,
        ..twice
    });
    let _ = simulated(&sketch, &[0, 1, 2], 10);
}
