//! Rates of running programs, from two snapshots of each.

use std::collections::BTreeMap;
use std::io;

use raddle_trace::WorkerReport;
use raddle_trace::monitor::{self, Socket};
use raddle_trace::snapshot::{Activity, ProcessSnapshot, RuntimeSnapshot};

use crate::error::CliError;

/// A running program, since the sample before.
#[derive(Debug)]
pub(super) struct Program {
    /// The last snapshot, if the process has answered.
    pub(super) state: Result<ProcessSnapshot, Socket>,
    pub(super) runtimes: Vec<RuntimeRates>,
}

/// A runtime, since the sample before.
#[derive(Debug)]
pub(super) struct RuntimeRates {
    pub(super) state: RuntimeSnapshot,
    /// One entry per worker and compensating thread.
    pub(super) workers: Vec<Rates>,
    /// The sum over them; the share is the mean over the workers.
    pub(super) total: Rates,
}

/// Events per second, and the share of the time with work.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) busy_share: f64,
    pub(super) tasks: f64,
    pub(super) messages: f64,
    pub(super) forks: f64,
    pub(super) stolen: f64,
    pub(super) parks: f64,
    pub(super) wakes: f64,
    /// The time for which the worker has worked on one task, if it began before the sample before.
    pub(super) on_one_task_ns: u64,
}

/// The number of a process, of a runtime and of a worker.
type Key = (u32, u32, usize);

/// Asks programs, and remembers the answers before.
#[derive(Debug)]
pub(super) struct Sampler {
    /// The processes to ask; all if it is empty.
    processes: Vec<u32>,
    before: BTreeMap<u32, ProcessSnapshot>,
    /// The time in the life of its process at which a worker was first seen with its present number
    /// of tasks.
    since_ns: BTreeMap<Key, u64>,
}

impl Sampler {
    pub(super) fn new(processes: &[u32]) -> Self {
        Self {
            processes: processes.to_vec(),
            before: BTreeMap::new(),
            since_ns: BTreeMap::new(),
        }
    }

    /// Asks all programs. A program that is new has no rates.
    pub(super) fn take(&mut self) -> Result<Vec<Program>, CliError> {
        let mut sockets = monitor::sockets()?;
        if let Some(missing) = self.missing(&sockets) {
            return Err(CliError::NotWatched {
                process: missing,
                folder: monitor::folder(),
            });
        }
        sockets.retain(|socket| self.processes.is_empty() || self.has(socket.process));
        let mut programs = Vec::new();
        for socket in sockets {
            let answer = socket.ask().and_then(|text| parse(&text));
            match answer {
                Ok(snapshot) => programs.push(self.program(snapshot)),
                // It has just ended.
                Err(error) if is_end(error.kind()) => {}
                Err(_) => programs.push(Program {
                    state: Err(socket),
                    runtimes: Vec::new(),
                }),
            }
        }
        Ok(programs)
    }

    fn has(&self, process: u32) -> bool {
        self.processes.contains(&process)
    }

    /// Returns a process that is to be shown, was not seen before and cannot be seen now.
    fn missing(&self, sockets: &[Socket]) -> Option<u32> {
        let is_there = |process: &u32| sockets.iter().any(|socket| socket.process == *process);
        let is_new = |process: &&u32| !self.before.contains_key(*process);
        let mut asked = self.processes.iter().filter(is_new);
        asked.find(|process| !is_there(process)).copied()
    }

    fn program(&mut self, snapshot: ProcessSnapshot) -> Program {
        let before = self.before.remove(&snapshot.process);
        let runtimes = snapshot.runtimes.iter();
        let runtimes = runtimes.map(|runtime| {
            let is_same = |other: &&RuntimeSnapshot| other.number == runtime.number;
            let before = before.as_ref().and_then(|before| {
                let passed_ns = snapshot.age_ns.checked_sub(before.age_ns)?;
                let runtime = before.runtimes.iter().find(is_same)?;
                Some((runtime, passed_ns))
            });
            let mut rates = RuntimeRates::between(before, runtime.clone());
            for (index, worker) in runtime.workers.iter().enumerate() {
                let key = (snapshot.process, runtime.number, index);
                let is_unchanged = before.is_some_and(|(before, _)| {
                    let before = before.workers.get(index);
                    before.is_some_and(|before| ended(&before.counters) == ended(&worker.counters))
                });
                if !is_unchanged || worker.activity != Activity::Works {
                    self.since_ns.insert(key, snapshot.age_ns);
                    continue;
                }
                let since_ns = self.since_ns.get(&key).copied().unwrap_or(snapshot.age_ns);
                rates.workers[index].on_one_task_ns = snapshot.age_ns.saturating_sub(since_ns);
            }
            rates
        });
        let runtimes = runtimes.collect();
        self.before.insert(snapshot.process, snapshot.clone());
        Program {
            state: Ok(snapshot),
            runtimes,
        }
    }
}

