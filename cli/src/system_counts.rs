//! Counts of the system and of the processor while a program runs: context switches, migrations
//! between CPUs, cache misses.
//!
//! The system counts for each thread, in `/proc/self/task`. The processor counts for all threads
//! together, including those that end meanwhile. Many virtual machines do not give access to these
//! counters; then the reason is reported instead of a number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::json;

use crate::report::Facts;
use crate::units::{counted, grouped};

/// Counters that run from each `begin` to the next `pause`.
///
/// Create them before the workers: the processor adds the counts of a thread to those of the
/// thread that started it.
#[derive(Debug)]
pub(crate) struct SystemCounts {
    hardware: Vec<(Name, Result<hardware::Counter, String>)>,
    /// The counts of each thread at the last `begin`.
    begun: BTreeMap<u32, Thread>,
    /// All threads that were seen.
    ids: BTreeSet<u32>,
    /// True if a thread started after `begin`. Its migration to the CPU that it is bound to is then
    /// included in the counts.
    has_new: bool,
    sum: Thread,
}

/// A counter of the processor.
#[derive(Debug, Clone, Copy)]
struct Name {
    /// The label of its row.
    label: &'static str,
    /// Its key in JSON.
    key: &'static str,
}

const CACHE_MISSES: Name = Name {
    label: "cache misses",
    key: "cache_misses",
};

const STALLED_CYCLES: Name = Name {
    label: "stalled cycles, front end",
    key: "stalled_cycles_front_end",
};

/// The counts of one thread, or their sum over several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    voluntary: u64,
    involuntary: u64,
    /// `None` if the system does not count them.
    migrations: Option<u64>,
}

impl Thread {
    const NONE: Self = Self {
        voluntary: 0,
        involuntary: 0,
        migrations: Some(0),
    };

    fn plus(self, ended: Self, begun: Self) -> Self {
        let migrations = self.migrations.zip(ended.migrations).zip(begun.migrations);
        Self {
            voluntary: self.voluntary + ended.voluntary.saturating_sub(begun.voluntary),
            involuntary: self.involuntary + ended.involuntary.saturating_sub(begun.involuntary),
            migrations: migrations.map(|((sum, ended), begun)| sum + ended.saturating_sub(begun)),
        }
    }
}

/// The counts of a program that has ended.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The number of threads that had work: workers, and threads of operations.
    threads: usize,
    has_new: bool,
    sum: Thread,
    hardware: Vec<(Name, Result<u64, String>)>,
}

impl SystemCounts {
    pub(crate) fn new() -> Self {
        Self {
            hardware: hardware::counters(),
            begun: BTreeMap::new(),
            ids: BTreeSet::new(),
            has_new: false,
            sum: Thread::NONE,
        }
    }

    /// Starts counting. The workers have started, the program has not.
    pub(crate) fn begin(&mut self) {
        self.begun = threads();
        self.switch(hardware::Counter::begin);
    }

    /// Stops counting. The program has ended, but its workers still exist, and the threads of its
    /// operations exist for some seconds.
    pub(crate) fn pause(&mut self) {
        self.switch(hardware::Counter::pause);
        for (id, ended) in threads() {
            // The main thread only waits. `threads` leaves out the one that draws progress.
            if id == std::process::id() {
                continue;
            }
            let begun = self.begun.get(&id).copied();
            self.has_new |= begun.is_none();
            let begun = begun.unwrap_or(Thread::NONE);
            self.sum = self.sum.plus(ended, begun);
            self.ids.insert(id);
        }
    }

    /// Returns the counts.
    pub(crate) fn end(self) -> Counts {
        let hardware = self.hardware.into_iter();
        Counts {
            threads: self.ids.len(),
            has_new: self.has_new,
            sum: self.sum,
            hardware: hardware
                .map(|(name, counter)| (name, counter.and_then(hardware::Counter::end)))
                .collect(),
        }
    }

    fn switch(&mut self, switch: impl Fn(&mut hardware::Counter) -> Result<(), String>) {
        for (_, counter) in &mut self.hardware {
            if let Ok(running) = counter
                && let Err(error) = switch(running)
            {
                *counter = Err(error);
            }
        }
    }
}

