//! The share of the machine that other processes used while a measurement ran.
//!
//! It is the busy CPU time that the kernel counts, minus the time of this process, of the peers'
//! processes and of the processes that these have started (nodes and ranks are processes). Time
//! that the hypervisor took away ("steal") counts as used by others.
//!
//! # Source
//! Linux, `proc_stat(5)` and `proc_pid_stat(5)`: fields `utime` to `cstime`, unit `USER_HZ`.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

/// The kernel's clock tick for user space, the same on every Linux architecture we build for.
const TICKS_PER_SECOND: f64 = 100.0;

/// The share of the machine that others may use before a measurement counts as disturbed.
pub(crate) const FOREIGN_SHARE_MAX: f64 = 0.05;

/// The values of the counters at one moment.
#[derive(Debug, Clone)]
pub(crate) struct LoadSnapshot {
    taken: Instant,
    machine_ticks: u64,
    own_ticks: u64,
    cpu_count: usize,
}

impl LoadSnapshot {
    /// Reads the counters; `peers` are the process ids that count as ours.
    ///
    /// Without `/proc`, all counters read as zero, and so does the foreign share.
    pub(crate) fn take(peers: &[u32]) -> Self {
        let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
        let roots: Vec<_> = peers.iter().copied().chain([std::process::id()]).collect();
        Self {
            taken: Instant::now(),
            machine_ticks: machine_ticks(&stat),
            own_ticks: ticks_of_families(&roots, &processes()),
            cpu_count: cpu_count(&stat),
        }
    }

    /// Returns the share of the machine, from 0 to 1, that other processes have used since
    /// `earlier`.
    ///
    /// Two ticks are subtracted because the kernel rounds the time of each process separately.
    pub(crate) fn foreign_share_since(&self, earlier: &Self) -> f64 {
        let machine = self.machine_ticks.saturating_sub(earlier.machine_ticks);
        let own = self.own_ticks.saturating_sub(earlier.own_ticks);
        let wall = self.taken.duration_since(earlier.taken);
        foreign_share(machine, own, wall, self.cpu_count)
    }
}

fn foreign_share(machine: u64, own: u64, wall: Duration, cpu_count: usize) -> f64 {
    let available = wall.as_secs_f64() * TICKS_PER_SECOND * cpu_count as f64;
    if available <= 0.0 {
        return 0.0;
    }
    (machine.saturating_sub(own).saturating_sub(2) as f64 / available).min(1.0)
}

/// Returns the busy ticks of all CPUs: the fields user, nice, system, irq, softirq and steal of the
/// line "cpu ".
fn machine_ticks(stat: &str) -> u64 {
    let Some(line) = stat.lines().find(|line| line.starts_with("cpu ")) else {
        return 0;
    };
    line.split_whitespace()
        .skip(1)
        .take(8)
        .enumerate()
        .filter(|(column, _)| ![3, 4].contains(column)) // idle and iowait
        .filter_map(|(_, word)| word.parse::<u64>().ok())
        .sum()
}

fn cpu_count(stat: &str) -> usize {
    stat.lines()
        .filter(|line| line.starts_with("cpu") && !line.starts_with("cpu "))
        .count()
}

/// A process: its id, its parent's id, and its ticks.
type Process = (u32, u32, u64);

/// Reads all processes of the machine.
fn processes() -> Vec<Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    numbers
        .filter_map(|id: u32| {
            let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
            Some((id, parent_of(&stat)?, process_ticks(&stat)))
        })
        .collect()
}

/// Returns the ticks of these processes and of all their descendants.
fn ticks_of_families(roots: &[u32], processes: &[Process]) -> u64 {
    let mut family = roots.to_vec();
    loop {
        let before = family.len();
        for &(id, parent, _) in processes {
            if family.contains(&parent) && !family.contains(&id) {
                family.push(id);
            }
        }
        if family.len() == before {
            break;
        }
    }
    let ours = processes.iter().filter(|(id, ..)| family.contains(id));
    ours.map(|(.., ticks)| ticks).sum()
}

/// Returns the parent's id from a line of `/proc/PID/stat`.
fn parent_of(stat: &str) -> Option<u32> {
    let (_, fields) = stat.rsplit_once(')')?;
    fields.split_whitespace().nth(1)?.parse().ok()
}

/// Returns the CPU time of all child processes that have ended and were waited for.
pub(crate) fn cpu_time_of_children() -> Duration {
    getrusage(UsageWho::RUSAGE_CHILDREN).map_or(Duration::ZERO, |usage| {
        let time = usage.user_time() + usage.system_time();
        Duration::from_micros(time.num_microseconds().unsigned_abs())
    })
}

/// Returns the CPU time of a process and of its children that have ended, or `None` if the process
/// has ended. The kernel counts in steps of 10 ms.
pub(crate) fn cpu_time(process: u32) -> Option<Duration> {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    Some(Duration::from_secs_f64(
        process_ticks(&stat) as f64 / TICKS_PER_SECOND,
    ))
}

/// Returns the number of threads of a process, or `None` if it has ended.
pub(crate) fn thread_count(process: u32) -> Option<usize> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let value = |name| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        line.map(str::trim)
    };
    if value("State:")?.starts_with('Z') {
        return None;
    }
    value("Threads:")?.parse().ok()
}

/// Returns `utime + stime + cutime + cstime` of a process: its CPU time, and that of its children
/// that have ended.
///
/// The name of the process may contain spaces, so the fields are counted from the last `)`.
fn process_ticks(stat: &str) -> u64 {
    let Some((_, fields)) = stat.rsplit_once(')') else {
        return 0;
    };
    fields
        .split_whitespace()
        .skip(11)
        .take(4)
        .filter_map(|word| word.parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests;
