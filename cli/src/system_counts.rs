//! Counts of the system and of the processor while a program runs: context switches, migrations
//! between CPUs, page faults, cache misses.
//!
//! The system counts for each thread, in `/proc/self/task`. The processor counts for all threads
//! together, including those that end meanwhile. Many virtual machines do not give access to these
//! counters; then the reason is reported instead of a number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::json;

use crate::report::{Count, Facts, Object};
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
    /// The counts of all threads together, for each run from `begin` to `pause`.
    runs: Vec<Thread>,
}

/// A counter of the processor.
#[derive(Debug, Clone, Copy)]
struct Name {
    /// The label of the counter's row.
    label: &'static str,
    /// The key of the counter in JSON.
    key: &'static str,
}

const CACHE_MISSES: Name = Name {
    label: "cache misses",
    key: "cache_misses",
};

/// The misses of the data cache of level 1, which figure 9 of the multicore study shows.
const L1_MISSES: Name = Name {
    label: "cache misses, level 1",
    key: "l1_data_cache_misses",
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
    /// The number of moves to another CPU; `None` if the system does not count them.
    migrations: Option<u64>,
    /// The number of page faults that were handled without reading from a disk.
    minor_faults: u64,
    /// The number of page faults for which a disk was read.
    major_faults: u64,
}

impl Thread {
    const NONE: Self = Self {
        voluntary: 0,
        involuntary: 0,
        migrations: Some(0),
        minor_faults: 0,
        major_faults: 0,
    };

    /// Adds the counts of another thread, or of another run.
    fn plus(self, other: Self) -> Self {
        let migrations = self.migrations.zip(other.migrations);
        Self {
            voluntary: self.voluntary + other.voluntary,
            involuntary: self.involuntary + other.involuntary,
            migrations: migrations.map(|(own, other)| own + other),
            minor_faults: self.minor_faults + other.minor_faults,
            major_faults: self.major_faults + other.major_faults,
        }
    }

    /// Returns the counts of a thread since it had the counts `begun`.
    fn since(self, begun: Self) -> Self {
        let migrations = self.migrations.zip(begun.migrations);
        Self {
            voluntary: self.voluntary.saturating_sub(begun.voluntary),
            involuntary: self.involuntary.saturating_sub(begun.involuntary),
            migrations: migrations.map(|(ended, begun)| ended.saturating_sub(begun)),
            minor_faults: self.minor_faults.saturating_sub(begun.minor_faults),
            major_faults: self.major_faults.saturating_sub(begun.major_faults),
        }
    }

    /// Returns the fields of these counts.
    fn object(&self) -> Object {
        let mut object = Object::new();
        object
            .field("context_switches_voluntary", self.voluntary)
            .field("context_switches_involuntary", self.involuntary)
            .field("cpu_migrations", self.migrations)
            .field("page_faults_minor", self.minor_faults)
            .field("page_faults_major", self.major_faults);
        object
    }
}

/// The counts of a program that has ended.
#[derive(Debug)]
pub(crate) struct Counts {
    /// The number of threads that had work: workers, and threads of operations.
    threads: usize,
    has_new: bool,
    runs: Vec<Thread>,
    hardware: Vec<(Name, Result<u64, String>)>,
}

