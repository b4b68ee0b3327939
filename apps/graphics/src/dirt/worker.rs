//! A worker: the *communicator*, which receives all messages of its node, and the renderers.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.3.2, 6.2 and 6.3.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use raddle::net::bricks::{BrickError, BrickOptions, BrickServer, Bricks, Homes, Store};
use raddle::net::{Arrival, Data, NetError, Node, NodeId, Port, PortId, SendError};
use raddle_sync::lane::LONG_MAX;

use super::error::DirtError;
use super::options::{Content, DirtOptions};
use super::queue::{Queue, Waiter};
use super::report::WorkerReport;
use super::schedule::Assignment;
use super::wire::NO_FRAME;
use super::{SUPERVISOR, wire};
use crate::volume::isosurface::{BrickAccess, IsosurfaceOptions, Prepared};
use crate::volume::{BrickLayout, Grid, ValueRanges, VoxelKind};

/// The port of each node at which its messages arrive.
pub(super) const MESSAGES: u16 = 0;

/// The time between two looks at the end of a run, of which nothing gives notice.
const PAUSE: Duration = Duration::from_micros(100);

/// A frame, as a worker knows it.
#[derive(Debug)]
struct Scene {
    frame: u32,
    options: IsosurfaceOptions,
    /// The data that its rays need, which the first renderer prepares, or the reason why they
    /// cannot be prepared.
    prepared: OnceLock<Result<Prepared, String>>,
}

/// The voxels that all bricks together have.
#[derive(Debug)]
struct Voxels {
    grid: Grid,
    kind: VoxelKind,
    ranges: Arc<ValueRanges>,
}

/// A tile to be rendered.
#[derive(Debug)]
struct Task {
    scene: Arc<Scene>,
    assignment: Assignment,
}

/// Works for the supervisor until it ends the run, or ends itself.
///
/// The thread of each renderer first calls `begin` with the number of the renderer, from 0 on: to
/// bind itself to a CPU, for example.
///
/// # Errors
/// A [`DirtError`] if the bricks cannot be shared, or if the supervisor has ended early.
pub fn work(
    node: &Node,
    content: Content,
    options: &DirtOptions,
    begin: impl Fn(u16) + Sync,
) -> Result<(), DirtError> {
    let volume = &Voxels {
        grid: content.grid,
        kind: content.kind,
        ranges: Arc::clone(&content.ranges),
    };
    let layout = BrickLayout::new(&volume.grid, options.brick_edge, volume.kind.bytes())?;
    let mut port = node.port(MESSAGES);
    let started = start_bricks(node, content, options, layout);
    let bricks = match started {
        Ok(bricks) => bricks,
        Err(error) => {
            refuse_by(&mut port, &error.to_string())?;
            return Err(error);
        }
    };
    let queue = Queue::default();
    let begin = &begin;
    thread::scope(|scope| {
        // The renderers end also if there is an error or a panic.
        let closing = Closing(&queue);
        let mut renderers = Vec::new();
        for index in 1..=options.renderers {
            let renderer = Renderer {
                access: BrickAccess::new(
                    bricks.reader(node.port(index)),
                    layout,
                    volume.kind,
                    options.fetch,
                ),
                volume,
                queue: &queue,
                report: WorkerReport::default(),
            };
            let builder = thread::Builder::new().name(format!("renderer {index}"));
            let started = builder.spawn_scoped(scope, move || {
                begin(index - 1);
                renderer.run()
            });
            match started {
                Ok(started) => renderers.push(started),
                Err(error) => {
                    let error = DirtError::Thread(error);
                    refuse_by(&mut port, &error.to_string())?;
                    return Err(error);
                }
            }
        }
        let mut communicator = Communicator {
            node,
            port,
            server: bricks.server(),
            queue: &queue,
            scene: None,
        };
        communicator.run()?;
        drop(closing);
        // Bricks are served until all renderers have ended: first those of this node, then, until
        // the supervisor leaves, those of the others.
        communicator.serve_while(|| !renderers.iter().all(ScopedJoinHandle::is_finished))?;
        let mut report = WorkerReport::default();
        for renderer in renderers {
            match renderer.join() {
                Ok(more) => report += more,
                Err(panic) => resume_unwind(panic),
            }
        }
        report.answered = communicator.server.answered();
        send(&mut communicator.port, wire::REPORT, &[], &report.write())?;
        match communicator.serve_while(|| true) {
            Err(DirtError::Supervisor(NetError::Left(_))) => Ok(()),
            other => other,
        }
    })
}

/// Reports to the supervisor, in place of [`work`], that this node cannot work.
///
/// # Errors
/// A [`DirtError`] if the supervisor has ended.
pub fn refuse(node: &Node, why: &str) -> Result<(), DirtError> {
    refuse_by(&mut node.port(MESSAGES), why)
}

