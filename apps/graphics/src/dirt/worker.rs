//! A worker: the *communicator*, which receives all messages of its node, and the renderers.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.3.2, 6.2 and 6.3.

use std::panic::resume_unwind;
use std::sync::{Arc, OnceLock};
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use raddle::net::bricks::{BrickOptions, BrickServer, Bricks, Homes, Store};
use raddle::net::{Arrival, Data, NetError, Node, NodeId, Port, SendError};
use raddle_trace::profile::{Activity, Profiler};

use super::SUPERVISOR;
use super::error::DirtError;
use super::options::{Content, DirtOptions};
use super::profile::{self, Profiled, ThreadReport};
use super::queue::Queue;
use super::renderer::{Renderer, Scene, Task, Voxels};
use super::report::WorkerReport;
use super::schedule::Assignment;
use super::wire::NO_FRAME;
use super::wire::{self, MESSAGES, send_to_supervisor};
use crate::volume::BrickLayout;

/// The time between two looks at the end of a run, of which nothing gives notice.
const PAUSE: Duration = Duration::from_micros(100);

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
    port.set_budget(options.budget());
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
            let mut reader = bricks.reader(node.port(index));
            reader.set_budget(options.budget());
            let renderer = Renderer {
                reader,
                layout,
                volume,
                queue: &queue,
                fetch: options.fetch,
                budget: options.budget(),
            };
            let builder = thread::Builder::new().name(format!("renderer {index}"));
            let started = builder.spawn_scoped(scope, move || {
                begin(index - 1);
                match options.profiles {
                    true => renderer.run_profiled(index - 1),
                    false => renderer.run(),
                }
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
            profiled: Profiled::begin(
                options.profiles,
                profile::COMMUNICATOR,
                Activity::Communicate,
            ),
        };
        let ran = communicator.run();
        let mut threads: Vec<ThreadReport> = Vec::new();
        threads.extend(communicator.take_profile());
        drop(closing);
        // Bricks are served until all renderers have ended: first those of this node, then, until
        // the supervisor leaves, those of the others. After an error, too: a renderer that waits
        // for a brick of another node ends only if that node still serves, and that node may wait
        // for this one.
        let is_needed = || !renderers.iter().all(ScopedJoinHandle::is_finished);
        let served = communicator.serve_renderers(is_needed);
        ran.and(served)?;
        let mut report = WorkerReport::default();
        for renderer in renderers {
            match renderer.join() {
                Ok(ended) => {
                    report += ended.report;
                    threads.extend(ended.profile);
                }
                Err(panic) => resume_unwind(panic),
            }
        }
        for part in threads.into_iter().flat_map(profile::write) {
            send_to_supervisor(&mut communicator.port, wire::PROFILE, &[], &part)?;
        }
        report.answered = communicator.server.answered();
        send_to_supervisor(&mut communicator.port, wire::REPORT, &[], &report.write())?;
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
    let frame = NO_FRAME.to_le_bytes();
    send_to_supervisor(port, wire::FAILED, &frame, wire::reason(why))
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

/// The thread that receives all messages of a worker.
struct Communicator<'a> {
    node: &'a Node,
    port: Port,
    server: BrickServer,
    queue: &'a Queue<Task>,
    scene: Option<Arc<Scene>>,
    profiled: Profiled,
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
        send_to_supervisor(&mut self.port, wire::READY, &[], &[])?;
        loop {
            let mut received = Vec::new();
            let (server, profiler) = (&mut self.server, &self.profiled.profile);
            let polled = self.port.poll(|arrival| {
                if !server.receive_profiled(&arrival, profiler) {
                    let _call = profiler.call(&profile::READ);
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
            let profiler = &self.profiled.profile;
            let has_sent = self.server.send_profiled(&mut self.port, profiler);
            match polled {
                Ok(0) => {
                    let _call = profiler.call(&profile::WAIT);
                    match has_sent {
                        true => self.port.wait(),
                        // The threads of another node have to receive before there is space.
                        false => thread::yield_now(),
                    }
                }
                Ok(_) => {}
                Err(error) => self.note_end(error)?,
            }
        }
    }

    /// Ends the profile of this thread.
    fn take_profile(&mut self) -> Option<ThreadReport> {
        let none = Profiled::begin(false, profile::COMMUNICATOR, Activity::Communicate);
        std::mem::replace(&mut self.profiled, none).finish(self.node.id())
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
        let _call = self.profiled.profile.call(&profile::BEGIN_SCENE);
        self.queue
            .retain(|task| task.assignment.frame == scene.frame);
        self.scene = Some(scene);
    }

    fn put(&self, assignments: Vec<Assignment>) {
        let Some(scene) = &self.scene else { return };
        let _call = self.profiled.profile.call(&profile::PUSH);
        let wanted = assignments.into_iter();
        let wanted = wanted.filter(|assignment| assignment.frame == scene.frame);
        self.queue.push_all(wanted.map(|assignment| Task {
            scene: Arc::clone(scene),
            assignment,
        }));
    }

    /// Answers requests for bricks for as long as `is_needed`, whatever ends meanwhile.
    ///
    /// # Errors
    /// The first end that would have ended the run.
    fn serve_renderers(&mut self, is_needed: impl Fn() -> bool) -> Result<(), DirtError> {
        let mut outcome = Ok(());
        while is_needed() {
            let served = self.serve_while(&is_needed);
            if served.is_err() {
                thread::sleep(PAUSE);
            }
            outcome = outcome.and(served);
        }
        outcome
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
