//! The processes that the first node has started: they are waited for, whatever happens, but for
//! those that do not run.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, pidfd_open};

use super::{GRACE, word};
use crate::address::NodeId;
use crate::control;
use crate::error::NetError;
use crate::node::{Silence, is_stopped};

/// How often it is looked whether a process is stopped.
const PERIOD: Duration = Duration::from_secs(1);
/// How often it is looked whether a process has ended, where the system does not tell.
const PAUSE: Duration = Duration::from_millis(5);

/// Processes that are waited for.
#[derive(Debug, Default)]
pub(super) struct Others(Vec<Other>);

#[derive(Debug)]
struct Other {
    node: NodeId,
    child: Child,
    /// The other end of what is its standard input at first.
    control: OwnedFd,
    /// It was killed, since it did not answer.
    was_silent: bool,
}

impl Others {
    /// One more.
    pub(super) fn push(&mut self, node: NodeId, child: Child, control: OwnedFd) {
        self.0.push(Other {
            node,
            child,
            control,
            was_silent: false,
        });
    }

    /// All of them.
    pub(super) fn processes(&self) -> impl Iterator<Item = (NodeId, u32)> {
        self.0.iter().map(|other| (other.node, other.child.id()))
    }

    /// Kills those of which `is_silent` says that they do not answer.
    pub(super) fn kill_if(&mut self, is_silent: impl Fn(NodeId) -> bool) {
        for other in self.0.iter_mut().filter(|other| is_silent(other.node)) {
            other.was_silent = true;
            // It may have ended since; then there is nothing to kill.
            let _ = other.child.kill();
        }
    }

    /// Waits for all, some seconds at most; the failure of one that has told why it failed.
    pub(super) fn why(&mut self) -> Option<NetError> {
        let ended = self.wait(Some(GRACE), Silence::USUAL);
        ended.err().filter(has_told)
    }

    /// Waits for all; those that are still there after `grace`, and those that are stopped for
    /// longer than `silence` allows, are killed. Of several that failed, the error is that of the
    /// first that has told why, or else of the first.
    pub(super) fn wait(
        &mut self,
        grace: Option<Duration>,
        silence: Silence,
    ) -> Result<(), NetError> {
        // Beyond what the clock can say there is no limit.
        let end = grace.and_then(|grace| Instant::now().checked_add(grace));
        let mut failed = Ok(());
        for mut other in self.0.drain(..) {
            let status = other.wait(end, silence);
            let node = other.node;
            let result = match status {
                _ if other.was_silent => Err(NetError::Silent {
                    node,
                    limit: silence.limit(),
                }),
                Ok(status) if status.success() => Ok(()),
                Ok(status) => Err(NetError::Failed {
                    node,
                    status,
                    why: word::hear(&other.control),
                }),
                Err(error) => Err(NetError::System {
                    what: "the end of a process",
                    error,
                }),
            };
            failed = match (failed, result) {
                (Ok(()), result) => result,
                (Err(before), Err(error)) if !has_told(&before) && has_told(&error) => Err(error),
                (before, _) => before,
            };
        }
        failed
    }
}

pub(super) fn has_told(error: &NetError) -> bool {
    matches!(error, NetError::Failed { why: Some(_), .. })
}

impl Drop for Others {
    fn drop(&mut self) {
        // A caller that wants to know how they ended calls `finish`.
        let _ = self.wait(Some(GRACE), Silence::USUAL);
    }
}

impl Other {
    fn wait(&mut self, end: Option<Instant>, silence: Silence) -> io::Result<ExitStatus> {
        let told = pidfd_open(Pid::from_child(&self.child), PidfdFlags::empty()).ok();
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
                // As in `node::watch`: what was missed is not made up for.
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
            match &told {
                Some(told) => _ = control::wait(&[told.as_fd()], Some(limit)),
                None => thread::sleep(limit.min(PAUSE)),
            }
        }
        // As in `kill_if`.
        let _ = self.child.kill();
        self.child.wait()
    }
}
