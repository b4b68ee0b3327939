//! The processes that the first node has started. It waits for all of them, whatever happens, and
//! kills those that do not run.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{GRACE, last_report};
use crate::address::NodeId;
use crate::control;
use crate::error::NetError;
use crate::failure_detector::{Silence, is_stopped};

/// The time between two checks whether a process is stopped.
const PERIOD: Duration = Duration::from_secs(1);
/// The time between two checks whether a process has ended, if the system gives no notice.
const PAUSE: Duration = Duration::from_millis(5);

/// The processes of the other nodes.
#[derive(Debug, Default)]
pub(super) struct Children(Vec<ChildNode>);

#[derive(Debug)]
struct ChildNode {
    node: NodeId,
    child: Child,
    /// This process's end of a socket. The other end is at first the standard input of the child.
    control: OwnedFd,
    /// True if the process is killed because its node did not answer.
    was_silent: bool,
}

impl Children {
    /// Adds a process.
    pub(super) fn push(&mut self, node: NodeId, child: Child, control: OwnedFd) {
        self.0.push(ChildNode {
            node,
            child,
            control,
            was_silent: false,
        });
    }

    /// Returns all processes, with their nodes.
    pub(super) fn processes(&self) -> impl Iterator<Item = (NodeId, u32)> {
        self.0.iter().map(|child| (child.node, child.child.id()))
    }

    /// Kills the processes of the nodes for which `is_silent` returns true.
    pub(super) fn kill_if(&mut self, is_silent: impl Fn(NodeId) -> bool) {
        for child in self.0.iter_mut().filter(|child| is_silent(child.node)) {
            child.was_silent = true;
            // An error means that the process has ended since.
            let _ = child.child.kill();
        }
    }

    /// Waits for all processes, for some seconds at most. Returns the failure of one that has
    /// reported its reason.
    pub(super) fn reported_failure(&mut self) -> Option<NetError> {
        let ended = self.wait(Some(GRACE), Silence::USUAL);
        ended.err().filter(has_reason)
    }

    /// Waits for all processes. Kills those that are still running after `grace`, and those that
    /// are stopped for longer than `silence` allows.
    ///
    /// # Errors
    /// The failure of the first process that has reported its reason, or else of the first process.
    pub(super) fn wait(
        &mut self,
        grace: Option<Duration>,
        silence: Silence,
    ) -> Result<(), NetError> {
        // If the end is beyond the range of the clock, there is no limit.
        let end = grace.and_then(|grace| Instant::now().checked_add(grace));
        let mut failed = Ok(());
        for mut child in self.0.drain(..) {
            let status = child.wait(end, silence);
            let node = child.node;
            let result = match status {
                _ if child.was_silent => Err(NetError::Silent {
                    node,
                    limit: silence.limit(),
                }),
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(NetError::Failed {
                    node,
                    status,
                    why: last_report::receive(&child.control),
                }),
                Err(error) => Err(NetError::System {
                    what: "the end of a process",
                    error,
                }),
            };
            failed = match (failed, result) {
                (Ok(()), result) => result,
                (Err(before), Err(error)) if !has_reason(&before) && has_reason(&error) => {
                    Err(error)
                }
                (before, _) => before,
            };
        }
        failed
    }
}

/// Returns true if a node has reported why it failed.
pub(super) fn has_reason(error: &NetError) -> bool {
    matches!(error, NetError::Failed { why: Some(_), .. })
}

impl Drop for Children {
    fn drop(&mut self) {
        // A caller that needs the result calls `finish`.
        let _ = self.wait(Some(GRACE), Silence::USUAL);
    }
}

impl ChildNode {
    /// Waits for the process until `end`. Kills it if it still runs then, or if it was stopped for
    /// too long.
    fn wait(&mut self, end: Option<Instant>, silence: Silence) -> io::Result<ExitStatus> {
        let notice = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).ok();
        let mut stopped = 0;
        let mut next_look = Instant::now() + PERIOD;
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            let now = Instant::now();
            if end.is_some_and(|end| now >= end) {
                break;
            }
            if now >= next_look {
                // As in `failure_detector`, periods that this process has missed are not made up
                // for.
                next_look = now + PERIOD;
                stopped = if is_stopped(self.child.id()) {
                    stopped + 1
                } else {
                    0
                };
                self.was_silent = stopped >= silence.periods();
                if self.was_silent {
                    break;
                }
            }
            let next = end.map_or(next_look, |end| end.min(next_look));
            let limit = next.saturating_duration_since(now);
            match &notice {
                Some(notice) => _ = control::wait(&[notice.as_fd()], Some(limit)),
                None => thread::sleep(limit.min(PAUSE)),
            }
        }
        // As in `kill_if`.
        let _ = self.child.kill();
        self.child.wait()
    }
}
