//! Time in which a thread had work, but was not on a CPU.
//!
//! A thread is *blocked* if it waits in the operating system: for a lock, for a file, for memory.
//! It is *preempted* if the operating system runs something else on its CPU. The recording asks the
//! system after each long time without an event, and notes both with the time lost.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::recording::{Recording, is_function};
use crate::table::{Cell, Table};

/// The names of the notes in a recording.
const NOTES: [&str; 2] = [
    raddle_trace::record::kind::BLOCKED,
    raddle_trace::record::kind::PREEMPTED,
];

/// The times in which threads with work were not on a CPU.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct OffCpu {
    /// One entry per function and reason, the most time first.
    pub functions: Vec<OffCpuOfFunction>,
}

/// The times in which one function was not on a CPU.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct OffCpuOfFunction {
    /// The name of the innermost task, message, section or scope. Empty if there was none: the
    /// worker ran the runtime itself.
    pub function: String,
    /// True if it was blocked, false if it was preempted.
    pub is_blocked: bool,
    /// The number of times that this was noticed.
    pub count: u64,
    /// The time off the CPU, in nanoseconds.
    pub ns: u64,
    /// The time of all calls of the function without the functions that these have called, in
    /// nanoseconds.
    pub of_ns: u64,
    /// The number of threads.
    pub threads: u64,
}

impl OffCpu {
    /// Collects the times off the CPU.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let timeline = recording.timeline();
        let mut sums: BTreeMap<(&str, bool), OffCpuOfFunction> = BTreeMap::new();
        for thread in recording.threads() {
            let mut of_thread: BTreeMap<(&str, bool), (u64, u64)> = BTreeMap::new();
            for (index, event) in recording.events_of(thread) {
                let name = timeline.text(event.name());
                if timeline.text(event.category()) != "note" || !NOTES.contains(&name) {
                    continue;
                }
                let function = recording.function_around(index);
                let function = function.map_or("", |function| timeline.text(function.name()));
                let key = (function, name == raddle_trace::record::kind::BLOCKED);
                let sum = of_thread.entry(key).or_default();
                sum.0 += 1;
                sum.1 += recording.lost_ns(index);
            }
            for (key, (count, ns)) in of_thread {
                let sum = sums.entry(key).or_default();
                sum.count += count;
                sum.ns += ns;
                sum.threads += 1;
            }
        }
        let mut of_function: BTreeMap<&str, u64> = BTreeMap::new();
        for thread in recording.threads() {
            for (index, event) in recording.events_of(thread) {
                let name = timeline.text(event.name());
                if is_function(timeline.text(event.category())) {
                    *of_function.entry(name).or_default() += event.duration_ns();
                    // A time off the CPU is that of the innermost function alone.
                    if let Some(caller) = recording.function_around(index) {
                        let of_caller = of_function.entry(timeline.text(caller.name()));
                        let of_caller = of_caller.or_default();
                        *of_caller = of_caller.saturating_sub(event.duration_ns());
                    }
                }
            }
        }
        let functions = sums
            .into_iter()
            .map(|((function, is_blocked), sum)| OffCpuOfFunction {
                function: function.to_owned(),
                is_blocked,
                of_ns: of_function.get(function).copied().unwrap_or(0),
                ..sum
            });
        let mut functions: Vec<OffCpuOfFunction> = functions.collect();
        functions.sort_by_key(|function| std::cmp::Reverse(function.ns));
        Self { functions }
    }

    /// Returns a table with a row for each function and reason.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("function", 0),
            ("reason", 0),
            ("times", 0),
            ("off the CPU ms", 3),
            ("% of its time", 1),
            ("threads", 0),
        ];
        let mut table = Table::new("off_cpu", "Work that was not on a CPU", columns);
        for function in &self.functions {
            let reason = match function.is_blocked {
                true => "blocked",
                false => "preempted",
            };
            let name = match &*function.function {
                "" => "(between tasks)",
                name => name,
            };
            table.row([
                name.into(),
                reason.into(),
                function.count.into(),
                Cell::Real(function.ns as f64 * 1e-6),
                match function.of_ns {
                    0 => Cell::Empty,
                    of_ns => Cell::Real(function.ns as f64 * 100.0 / of_ns as f64),
                },
                function.threads.into(),
            ]);
        }
        table
    }
}
