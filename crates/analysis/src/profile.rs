//! Calls, inclusive and exclusive times of functions, by the function that called them.
//!
//! A function is a task, a message, an entry, a call, a loop, a section or a scope, by its name; a
//! wait is one, too. The *inclusive* time of a call is the time from its begin to its end. The
//! *exclusive* time is that without the functions that it has called. If a function calls itself,
//! at any depth, the inclusive time of the outermost call counts. The time of a task that a thread
//! runs during a wait belongs to that task alone, as if the wait had called it.
//!
//! # The cost of recording
//! Each scope costs time, of which a part is between its two readings of the clock (the interior
//! cost), and a part in the time of its caller (the exterior cost). The recording has measured
//! both. The times here are without them: the interior cost of each call is subtracted from its own
//! time, the exterior cost from the exclusive time of its caller, and both from the inclusive times
//! of all callers.
//!
//! # Source
//! Inclusive and exclusive times, and the correction: Parker, 2013, sect. 4.6 and chapter 6.
//! Shende, Malony: The TAU parallel performance system. IJHPCA 20(2), 2006.

use raddle_timeline::NameId;
use raddle_trace::profile::ThreadTimes;
use serde::Serialize;
use std::collections::HashMap;

use crate::recording::{RecordedThread, Recording};
use crate::table::{Cell, Table};

/// The categories of slices that are functions.
const FUNCTIONS: [&str; 9] = [
    "task", "fork", "message", "entry", "call", "loop", "section", "scope", "wait",
];

/// The profile of a recording.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Profile {
    /// A line for each pair of a function and its caller, the longest exclusive time first.
    pub lines: Vec<Line>,
}

/// The calls of one function by another one.
#[derive(Clone, Debug, Default, Serialize)]
#[non_exhaustive]
pub struct Line {
    /// The name of the function.
    pub function: String,
    /// The category of the function: `task`, `message`, `scope` and others.
    pub category: String,
    /// The name of its caller; `None` if the thread has called it.
    pub caller: Option<String>,
    /// The number of calls.
    pub calls: u64,
    /// The inclusive time of all calls, in nanoseconds.
    pub inclusive_ns: f64,
    /// The exclusive time of all calls, in nanoseconds.
    pub exclusive_ns: f64,
    /// The mean of the exclusive times that the threads spent in it, in nanoseconds.
    pub mean_per_thread_ns: f64,
    /// The standard deviation of these times.
    pub deviation_per_thread_ns: f64,
    /// The number of threads that called it.
    pub threads: u64,
    /// The exclusive time per node, in nanoseconds, in the order of the nodes.
    pub per_node_ns: Vec<f64>,
}

/// A function and its caller.
type Pair = ((NameId, NameId), Option<(NameId, NameId)>);

/// A function, its caller, and its category, by name.
type NamedPair<'a> = (&'a str, Option<&'a str>, &'a str);

/// The calls of a pair on one thread.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    calls: u64,
    inclusive_ns: f64,
    exclusive_ns: f64,
}

/// A call that is open.
struct Open {
    event: usize,
    to_ns: u64,
    pair: Pair,
    duration_ns: f64,
    /// True if a call of the same pair is around it.
    is_nested: bool,
    /// The durations of the functions that it has called, as they were recorded.
    callees_ns: f64,
    /// The number of scopes inside of it, at any depth.
    scopes_inside: u64,
    /// The number of scopes that it has called itself.
    scopes_called: u64,
    is_scope: bool,
}

impl Profile {
    /// Computes the profile of all threads.
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let mut nodes: Vec<u32> = recording
            .facts()
            .iter()
            .map(|facts| facts.process)
            .collect();
        nodes.sort_unstable();
        let of_threads: Vec<(u32, HashMap<Pair, Sum>)> = recording
            .threads()
            .iter()
            .map(|thread| (thread.process, sums(recording, thread)))
            .collect();
        let thread_count = of_threads.len() as f64;
        let mut pairs: HashMap<Pair, Vec<(u32, Sum)>> = HashMap::new();
        for (process, sums) in &of_threads {
            for (pair, sum) in sums {
                pairs.entry(*pair).or_default().push((*process, *sum));
            }
        }
        let timeline = recording.timeline();
        let line = |((name, category), caller): Pair, sums: Vec<(u32, Sum)>| {
            let line = Line {
                function: timeline.text(name).to_owned(),
                category: timeline.text(category).to_owned(),
                caller: caller.map(|(name, _)| timeline.text(name).to_owned()),
                ..Line::default()
            };
            line.with(&sums, thread_count, &nodes)
        };
        Self::sorted(pairs.into_iter().map(|(pair, sums)| line(pair, sums)))
    }

    /// Computes the profile of threads that have [profiled](raddle_trace::profile) themselves, each
    /// given with its node. The category of a function is its activity.
    #[must_use]
    pub fn of_threads<'a>(threads: impl IntoIterator<Item = (u32, &'a ThreadTimes)>) -> Self {
        let threads: Vec<(u32, &ThreadTimes)> = threads.into_iter().collect();
        let mut nodes: Vec<u32> = threads.iter().map(|(node, _)| *node).collect();
        nodes.sort_unstable();
        nodes.dedup();
        let mut pairs: HashMap<NamedPair<'_>, Vec<(u32, Sum)>> = HashMap::new();
        for (node, times) in &threads {
            for function in &times.functions {
                let caller = function.caller.as_deref();
                let pair = (&*function.name, caller, function.activity.name());
                let sum = Sum {
                    calls: function.calls,
                    inclusive_ns: function.inclusive_ns,
                    exclusive_ns: function.exclusive_ns,
                };
                pairs.entry(pair).or_default().push((*node, sum));
            }
        }
        Self::sorted(
            pairs
                .into_iter()
                .map(|((function, caller, category), sums)| {
                    let line = Line {
                        function: function.to_owned(),
                        category: category.to_owned(),
                        caller: caller.map(str::to_owned),
                        ..Line::default()
                    };
                    line.with(&sums, threads.len() as f64, &nodes)
                }),
        )
    }

    fn sorted(lines: impl Iterator<Item = Line>) -> Self {
        let mut lines: Vec<Line> = lines.collect();
        // By name where times are equal, so that equal recordings give equal profiles.
        lines.sort_by(|one, other| {
            let by_time = other.exclusive_ns.total_cmp(&one.exclusive_ns);
            by_time
                .then_with(|| one.function.cmp(&other.function))
                .then_with(|| one.caller.cmp(&other.caller))
        });
        Self { lines }
    }
}