impl Counts {
    /// The rows, and the fields of the object `system`.
    pub(crate) fn facts(&self) -> Facts {
        let switches = format!(
            "{} by waiting, {} by the system, of {}",
            grouped(self.sum.voluntary),
            grouped(self.sum.involuntary),
            counted(self.threads, "thread")
        );
        let migrations = match (self.sum.migrations, self.has_new) {
            (None, _) => "not counted by the system".to_owned(),
            (Some(count), false) => grouped(count),
            (Some(count), true) => format!(
                "{}, including those of new threads to their CPUs",
                grouped(count)
            ),
        };
        let mut facts = Facts::new();
        facts
            .row("context switches", switches)
            .field("threads", self.threads)
            .field("context_switches_voluntary", self.sum.voluntary)
            .field("context_switches_involuntary", self.sum.involuntary)
            .row("CPU migrations", migrations)
            .field("cpu_migrations", self.sum.migrations);
        for (name, count) in &self.hardware {
            match count {
                Ok(count) => facts
                    .row(name.label, grouped(*count))
                    .field(name.key, count),
                Err(reason) => facts
                    .row(name.label, format!("not counted here: {reason}"))
                    .field(name.key, json!({ "missing": reason })),
            };
        }
        facts
    }
}

/// Reads the counts of all threads of this process except the one that draws progress.
fn threads() -> BTreeMap<u32, Thread> {
    let Ok(folder) = fs::read_dir("/proc/self/task") else {
        return BTreeMap::new();
    };
    let read = |id: u32| {
        let file = |name: &str| fs::read_to_string(format!("/proc/self/task/{id}/{name}")).ok();
        let is_drawer = file("comm").is_some_and(|name| name.trim() == "progress");
        (!is_drawer).then(|| Some((id, thread(&file("status")?, file("sched").as_deref()))))?
    };
    folder
        .flatten()
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Reads the counts of a thread from the text of its files in `/proc`.
fn thread(status: &str, sched: Option<&str>) -> Thread {
    let number = |text: &str, name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.rsplit([':', '\t', ' '])
            .find_map(|word| word.parse().ok())
    };
    let sched = sched.unwrap_or_default();
    Thread {
        voluntary: number(status, "voluntary_ctxt_switches").unwrap_or_default(),
        involuntary: number(status, "nonvoluntary_ctxt_switches").unwrap_or_default(),
        migrations: number(sched, "se.nr_migrations"),
    }
}

#[cfg(target_os = "linux")]
mod hardware {
    //! Counters of the processor.

    use perf_event::events::Hardware;

    use super::{CACHE_MISSES, Name, STALLED_CYCLES};

    /// A counter of this thread and of all threads that it starts, directly or indirectly.
    #[derive(Debug)]
    pub(super) struct Counter(perf_event::Counter);

    pub(super) fn counters() -> Vec<(Name, Result<Counter, String>)> {
        let events = [
            (CACHE_MISSES, Hardware::CACHE_MISSES),
            (STALLED_CYCLES, Hardware::STALLED_CYCLES_FRONTEND),
        ];
        let build = |event| {
            let mut builder = perf_event::Builder::new().kind(event);
            builder.inherit(true);
            let counter = builder.build();
            counter
                .map(Counter)
                .map_err(|error| match error.raw_os_error() {
                    // The system's own texts for these codes are about files.
                    Some(2 | 19 | 95) => "this machine has no such counter".to_owned(),
                    _ => error.to_string(),
                })
        };
        events.map(|(name, event)| (name, build(event))).into()
    }

    impl Counter {
        pub(super) fn begin(&mut self) -> Result<(), String> {
            self.0.enable().map_err(|error| error.to_string())
        }

        pub(super) fn pause(&mut self) -> Result<(), String> {
            self.0.disable().map_err(|error| error.to_string())
        }

        pub(super) fn end(mut self) -> Result<u64, String> {
            self.0.read().map_err(|error| error.to_string())
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod hardware {
    //! No counters can be read on this system.

    use super::{CACHE_MISSES, Name, STALLED_CYCLES};

    /// A counter that cannot exist.
    #[derive(Debug)]
    pub(super) enum Counter {}

    pub(super) fn counters() -> Vec<(Name, Result<Counter, String>)> {
        let reason = || Err("only Linux counts them".to_owned());
        vec![(CACHE_MISSES, reason()), (STALLED_CYCLES, reason())]
    }

    impl Counter {
        pub(super) fn begin(&mut self) -> Result<(), String> {
            match *self {}
        }

        pub(super) fn pause(&mut self) -> Result<(), String> {
            match *self {}
        }

        pub(super) fn end(self) -> Result<u64, String> {
            match self {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_by_their_names() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        let sched = "x (1, #threads: 1)\nse.nr_migrations        :        7\n";
        let thread = |sched| thread(status, sched);
        let expected = Thread {
            voluntary: 12,
            involuntary: 3,
            migrations: Some(7),
        };
        assert_eq!(thread(Some(sched)), expected);
        assert_eq!(
            thread(None),
            Thread {
                migrations: None,
                ..expected
            }
        );
    }

    #[test]
    fn the_threads_include_this_one() {
        assert!(!cfg!(target_os = "linux") || !threads().is_empty());
    }
}
