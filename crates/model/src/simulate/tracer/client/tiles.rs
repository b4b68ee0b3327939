//! Tiles: a supervisor assigns them to the nodes, and renderers return them.
//!
//! The supervisor is a node of its own, after the others. At the begin of a frame, each node gets a
//! number of tiles for each of its renderers. For each tile that comes back, its node gets another
//! one. A frame is complete when all of its tiles are back; then the next one begins.
//!
//! # Source
//! Parker, Efficient user-level event notification, sections 5.2 and 5.3.

use std::collections::VecDeque;

use super::super::Supervised;
use crate::packets::PacketFormat;
use crate::parameters::Parameters;
use crate::simulate::{Message, Moment};
use crate::units::Nanoseconds;

/// The bytes of an assignment.
const ASSIGNMENT_BYTES: u64 = 12;

/// The tiles of all frames.
#[derive(Debug)]
pub(super) struct Tiles {
    /// The number of frames, and that of the complete ones.
    frames: u32,
    complete: u32,
    /// The work and the misses of each tile, relative to the mean.
    shares: Vec<[f64; 2]>,
    /// The next tile to be assigned, and the number of those that are back.
    next: u32,
    back: u32,
    ahead: u32,
    /// The tiles of each node that no renderer has begun.
    queues: Vec<VecDeque<u32>>,
    /// The renderers of each node that wait for a tile.
    sleepers: Vec<Vec<u32>>,
    /// The assignments that the supervisor has still to send: node, first tile and number.
    outbox: VecDeque<(u32, u32, u32)>,
    packets: PacketFormat,
    /// The message with a tile.
    tile: Message,
    /// The work of a handler for an assignment, of a renderer to return a tile, and of the
    /// supervisor for a tile.
    pub(super) assignment: Nanoseconds,
    pub(super) returning: Nanoseconds,
    pub(super) supervise: Nanoseconds,
    /// The time that renderers waited for tiles.
    pub(super) idle: Nanoseconds,
    /// The end of each frame.
    pub(super) ends: Vec<Moment>,
}

impl Tiles {
    pub(super) fn new(
        supervised: &Supervised,
        parameters: &Parameters,
        nodes: u32,
        frames: u32,
        tile: Message,
    ) -> Self {
        let tracer = &parameters.tracer;
        let packets = parameters.packets();
        let data = u64::from(tracer.tile_pixels) * u64::from(tracer.pixel_bytes)
            + u64::from(tracer.tile_header_bytes);
        let on_this_core = |time: Nanoseconds| time / tracer.core_speedup;
        Self {
            frames,
            complete: 0,
            shares: supervised.shares(tracer.tiles()),
            next: 0,
            back: 0,
            ahead: supervised.ahead.max(1),
            queues: vec![VecDeque::new(); nodes as usize],
            sleepers: vec![Vec::new(); nodes as usize],
            outbox: VecDeque::new(),
            packets,
            tile: Message {
                node: nodes,
                data_bytes: saturated(data),
                wire_bytes: saturated(packets.wire(data).0.ceil() as u64),
                is_inline: false,
                ..tile
            },
            assignment: on_this_core(tracer.assignment),
            returning: on_this_core(tracer.tile),
            supervise: on_this_core(tracer.supervise),
            idle: Nanoseconds::ZERO,
            ends: Vec::new(),
        }
    }

    /// Returns the number of tiles of a frame.
    pub(super) fn count(&self) -> u32 {
        // A frame has at most 4·10⁹ pixels.
        self.shares.len() as u32
    }

    /// Returns the completed share of all frames.
    pub(super) fn done(&self) -> f64 {
        let tiles = f64::from(self.count());
        let done = f64::from(self.complete) * tiles + f64::from(self.back);
        done / (tiles * f64::from(self.frames))
    }

    /// Returns true if all frames are complete.
    pub(super) const fn is_over(&self) -> bool {
        self.complete == self.frames
    }

    /// Returns the message with a tile.
    pub(super) const fn tile(&self) -> Message {
        self.tile
    }

    /// Begins a frame: each node is to get tiles.
    pub(super) fn begin_frame(&mut self, renderers: u32) {
        (self.next, self.back) = (0, 0);
        for node in 0..self.queues.len() as u32 {
            self.assign(node, renderers * self.ahead);
        }
    }

    /// Assigns up to `wanted` tiles to a node.
    fn assign(&mut self, node: u32, wanted: u32) {
        let number = wanted.min(self.count() - self.next);
        if number > 0 {
            self.outbox.push_back((node, self.next, number));
            self.next += number;
        }
    }

    /// Notes that a tile of a node is back. Returns true if the next frame begins.
    pub(super) fn note_back(&mut self, node: u32, now: Moment) -> bool {
        self.back += 1;
        if self.back < self.count() {
            self.assign(node, 1);
            return false;
        }
        self.complete += 1;
        self.ends.push(now);
        !self.is_over()
    }

    /// Returns the next message of the supervisor: the node, the first tile, their number, and the
    /// bytes of the data and on the wire.
    pub(super) fn next_assignment(&mut self) -> Option<(u32, u32, u32, [u32; 2])> {
        let (node, first, number) = self.outbox.pop_front()?;
        let data = ASSIGNMENT_BYTES * u64::from(number);
        let wire = self.packets.wire(data).0.ceil() as u64;
        Some((node, first, number, [saturated(data), saturated(wire)]))
    }

    /// Adds assigned tiles to the queue of a node.
    pub(super) fn push(&mut self, node: u32, first: u32, number: u32) {
        self.queues[node as usize].extend(first..first + number);
    }

    /// Returns a renderer of a node to be woken, if there is a tile for it.
    pub(super) fn sleeper(&mut self, node: u32) -> Option<u32> {
        match self.queues[node as usize].is_empty() {
            true => None,
            false => self.sleepers[node as usize].pop(),
        }
    }

    /// Takes the next tile of a node: its work and its misses, relative to the mean. Without one,
    /// the renderer is to be woken.
    pub(super) fn take(&mut self, node: u32, renderer: u32) -> Option<[f64; 2]> {
        let tile = self.queues[node as usize].pop_front();
        if tile.is_none() {
            self.sleepers[node as usize].push(renderer);
        }
        self.shares.get(tile? as usize).copied()
    }
}

fn saturated(bytes: u64) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