impl Line {
    /// Fills in the times, which the threads of these nodes have spent.
    fn with(self, sums: &[(u32, Sum)], thread_count: f64, nodes: &[u32]) -> Self {
        let total = |value: fn(&Sum) -> f64| sums.iter().map(|(_, sum)| value(sum)).sum::<f64>();
        let exclusive_ns = total(|sum| sum.exclusive_ns);
        let mean = exclusive_ns / thread_count;
        let squares = total(|sum| sum.exclusive_ns * sum.exclusive_ns);
        let of_node = |node: &u32| {
            let of_node = sums.iter().filter(|(process, _)| process == node);
            of_node.map(|(_, sum)| sum.exclusive_ns).sum()
        };
        Self {
            calls: sums.iter().map(|(_, sum)| sum.calls).sum(),
            inclusive_ns: total(|sum| sum.inclusive_ns),
            exclusive_ns,
            mean_per_thread_ns: mean,
            deviation_per_thread_ns: (squares / thread_count - mean * mean).max(0.0).sqrt(),
            threads: sums.len() as u64,
            per_node_ns: nodes.iter().map(of_node).collect(),
            ..self
        }
    }
}

/// Returns the calls of each pair on one thread.
fn sums(recording: &Recording, thread: &RecordedThread) -> HashMap<Pair, Sum> {
    let timeline = recording.timeline();
    let cost = recording.scope_cost(thread.process);
    let mut sums = HashMap::new();
    let mut open: Vec<Open> = Vec::new();
    let mut close = |open: &mut Vec<Open>, ns: u64| {
        while let Some(call) = open.pop_if(|call| call.to_ns <= ns) {
            end(
                &mut sums,
                open.last_mut(),
                &call,
                cost.interior_ns,
                cost.exterior_ns,
            );
        }
    };
    for (event, record) in recording.events_of(thread) {
        let category = timeline.text(record.category());
        if !FUNCTIONS.contains(&category) {
            continue;
        }
        // An event that begins where another one ends is not inside of it, unless it is its child.
        let is_inside = |call: &Open| is_ancestor(recording, call.event, event);
        while open.last().is_some_and(|call| !is_inside(call)) {
            let ends_ns = open.last().map_or(0, |call| call.to_ns);
            close(&mut open, ends_ns);
        }
        let pair = (
            (record.name(), record.category()),
            open.last().map(|caller| caller.pair.0),
        );
        open.push(Open {
            event,
            to_ns: record.to_ns(),
            pair,
            is_nested: open.iter().any(|outer| outer.pair == pair),
            duration_ns: record.duration_ns() as f64,
            callees_ns: 0.0,
            scopes_inside: 0,
            scopes_called: 0,
            is_scope: category == "scope",
        });
    }
    close(&mut open, u64::MAX);
    sums
}

/// Returns true if slice `outer` is around slice `inner`, at any depth.
fn is_ancestor(recording: &Recording, outer: usize, inner: usize) -> bool {
    let events = recording.timeline().events();
    let mut at = events[inner].parent();
    while let Some(event) = at {
        // Parents come before their children.
        if event <= outer {
            return event == outer;
        }
        at = events[event].parent();
    }
    false
}

