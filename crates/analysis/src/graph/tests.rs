//! Graphs of small recordings that are written by hand.

use raddle_timeline::{Event, Format, Track, Value, Writer, read};

use super::*;
use crate::costs::Costs;
use crate::simulation::simulate;
use crate::span::Span;

/// An event of a track: a slice from its begin to its end, or an instant, which has equal times.
#[derive(Clone, Copy, Default)]
struct Item {
    category: &'static str,
    name: &'static str,
    from_ns: u64,
    to_ns: u64,
    arguments: &'static [(&'static str, Value<'static>)],
    /// The flow that begins at an instant, or ends at a slice.
    flow: Option<u64>,
}

fn item(category: &'static str, from_ns: u64, to_ns: u64) -> Item {
    Item {
        category,
        name: category,
        from_ns,
        to_ns,
        ..Item::default()
    }
}

impl Item {
    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    fn with(self, arguments: &'static [(&'static str, Value<'static>)]) -> Self {
        Self { arguments, ..self }
    }

    fn flow(self, flow: u64) -> Self {
        Self {
            flow: Some(flow),
            ..self
        }
    }
}

/// Returns a recording of one process with these tracks.
fn recording(tracks: &[(&'static str, &[Item])]) -> Recording {
    recording_of_nodes(&[tracks])
}

/// Returns a recording of several processes.
fn recording_of_nodes(nodes: &[&[(&'static str, &[Item])]]) -> Recording {
    let bytes = write(nodes).expect("memory");
    Recording::new(read(&bytes[..]).expect("a timeline")).expect("facts")
}

fn write(nodes: &[&[(&'static str, &[Item])]]) -> std::io::Result<Vec<u8>> {
    const TRACKS_MAX: usize = 16;
    let mut writer = Writer::new(Format::Perfetto, Vec::new())?;
    for (process, tracks) in nodes.iter().enumerate() {
        let id = |track: usize| (process * TRACKS_MAX + track) as u64;
        writer.process(process as u32, "program")?;
        let names = ["raddle"].into_iter();
        let names = names.chain(tracks.iter().map(|track| track.0));
        for (index, name) in names.enumerate() {
            writer.track(&Track {
                id: id(index),
                process: process as u32,
                thread: index as u32,
                name,
                rank: index as i32,
            })?;
        }
        let facts = Event {
            category: raddle_trace::export::FACTS,
            ..Event::named("facts")
        };
        writer.instant(id(0), 0, &facts)?;
        for (index, (_, items)) in tracks.iter().enumerate() {
            write_items(&mut writer, id(index + 1), items)?;
        }
    }
    writer.finish()
}

fn write_items(writer: &mut Writer<Vec<u8>>, track: u64, items: &[Item]) -> std::io::Result<()> {
    let mut open: Vec<u64> = Vec::new();
    for item in items {
        while let Some(to_ns) = open.pop_if(|to_ns| *to_ns <= item.from_ns) {
            writer.end(track, to_ns)?;
        }
        let is_instant = item.from_ns == item.to_ns;
        let flow = item.flow.as_slice();
        let event = Event {
            name: item.name,
            category: item.category,
            arguments: item.arguments,
            flows: if is_instant { flow } else { &[] },
            flows_ended: if is_instant { &[] } else { flow },
        };
        match is_instant {
            true => writer.instant(track, item.from_ns, &event)?,
            false => {
                writer.begin(track, item.from_ns, &event)?;
                open.push(item.to_ns);
            }
        }
    }
    while let Some(to_ns) = open.pop() {
        writer.end(track, to_ns)?;
    }
    Ok(())
}

fn graph(tracks: &[(&'static str, &[Item])]) -> (Graph, Span) {
    let recording = recording(tracks);
    let graph = Graph::of(&recording, &Links::of(&recording));
    let span = Span::of(&recording, &graph);
    (graph, span)
}

/// Returns work and span.
fn work_and_span(tracks: &[(&'static str, &[Item])]) -> (u64, u64) {
    let (_, span) = graph(tracks);
    (span.work_ns, span.span_ns)
}

const FREE: Costs = Costs {
    steal_ns: 0,
    message_ns: 0,
    local_ns: 0,
};

#[test]
fn the_halves_of_a_join_are_parallel() {
    let items = [
        item("task", 0, 100),
        item("join", 10, 90).with(&[("second_ns", Value::Unsigned(30))]),
    ];
    // 10 before, 30 and 50 beside each other, 10 after.
    assert_eq!(work_and_span(&[("worker 0", &items)]), (100, 70));
}

#[test]
fn nested_joins_are_parallel_in_both_halves() {
    let items = [
        item("task", 0, 100),
        item("join", 0, 100).with(&[("second_ns", Value::Unsigned(40))]),
        item("join", 0, 40).with(&[("second_ns", Value::Unsigned(20))]),
        item("join", 50, 100).with(&[("second_ns", Value::Unsigned(30))]),
    ];
    // The first half takes 20; the second 10, then 30 beside 20.
    assert_eq!(work_and_span(&[("worker 0", &items)]), (100, 40));
}

#[test]
fn a_fork_that_another_worker_has_run_belongs_to_its_join() {
    let owner = [
        item("task", 0, 100),
        item("join", 10, 90).with(&[("depth", Value::Unsigned(3))]),
        item("wait", 40, 90).named("wait for join"),
    ];
    let thief = [
        item("publish", 15, 15)
            .with(&[("owner", Value::Unsigned(0)), ("depth", Value::Unsigned(3))])
            .flow(1),
        item("fork", 20, 90).flow(1),
    ];
    let tracks: [(_, &[Item]); 2] = [("worker 0", &owner), ("worker 1", &thief)];
    // The second half could have begun with the first.
    assert_eq!(work_and_span(&tracks), (120, 90));
}

#[test]
fn a_wait_for_a_scope_depends_on_its_tasks() {
    let items = [
        item("task", 0, 100),
        item("put", 10, 10).flow(1),
        item("put", 10, 10).flow(2),
        item("wait", 20, 80).named("wait for scope"),
        item("task", 20, 40).flow(1),
        item("task", 40, 80).flow(2),
    ];
    // 10 before the puts, 40 of the longer task, 20 after the wait.
    assert_eq!(work_and_span(&[("worker 0", &items)]), (100, 70));
}

const ONE: &[(&str, Value<'static>)] = &[
    ("collection", Value::Unsigned(1)),
    ("element", Value::Unsigned(1)),
];
const OTHER: &[(&str, Value<'static>)] = &[
    ("collection", Value::Unsigned(1)),
    ("element", Value::Unsigned(2)),
];

#[test]
fn messages_to_one_object_run_one_after_the_other() {
    let messages = |second: &'static [(&'static str, Value<'static>)]| {
        [
            item("task", 0, 10),
            item("send", 10, 10).with(ONE).flow(1),
            item("send", 10, 10).with(second).flow(2),
            item("message", 10, 40).with(ONE).flow(1),
            item("message", 40, 80).with(second).flow(2),
        ]
    };
    let sends_inside = |mut items: [Item; 5]| {
        items[0].to_ns = 11;
        items[3].from_ns = 11;
        items
    };
    let (same, others) = (sends_inside(messages(ONE)), sends_inside(messages(OTHER)));
    assert_eq!(work_and_span(&[("worker 0", &same)]), (80, 10 + 29 + 40));
    assert_eq!(work_and_span(&[("worker 0", &others)]), (80, 10 + 40));
}

#[test]
fn writers_of_a_location_exclude_each_other_and_readers_do_not() {
    let sections = |access: &'static [(&'static str, Value<'static>)]| {
        [
            item("task", 0, 100),
            item("put", 10, 10).flow(1),
            item("section", 10, 60).named("block").with(access),
            item("task", 100, 200).flow(1),
            item("section", 100, 140).named("block").with(access),
        ]
    };
    let written = sections(&[("access", Value::Text("write"))]);
    let read = sections(&[("access", Value::Text("read"))]);
    // 10, then 50 in the section and 100 of the second task.
    assert_eq!(work_and_span(&[("worker 0", &written)]), (200, 160));
    assert_eq!(work_and_span(&[("worker 0", &read)]), (200, 110));
}

#[test]
fn a_loop_that_was_not_divided_is_parallel_by_its_items() {
    let items = [
        item("task", 0, 100_000),
        item("loop", 10_000, 90_000).with(&[("items", Value::Unsigned(8))]),
    ];
    let (graph, span) = graph(&[("worker 0", &items)]);
    assert_eq!((span.work_ns, span.span_ns), (100_000, 30_000));
    for (workers, ns) in [
        (1, 100_000),
        (2, 60_000),
        (4, 40_000),
        (8, 30_000),
        (64, 30_000),
    ] {
        assert_eq!(simulate(&graph, workers, FREE).ns, ns, "{workers}");
    }
}

#[test]
fn a_loop_with_slices_inside_is_divided_at_them() {
    let items = [
        item("task", 0, 100),
        item("loop", 10, 90).with(&[("items", Value::Unsigned(2))]),
        item("scope", 10, 30),
        item("scope", 30, 50),
        item("scope", 50, 70),
        item("scope", 70, 90),
    ];
    // Two items of 40, each with two scopes.
    assert_eq!(work_and_span(&[("worker 0", &items)]), (100, 60));
}

#[test]
fn calls_of_a_thread_outside_follow_each_other() {
    let main = [
        item("put", 10, 10).flow(1),
        item("wait", 10, 55).named("wait for handle"),
        item("put", 60, 60).flow(2),
        item("wait", 60, 100).named("wait for handle"),
    ];
    // The end of the first task is recorded after the thread outside has gone on.
    let worker = [item("task", 10, 65).flow(1), item("task", 70, 100).flow(2)];
    let tracks: [(_, &[Item]); 2] = [("worker 0", &worker), ("main", &main)];
    let (graph, span) = graph(&tracks);
    assert_eq!((span.work_ns, span.outside_ns), (85, 5));
    assert_eq!(span.span_ns, 90);
    assert_eq!(simulate(&graph, 4, FREE).ns, 90);
}

// Regression: the end of a task was recorded 60 us after the thread outside had gone on, and the
// next task was simulated beside it.
#[test]
fn a_thread_outside_waits_for_the_task_that_ends_closest() {
    const MS: u64 = 1_000_000;
    let main = [
        item("put", 0, 0).flow(1),
        item("put", 1, 1).flow(2),
        item("wait", 1, 4 * MS).named("wait for handle"),
        item("put", 4 * MS, 4 * MS).flow(3),
        item("wait", 4 * MS, 8 * MS).named("wait for handle"),
    ];
    let late = 100_000;
    let one = [item("task", 1, 4 * MS + late).flow(1)];
    let other = [
        item("task", 2, 10 * MS).flow(2),
        item("task", 10 * MS, 14 * MS).flow(3),
    ];
    let tracks: [(_, &[Item]); 3] = [("worker 0", &one), ("worker 1", &other), ("main", &main)];
    let (graph, _) = graph(&tracks);
    // The third task follows the first one, beside the second.
    let ns = simulate(&graph, 2, FREE).ns;
    assert!(ns.abs_diff(10 * MS) <= 2 * late, "{ns}");
}

#[test]
fn a_chare_that_a_task_has_made_is_where_the_task_ran() {
    // Two seeds, and a message to each chare.
    let items = [
        item("task", 0, 10),
        item("put", 5, 5).flow(1),
        item("put", 5, 5).flow(2),
        item("task", 10, 40).flow(1),
        item("entry", 10, 40).with(OTHER),
        item("send", 20, 20).with(OTHER).flow(3),
        item("task", 40, 70).flow(2),
        item("entry", 40, 70).with(ONE),
        item("send", 50, 50).with(ONE).flow(4),
        item("message", 70, 170).with(OTHER).flow(3),
        item("message", 170, 270).with(ONE).flow(4),
    ];
    let (graph, span) = graph(&[("worker 0", &items)]);
    assert_eq!(span.work_ns, 270);
    // Chares in blocks would be at the same places, but their tasks may have run elsewhere.
    assert_eq!(simulate(&graph, 1, FREE).ns, 270);
    assert_eq!(simulate(&graph, 2, FREE).ns, 10 + 30 + 100);
}

#[test]
fn a_simulation_charges_steals_and_finds_the_busiest_worker() {
    let items = [
        item("task", 0, 100),
        item("join", 0, 100).with(&[("second_ns", Value::Unsigned(50))]),
    ];
    let (graph, _) = graph(&[("worker 0", &items)]);
    let costs = Costs {
        steal_ns: 7,
        message_ns: 0,
        local_ns: 0,
    };
    let two = simulate(&graph, 2, costs);
    assert_eq!((two.ns, two.steals, two.busiest_ns), (57, 1, 50));
    assert_eq!(simulate(&graph, 1, costs).ns, 100);
}

#[test]
fn a_recording_without_workers_has_a_forecast() {
    let items = [item("call", 0, 100)];
    let recording = recording(&[("main", &items)]);
    let forecast = crate::forecast::Forecast::of(&recording, &Links::of(&recording));
    let forecast = forecast.expect("a forecast");
    assert_eq!(forecast.recorded_workers, 0);
    assert_eq!(forecast.points[0].run.ns, 100);
    let findings = crate::summary::Summary::of(&recording).findings;
    assert!(findings[0].text.starts_with("No worker"), "{findings:?}");
}

#[test]
fn strands_in_a_circle_are_all_kept() {
    let strand = |from_ns| Strand {
        from_ns,
        duration_ns: 1,
        lost_ns: 0,
        run: 0,
        event: 0,
    };
    let strands = vec![strand(5), strand(3), strand(9)];
    let graph = Graph::sorted(strands, vec![(0, 1), (1, 0), (1, 2)], Vec::new());
    let order: Vec<u64> = graph.strands.iter().map(|strand| strand.from_ns).collect();
    assert_eq!(order, [3, 5, 9]);
    assert_eq!(simulate_count(&graph), 3);
}

/// Returns the number of strands that can be reached in the order of their dependencies.
fn simulate_count(graph: &Graph) -> usize {
    let mut missing = graph.predecessor_counts();
    let mut open: Vec<usize> = (0..missing.len())
        .filter(|strand| missing[*strand] == 0)
        .collect();
    let mut count = 0;
    while let Some(strand) = open.pop() {
        count += 1;
        for successor in graph.successors(strand) {
            missing[*successor as usize] -= 1;
            if missing[*successor as usize] == 0 {
                open.push(*successor as usize);
            }
        }
    }
    count
}

#[test]
fn time_in_which_a_worker_was_preempted_is_no_work() {
    let lost: &[_] = &[("value", Value::Unsigned(30))];
    let items = [
        item("task", 0, 100),
        item("note", 60, 60).named("preempted").with(lost),
        item("put", 80, 80).flow(1),
        item("task", 100, 150).flow(1),
    ];
    assert_eq!(work_and_span(&[("worker 0", &items)]), (120, 100));
}

// Regression: a task in which the worker was preempted seemed to end early, and the time up to the
// next call was one outside of the runtime.
#[test]
fn a_preempted_task_leaves_no_time_outside() {
    let lost: &[_] = &[("value", Value::Unsigned(900_000))];
    let items = [
        item("task", 0, 1_000_000),
        item("note", 990_000, 990_000).named("preempted").with(lost),
        item("call", 1_000_000, 1_100_000),
    ];
    let (_, span) = graph(&[("worker 0", &items)]);
    assert_eq!((span.work_ns, span.outside_ns), (200_000, 0));
}

// Regression: the elements of an array over several nodes were all on the first worker.
#[test]
fn the_elements_of_all_nodes_are_divided_among_the_workers() {
    const OBJECT: &[(&str, Value<'static>)] = &[
        ("collection", Value::Unsigned(4)),
        ("element", Value::Unsigned(0)),
    ];
    let message = [item("message", 0, 100).with(OBJECT)];
    let node: &[(&str, &[Item])] = &[("worker 0", &message)];
    let recording = recording_of_nodes(&[node, node]);
    let graph = Graph::of(&recording, &Links::of(&recording));
    assert_eq!(simulate(&graph, 1, FREE).ns, 200);
    assert_eq!(simulate(&graph, 2, FREE).ns, 100);
}
