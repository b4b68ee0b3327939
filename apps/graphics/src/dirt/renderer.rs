//! A renderer: a thread of a worker that renders the tiles that its worker has been assigned.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.3.2 and 6.2.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};

use raddle::net::Port;
use raddle::net::bricks::{BrickError, BrickReader};
use raddle_sync::prim::clock_ns;
use raddle_sync::wait::SpinBudget;
use raddle_trace::profile::{Activity, NoProfile, Profiler, ThreadProfile};

use super::profile::{self, PACK, POP, PREPARE, RENDER, SEND_TILE, ThreadReport, TileTimes};
use super::queue::{Queue, Waiter};
use super::report::WorkerReport;
use super::schedule::Assignment;
use super::wire;
use crate::volume::isosurface::{BrickAccess, BrickFetch, IsosurfaceOptions, Prepared};
use crate::volume::{BrickLayout, Grid, ValueRanges, VoxelKind};

/// A frame, as a worker knows it.
#[derive(Debug)]
pub(super) struct Scene {
    pub(super) frame: u32,
    pub(super) options: IsosurfaceOptions,
    /// The data that its rays need, which the first renderer prepares, or the reason why they
    /// cannot be prepared.
    pub(super) prepared: OnceLock<Result<Prepared, String>>,
}

/// The voxels that all bricks together have.
#[derive(Debug)]
pub(super) struct Voxels {
    pub(super) grid: Grid,
    pub(super) kind: VoxelKind,
    pub(super) ranges: Arc<ValueRanges>,
}

/// A tile to be rendered.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) scene: Arc<Scene>,
    pub(super) assignment: Assignment,
}

/// A thread that renders tiles.
#[derive(Debug)]
pub(super) struct Renderer<'a> {
    pub(super) reader: BrickReader,
    pub(super) layout: BrickLayout,
    pub(super) fetch: BrickFetch,
    pub(super) budget: SpinBudget,
    pub(super) volume: &'a Voxels,
    pub(super) queue: &'a Queue<Task>,
}

/// The reports of a renderer that has ended.
#[derive(Debug, Default)]
pub(super) struct Ended {
    pub(super) report: WorkerReport,
    pub(super) profile: Option<ThreadReport>,
}

impl Renderer<'_> {
    /// Renders tiles until the run ends.
    pub(super) fn run(self) -> Ended {
        let mut waiter = Waiter::new(self.budget.clone());
        let first = self.queue.pop(&mut waiter);
        let mut session = Session::new(self, waiter, NoProfile);
        session.guarded(first);
        Ended {
            report: session.end().0,
            profile: None,
        }
    }

    /// Renders tiles until the run ends, and measures that from the first tile on.
    pub(super) fn run_profiled(mut self, number: u16) -> Ended {
        let node = self.reader.port().id().node;
        let mut waiter = Waiter::new(self.budget.clone());
        let first = self.queue.pop(&mut waiter);
        let profiler = ThreadProfile::begin(profile::RENDERER, Activity::Compute);
        let cpu_ns = profile::cpu_ns();
        let mut session = Session::new(self, waiter, profiler);
        session.guarded(first);
        let tiles = std::mem::take(&mut session.tiles);
        let (report, profiler) = session.end();
        let profile = profile::report(node, Some(number), profiler, cpu_ns, tiles);
        Ended {
            report,
            profile: Some(profile),
        }
    }
}

/// A renderer with its profiler.
struct Session<'a, P> {
    access: BrickAccess<P>,
    volume: &'a Voxels,
    queue: &'a Queue<Task>,
    waiter: Waiter,
    report: WorkerReport,
    /// The times of the tiles, if they are profiled.
    tiles: Vec<TileTimes>,
}

impl<'a, P: Profiler> Session<'a, P> {
    fn new(renderer: Renderer<'a>, waiter: Waiter, profiler: P) -> Self {
        let Renderer {
            reader,
            layout,
            fetch,
            volume,
            queue,
            ..
        } = renderer;
        Self {
            access: BrickAccess::new(reader, layout, volume.kind, fetch, profiler),
            volume,
            queue,
            waiter,
            report: WorkerReport::default(),
            tiles: Vec::new(),
        }
    }

    /// Ends the session. Returns its counts.
    fn end(self) -> (WorkerReport, P) {
        let (reader, profiler) = self.access.into_parts();
        let report = WorkerReport {
            bricks: *reader.counters(),
            ..self.report
        };
        (report, profiler)
    }

    fn port(&mut self) -> &mut Port {
        self.access.reader().port()
    }