impl SystemCounts {
    pub(crate) fn new() -> Self {
        Self {
            hardware: hardware::counters(),
            begun: BTreeMap::new(),
            ids: BTreeSet::new(),
            has_new: false,
            runs: Vec::new(),
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
        let mut run = Thread::NONE;
        for (id, ended) in threads() {
            // The main thread only waits. `threads` leaves out the one that draws progress.
            if id == std::process::id() {
                continue;
            }
            let begun = self.begun.get(&id).copied();
            self.has_new |= begun.is_none();
            run = run.plus(ended.since(begun.unwrap_or(Thread::NONE)));
            self.ids.insert(id);
        }
        self.runs.push(run);
    }

    /// Returns the counts.
    pub(crate) fn end(self) -> Counts {
        let hardware = self.hardware.into_iter();
        Counts {
            threads: self.ids.len(),
            has_new: self.has_new,
            runs: self.runs,
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
    /// Returns the rows of the report, and the fields of its object `system`.
    ///
    /// The rows and most fields are sums over all runs. The field `runs` has the counts of each.
    pub(crate) fn facts(&self) -> Facts {
        let sum = self.runs.iter().copied().fold(Thread::NONE, Thread::plus);
        let switches = format!(
            "{} by waiting, {} by the system, of {} in {}",
            grouped(sum.voluntary),
            grouped(sum.involuntary),
            counted(self.threads, "thread"),
            counted(self.runs.len(), "run")
        );
        let faults = format!(
            "{} minor, {} major",
            grouped(sum.minor_faults),
            grouped(sum.major_faults)
        );
        let migrations = match (sum.migrations, self.has_new) {
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
            .row("CPU migrations", migrations)
            .row("page faults", faults)
            .fields(&sum.object())
            .field("threads", self.threads)
            .field(
                "runs",
                self.runs.iter().map(Thread::object).collect::<Vec<_>>(),
            );
        for (name, count) in &self.hardware {
            match count {
                Ok(count) => facts.quantity(name.label, name.key, &Count(*count)),
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
        let counts = || {
            let (status, stat) = (file("status")?, file("stat")?);
            Some((id, thread(&status, &stat, file("sched").as_deref())))
        };
        (!is_drawer).then(counts)?
    };
    folder
        .flatten()
        .filter_map(|entry| read(entry.file_name().to_str()?.parse().ok()?))
        .collect()
}

/// Reads the counts of a thread from the text of its files in `/proc`.
fn thread(status: &str, stat: &str, sched: Option<&str>) -> Thread {
    let number = |text: &str, name: &str| -> Option<u64> {
        let line = text.lines().find(|line| line.starts_with(name))?;
        line.rsplit([':', '\t', ' '])
            .find_map(|word| word.parse().ok())
    };
    let sched = sched.unwrap_or_default();
    // The second field of `stat` is the name in parentheses, which may contain anything. The third
    // field follows it.
    let after_name = stat.rsplit_once(')').map_or("", |(_, fields)| fields);
    let field = |number: usize| {
        let text = after_name.split_whitespace().nth(number - 3);
        text.and_then(|text| text.parse().ok()).unwrap_or_default()
    };
    Thread {
        voluntary: number(status, "voluntary_ctxt_switches").unwrap_or_default(),
        involuntary: number(status, "nonvoluntary_ctxt_switches").unwrap_or_default(),
        migrations: number(sched, "se.nr_migrations"),
        minor_faults: field(10),
        major_faults: field(12),
    }
}

#[cfg(target_os = "linux")]
mod hardware {
    //! Counters of the processor.

    use perf_event::events::{Cache, CacheOp, CacheResult, Event, Hardware, WhichCache};

    use super::{CACHE_MISSES, L1_MISSES, Name, STALLED_CYCLES};

    /// A counter of this thread and of all threads that it starts, directly or indirectly.
    #[derive(Debug)]
    pub(super) struct Counter(perf_event::Counter);

    pub(super) fn counters() -> Vec<(Name, Result<Counter, String>)> {
        let l1_misses = Cache {
            which: WhichCache::L1D,
            operation: CacheOp::READ,
            result: CacheResult::MISS,
        };
        let events = [
            (CACHE_MISSES, Event::from(Hardware::CACHE_MISSES)),
            (L1_MISSES, Event::from(l1_misses)),
            (
                STALLED_CYCLES,
                Event::from(Hardware::STALLED_CYCLES_FRONTEND),
            ),
        ];
        let build = |event: Event| {
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

    use super::{CACHE_MISSES, L1_MISSES, Name, STALLED_CYCLES};

    /// A counter that cannot exist.
    #[derive(Debug)]
    pub(super) enum Counter {}

    pub(super) fn counters() -> Vec<(Name, Result<Counter, String>)> {
        let reason = || Err("only Linux counts them".to_owned());
        let names = [CACHE_MISSES, L1_MISSES, STALLED_CYCLES];
        names.map(|name| (name, reason())).into()
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
        let stat = "77 (a (b) 1) R 1 1 1 0 -1 4194304 21 5 2 6 1 0";
        let thread = |sched| thread(status, stat, sched);
        let expected = Thread {
            voluntary: 12,
            involuntary: 3,
            migrations: Some(7),
            minor_faults: 21,
            major_faults: 2,
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
    fn counts_are_added_over_runs_and_threads() {
        let thread = |count| Thread {
            voluntary: count,
            involuntary: 2 * count,
            migrations: Some(3 * count),
            minor_faults: 4 * count,
            major_faults: 5 * count,
        };
        assert_eq!(thread(5).since(thread(2)), thread(3));
        assert_eq!(thread(5).plus(thread(2)), thread(7));
        // The counts of a thread cannot shrink, unless another thread has got its id.
        assert_eq!(thread(2).since(thread(5)), Thread::NONE);
        let uncounted = Thread {
            migrations: None,
            ..thread(1)
        };
        assert_eq!(thread(1).plus(uncounted).migrations, None);
        let counts = Counts {
            threads: 2,
            has_new: false,
            runs: vec![thread(1), thread(1_000)],
            hardware: Vec::new(),
        };
        let facts = counts.facts();
        let text = facts.text();
        let switches = "1,001 by waiting, 2,002 by the system, of 2 threads in 2 runs";
        for part in [switches, "3,003", "4,004 minor, 5,005 major"] {
            assert!(text.contains(part), "{text}");
        }
        let object = facts.object().clone().value();
        assert_eq!(object["page_faults_minor"], 4_004);
        assert_eq!(object["runs"][0]["cpu_migrations"], 3);
        assert_eq!(object["runs"][1]["page_faults_major"], 5_000);
    }

    #[test]
    fn a_first_use_of_memory_is_a_page_fault() {
        if !cfg!(target_os = "linux") {
            return;
        }
        let mut counts = SystemCounts::new();
        counts.begin();
        let (end, ended) = std::sync::mpsc::channel::<()>();
        let (done, is_done) = std::sync::mpsc::channel();
        // The main thread is not counted, so another thread uses the memory.
        let thread = std::thread::spawn(move || {
            let memory = vec![1_u8; 8 << 20];
            done.send(memory.len()).expect("the test waits");
            ended.recv()
        });
        assert_eq!(is_done.recv(), Ok(8 << 20));
        counts.pause();
        drop(end);
        let _closed = thread.join();
        let counts = counts.end();
        // Pages of 64 KB or less; huge pages of 2 MB.
        assert!(counts.runs[0].minor_faults >= 3, "{counts:?}");
        assert!(counts.has_new);
    }

    #[test]
    fn the_threads_include_this_one() {
        assert!(!cfg!(target_os = "linux") || !threads().is_empty());
    }
}
