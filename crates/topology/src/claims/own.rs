//! The claims of this process: current ones, and those that were given back recently.
//!
//! A thread that starts another program forks first. Until the child calls `exec`, it has a copy of
//! every open socket, including the names. So a CPU that is given back in the meantime looks
//! claimed for about 0.1 ms longer. A check within this process waits for the child, for at most
//! [`PATIENCE`]. A child that never calls `exec` keeps the claims of its parent.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cpu_set::{CpuId, CpuSet};

/// The time after the end of a claim during which a name in use may be the copy of a child.
const PATIENCE: Duration = Duration::from_millis(100);

/// The pause between two checks of a name.
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

static OWN: Mutex<Own> = Mutex::new(Own {
    held: Vec::new(),
    given_back: Vec::new(),
});

/// The claims of this process, each as a scope and a CPU.
struct Own {
    held: Vec<(String, CpuId)>,
    given_back: Vec<(String, CpuId, Instant)>,
}

/// Returns the CPUs that this process has claimed in a scope (a group and a user).
pub(super) fn held(scope: &str) -> CpuSet {
    with(|own| {
        let ours = own.held.iter().filter(|(name, _)| name == scope);
        ours.map(|&(_, cpu)| cpu).collect()
    })
}

/// Records that this process has claimed a CPU. Returns false if it had already claimed the CPU.
#[must_use]
pub(super) fn take(scope: &str, cpu: CpuId) -> bool {
    with(|own| {
        let is_free = !own
            .held
            .iter()
            .any(|(name, at)| (name.as_str(), *at) == (scope, cpu));
        if is_free {
            own.held.push((scope.to_owned(), cpu));
        }
        is_free
    })
}

/// Records that this process has given a CPU back. Called after its socket was closed.
pub(super) fn give_back(scope: &str, cpu: CpuId) {
    with(|own| {
        let is_it = |(name, at): &(String, CpuId)| (name.as_str(), *at) == (scope, cpu);
        if let Some(at) = own.held.iter().position(is_it) {
            let (scope, cpu) = own.held.swap_remove(at);
            own.given_back.push((scope, cpu, Instant::now()));
        }
    });
}

/// Returns true if the name of a CPU is in use, ignoring short-lived copies of child processes.
///
/// `look` checks the name. It is repeated while the name may be in use only because a child has not
/// called `exec` yet.
pub(super) fn without_children<E>(
    scope: &str,
    cpu: CpuId,
    mut look: impl FnMut() -> Result<bool, E>,
) -> Result<bool, E> {
    loop {
        let may_be_a_child = was_just_given_back(scope, cpu);
        if !look()? {
            return Ok(false);
        }
        if !may_be_a_child {
            return Ok(true);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

fn was_just_given_back(scope: &str, cpu: CpuId) -> bool {
    with(|own| {
        own.given_back
            .retain(|&(_, _, when)| when.elapsed() < PATIENCE);
        let is_held = own
            .held
            .iter()
            .any(|(name, at)| name == scope && *at == cpu);
        let mut back = own.given_back.iter();
        !is_held && back.any(|(name, at, _)| name == scope && *at == cpu)
    })
}

fn with<R>(change: impl FnOnce(&mut Own) -> R) -> R {
    change(&mut OWN.lock().unwrap_or_else(PoisonError::into_inner))
}
