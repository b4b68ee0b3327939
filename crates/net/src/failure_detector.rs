//! Detection of nodes that do not run, because they were stopped or get no CPU time, by the first
//! node.
//!
//! The end of a process closes its sockets, which is noticed at once. A process that is stopped
//! closes nothing. So the listening thread of the first node asks each other node once a second
//! whether it runs, and that node's listening thread answers, whatever its other threads do. The
//! program gives up a node that has not answered for as long as [`Silence`] says. Time is counted
//! in seconds during which the first node itself ran: while it is stopped too, as by Ctrl-Z,
//! nothing counts.
//!
//! A process that was started takes an unknown time to become a node, and does not answer before
//! that. Until then, a period counts against it only if it is stopped. A process that a debugger
//! holds is waited for.

use std::fs;
use std::time::{Duration, Instant};

use crate::address::{NodeId, Shape};
use crate::control::{self, Controls};

/// The time between two questions to a node.
const PERIOD: Duration = Duration::from_secs(1);

/// The time for which a node may be silent before the program gives it up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Silence {
    limit: Duration,
}

impl Silence {
    /// The time if the program sets none.
    pub(crate) const USUAL: Self = Self::of(Duration::from_secs(10));

    pub(crate) const fn of(limit: Duration) -> Self {
        Self { limit }
    }

    pub(crate) const fn limit(self) -> Duration {
        self.limit
    }

    /// Returns the limit as a number of questions without an answer, at least one.
    pub(crate) fn periods(self) -> u64 {
        self.limit.as_secs().max(1)
    }
}

/// The first node's record of the other nodes.
#[derive(Debug)]
pub(crate) struct FailureDetector {
    silence: Silence,
    next: Instant,
    nodes: Vec<NodeRecord>,
}

/// The first node's record of one other node.
#[derive(Clone, Debug, Default)]
struct NodeRecord {
    /// The node has answered before.
    has_answered: bool,
    /// The node was asked, and has not answered yet.
    is_asked: bool,
    /// The number of periods without an answer.
    missed: u64,
}

impl FailureDetector {
    /// Creates the records of all nodes of a program, none of which has been asked.
    pub(crate) fn new(silence: Silence, shape: Shape) -> Self {
        Self {
            silence,
            next: Instant::now() + PERIOD,
            nodes: vec![NodeRecord::default(); shape.nodes.into()],
        }
    }

    /// Returns the time until the next question.
    pub(crate) fn limit(&self) -> Duration {
        self.next.saturating_duration_since(Instant::now())
    }

    /// Records that `node` has answered.
    pub(crate) fn record_answer(&mut self, node: NodeId) {
        self.nodes[usize::from(node.0)] = NodeRecord {
            has_answered: true,
            ..NodeRecord::default()
        };
    }

    /// Asks the nodes whether they run, if a question is due. Returns the nodes that have been
    /// silent for too long.
    ///
    /// `counts` says whether a period without an answer counts against a node. Its arguments are
    /// the node, and whether that node has answered before.
    pub(crate) fn ask_if_due(
        &mut self,
        controls: &Controls,
        nodes: impl Iterator<Item = NodeId>,
        counts: impl Fn(NodeId, bool) -> bool,
    ) -> Vec<NodeId> {
        if !self.limit().is_zero() {
            return Vec::new();
        }
        // Relative to now, so that periods that this node has missed are not made up for.
        self.next = Instant::now() + PERIOD;
        let mut silent = Vec::new();
        for node in nodes {
            let record = &mut self.nodes[usize::from(node.0)];
            if !record.is_asked {
                // If there is no space for the question, the next period repeats it.
                record.is_asked = controls.try_send(node, control::ASK, [0; 5]).is_ok();
            } else if counts(node, record.has_answered) {
                record.missed += 1;
                if record.missed >= self.silence.periods() {
                    silent.push(node);
                }
            }
        }
        silent
    }
}

/// Returns true if a period without an answer counts against the process of a node. `has_answered`
/// says whether the node has answered before.
pub(crate) fn counts(process: u32, has_answered: bool) -> bool {
    match state_of(process) {
        State::Held => false,
        State::Stopped => true,
        State::Runs => has_answered,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Runs,
    Stopped,
    /// A debugger holds the process.
    Held,
}

/// Returns true if a process is stopped, and no debugger holds it.
pub(crate) fn is_stopped(process: u32) -> bool {
    state_of(process) == State::Stopped
}

/// Returns the state of a process according to the system. A process of which the system says
/// nothing counts as running.
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
    fn a_stopped_process_differs_from_one_that_runs() {
        let mut child = Command::new("sleep")
            .arg("1000")
            .spawn()
            .expect("the command `sleep` exists");
        let process = Pid::from_child(&child);
        assert!(!is_stopped(child.id()));
        kill_process(process, Signal::STOP).expect("it is a child of this process");
        // Returns once the process has been stopped.
        waitid(WaitId::Pid(process), WaitIdOptions::STOPPED)
            .expect("it is a child of this process");
        assert!(is_stopped(child.id()));
        kill_process(process, Signal::CONT).expect("it is a child of this process");
        waitid(WaitId::Pid(process), WaitIdOptions::CONTINUED)
            .expect("it is a child of this process");
        assert!(!is_stopped(child.id()));
        child.kill().expect("it is a child of this process");
        child.wait().expect("it has ended");
        assert!(
            !is_stopped(child.id()),
            "a process that has ended is not stopped"
        );
    }
}
