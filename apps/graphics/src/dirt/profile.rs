//! The profile of a run: the times of all threads, and the work of each tile.
//!
//! The threads of a worker profile themselves if [`DirtOptions::profiles`] is set. At the end of
//! the run, the worker sends their times to the supervisor, which profiles itself, too.
//!
//! | thread | its own time is | functions |
//! |---|---|---|
//! | renderer | compute | wait for work, render tile, and those of rays and bricks |
//! | communicator | communicate | wait for message, and those of bricks, scenes and tasks |
//! | supervisor | compute | wait for message, tiles, assignments |
//!
//! [`DirtOptions::profiles`]: super::DirtOptions::profiles
//!
//! # Source
//! The scopes of Parker, Efficient user-level event notification, tables 6 and 8.

use raddle::net::NodeId;
use raddle_trace::profile::{Activity, Function, ThreadProfile, ThreadTimes};
use serde::{Deserialize, Serialize};

// The threads, which are the callers of the functions below.
pub(super) const RENDERER: &str = "renderer";
pub(super) const COMMUNICATOR: &str = "communicator";
pub(super) const SUPERVISOR: &str = "supervisor";

// Renderers.
pub(super) static POP: Function = Function::new("wait for work", Activity::WaitForWork);
pub(super) static PREPARE: Function = Function::new("prepare scene", Activity::Compute);
pub(super) static RENDER: Function = Function::new("render tile", Activity::Compute);
pub(super) static PACK: Function = Function::new("pack pixels", Activity::Compute);
pub(super) static SEND_TILE: Function = Function::new("send tile", Activity::Communicate);

// Communicators and supervisors.
pub(super) static WAIT: Function = Function::new("wait for message", Activity::Idle);
pub(super) static READ: Function = Function::new("read message", Activity::Compute);
pub(super) static BEGIN_SCENE: Function = Function::new("begin scene", Activity::Compute);
pub(super) static PUSH: Function = Function::new("push tasks", Activity::Synchronise);
pub(super) static COPY_TILE: Function = Function::new("copy tile", Activity::Compute);
pub(super) static ASSIGN: Function = Function::new("assign tiles", Activity::Communicate);
pub(super) static SEND_SCENE: Function = Function::new("send scene", Activity::Communicate);

/// The number of tiles in a message with times.
pub(super) const TILES_PER_MESSAGE: usize = 1_000;

/// The times of a thread of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ThreadReport {
    /// The node. The supervisor is node 0.
    pub node: u16,
    /// The number of the renderer on its node, from 0 on; `None` for the thread that receives
    /// messages.
    pub renderer: Option<u16>,
    /// The calls and times of functions.
    pub times: ThreadTimes,
    /// The CPU time of the thread, in nanoseconds, including the cost of the profile.
    pub cpu_ns: f64,
    /// The tiles that the thread has rendered, in their order.
    pub tiles: Vec<TileTimes>,
}

/// The times of a tile, in nanoseconds, including the cost of the profile.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TileTimes {
    /// The frame.
    pub frame: u32,
    /// The number of the tile in its frame.
    pub number: u32,
    /// The begin, on the monotonic clock of the system.
    pub begun_ns: u64,
    /// The time from the begin until its pixels were sent.
    pub total_ns: f64,
    /// The time that the renderer had waited for the tile.
    pub waited_ns: f64,
    /// The part of `total_ns` in which it communicated.
    pub communicate_ns: f64,
    /// The bricks that it requested from their homes.
    pub misses: u64,
}

/// The profile of a thread that receives messages, if it is wanted. It begins before the first
/// frame, so that a part of its idle time is that of the start.
#[derive(Debug)]
pub(super) struct Profiled {
    pub(super) profile: Option<ThreadProfile>,
    cpu_ns: u128,
}

impl Profiled {
    /// Begins the profile of a thread with this name, if it is wanted.
    pub(super) fn begin(is_wanted: bool, name: &'static str, activity: Activity) -> Self {
        Self {
            profile: is_wanted.then(|| ThreadProfile::begin(name, activity)),
            cpu_ns: cpu_ns(),
        }
    }

    /// Ends the profile.
    pub(super) fn finish(self, node: NodeId) -> Option<ThreadReport> {
        let profile = self.profile?;
        Some(report(node, None, profile, self.cpu_ns, Vec::new()))
    }
}

/// Returns the report of this thread, which had taken this CPU time before.
pub(super) fn report(
    node: NodeId,
    renderer: Option<u16>,
    profile: ThreadProfile,
    cpu_before_ns: u128,
    tiles: Vec<TileTimes>,
) -> ThreadReport {
    ThreadReport {
        node: node.0,
        renderer,
        cpu_ns: cpu_ns().saturating_sub(cpu_before_ns) as f64,
        times: profile.finish(),
        tiles,
    }
}

/// Returns the CPU time of this thread.
pub(super) fn cpu_ns() -> u128 {
    raddle_sync::prim::thread_cpu_time().as_nanos()
}

/// Returns the data of messages with a report: first the thread, then its tiles in parts.
pub(super) fn write(mut report: ThreadReport) -> Vec<Vec<u8>> {
    let tiles = std::mem::take(&mut report.tiles);
    // Serialisation into memory fails only for types that these are not.
    let mut all = vec![postcard::to_allocvec(&Part::Thread(report)).unwrap_or_default()];
    for part in tiles.chunks(TILES_PER_MESSAGE) {
        all.push(postcard::to_allocvec(&Part::Tiles(part.to_vec())).unwrap_or_default());
    }
    all
}

/// Adds the part of a report in a message. Returns false if it is malformed.
pub(super) fn read(data: &[u8], threads: &mut Vec<ThreadReport>, from: NodeId) -> bool {
    match postcard::from_bytes(data) {
        Ok(Part::Thread(report)) => threads.push(report),
        Ok(Part::Tiles(tiles)) => {
            // The parts of a thread follow each other, but those of other nodes are in between.
            let of_node = threads.iter_mut().rev().find(|it| it.node == from.0);
            let Some(thread) = of_node else { return false };
            thread.tiles.extend(tiles);
        }
        Err(_) => return false,
    }
    true
}

/// A part of a report that fits into a message.
#[derive(Serialize, Deserialize)]
enum Part {
    Thread(ThreadReport),
    Tiles(Vec<TileTimes>),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_arrive_whole_in_several_messages() {
        let tile = |number| TileTimes {
            frame: 1,
            number,
            begun_ns: 5,
            total_ns: 2.5,
            waited_ns: 1.0,
            communicate_ns: 0.5,
            misses: 3,
        };
        let of = |node| ThreadReport {
            node,
            renderer: Some(0),
            times: ThreadProfile::begin(RENDERER, Activity::Compute).finish(),
            cpu_ns: 7.0,
            tiles: (0..2 * TILES_PER_MESSAGE as u32 + 1).map(tile).collect(),
        };
        let sent = [of(1), of(2)];
        let messages = sent.clone().map(write);
        assert_eq!(messages[0].len(), 4);
        let mut found = Vec::new();
        for (one, two) in messages[0].iter().zip(&messages[1]) {
            assert!(read(one, &mut found, NodeId(1)));
            assert!(read(two, &mut found, NodeId(2)));
        }
        assert_eq!(found, sent);
        assert!(!read(&messages[0][1], &mut Vec::new(), NodeId(1)));
        assert!(!read(&[9, 9], &mut found, NodeId(1)));
    }
}
