//! The supervisor: it divides frames into tiles, assigns them to workers, and collects the pixels.
//!
//! It survives the end of any worker: the tiles of that worker are assigned to others, which
//! produce its bricks by themselves. So a frame is completed as long as one worker is left.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.2 and 5.3.

use std::time::{Duration, Instant};

use raddle::net::{Data, NetError, Node, NodeId, Port, SendError};
use raddle_trace::profile::{Activity, Profiler};

use super::SUPERVISOR;
use super::error::DirtError;
use super::options::DirtOptions;
use super::profile::{self, Profiled, ThreadReport};
use super::report::{RunReport, WorkerReport};
use super::schedule::{Completion, Schedule};
use super::wire::{self, MESSAGES, TileHead, messages_of};
use crate::picture::Picture;
use crate::render::{FrameError, Part, Proceed, TileDone};
use crate::volume::isosurface::IsosurfaceOptions;

/// The node that supervises the others.
#[derive(Debug)]
pub struct Supervisor {
    port: Port,
    workers: Vec<Worker>,
    options: DirtOptions,
    /// The number of the next frame.
    next: u32,
    profiled: Profiled,
    /// The times of threads of workers.
    threads: Vec<ThreadReport>,
}

#[derive(Debug)]
struct Worker {
    node: NodeId,
    is_alive: bool,
    /// True if it gets tiles.
    is_active: bool,
    report: Option<WorkerReport>,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WorkerState {
    /// It gets tiles.
    Active,
    /// It gets no tiles, and has its bricks for the others.
    Idle,
    /// It has ended.
    Ended,
}

impl WorkerState {
    /// Returns the name of this state, in files and pages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Ended => "ended",
        }
    }
}

impl Worker {
    /// Returns true if it gets tiles.
    const fn gets_tiles(&self) -> bool {
        self.is_alive && self.is_active
    }
}

/// A frame, and the work that it took.
#[derive(Debug)]
#[non_exhaustive]
pub struct SupervisedFrame {
    /// The picture.
    pub picture: Picture,
    /// The number of samples that hit a surface.
    pub hits: u64,
    /// The number of tiles that were assigned. A tile of a worker that has ended counts twice.
    pub assignments: u32,
    /// The number of workers that ended meanwhile.
    pub lost: usize,
    /// The time from the start of the frame to its last tile.
    pub time: Duration,
}

/// Messages with the nodes that have sent them, and the end of a node, if one has ended.
type News = (Vec<(NodeId, Received)>, Option<NetError>);

/// A message of a worker.
enum Received {
    Ready,
    /// The bytes of the pixels.
    Tile(TileHead, Vec<u8>),
    Failed(u32, String),
    Report(WorkerReport),
    Profile(Vec<u8>),
    Malformed,
}

impl Supervisor {
    /// Waits until all workers are ready.
    ///
    /// # Errors
    /// A [`DirtError`] if there are no workers, or if one cannot begin.
    pub fn start(node: &Node, options: &DirtOptions) -> Result<Self, DirtError> {
        let DirtOptions {
            workers, renderers, ..
        } = *options;
        if workers == 0 || renderers == 0 {
            return Err(DirtError::NoWorkers { workers, renderers });
        }
        let worker = |node| Worker {
            node,
            is_alive: true,
            is_active: true,
            report: None,
        };
        let mut supervisor = Self {
            port: node.port(MESSAGES),
            workers: options.worker_nodes().map(worker).collect(),
            options: options.clone(),
            next: 0,
            profiled: Profiled::begin(options.profiles, profile::SUPERVISOR, Activity::Compute),
            threads: Vec::new(),
        };
        supervisor.port.set_budget(options.budget());
        let mut missing = usize::from(workers);
        while missing > 0 {
            let (received, ended) = supervisor.receive()?;
            for (node, message) in received {
                match message {
                    Received::Ready => missing -= 1,
                    Received::Failed(_, why) => return Err(DirtError::Worker { node, why }),
                    _ => return Err(DirtError::Malformed(node)),
                }
            }
            if let Some(error) = ended {
                return Err(error.into());
            }
        }
        Ok(supervisor)
    }

