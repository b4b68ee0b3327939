//! The runs of a characterisation.

use std::thread;

use raddle::net::bricks::Answers;
use raddle_graphics::dirt::{Content, DirtOptions, ThreadReport};
use raddle_model::units::Nanoseconds;
use raddle_trace::profile::Activity;
use serde::Serialize;

use super::super::arguments::{DirtArguments, Job};
use super::super::report::Rendered;
use super::super::subject::{self, Subject};
use super::super::{lead, nodes};
use crate::arguments::Options;
use crate::error::CliError;
use crate::progress::Phase;

/// The volume of all runs.
pub(super) struct Runs<'a> {
    arguments: &'a DirtArguments,
    options: &'a Options,
    pub(super) job: Job,
    pub(super) subject: Subject,
    content: Content,
    phase: Phase,
}

/// A run, and what it took.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) nodes: u16,
    pub(super) renderers: u16,
    pub(super) frames: u32,
    pub(super) rendered: Rendered,
}

/// A kind of threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Renderer,
    Communicator,
    Supervisor,
}

/// The CPU time of a frame, as that of the model.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Cpu {
    pub(super) renderers_ms: f64,
    pub(super) handlers_ms: f64,
    pub(super) supervisor_ms: f64,
}

impl Cpu {
    /// Returns the sum.
    pub(super) fn total(&self) -> Nanoseconds {
        Nanoseconds(1e6 * (self.renderers_ms + self.handlers_ms + self.supervisor_ms))
    }
}

impl<'a> Runs<'a> {
    /// Reads or generates the volume.
    ///
    /// # Errors
    /// Those of [`subject::open`].
    pub(super) fn open(
        arguments: &'a DirtArguments,
        options: &'a Options,
    ) -> Result<Self, CliError> {
        let mut job = arguments.nodes.job(&subject::origin(&arguments.input)?)?;
        if arguments.nodes.answers.is_none() {
            // As the study's program.
            job.options.answers = Answers::Handler;
        }
        let (subject, content) =
            subject::open(&arguments.input, &job.options, false, options.quiet)?;
        Ok(Self {
            arguments,
            options,
            job,
            subject,
            content,
            phase: Phase::begin("characterising", options.quiet),
        })
    }

    /// Returns the size of a picture.
    pub(super) fn size(&self) -> (u32, u32) {
        let size = self.arguments.view.size;
        (size.width, size.height)
    }

    /// Renders all frames with nodes that are threads.
    ///
    /// # Errors
    /// Nodes that do not start, or an option that does not fit the volume.
    pub(super) fn run(
        &self,
        nodes: u16,
        renderers: u16,
        is_profiled: bool,
    ) -> Result<Run, CliError> {
        let job = Job {
            options: DirtOptions {
                workers: nodes,
                renderers,
                is_oversubscribed: DirtOptions::is_oversubscribed(nodes.into(), renderers),
                profiles: is_profiled,
                ..self.job.options.clone()
            },
            ..self.job.clone()
        };
        let plan = match cpus() > usize::from(nodes) * usize::from(renderers) {
            true => nodes::plan(&job, self.options)?,
            false => None,
        };
        let lead = |node: &_, subject| {
            lead(node, subject, self.arguments, &job.options, true, |_, _| {
                Ok(())
            })
        };
        let rendered = nodes::run_threads(&job, plan.as_ref(), &self.subject, &self.content, lead)?;
        self.phase
            .one_more_of(self.arguments.characterise.run_count());
        Ok(Run {
            nodes,
            renderers,
            frames: self.arguments.frames,
            rendered,
        })
    }
}

/// Returns the number of CPUs that this process may use.
fn cpus() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// The functions in which a thread waits for others.
const WAITS: [&str; 3] = ["wait for work", "wait for message", "wait for brick"];

/// Returns the share of the time without waits in which a thread had a CPU.
fn cpu_share(thread: &ThreadReport) -> f64 {
    let cpu = thread.cpu_ns - thread.times.cost_ns();
    (cpu / busy_ns(thread).max(1.0)).clamp(0.0, 1.0)
}

/// Returns the time of a thread without waits, in nanoseconds.
fn busy_ns(thread: &ThreadReport) -> f64 {
    let waits: f64 = WAITS.iter().map(|name| thread.times.of(name).1).sum();
    thread.times.total_ns() - waits
}

