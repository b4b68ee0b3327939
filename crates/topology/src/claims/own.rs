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

/// The CPUs that this process has claimed in the group.
pub(super) fn held(group: &str) -> CpuSet {
    with(|own| {
        let ours = own.held.iter().filter(|(name, _)| name == group);
        ours.map(|&(_, cpu)| cpu).collect()
    })
}

pub(super) fn take(group: &str, cpu: CpuId) {
    with(|own| own.held.push((group.to_owned(), cpu)));
}

/// To be called when the socket is closed.
pub(super) fn give_back(group: &str, cpu: CpuId) {
    with(|own| {
        let is_it = |(name, at): &(String, CpuId)| (name.as_str(), *at) == (group, cpu);
        if let Some(at) = own.held.iter().position(is_it) {
            let (group, cpu) = own.held.swap_remove(at);
            own.given_back.push((group, cpu, Instant::now()));
        }
    });
}

/// The answer of `look`, true when the CPU's name is in use; asked again while that may be a child's doing.
pub(super) fn without_children<E>(
    group: &str,
    cpu: CpuId,
    mut look: impl FnMut() -> Result<bool, E>,
) -> Result<bool, E> {
    loop {
        let may_be_a_child = was_just_given_back(group, cpu);
        if !look()? {
            return Ok(false);
        }
        if !may_be_a_child {
            return Ok(true);
        }
        thread::sleep(BETWEEN_LOOKS);
    }
}

fn was_just_given_back(group: &str, cpu: CpuId) -> bool {
    with(|own| {
        own.given_back
            .retain(|&(_, _, when)| when.elapsed() < PATIENCE);
        let is_held = own
            .held
            .iter()
            .any(|(name, at)| name == group && *at == cpu);
        let mut back = own.given_back.iter();
        !is_held && back.any(|(name, at, _)| name == group && *at == cpu)
    })
}

fn with<R>(change: impl FnOnce(&mut Own) -> R) -> R {
    change(&mut OWN.lock().unwrap_or_else(PoisonError::into_inner))
}