    /// Renders a frame. `on_tile` is called for each tile that has arrived, and may stop the work.
    ///
    /// # Errors
    /// A [`DirtError`] if an option is out of range, a worker cannot render a tile, or no worker is
    /// left.
    pub fn render<P: Proceed>(
        &mut self,
        scene: &IsosurfaceOptions,
        mut on_tile: impl FnMut(TileDone, Part) -> P,
    ) -> Result<SupervisedFrame, DirtError> {
        scene.check()?;
        let begun = Instant::now();
        let (width, height) = scene.frame.size;
        let mut picture = Picture::try_new(width, height).map_err(|_| FrameError::OutOfMemory {
            bytes: u64::from(width) * u64::from(height) * size_of::<[f32; 3]>() as u64,
        })?;
        let frame = self.next;
        self.next = self.next.wrapping_add(1);
        let mut schedule = Schedule::new(frame, scene.frame.size, self.options.tiles);
        let bytes = postcard::to_allocvec(scene).unwrap_or_default();
        let sending = self.profiled.profile.begin(&profile::SEND_SCENE);
        let sent = self.send_to_all(wire::SCENE, &frame.to_le_bytes(), &bytes);
        self.profiled.profile.end(&sending);
        sent?;
        let mut lost = 0;
        (0..self.workers.len()).try_for_each(|index| self.assign(&mut schedule, index))?;
        let (mut done, mut hits) = (0, 0);
        while schedule.pixels_missing() > 0 {
            let (received, ended) = self.receive()?;
            for (node, message) in received {
                match message {
                    Received::Tile(head, bytes) => {
                        let completion = schedule.complete(head.frame, head.number);
                        if let Completion::Taken(part) | Completion::Last(part) = completion {
                            let copying = self.profiled.profile.call(&profile::COPY_TILE);
                            let is_whole = copy(&mut picture, part, &bytes);
                            drop(copying);
                            if !is_whole {
                                return Err(DirtError::Malformed(node));
                            }
                            done += 1;
                            hits += u64::from(head.hits);
                            let count = schedule.assignment_count() as usize;
                            if !on_tile(TileDone::new(done - 1, count), part).proceeds() {
                                return Err(FrameError::Stopped.into());
                            }
                        }
                        let index = self.index_of(node);
                        self.assign(&mut schedule, index)?;
                    }
                    Received::Failed(of, why) if of == frame => {
                        return Err(DirtError::Worker { node, why });
                    }
                    // A failure in an earlier frame has been reported, or did not matter.
                    Received::Ready
                    | Received::Report(_)
                    | Received::Profile(_)
                    | Received::Failed(..) => {}
                    Received::Malformed => return Err(DirtError::Malformed(node)),
                }
            }
            if let Some(error) = ended {
                lost += usize::from(self.lose(error, &mut schedule)?);
            }
        }
        Ok(SupervisedFrame {
            picture,
            hits,
            assignments: schedule.assignment_count(),
            lost,
            time: begun.elapsed(),
        })
    }