/// Adds a call that has ended to its pair, and to its caller.
fn end(
    sums: &mut HashMap<Pair, Sum>,
    caller: Option<&mut Open>,
    call: &Open,
    interior_ns: f64,
    exterior_ns: f64,
) {
    let own_ns = if call.is_scope { interior_ns } else { 0.0 };
    let inside = call.scopes_inside as f64;
    let inclusive_ns = call.duration_ns - own_ns - inside * (interior_ns + exterior_ns);
    let exclusive_ns =
        call.duration_ns - call.callees_ns - own_ns - call.scopes_called as f64 * exterior_ns;
    let sum = sums.entry(call.pair).or_default();
    sum.calls += 1;
    if !call.is_nested {
        sum.inclusive_ns += inclusive_ns.max(0.0);
    }
    sum.exclusive_ns += exclusive_ns.max(0.0);
    if let Some(caller) = caller {
        caller.callees_ns += call.duration_ns;
        caller.scopes_inside += call.scopes_inside + u64::from(call.is_scope);
        caller.scopes_called += u64::from(call.is_scope);
    }
}

impl Profile {
    /// Returns a table with a row for each pair of a function and its caller.
    #[must_use]
    pub fn table(&self) -> Table {
        let columns = [
            ("function", 0),
            ("kind", 0),
            ("caller", 0),
            ("calls", 0),
            ("inclusive ms", 3),
            ("exclusive ms", 3),
            ("per call us", 3),
            ("mean per thread ms", 3),
            ("deviation ms", 3),
            ("threads", 0),
        ];
        let mut table = Table::new("profile", "Profile by function and caller", columns);
        let ms = |ns: f64| Cell::Real(ns * 1e-6);
        for line in &self.lines {
            table.row([
                line.function.clone().into(),
                line.category.clone().into(),
                line.caller.clone().into(),
                line.calls.into(),
                ms(line.inclusive_ns),
                ms(line.exclusive_ns),
                Cell::Real(line.exclusive_ns * 1e-3 / line.calls.max(1) as f64),
                ms(line.mean_per_thread_ns),
                ms(line.deviation_per_thread_ns),
                line.threads.into(),
            ]);
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::tests_support::{recording, recording_with_cost};

    fn line<'a>(profile: &'a Profile, function: &str, caller: Option<&str>) -> &'a Line {
        let is_it = |line: &&Line| line.function == function && line.caller.as_deref() == caller;
        profile.lines.iter().find(is_it).expect("a line")
    }

    #[test]
    fn the_inclusive_time_is_the_exclusive_time_and_that_of_all_callees() {
        let recording = recording(&[
            ("task", "run", 0, 100),
            ("scope", "trace", 10, 50),
            ("scope", "hit", 20, 30),
            ("scope", "hit", 30, 45),
            ("scope", "hit", 60, 70),
        ]);
        let profile = Profile::of(&recording);
        let run = line(&profile, "run", None);
        assert_eq!(
            (run.calls, run.inclusive_ns, run.exclusive_ns),
            (1, 100.0, 50.0)
        );
        let trace = line(&profile, "trace", Some("run"));
        assert_eq!((trace.inclusive_ns, trace.exclusive_ns), (40.0, 15.0));
        let hit = line(&profile, "hit", Some("trace"));
        assert_eq!((hit.calls, hit.inclusive_ns), (2, 25.0));
        assert_eq!(line(&profile, "hit", Some("run")).calls, 1);
        let exclusive: f64 = profile.lines.iter().map(|line| line.exclusive_ns).sum();
        assert_eq!(exclusive, 100.0);
        assert!(profile.table().to_string().contains("per call us"));
    }

    // Regression: the inclusive time of a function that calls itself was longer than the recording.
    #[test]
    fn the_inclusive_time_of_a_recursive_function_is_that_of_its_outermost_call() {
        let recording = recording(&[
            ("scope", "build", 0, 100),
            ("scope", "build", 10, 90),
            ("scope", "build", 20, 80),
            ("scope", "build", 92, 97),
        ]);
        let profile = Profile::of(&recording);
        let inner = line(&profile, "build", Some("build"));
        let times = (inner.inclusive_ns, inner.exclusive_ns);
        assert_eq!((inner.calls, times), (3, (85.0, 85.0)));
        assert_eq!(line(&profile, "build", None).exclusive_ns, 15.0);
    }

    /// Checks the rule of section 4.6: interior costs are subtracted from the scope, exterior ones
    /// from its caller, and both from all callers' inclusive times.
    #[test]
    fn the_cost_of_recording_is_subtracted() {
        let slices = [
            ("task", "run", 0, 100),
            ("scope", "trace", 10, 50),
            ("scope", "hit", 20, 30),
        ];
        let profile = Profile::of(&recording_with_cost(&slices, 2.0, 3.0));
        let hit = line(&profile, "hit", Some("trace"));
        assert_eq!((hit.inclusive_ns, hit.exclusive_ns), (8.0, 8.0));
        let trace = line(&profile, "trace", Some("run"));
        assert_eq!(trace.exclusive_ns, 40.0 - 10.0 - 2.0 - 3.0);
        assert_eq!(trace.inclusive_ns, trace.exclusive_ns + hit.inclusive_ns);
        let run = line(&profile, "run", None);
        assert_eq!(run.exclusive_ns, 100.0 - 40.0 - 3.0);
        assert_eq!(run.inclusive_ns, run.exclusive_ns + trace.inclusive_ns);
    }
}
