//! The builders: Raddle's by messages and the peers, each timed from the sorted events to the tree.

use std::time::{Duration, Instant};

use raddle::Runtime;
use raddle_graphics::kdtree::messages::{MessageBuilder, MessageOptions};
use raddle_graphics::kdtree::{AllWorkers, BuildError, KdTree, Timed};

use super::failure;
use super::onetbb::OneTbb;
use super::rayon_tasks::RayonTasks;
use super::stage::{Stage, quickest_for_peer};
use super::subject::Subject;
use crate::bvh_peer::{Hierarchy, Shapes};
use crate::error::BenchError;
use crate::harness::{Contender, Local, Request, Sample};
use crate::parkd;
use crate::pools::RayonPools;
use crate::suites::Measurement;

/// The peers of the build by messages.
///
/// A new peer needs a name here, a contender below, and perhaps a bound in [`super::bounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Peer {
    /// Raddle's sequential builder.
    Serial,
    /// Raddle's builder by tasks.
    Tasks,
    /// The nested algorithm on rayon, optimised for speed: [`crate::parkd`].
    Rayon,
    /// The nested algorithm on oneTBB, in C++.
    OneTbb,
    /// Raddle's builder by tasks on rayon: shows the runtime's effect apart from the algorithm's.
    RayonTasks,
}

impl Peer {
    /// All peers, in the order of the tables.
    pub(super) const ALL: [Self; 5] = [
        Self::Serial,
        Self::Tasks,
        Self::Rayon,
        Self::OneTbb,
        Self::RayonTasks,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Serial => "serial",
            Self::Tasks => "tasks",
            Self::Rayon => "rayon",
            Self::OneTbb => "onetbb",
            Self::RayonTasks => "rayon-tasks",
        }
    }

    /// Returns the contenders of some peers. Warns of those that are not available.
    pub(super) fn all_on<'a>(
        peers: impl IntoIterator<Item = Self>,
        stage: &Stage<'a>,
        measurement: &mut Measurement<'_>,
    ) -> Vec<Box<dyn Contender + 'a>> {
        let mut contenders = Vec::new();
        for peer in peers {
            match peer.on(stage) {
                Ok(contender) => contenders.push(contender),
                Err(failure) => (measurement.warn)(failure.to_string()),
            }
        }
        contenders
    }

    /// Returns the contender of this peer.
    fn on<'a>(self, stage: &Stage<'a>) -> Result<Box<dyn Contender + 'a>, BenchError> {
        Ok(match self {
            Self::Serial => Box::new(serial(stage.subject)),
            Self::Tasks => Box::new(tasks(stage.subject, stage.runtime)),
            Self::Rayon => Box::new(rayon(stage)?),
            Self::OneTbb => Box::new(OneTbb::on(stage)?),
            Self::RayonTasks => Box::new(rayon_tasks(stage.subject)),
        })
    }
}

/// A contender: a builder by messages.
#[derive(Debug)]
pub(super) struct Messages<'a> {
    name: &'static str,
    subject: &'a Subject<'a>,
    builder: MessageBuilder<'a>,
}

impl<'a> Messages<'a> {
    /// Creates a builder and builds once, so that it has its memory before it is measured.
    pub(super) fn new(
        name: &'static str,
        subject: &'a Subject<'a>,
        runtime: &'a Runtime,
        options: MessageOptions,
    ) -> Result<Self, BenchError> {
        let builder = MessageBuilder::new(runtime, options);
        let new = Self {
            name,
            subject,
            builder,
        };
        new.build()?;
        Ok(new)
    }

    /// Builds once.
    ///
    /// # Errors
    /// [`BenchError::Contender`], above all if the tree is wrong.
    pub(super) fn build(&self) -> Result<Sample, BenchError> {
        let prepared = self.subject.prepared();
        let built = self
            .builder
            .build(prepared, &self.subject.parameters, |_| ())
            .map_err(|error| failure(self.name, &error))?;
        let is_right = |reference: &KdTree| built.tree == *reference;
        self.subject.sample(self.name, built.time, is_right)
    }
}

impl Contender for Messages<'_> {
    fn name(&self) -> &str {
        self.name
    }

    fn measure(&mut self, _request: &Request<'_>) -> Result<Sample, BenchError> {
        self.build()
    }
}

/// Creates the contender of the sequential builder, on the calling thread.
pub(super) fn serial<'a>(subject: &'a Subject<'a>) -> impl Contender + 'a {
    let name = Peer::Serial.name();
    Local::new(name, move |_: &Request<'_>| {
        let built = KdTree::timed_sequential(subject.prepared(), &subject.parameters, |_| ());
        sample(name, subject, built)
    })
}

/// Creates the contender of the builder by tasks.
fn tasks<'a>(subject: &'a Subject<'a>, runtime: &'a Runtime) -> impl Contender + 'a {
    let name = Peer::Tasks.name();
    Local::new(name, move |_: &Request<'_>| {
        let prepared = subject.prepared();
        let build = || KdTree::timed_by(prepared, &subject.parameters, &AllWorkers, |_| ());
        sample(name, subject, runtime.install(build))
    })
}

/// Creates the contender of the nested algorithm on a pool of rayon, with the fastest grain here.
fn rayon<'a>(stage: &Stage<'a>) -> Result<impl Contender + use<'a>, BenchError> {
    let name = Peer::Rayon.name();
    let subject = stage.subject;
    let mut pools = RayonPools::default();
    let mut build = move |workers: usize, grain: usize| {
        let pool = pools.of_workers(workers)?;
        let prepared = pool.install(|| subject.input.prepared_for_rayon());
        let ((tree, _leftovers), time) =
            clocked(|| pool.install(|| parkd::build(prepared, &subject.parameters, grain)));
        subject.sample(name, time, |reference| tree.is_same_as(reference))
    };
    let grain = quickest_for_peer(|grain| build(stage.workers(), grain))?;
    Ok(Local::new(name, move |request: &Request<'_>| {
        build(request.workers, grain)
    }))
}

/// Creates the contender of the builder by tasks on a pool of rayon.
fn rayon_tasks<'a>(subject: &'a Subject<'a>) -> impl Contender + 'a {
    let name = Peer::RayonTasks.name();
    let mut pools = RayonPools::default();
    Local::new(name, move |request: &Request<'_>| {
        let pool = pools.of_workers(request.workers)?;
        let prepared = subject.prepared();
        let build = || KdTree::timed_by(prepared, &subject.parameters, &RayonTasks, |_| ());
        sample(name, subject, pool.install(build))
    })
}

/// Creates the contender of the crate `bvh`, on the calling thread.
///
/// Its hierarchy is no kd-tree, so the only check is that it contains all triangles.
pub(super) fn bvh<'a>(subject: &'a Subject<'a>) -> impl Contender + 'a {
    Local::new("bvh", move |_: &Request<'_>| {
        let shapes = Shapes::of(&subject.input.mesh);
        let (hierarchy, time) = clocked(|| Hierarchy::build(shapes));
        Ok(Sample {
            time,
            result: hierarchy.triangle_count() as u64,
        })
    })
}

/// Returns the sample of one of Raddle's builds.
pub(super) fn sample(
    name: &'static str,
    subject: &Subject<'_>,
    built: Result<Timed, BuildError>,
) -> Result<Sample, BenchError> {
    let Timed { tree, time, .. } = built.map_err(|error| failure(name, &error))?;
    subject.sample(name, time, |reference| tree == *reference)
}

/// Runs `work` and returns its result and its time.
fn clocked<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let began = Instant::now();
    let made = work();
    (made, began.elapsed())
}