    /// Ends the run. Returns the reports of the workers that are left, and the times of their
    /// threads. The workers end when the node of the supervisor leaves.
    ///
    /// # Errors
    /// A [`DirtError`] if the system refuses something. The end of a worker is no error.
    pub fn finish(mut self) -> Result<RunReport, DirtError> {
        let none = Profiled::begin(false, profile::SUPERVISOR, Activity::Compute);
        let own = std::mem::replace(&mut self.profiled, none);
        self.threads.extend(own.finish(SUPERVISOR.node));
        self.send_to_all(wire::END, &[], &[])?;
        let is_missing = |worker: &Worker| worker.is_alive && worker.report.is_none();
        while self.workers.iter().any(is_missing) {
            let (received, ended) = self.receive()?;
            for (node, message) in received {
                match message {
                    Received::Report(report) => {
                        let index = self.index_of(node);
                        self.workers[index].report = Some(report);
                    }
                    Received::Profile(part) => {
                        let is_whole = profile::read(&part, &mut self.threads, node);
                        is_whole.then_some(()).ok_or(DirtError::Malformed(node))?;
                    }
                    _ => {}
                }
            }
            if let Some(
                NetError::Died(node) | NetError::Left(node) | NetError::Silent { node, .. },
            ) = ended
            {
                let index = self.index_of(node);
                self.workers[index].is_alive = false;
            }
        }
        let is_left = |node: u16| {
            let left = self.workers.iter().filter(|worker| worker.report.is_some());
            node == SUPERVISOR.node.0 || left.map(|worker| worker.node.0).any(|left| left == node)
        };
        let mut threads = std::mem::take(&mut self.threads);
        threads.retain(|thread| is_left(thread.node));
        threads.sort_by_key(|thread| (thread.node, thread.renderer));
        let workers = self.workers.iter();
        let workers = workers.filter_map(|worker| Some((worker.node, worker.report?)));
        Ok(RunReport {
            workers: workers.collect(),
            threads,
        })
    }

    /// Returns the number of workers that are left.
    #[must_use]
    pub fn worker_count(&self) -> usize {
        self.workers.iter().filter(|worker| worker.is_alive).count()
    }