    /// Renders tiles, beginning with `first`, until the run ends.
    ///
    /// A panic ends the run for this worker, which the communicator has to notice.
    fn guarded(&mut self, first: Option<Task>) {
        let caught = catch_unwind(AssertUnwindSafe(|| self.render_all(first)));
        if let Err(panic) = caught {
            let own = wire::messages_of(self.port().id().node);
            // An error means that the run has ended anyway.
            let _ = wire::send(self.port(), own, wire::END, &[], &[]);
            resume_unwind(panic);
        }
    }

    fn render_all(&mut self, first: Option<Task>) {
        let (mut pixels, mut bytes) = (Vec::new(), Vec::new());
        let mut next = first;
        let mut waited_ns = 0.0;
        while let Some(task) = next {
            let before = P::IS_ON.then(|| Before::new(self));
            let sent = match self.render(&task, &mut pixels) {
                Ok(hits) => {
                    let packing = self.access.profiler().call(&PACK);
                    wire::write_pixels(&pixels, &mut bytes);
                    drop(packing);
                    let Assignment { frame, number, .. } = task.assignment;
                    let head = wire::TileHead {
                        frame,
                        number,
                        hits,
                    };
                    self.send(wire::TILE, &head.write(), &bytes)
                }
                // The communicator has ended, and with it this worker.
                Err(Failure::NoServer) => break,
                Err(Failure::Reason(why)) => {
                    let frame = task.assignment.frame.to_le_bytes();
                    self.send(wire::FAILED, &frame, wire::reason(&why))
                }
            };
            if let Some(before) = before {
                let waited_until_ns = before.waited_ns;
                before.end(self, &task.assignment, waited_ns);
                waited_ns = waited_until_ns;
            }
            if !sent {
                // The supervisor has ended. The communicator reports that.
                break;
            }
            let _call = self.access.profiler().call(&POP);
            next = self.queue.pop(&mut self.waiter);
        }
    }

    /// Sends a message to the supervisor. Returns false if it has ended.
    fn send(&mut self, user: u32, metadata: &[u8], data: &[u8]) -> bool {
        let (reader, profiler) = self.access.parts();
        let _call = profiler.call(&SEND_TILE);
        wire::send_to_supervisor(reader.port(), user, metadata, data).is_ok()
    }

    /// Renders a tile. Returns the number of hits.
    fn render(&mut self, task: &Task, pixels: &mut Vec<[f32; 3]>) -> Result<u32, Failure> {
        let scene = &task.scene;
        let preparing = self.access.profiler().call(&PREPARE);
        let prepared = scene.prepared.get_or_init(|| {
            let Voxels { grid, ranges, .. } = self.volume;
            let prepared = Prepared::with_ranges(grid, ranges, scene.options.clone());
            prepared.map_err(|error| error.to_string())
        });
        drop(preparing);
        let prepared = prepared.as_ref();
        let prepared = prepared.map_err(|why| Failure::Reason(why.clone()))?;
        let part = task.assignment.part;
        pixels.clear();
        pixels.resize(part.pixel_count(), [0.0; 3]);
        let rendering = self.access.profiler().begin(&RENDER);
        let rendered = prepared.render_part(&mut self.access, part, pixels);
        self.access.profiler().end(&rendering);
        match rendered {
            Ok(work) => {
                self.report.tiles += 1;
                self.report.pixels += part.pixel_count() as u64;
                self.report.work += work;
                Ok(u32::try_from(work.rays.hits).unwrap_or(u32::MAX))
            }
            Err(BrickError::NoServer { .. }) => Err(Failure::NoServer),
            Err(error) => Err(Failure::Reason(error.to_string())),
        }
    }
}

/// The reason why a tile was not rendered.
enum Failure {
    NoServer,
    Reason(String),
}

/// The state of a profile at the begin of a tile.
struct Before {
    begun_ns: u64,
    waited_ns: f64,
    communicate_ns: f64,
    misses: u64,
}

impl Before {
    fn new<P: Profiler>(session: &mut Session<'_, P>) -> Self {
        Self {
            begun_ns: clock_ns(),
            waited_ns: session.access.profiler().time_ns(Activity::WaitForWork),
            communicate_ns: session.access.profiler().time_ns(Activity::Communicate),
            misses: session.access.reader().counters().misses,
        }
    }

    /// Keeps the times of a tile that has ended. `waited_ns` is the time that the thread had waited
    /// for tiles before the last one.
    fn end<P: Profiler>(
        self,
        session: &mut Session<'_, P>,
        assignment: &Assignment,
        waited_ns: f64,
    ) {
        let now = Self::new(session);
        session.tiles.push(TileTimes {
            frame: assignment.frame,
            number: assignment.number,
            begun_ns: self.begun_ns,
            total_ns: now.begun_ns.saturating_sub(self.begun_ns) as f64,
            waited_ns: self.waited_ns - waited_ns,
            communicate_ns: now.communicate_ns - self.communicate_ns,
            misses: now.misses - self.misses,
        });
    }
}