impl Run {
    /// Returns the misses of all renderers in all frames.
    pub(super) fn misses(&self) -> f64 {
        self.rendered.sum().bricks.misses as f64
    }

    /// Returns the threads of a kind.
    pub(super) fn threads(&self, kind: Kind) -> impl Iterator<Item = &ThreadReport> + Clone {
        let is_it = move |thread: &&ThreadReport| match kind {
            Kind::Renderer => thread.renderer.is_some(),
            Kind::Communicator => thread.renderer.is_none() && thread.node != 0,
            Kind::Supervisor => thread.renderer.is_none() && thread.node == 0,
        };
        self.rendered.threads.iter().filter(is_it)
    }

    /// Returns the calls of functions by all threads of a kind, and their exclusive time in
    /// nanoseconds.
    pub(super) fn of(&self, kind: Kind, functions: &[&str]) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for thread in self.threads(kind) {
            for function in functions {
                let (calls, ns) = thread.times.of(function);
                sum.0 += calls as f64;
                sum.1 += ns;
            }
        }
        sum
    }

    /// Returns the calls of functions by all threads of a kind, and their CPU time in nanoseconds.
    ///
    /// A thread that shares its CPU is interrupted, so its functions take longer than their work.
    /// The part of the thread's time without waits in which it had a CPU is known, and is taken to
    /// be the same for all functions.
    pub(super) fn work_of(&self, kind: Kind, functions: &[&str]) -> (f64, f64) {
        let mut sum = (0.0, 0.0);
        for thread in self.threads(kind) {
            let share = cpu_share(thread);
            for function in functions {
                let (calls, ns) = thread.times.of(function);
                sum.0 += calls as f64;
                sum.1 += share * ns;
            }
        }
        sum
    }

    /// Returns the CPU time of all threads of a kind in waits: that of falling asleep, waking and
    /// spinning.
    pub(super) fn waits_ns(&self, kind: Kind) -> f64 {
        let of_thread = |it: &ThreadReport| {
            let cpu = it.cpu_ns - it.times.cost_ns();
            (cpu - cpu_share(it) * busy_ns(it)).max(0.0)
        };
        self.threads(kind).map(of_thread).sum()
    }

    /// Returns the CPU time of all threads of a kind in an activity, in nanoseconds. See
    /// [`work_of`](Self::work_of).
    pub(super) fn work_ns(&self, kind: Kind, activity: Activity) -> f64 {
        let of_thread = |it: &ThreadReport| cpu_share(it) * it.times.time_ns(activity);
        self.threads(kind).map(of_thread).sum()
    }

    /// Returns the time of all threads of a kind in an activity, in nanoseconds.
    pub(super) fn time_ns(&self, kind: Kind, activity: Activity) -> f64 {
        self.threads(kind)
            .map(|it| it.times.time_ns(activity))
            .sum()
    }

    /// Returns the time of all threads of a kind, in nanoseconds.
    pub(super) fn total_ns(&self, kind: Kind) -> f64 {
        self.threads(kind).map(|it| it.times.total_ns()).sum()
    }

    /// Returns the CPU time of a frame, without that of the profile.
    pub(super) fn cpu(&self) -> Cpu {
        let per_frame = |kind| {
            let of_thread = |it: &ThreadReport| it.cpu_ns - it.times.cost_ns();
            self.threads(kind).map(of_thread).sum::<f64>() * 1e-6 / f64::from(self.frames)
        };
        Cpu {
            renderers_ms: per_frame(Kind::Renderer),
            handlers_ms: per_frame(Kind::Communicator),
            supervisor_ms: per_frame(Kind::Supervisor),
        }
    }

    /// Returns the mean time of a frame, in milliseconds.
    pub(super) fn frame_ms(&self) -> f64 {
        let times = self.rendered.times();
        times.iter().map(|time| time.as_secs_f64()).sum::<f64>() * 1e3 / times.len().max(1) as f64
    }

    /// Returns true if there are fewer CPUs than threads.
    pub(super) fn shares_cpus(&self) -> bool {
        DirtOptions::is_oversubscribed(self.nodes.into(), self.renderers)
    }
}
