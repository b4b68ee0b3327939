//! How the first node notices that another does not run: that it was stopped, or that nothing lets
//! it run.
//!
//! The end of a process closes its sockets, which is noticed at once. A process that is stopped
//! closes nothing. So the listening thread of the first node asks each other node once a second
//! whether it runs, and that node's listening thread answers, whatever its other threads do. A node
//! that has not answered for as long as [`Silence`] says has ended as far as this program goes.
//! Time is counted in seconds that the first node has lived through itself: while it is stopped,
//! too, as by Ctrl-Z, nothing counts.
//!
//! A process that was started comes up when it likes, and does not answer before that. Until then,
//! all that counts is that it is stopped. A process that a debugger holds is waited for.

use std::fs;
use std::time::Duration;

use raddle_sync::prim::Instant;

use super::Shared;
use crate::address::{NodeId, Shape};
use crate::control::{self, Controls};

/// How often nodes are asked.
const PERIOD: Duration = Duration::from_secs(1);

/// How long a node may be silent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    limit: Duration,
}

impl Silence {
    /// What is waited for if nothing else is said.
    pub(crate) const USUAL: Self = Self::of(Duration::from_secs(10));

    pub(crate) const fn of(limit: Duration) -> Self {
        Self { limit }
    }

    pub(crate) const fn limit(self) -> Duration {
        self.limit
    }

    /// In questions without an answer: one at least.
    pub(crate) fn periods(self) -> u64 {
        self.limit.as_secs().max(1)
    }
}

/// What the first node knows of the others.
#[derive(Debug)]
pub(crate) struct Watch {
    silence: Silence,
    next: Instant,
    nodes: Vec<Watched>,
}

/// What it knows of one.
#[derive(Clone, Debug, Default)]
struct Watched {
    /// It has answered before.
    is_up: bool,
    /// It was asked, and has not answered yet.
    is_asked: bool,
    /// Periods without an answer.
    missed: u64,
}

impl Watch {
    /// Knows nothing yet of the nodes of a program.
    pub(crate) fn new(silence: Silence, shape: Shape) -> Self {
        Self {
            silence,
            next: Instant::now() + PERIOD,
            nodes: vec![Watched::default(); shape.nodes.into()],
        }
    }

    /// How long a node may be silent.
    #[cfg(feature = "mpi")]
    pub(crate) const fn silence(&self) -> Silence {
        self.silence
    }

    /// How long until the next question.
    pub(crate) fn limit(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// `node` has answered.
    pub(crate) fn hear(&mut self, node: NodeId) {
        self.nodes[usize::from(node.0)] = Watched {
            is_up: true,
            ..Watched::default()
        };
    }

    /// Asks nodes, if it is time to; returns those that have been silent for too long.
    ///
    /// A period without an answer counts against a node if `counts` says so, which is told whether
    /// it has answered before.
    pub(crate) fn look(
        &mut self,
        controls: &Controls,
        nodes: impl Iterator<Item = NodeId>,
        counts: impl Fn(NodeId, bool) -> bool,
    ) -> Vec<NodeId> {
        if !self.limit().is_zero() {
            return Vec::new();
        }
        // From now on, so that what was missed is not made up for.
        self.next = Instant::now() + PERIOD;
        let mut silent = Vec::new();
        for node in nodes {
            let watched = &mut self.nodes[usize::from(node.0)];
            if !watched.is_asked {
                // Where there is no room, it is asked again.
                watched.is_asked = controls.try_send(node, control::ASK, [0; 5]).is_ok();
            } else if counts(node, watched.is_up) {
                watched.missed += 1;
                if watched.missed >= self.silence.periods() {
                    silent.push(node);
                }
            }
        }
        silent
    }
}

impl Shared {
    /// True when a period without an answer counts against a node, which has answered before or
    /// not.
    pub(super) fn counts_silence(&self, node: NodeId, is_up: bool) -> bool {
        let children = self.children.get().map_or(&[][..], Vec::as_slice);
        let child = children.iter().find(|(child, _)| *child == node);
        match child {
            // The processes of MPI come up together.
            None => true,
            Some((_, process)) => match state_of(*process) {
                State::Held => false,
                State::Stopped => true,
                State::Runs => is_up,
            },
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Stopped,
    /// By a debugger.
    Held,
}

/// True of a process that is stopped, and that no debugger holds.
pub(crate) fn is_stopped(process: u32) -> bool {
    state_of(process) == State::Stopped
}

/// What the system says of a process; where it says nothing, the process runs.
fn state_of(process: u32) -> State {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let field = |name: &str| {
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.unwrap_or_default().trim()
    };
    if !matches!(field("TracerPid"), "" | "0") {
        State::Held
    } else if field("State").starts_with('T') {
        State::Stopped
    } else {
        State::Runs
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

    use super::*;

    #[test]
    fn a_stopped_process_is_told_from_one_that_runs() {
        let mut child = Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("sleep is there");
        let process = Pid::from_child(&child);
        assert!(!is_stopped(child.id()));
        kill_process(process, Signal::STOP).expect("it is ours");
        // Returns when it has been stopped.
        waitid(WaitId::Pid(process), WaitIdOptions::STOPPED).expect("it is ours");
        assert!(is_stopped(child.id()));
        kill_process(process, Signal::CONT).expect("it is ours");
        waitid(WaitId::Pid(process), WaitIdOptions::CONTINUED).expect("it is ours");
        assert!(!is_stopped(child.id()));
        child.kill().expect("it is ours");
        child.wait().expect("it has ended");
        assert!(!is_stopped(child.id()), "no process is not stopped");
    }
}
