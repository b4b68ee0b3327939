//! What this process itself has claimed, and what it has given back a moment ago.
//!
//! A thread that starts another program forks first, and until `exec` the child has every socket that was open, names
//! and all. So a CPU that was given back meanwhile looks claimed for some 0.1 ms more. Whoever looks at it within this process waits
//! for the child, at most [`PATIENCE`] long: a child that never calls `exec` does keep its parent's claims.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::cpu_set::{CpuId, CpuSet};

/// How long after a CPU was given back a child may keep its name.
const PATIENCE: Duration = Duration::from_millis(100);
const BETWEEN_LOOKS: Duration = Duration::from_micros(200);

static OWN: Mutex<Own> = Mutex::new(Own {
    held: Vec::new(),
    given_back: Vec::new(),
});

struct Own {
    held: Vec<(String, CpuId)>,
    given_back: Vec<(String, CpuId, Instant)>,
}

/// Returns the CPUs that this process has claimed in a scope, which is a group and a user.
pub(super) fn held(scope: &str) -> CpuSet {
    with(|own| {
        let ours = own.held.iter().filter(|(name, _)| name == scope);
        ours.map(|&(_, cpu)| cpu).collect()
    })
}

/// Notes that this process has claimed a CPU; false where it had claimed it already.
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

/// To be called when the socket is closed.
pub(super) fn give_back(scope: &str, cpu: CpuId) {
    with(|own| {
        let is_it = |(name, at): &(String, CpuId)| (name.as_str(), *at) == (scope, cpu);
        if let Some(at) = own.held.iter().position(is_it) {
            let (scope, cpu) = own.held.swap_remove(at);
            own.given_back.push((scope, cpu, Instant::now()));
        }
    });
}

/// The answer of `look`, true when the CPU's name is in use; asked again while that may be a child's doing.
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