fn refuse_by(port: &mut Port, why: &str) -> Result<(), DirtError> {
    let len = why.floor_char_boundary(LONG_MAX.min(why.len()));
    let frame = NO_FRAME.to_le_bytes();
    send(port, wire::FAILED, &frame, &why.as_bytes()[..len])
}

/// Closes the queue when it is dropped.
struct Closing<'a>(&'a Queue<Task>);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Shares the bricks with the other workers.
fn start_bricks(
    node: &Node,
    content: Content,
    options: &DirtOptions,
    layout: BrickLayout,
) -> Result<Arc<Bricks>, DirtError> {
    let workers: Vec<NodeId> = options.worker_nodes().collect();
    let rule = options.homes.clone();
    let homes = Homes::new(workers.clone(), layout.brick_count(), rule)?;
    let store = if content.is_in_memory {
        let own = workers.iter().position(|&worker| worker == node.id());
        let own = own.ok_or(DirtError::Malformed(node.id()))?;
        let bytes = layout.brick_bytes();
        let len = homes.count_of(own) as usize * bytes;
        let (segment, filled) = node.read_only_segment(len, |all| {
            let places = all.chunks_exact_mut(bytes);
            homes.keys_of(own).zip(places).try_for_each(|(key, place)| {
                let read = content.source.read(key, place);
                read.map_err(|why| DirtError::Source { key, why })
            })
        })?;
        filled?;
        Store::Memory(segment)
    } else {
        Store::OnDemand(content.source)
    };
    let properties = BrickOptions {
        brick_bytes: layout.brick_bytes(),
        cache_bytes: options.cache_bytes,
        associativity: options.associativity,
        answers: options.answers,
        server_port: MESSAGES,
    };
    let started = Bricks::start(
        node,
        &workers,
        homes,
        Some(store),
        content.backup,
        properties,
    );
    Ok(started?)
}

/// Sends a message to the supervisor, and waits for space.
fn send(port: &mut Port, user: u32, metadata: &[u8], data: &[u8]) -> Result<(), DirtError> {
    Ok(wire::send(port, SUPERVISOR, user, metadata, data)?)
}

/// The thread that receives all messages of a worker.
struct Communicator<'a> {
    node: &'a Node,
    port: Port,
    server: BrickServer,
    queue: &'a Queue<Task>,
    scene: Option<Arc<Scene>>,
}

/// The outcome of a message of the supervisor.
enum Received {
    Nothing,
    Scene(Arc<Scene>),
    Tasks(Vec<Assignment>),
    Lost(NodeId),
    End,
    Malformed(NodeId),
}

impl Communicator<'_> {
    /// Receives messages until the supervisor ends the run.
    fn run(&mut self) -> Result<(), DirtError> {
        send(&mut self.port, wire::READY, &[], &[])?;
        loop {
            let mut received = Vec::new();
            let server = &mut self.server;
            let polled = self.port.poll(|arrival| {
                if !server.receive(&arrival) {
                    received.push(read(&arrival));
                }
            });
            for message in received {
                match message {
                    Received::Nothing => {}
                    Received::Scene(scene) => self.begin(scene),
                    Received::Tasks(tasks) => self.put(tasks),
                    Received::Lost(node) => self.node.give_up(node),
                    Received::End => return Ok(()),
                    Received::Malformed(from) => return Err(DirtError::Malformed(from)),
                }
            }
            let has_sent = self.server.send(&mut self.port);
            match polled {
                Ok(0) if has_sent => self.port.wait(),
                // The threads of another node have to receive before there is space.
                Ok(0) => thread::yield_now(),
                Ok(_) => {}
                Err(error) => self.note_end(error)?,
            }
        }
    }

    /// Answers requests for bricks for as long as `is_needed`, after the end of the run.
    fn serve_while(&mut self, is_needed: impl Fn() -> bool) -> Result<(), DirtError> {
        while is_needed() {
            let server = &mut self.server;
            let polled = self.port.poll(|arrival| {
                server.receive(&arrival);
            });
            self.server.send(&mut self.port);
            match polled {
                Ok(0) => thread::sleep(PAUSE),
                Ok(_) => {}
                Err(error) => self.note_end(error)?,
            }
        }
        Ok(())
    }

    /// Begins a frame. The tiles of earlier frames are no longer wanted.
    fn begin(&mut self, scene: Arc<Scene>) {
        self.queue
            .retain(|task| task.assignment.frame == scene.frame);
        self.scene = Some(scene);
    }

    fn put(&self, assignments: Vec<Assignment>) {
        let Some(scene) = &self.scene else { return };
        let wanted = assignments.into_iter();
        let wanted = wanted.filter(|assignment| assignment.frame == scene.frame);
        self.queue.push_all(wanted.map(|assignment| Task {
            scene: Arc::clone(scene),
            assignment,
        }));
    }

    /// Handles the end of a node.
    fn note_end(&mut self, error: NetError) -> Result<(), DirtError> {
        let (node, as_sender) = match error {
            NetError::Died(node) => (node, SendError::Died(node)),
            NetError::Left(node) => (node, SendError::Left(node)),
            NetError::Silent { node, .. } => (node, SendError::Silent(node)),
            error => return Err(error.into()),
        };
        if node == SUPERVISOR.node {
            return Err(DirtError::Supervisor(error));
        }
        self.server.node_ended(node, as_sender);
        Ok(())
    }
}

