//! What the system and the processor count while a program runs: context switches, moves from CPU to CPU, cache misses.
//!
//! The system counts for each thread, in `/proc/self/task`. The processor counts for all threads together, those that end meanwhile
//! included; many virtual machines keep these counters to themselves, and then the reason is told instead of a number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Map, Value, json};

use crate::table::{Table, grouped, plural};

/// Counters, from one `begin` to the next `pause`. To be made before the workers are, whose counts are added to those of their maker.
#[derive(Debug)]
pub(crate) struct SystemCounts {
    hardware: Vec<(Name, Result<hardware::Counter, String>)>,
    /// Of each thread, at the last beginning.
    begun: BTreeMap<u32, Thread>,
    /// Those that were seen.
    ids: BTreeSet<u32>,
    /// Some came after the beginning, and their way to the CPU that they are bound to is among what was counted.
    has_new: bool,
    sum: Thread,
}

/// A counter of the processor.
#[derive(Debug, Clone, Copy)]
struct Name {
    /// For people.
    text: &'static str,
    /// In JSON.
    key: &'static str,
}

const CACHE_MISSES: Name = Name {
    text: "cache misses",
    key: "cache_misses",
};

const STALLED_CYCLES: Name = Name {
    text: "stalled cycles, front end",
    key: "stalled_cycles_front_end",
};

/// What the system has counted of a thread, or of all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Thread {
    voluntary: u64,
    involuntary: u64,
    /// Where the system tells.
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

/// Counts of a program.
#[derive(Debug)]
pub(crate) struct Counts {
    /// Threads that had work: workers, and those of operations.
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

    /// A program begins; its workers are there.
    pub(crate) fn begin(&mut self) {
        self.begun = threads();
        self.switch(hardware::Counter::begin);
    }

    /// The program has ended; its workers are still there, and for some seconds the threads of its operations.
    pub(crate) fn pause(&mut self) {
        self.switch(hardware::Counter::pause);
        for (id, ended) in threads() {
            // The main thread only waits, and so does the one that draws.
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

    /// What was counted.
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
    pub(crate) fn json(&self) -> Value {
        let mut result = Map::new();
        result.insert("threads".to_owned(), json!(self.threads));
        result.insert(
            "context_switches_voluntary".to_owned(),
            json!(self.sum.voluntary),
        );
        result.insert(
            "context_switches_involuntary".to_owned(),
            json!(self.sum.involuntary),
        );
        result.insert("cpu_migrations".to_owned(), json!(self.sum.migrations));
        for (name, count) in &self.hardware {
            let value = match count {
                Ok(count) => json!(count),
                Err(reason) => json!({ "missing": reason }),
            };
            result.insert(name.key.to_owned(), value);
        }
        Value::Object(result)
    }

    pub(crate) fn text(&self) -> String {
        let mut table = Table::default();
        let switches = format!(
            "{} by waiting, {} by the system, of {} {}",
            grouped(self.sum.voluntary),
            grouped(self.sum.involuntary),
            self.threads,
            plural(self.threads, "thread")
        );
        let migrations = match (self.sum.migrations, self.has_new) {
            (None, _) => "the system does not tell".to_owned(),
            (Some(count), false) => grouped(count),
            (Some(count), true) => format!(
                "{}, the ways of new threads to their CPUs among them",
                grouped(count)
            ),
        };
        table
            .row("context switches", switches)
            .row("CPU migrations", migrations);
        for (name, count) in &self.hardware {
            let text = match count {
                Ok(count) => grouped(*count),
                Err(reason) => format!("not counted here: {reason}"),
            };
            table.row(name.text, text);
        }
        table.text()
    }
}

/// What the system says of all threads of this process that have to do with work.
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

/// Reads what the system says of a thread.
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

    /// A counter of this thread and of those that it begins, and they.
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
                    // What the system says there is about files.
                    Some(2 | 19 | 95) => "this machine does not give such a counter".to_owned(),
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
    //! There are none that could be read.

    use super::{CACHE_MISSES, Name, STALLED_CYCLES};

    /// Nobody has one.
    #[derive(Debug)]
    pub(super) enum Counter {}

    pub(super) fn counters() -> Vec<(Name, Result<Counter, String>)> {
        let reason = || Err("only Linux tells".to_owned());
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
    fn counts_are_found_by_their_names() {
        let status = "Name:\tx\nvoluntary_ctxt_switches:\t12\nnonvoluntary_ctxt_switches:\t3\n";
        let sched = "x (1, #threads: 1)\nse.nr_migrations                             :                    7\n";
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
    fn this_thread_is_among_all() {
        assert!(!cfg!(target_os = "linux") || !threads().is_empty());
    }
}