    /// Returns the state of each worker.
    pub fn workers(&self) -> impl ExactSizeIterator<Item = WorkerState> + '_ {
        self.workers.iter().map(|worker| match worker {
            Worker {
                is_alive: false, ..
            } => WorkerState::Ended,
            Worker {
                is_active: false, ..
            } => WorkerState::Idle,
            _ => WorkerState::Active,
        })
    }

    /// Determines which workers get tiles from now on, in the order of the workers. If none of
    /// those that are left would get any, all of them do.
    pub fn set_active(&mut self, is_active: &[bool]) {
        for (worker, &is_active) in self.workers.iter_mut().zip(is_active) {
            worker.is_active = is_active;
        }
        self.keep_one_active();
    }

    fn keep_one_active(&mut self) {
        if !self.workers.iter().any(Worker::gets_tiles) {
            for worker in &mut self.workers {
                worker.is_active = true;
            }
        }
    }

    /// Waits for messages. Returns them with their nodes, and the end of a node, if one has ended.
    ///
    /// # Errors
    /// Errors other than the end of a node.
    fn receive(&mut self) -> Result<News, DirtError> {
        let mut received = Vec::new();
        let profiler = &self.profiled.profile;
        loop {
            let polled = self.port.poll(|arrival| {
                let _call = profiler.call(&profile::READ);
                let Data::Here(data) = arrival.data else {
                    return;
                };
                let message = read(arrival.message.user, arrival.message.metadata, data);
                received.push((arrival.from.node, message));
            });
            match polled {
                Ok(0) => {
                    let _call = profiler.call(&profile::WAIT);
                    self.port.wait();
                }
                Ok(_) => return Ok((received, None)),
                Err(ended @ (NetError::Died(_) | NetError::Left(_) | NetError::Silent { .. })) => {
                    return Ok((received, Some(ended)));
                }
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Assigns tiles to a worker until it has enough.
    fn assign(&mut self, schedule: &mut Schedule, index: usize) -> Result<(), DirtError> {
        let Worker { node, .. } = self.workers[index];
        if !self.workers[index].gets_tiles() {
            return Ok(());
        }
        let renderers = usize::from(self.options.renderers);
        let wanted = renderers * self.options.ahead.max(1);
        let active = self.workers.iter().filter(|worker| worker.gets_tiles());
        let all = renderers * active.count();
        let mut bytes = Vec::new();
        for _ in schedule.open_count(index)..wanted {
            let Some(assignment) = schedule.assign(index, all) else {
                break;
            };
            wire::write_task(&assignment, &mut bytes);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let frame = schedule.frame().to_le_bytes();
        let sending = self.profiled.profile.begin(&profile::ASSIGN);
        let mut parts = bytes.chunks(wire::TASKS_MAX * wire::TASK_BYTES);
        let sent = parts.try_for_each(|part| self.send(node, wire::TASKS, &frame, part));
        self.profiled.profile.end(&sending);
        sent
    }

    /// Handles the end of a worker: its tiles go to others. Returns true if it was alive before.
    fn lose(&mut self, error: NetError, schedule: &mut Schedule) -> Result<bool, DirtError> {
        let node = match error {
            NetError::Died(node) | NetError::Left(node) | NetError::Silent { node, .. } => node,
            error => return Err(error.into()),
        };
        let index = self.index_of(node);
        let was_alive = std::mem::replace(&mut self.workers[index].is_alive, false);
        if self.worker_count() == 0 {
            return Err(DirtError::NoWorkerLeft(node));
        }
        if matches!(error, NetError::Silent { .. }) {
            // The others do not notice that it was stopped.
            self.send_to_all(wire::LOST, &node.0.to_le_bytes(), &[])?;
        }
        schedule.lose(index);
        self.keep_one_active();
        (0..self.workers.len()).try_for_each(|index| self.assign(schedule, index))?;
        Ok(was_alive)
    }

    fn send_to_all(&mut self, user: u32, metadata: &[u8], data: &[u8]) -> Result<(), DirtError> {
        let alive = self.workers.iter().filter(|worker| worker.is_alive);
        let nodes: Vec<_> = alive.map(|worker| worker.node).collect();
        let mut nodes = nodes.into_iter();
        nodes.try_for_each(|node| self.send(node, user, metadata, data))
    }

    /// Sends a message to a worker, and waits for space. The end of the worker is no error: it is
    /// received.
    fn send(
        &mut self,
        node: NodeId,
        user: u32,
        metadata: &[u8],
        data: &[u8],
    ) -> Result<(), DirtError> {
        match wire::send(&mut self.port, messages_of(node), user, metadata, data) {
            Ok(()) | Err(SendError::Died(_) | SendError::Left(_) | SendError::Silent(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns the index of a worker. Workers have the nodes from 1 on.
    fn index_of(&self, node: NodeId) -> usize {
        usize::from(node.0)
            .saturating_sub(1)
            .min(self.workers.len() - 1)
    }
}

/// Reads a message of a worker.
fn read(user: u32, metadata: &[u8], data: &[u8]) -> Received {
    match user {
        wire::READY => Received::Ready,
        wire::TILE => match TileHead::read(metadata) {
            Some(head) => Received::Tile(head, data.to_vec()),
            None => Received::Malformed,
        },
        wire::FAILED => {
            let frame = metadata
                .try_into()
                .map_or(wire::NO_FRAME, u32::from_le_bytes);
            Received::Failed(frame, String::from_utf8_lossy(data).into_owned())
        }
        wire::PROFILE => Received::Profile(data.to_vec()),
        wire::REPORT => WorkerReport::read(data).map_or(Received::Malformed, Received::Report),
        _ => Received::Malformed,
    }
}

/// Copies the pixels of a tile. Returns false if their number is not that of the part.
fn copy(picture: &mut Picture, part: Part, bytes: &[u8]) -> bool {
    if bytes.len() != wire::PIXEL_BYTES * part.pixel_count() {
        return false;
    }
    let width = picture.width() as usize;
    let (left, top) = (part.corner.0 as usize, part.corner.1 as usize);
    let len = part.size.0 as usize;
    for (row, bytes) in bytes.chunks(wire::PIXEL_BYTES * len).enumerate() {
        let first = (top + row) * width + left;
        wire::read_pixels(bytes, &mut picture.pixels_mut()[first..first + len]);
    }
    true
}