/// Reads a message of the supervisor.
fn read(arrival: &Arrival<'_>) -> Received {
    let malformed = Received::Malformed(arrival.from.node);
    let Data::Here(data) = arrival.data else {
        return malformed;
    };
    let metadata = arrival.message.metadata;
    let read = match arrival.message.user {
        wire::SCENE => scene_of(metadata, data).map(|scene| Received::Scene(Arc::new(scene))),
        wire::TASKS => wire::read_tasks(metadata, data).map(Received::Tasks),
        wire::LOST => {
            let node = metadata.try_into().ok().map(u16::from_le_bytes);
            node.map(|node| Received::Lost(NodeId(node)))
        }
        wire::END => Some(Received::End),
        _ => Some(Received::Nothing),
    };
    read.unwrap_or(malformed)
}

fn scene_of(metadata: &[u8], data: &[u8]) -> Option<Scene> {
    Some(Scene {
        frame: u32::from_le_bytes(metadata.try_into().ok()?),
        options: postcard::from_bytes(data).ok()?,
        prepared: OnceLock::new(),
    })
}

/// A thread that renders tiles.
struct Renderer<'a> {
    access: BrickAccess,
    volume: &'a Voxels,
    queue: &'a Queue<Task>,
    report: WorkerReport,
}

impl Renderer<'_> {
    /// Renders tiles until the run ends. Returns the counts.
    ///
    /// A panic ends the run for this worker, which the communicator has to notice.
    fn run(mut self) -> WorkerReport {
        let caught = catch_unwind(AssertUnwindSafe(|| self.render_all()));
        if let Err(panic) = caught {
            let own = messages_of(self.access.reader().port().id().node);
            // An error means that the run has ended anyway.
            let _ = wire::send(self.access.reader().port(), own, wire::END, &[], &[]);
            resume_unwind(panic);
        }
        self.report.bricks = *self.access.reader().counters();
        self.report
    }

    fn render_all(&mut self) {
        let mut waiter = Waiter::default();
        let (mut pixels, mut bytes) = (Vec::new(), Vec::new());
        while let Some(task) = self.queue.pop(&mut waiter) {
            let sent = match self.render(&task, &mut pixels) {
                Ok(()) => {
                    wire::write_pixels(&pixels, &mut bytes);
                    let Assignment { frame, number, .. } = task.assignment;
                    let head = wire::tile_head(frame, number);
                    send(self.access.reader().port(), wire::TILE, &head, &bytes)
                }
                // The communicator has ended, and with it this worker.
                Err(Failure::NoServer) => break,
                Err(Failure::Reason(why)) => {
                    let frame = task.assignment.frame.to_le_bytes();
                    send(
                        self.access.reader().port(),
                        wire::FAILED,
                        &frame,
                        why.as_bytes(),
                    )
                }
            };
            if sent.is_err() {
                // The supervisor has ended. The communicator reports that.
                break;
            }
        }
    }

    fn render(&mut self, task: &Task, pixels: &mut Vec<[f32; 3]>) -> Result<(), Failure> {
        let scene = &task.scene;
        let prepared = scene.prepared.get_or_init(|| {
            let Voxels { grid, ranges, .. } = self.volume;
            let prepared = Prepared::with_ranges(grid, ranges, scene.options.clone());
            prepared.map_err(|error| error.to_string())
        });
        let prepared = prepared.as_ref();
        let prepared = prepared.map_err(|why| Failure::Reason(why.clone()))?;
        let part = task.assignment.part;
        pixels.clear();
        pixels.resize(part.pixel_count(), [0.0; 3]);
        let rendered = prepared.render_part(&mut self.access, part, pixels);
        match rendered {
            Ok(work) => {
                self.report.tiles += 1;
                self.report.pixels += part.pixel_count() as u64;
                self.report.work += work;
                Ok(())
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

/// Returns the port at which the messages of a node arrive.
pub(super) const fn messages_of(node: NodeId) -> PortId {
    PortId {
        node,
        index: MESSAGES,
    }
}
