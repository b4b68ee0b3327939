//! Recording of the events of a worker ([`raddle_trace::record`]), and the state of its runtime for
//! recordings and monitors ([`raddle_trace::monitor`]).
//!
//! While a recording is under way, the gates of a worker are watched, so that its forks and joins
//! take the slow path ([`crate::fork`]). Only the worker itself changes that, when it begins a task
//! or answers.

use std::sync::{Arc, Weak};

use raddle_topology::{CpuId, Matrix, Plan, Sharing};
use raddle_trace::record::kind::Waiting;
use raddle_trace::snapshot::{Activity, RuntimeSnapshot, WorkerSnapshot};
use raddle_trace::sources::{self, Source};
use raddle_trace::{Report, record, trace_file};
use serde::Serialize;

use super::{Shared, Worker};
use crate::task::{Kind, TaskCell};
use crate::traffic::matrix_of;

/// The facts about a runtime that its recording has.
#[derive(Serialize)]
struct Facts {
    /// The number of the runtime in its process.
    runtime: u32,
    /// The counters at the end.
    report: Report,
    /// The places of the workers at the end.
    plan: Plan,
    /// The parts of the machine that the workers share.
    sharing: Sharing,
    /// The bytes between workers.
    traffic: Matrix,
}

impl Source for Shared {
    fn facts(&self) -> Vec<(String, String)> {
        let facts = Facts {
            runtime: self.number(),
            report: self.report(),
            plan: self.placing().plan(),
            sharing: self.sharing(),
            traffic: matrix_of(self.worker_count(), &self.traffic().flows()),
        };
        vec![trace_file::fact(
            format!("runtime {}", self.number()),
            &facts,
        )]
    }

    fn snapshot(&self) -> RuntimeSnapshot {
        let cpus = self.placing().present_cpus();
        let workers = self.report().workers.into_iter().enumerate();
        let workers = workers.map(|(index, report)| {
            let (activity, since_ns) = self.activity_of(index);
            let cpu = cpus.get(index).copied().flatten();
            WorkerSnapshot::new(report, cpu.map(CpuId::index), activity, since_ns)
        });
        RuntimeSnapshot::new(self.number(), self.pool_name(), self.worker_count())
            .with_tasks(self.pool_len_estimate(), self.outside_len())
            .with_workers(workers.collect())
    }

    fn recording_begins(&self) {
        self.need_attention();
        // A worker deep in its forks notices at its next one.
        for (_, forks) in self.present_forks() {
            forks.gates().close();
        }
    }
}

impl Shared {
    /// Returns the activity of a worker, and the time for which it has had no work.
    fn activity_of(&self, worker_index: usize) -> (Activity, u64) {
        let counters = self.counters_of(worker_index);
        let now_ns = self.age_ns();
        let (idle_ns, absent_ns) = (counters.idle.open(now_ns), counters.absent.open(now_ns));
        let reason = counters.wait.reason();
        let reason = reason.and_then(|reason| Waiting::ALL.get(usize::from(reason)));
        match (absent_ns, idle_ns, reason) {
            (0, 0, _) => (Activity::Works, 0),
            (0, _, None) => (Activity::Idle, idle_ns),
            (0, _, Some(Waiting::Join)) => (Activity::WaitsForJoin, idle_ns),
            (0, _, Some(Waiting::Scope)) => (Activity::WaitsForScope, idle_ns),
            (0, _, Some(_)) => (Activity::WaitsForHandle, idle_ns),
            _ => (Activity::Rests, absent_ns),
        }
    }

    /// Makes the recording of this process ask for the facts about this runtime at its end.
    pub(crate) fn describe_in_recording(self: &Arc<Self>) {
        let of_this: Weak<Self> = Arc::downgrade(self);
        sources::add(of_this);
    }

    fn sharing(&self) -> Sharing {
        let topology = self.placing().topology();
        let cpus = self.placing().present_cpus();
        topology.map_or_else(Sharing::default, |topology| Sharing::of(topology, &cpus))
    }

    /// Gives the recording of this process the facts about this runtime, which is ending.
    pub(crate) fn keep_facts(&self) {
        if trace_file::is_under_way() {
            trace_file::keep_facts(self.facts());
        }
    }
}

impl Worker {
    /// Gives the current thread, which is this worker, a label in recordings.
    pub(super) fn label_recording(&self) {
        record::this_is_worker(self.shared.number(), self.index, self.is_compensating);
        self.follow_recording();
    }

    /// Begins or ends watching the gates of this worker, if a recording has begun or ended.
    #[inline]
    pub(crate) fn follow_recording(&self) {
        if record::is_on() != self.forks().gates().are_watched() {
            self.follow_recording_slow();
        }
    }

    #[cold]
    fn follow_recording_slow(&self) {
        let idle = self.shared.idle();
        self.forks()
            .slots()
            .watch(record::is_on(), || idle.anyone_sleeps());
    }

    /// Records that this worker is about to run the task or message in `cell`.
    #[inline]
    pub(super) fn record_task(&self, cell: &TaskCell) {
        if record::is_on() {
            self.record_task_slow(cell);
        }
    }

    #[inline(never)]
    fn record_task_slow(&self, cell: &TaskCell) {
        self.follow_recording();
        self.attention.set();
        if cell.is_message() {
            record::run_message();
        } else if cell.kind() == Kind::Closure {
            record::run_task(cell.trace_id());
        }
        // Forks and calls are recorded when it is certain that this worker runs them.
    }
}