/// Returns the number of pieces of work that have ended, of any kind.
fn ended(counters: &WorkerReport) -> u64 {
    counters.tasks + counters.forks_inline + counters.forks_reclaimed
}

/// Returns true for the errors of a process that has just ended.
fn is_end(kind: io::ErrorKind) -> bool {
    matches!(
        kind,
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionReset
    )
}

fn parse(text: &str) -> io::Result<ProcessSnapshot> {
    match text.is_empty() {
        true => Err(io::ErrorKind::ConnectionReset.into()),
        false => Ok(serde_json::from_str(text)?),
    }
}

impl RuntimeRates {
    /// Computes the rates between a snapshot that was taken `passed_ns` ago and one now.
    fn between(before: Option<(&RuntimeSnapshot, u64)>, now: RuntimeSnapshot) -> Self {
        let workers = now.workers.iter().enumerate();
        let workers = workers.map(|(index, worker)| {
            let none = WorkerReport::default();
            match before {
                None => Rates::default(),
                Some((before, passed_ns)) => {
                    let before = before.workers.get(index);
                    let before = before.map_or(&none, |before| &before.counters);
                    Rates::between(before, &worker.counters, passed_ns)
                }
            }
        });
        let workers: Vec<Rates> = workers.collect();
        let mut total = Rates::default();
        for rates in &workers {
            total.add(*rates);
        }
        total.busy_share /= f64::from(now.worker_count.max(1));
        Self {
            state: now,
            workers,
            total,
        }
    }
}

impl Rates {
    fn between(before: &WorkerReport, now: &WorkerReport, passed_ns: u64) -> Self {
        let seconds = passed_ns.max(1) as f64 * 1e-9;
        let rate = |count: fn(&WorkerReport) -> u64| {
            count(now).saturating_sub(count(before)) as f64 / seconds
        };
        let busy_ns = now.busy_ns.saturating_sub(before.busy_ns) as f64;
        let idle_ns = now.idle_ns.saturating_sub(before.idle_ns) as f64;
        Self {
            busy_share: busy_ns / (busy_ns + idle_ns).max(1.0),
            tasks: rate(|counters| counters.tasks),
            messages: rate(|counters| counters.messages),
            forks: rate(|counters| counters.forks_inline + counters.forks_published),
            stolen: rate(|counters| counters.steals_done),
            parks: rate(|counters| counters.parks),
            wakes: rate(|counters| counters.wakes),
            on_one_task_ns: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.busy_share += other.busy_share;
        self.tasks += other.tasks;
        self.messages += other.messages;
        self.forks += other.forks;
        self.stolen += other.stolen;
        self.parks += other.parks;
        self.wakes += other.wakes;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counters(tasks: u64, busy_ns: u64, idle_ns: u64) -> WorkerReport {
        // Its fields may become more.
        let json = serde_json::to_value(WorkerReport::default()).expect("an object");
        let mut json = json;
        for (key, value) in [("tasks", tasks), ("busy_ns", busy_ns), ("idle_ns", idle_ns)] {
            json[key] = value.into();
        }
        serde_json::from_value(json).expect("counters")
    }

    #[test]
    fn rates_are_those_of_the_time_between_two_snapshots() {
        let before = counters(1_000, 500, 500);
        let now = counters(1_500, 250_000_500, 750_000_500);
        let rates = Rates::between(&before, &now, 500_000_000);
        assert_eq!((rates.tasks, rates.busy_share), (1_000.0, 0.25));
        // Counters that seem to go back are those of another runtime with the same number.
        assert_eq!(Rates::between(&now, &before, 0).tasks, 0.0);
    }

    #[test]
    fn answers_are_empty_damaged_or_complete() {
        let kind = |text: &str| parse(text).expect_err("no snapshot").kind();
        assert_eq!(kind(""), io::ErrorKind::ConnectionReset);
        assert!(!is_end(kind("{\"process\": 1")));
        let text =
            r#"{"process":7,"command":"p","node":0,"node_count":1,"age_ns":9,"runtimes":[]}"#;
        assert_eq!(parse(text).expect("a snapshot").process, 7);
    }
}
