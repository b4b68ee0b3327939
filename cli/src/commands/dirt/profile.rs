//! The profile of a run of `raddle dirt`, as tables: one for each kind of thread.

use raddle_analysis::profile::Profile;
use raddle_analysis::table::{Cell, Table};
use raddle_graphics::dirt::ThreadReport;
use raddle_trace::profile::Activity;
use serde_json::{Map, Value, json};

use crate::report::Report;

/// The kinds of threads: the key and the title of the table.
const KINDS: [(&str, &str); 3] = [
    ("renderers", "Renderers: functions by caller"),
    ("communicators", "Communicators: functions by caller"),
    ("supervisor", "Supervisor: functions by caller"),
];

/// Returns the index of the kind of a thread.
const fn kind_of(thread: &ThreadReport) -> usize {
    match thread {
        ThreadReport {
            renderer: Some(_), ..
        } => 0,
        ThreadReport { node: 0, .. } => 2,
        ThreadReport { .. } => 1,
    }
}

/// Adds the tables of a profile to a report.
pub(super) fn describe(threads: &[ThreadReport], report: &mut Report) {
    let mut fields = Map::new();
    for (kind, (key, title)) in KINDS.iter().enumerate() {
        let of_kind = || threads.iter().filter(|thread| kind_of(thread) == kind);
        let count = of_kind().count();
        if count == 0 {
            continue;
        }
        let profile = Profile::of_threads(of_kind().map(|it| (u32::from(it.node), &it.times)));
        let table = table(&profile, title, count as f64);
        report.requested(&format!("\n{}\n{table}", table.title));
        report.requested(&format!("\n{}", activities(of_kind())));
        fields.insert((*key).to_owned(), json!(profile.lines));
    }
    report.field("profile", Value::Object(fields));
}

/// Returns the table of a kind of threads: as tables 6 and 8 of the study, with callers.
fn table(profile: &Profile, title: &'static str, threads: f64) -> Table {
    let columns = [
        ("function", 0),
        ("caller", 0),
        ("activity", 0),
        ("calls per thread", 1),
        ("mean ms", 3),
        ("deviation ms", 3),
        ("per call ns", 1),
    ];
    let mut table = Table::new("functions", title, columns);
    for line in &profile.lines {
        table.row([
            line.function.clone().into(),
            line.caller.clone().into(),
            line.category.clone().into(),
            Cell::Real(line.calls as f64 / threads),
            Cell::Real(line.mean_per_thread_ns * 1e-6),
            Cell::Real(line.deviation_per_thread_ns * 1e-6),
            Cell::Real(line.exclusive_ns / line.calls.max(1) as f64),
        ]);
    }
    table
}

/// Returns the share of each activity in the time of threads.
fn activities<'a>(threads: impl Iterator<Item = &'a ThreadReport> + Clone) -> Table {
    let columns = [("activity", 0), ("mean ms", 3), ("share %", 2)];
    let mut table = Table::new("activities", "Activities", columns);
    let count = threads.clone().count().max(1) as f64;
    let all: f64 = threads.clone().map(|it| it.times.total_ns()).sum();
    for activity in Activity::ALL {
        let time: f64 = threads.clone().map(|it| it.times.time_ns(activity)).sum();
        table.row([
            activity.name().into(),
            Cell::Real(time / count * 1e-6),
            Cell::Real(100.0 * time / all.max(1.0)),
        ]);
    }
    let cost: f64 = threads.map(|it| it.times.cost_ns()).sum();
    table.row([
        "(the profile itself, subtracted)".into(),
        Cell::Real(cost / count * 1e-6),
        Cell::Real(100.0 * cost / all.max(1.0)),
    ]);
    table
}
