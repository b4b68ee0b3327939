//! Where the workers of a running runtime are, and how they come to be elsewhere.
//!
//! Whoever moves workers says where each shall be, and sends those that are elsewhere an urgent message; each binds itself when it
//! comes to it. Two moves in a row are no trouble: a worker goes where the last one wants it.
//!
//! # Claims
//! A CPU is claimed before a worker is told to go there, and given back when no worker is there and none shall be. All claims
//! are given back when the last worker has ended.
//!
//! By `auto`, workers move by themselves: see [`watch`].
//!
//! # Others that run here
//! Threads inherit the binding of whoever starts them. A substitute wants that, and is bound anew when it takes another
//! worker's place; a blocking thread, or a worker of another runtime that is started from a task, does not.

mod watch;

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

use std::collections::BTreeMap;
use std::fmt;

use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};
use raddle_topology::{
    Affinity, BindError, Claim, ClaimError, Claims, CpuId, CpuSet, Plan, Topology,
};
use raddle_trace::Moves;

use self::watch::Watch;
pub(crate) use self::watch::{Decide, ROUNDS_PER_CLOCK};

use crate::config::{MoveError, Placed};
use crate::fork::current_worker;
use crate::worker::{Shared, Worker};

/// Where the workers are.
pub(crate) struct Placing {
    topology: Option<&'static Topology>,
    claims: Claims,
    is_auto: bool,
    /// Some worker is or was bound, so threads that workers start inherit something.
    binds: AtomicBool,
    state: Mutex<State>,
    watch: Watch,
    /// What was moved of the objects of models of programs, by what they are.
    objects: Mutex<BTreeMap<String, Moves>>,
}

struct State {
    /// As it was told last.
    plan: Plan,
    /// Workers have moved since.
    is_stale: bool,
    /// Who placed them last.
    rule: String,
    /// Where each worker is, and where it shall be.
    present: Vec<Option<CpuId>>,
    wanted: Vec<Option<CpuId>>,
    held: Vec<Claim>,
    /// What did not go as it should.
    note: Option<String>,
}

impl fmt::Debug for Placing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Placing")
            .field("claims", &self.claims)
            .field("is_auto", &self.is_auto)
            .finish_non_exhaustive()
    }
}

impl Placing {
    /// Workers that are bound nowhere, on a machine that is not asked.
    pub(crate) fn nowhere(worker_count: usize) -> Self {
        Self::new(Placed::nowhere(worker_count))
    }

    pub(crate) fn new(placed: Placed) -> Self {
        let cpus: Vec<_> = placed.plan.entries.iter().map(|entry| entry.cpu).collect();
        Self {
            watch: Watch::new(&placed),
            objects: Mutex::default(),
            topology: placed.topology,
            claims: placed.claims,
            is_auto: placed.affinity == Affinity::Auto,
            binds: AtomicBool::new(cpus.iter().any(Option::is_some)),
            state: Mutex::new(State {
                plan: placed.plan,
                is_stale: false,
                rule: placed.affinity.to_string(),
                present: cpus.clone(),
                wanted: cpus,
                held: placed.held,
                note: None,
            }),
        }
    }

    /// True when some worker is bound, or was.
    pub(crate) fn binds(&self) -> bool {
        // Relaxed: who is moved meanwhile has started no thread from its new place.
        self.binds.load(Relaxed)
    }

    /// Where the workers are now, and why.
    pub(crate) fn plan(&self) -> Plan {
        self.change(|state| {
            if let Some(topology) = self.topology.filter(|_| state.is_stale) {
                let mut others = self.claims.others(&topology.allowed_set());
                for claim in &state.held {
                    others.runtimes.remove(claim.cpu());
                }
                others.note = state.note.clone().or(others.note);
                state.plan = Plan::of(topology, &state.rule, &state.present, &others);
                state.is_stale = false;
            }
            state.plan.clone()
        })
    }

    /// The CPU that a worker is bound to.
    fn present(&self, worker_index: usize) -> Option<CpuId> {
        self.change(|state| state.present.get(worker_index).copied().flatten())
    }

    /// Where each worker is.
    pub(crate) fn presents(&self) -> Vec<Option<CpuId>> {
        self.change(|state| state.present.clone())
    }

    /// The CPUs of these workers, and those that nobody has claimed.
    fn within_reach(&self, topology: &Topology) -> CpuSet {
        let allowed = topology.allowed_set();
        let others = self.claims.others(&allowed);
        self.change(|state| {
            let ours = |cpu: CpuId| state.held.iter().any(|claim| claim.cpu() == cpu);
            let free = allowed.iter().filter(|&cpu| ours(cpu) || !others.have(cpu));
            free.collect()
        })
    }

    /// True by [`Affinity::Auto`].
    pub(crate) fn is_auto(&self) -> bool {
        self.is_auto
    }

    /// What was moved, workers and objects.
    pub(crate) fn moves(&self) -> Vec<Moves> {
        let objects = self.objects.lock().expect("nothing panics under this lock");
        self.watch
            .moves()
            .into_iter()
            .chain(objects.values().cloned())
            .collect()
    }

    /// Notes what was moved of some objects.
    pub(crate) fn note_moves(&self, what: &str, note: impl FnOnce(&mut Moves)) {
        let mut objects = self.objects.lock().expect("nothing panics under this lock");
        note(
            objects
                .entry(what.to_owned())
                .or_insert_with(|| Moves::of(what)),
        );
    }

    /// Notes where each worker shall be, and claims it; returns those that are not there.
    ///
    /// # Errors
    /// Where the CPUs `must` be ours alone, and one of them is another's; then nothing has changed.
    fn want(
        &self,
        rule: &str,
        cpus: &[Option<CpuId>],
        must: bool,
    ) -> Result<Vec<usize>, ClaimError> {
        self.change(|state| {
            let held_before = state.held.len();
            let mut note = None;
            for &cpu in cpus.iter().flatten() {
                if state.held.iter().all(|claim| claim.cpu() != cpu) {
                    match self.claims.claim(cpu) {
                        Ok(claim) => state.held.push(claim),
                        Err(error @ ClaimError::Taken { .. }) if must => {
                            state.held.truncate(held_before);
                            return Err(error);
                        }
                        Err(error) => note = Some(error.to_string()),
                    }
                }
            }
            state.note = note;
            rule.clone_into(&mut state.rule);
            state.wanted = cpus.to_vec();
            state.is_stale = true;
            let moved = (0..cpus.len()).filter(|&worker| cpus[worker] != state.present[worker]);
            Ok(moved.collect())
        })
    }

    /// Binds the calling thread, which is this worker, to where it shall be.
    fn go(&self, worker_index: usize) {
        let Some(topology) = self.topology else {
            return;
        };
        self.change(|state| {
            let wanted = state.wanted[worker_index];
            if wanted == state.present[worker_index] {
                return;
            }
            match bind(topology, wanted) {
                Ok(()) => state.present[worker_index] = wanted,
                Err(error) => {
                    // It stays, and so does the claim on its CPU.
                    state.wanted[worker_index] = state.present[worker_index];
                    state.note = Some(format!("worker {worker_index} stays: {error}"));
                }
            }
            state.is_stale = true;
            let needed: CpuSet = state
                .present
                .iter()
                .chain(&state.wanted)
                .flatten()
                .copied()
                .collect();
            state.held.retain(|claim| needed.contains(claim.cpu()));
        });
    }

    /// Binds the calling thread, which begins as this worker.
    ///
    /// By [`Affinity::Auto`] a system that refuses is obeyed: the worker goes unbound.
    ///
    /// # Errors
    /// When the system refuses what was asked for.
    pub(crate) fn begin(&self, worker_index: usize, inherits: bool) -> Result<(), BindError> {
        let Some(topology) = self.topology else {
            return Ok(());
        };
        let Some(cpu) = self.present(worker_index) else {
            if inherits {
                // A system that refuses leaves the thread where its parent is.
                let _ = topology.unbind_this_thread();
            }
            return Ok(());
        };
        match topology.bind_this_thread(cpu) {
            Err(error) if self.is_auto => {
                self.change(|state| {
                    state.present[worker_index] = None;
                    state.wanted[worker_index] = None;
                    state.held.retain(|claim| claim.cpu() != cpu);
                    state.note = Some(error.to_string());
                    state.is_stale = true;
                });
                Ok(())
            }
            outcome => outcome,
        }
    }

    /// Gives all claims back: nobody runs any more.
    pub(crate) fn give_back(&self) {
        self.change(|state| state.held.clear());
    }

    fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        change(&mut self.state.lock().expect("nothing panics under this lock"))
    }
}

impl Shared {
    /// Sends each worker to its CPU, or lets it go unbound. Where the CPUs `must` be ours alone and one of them is another's, nobody moves.
    ///
    /// # Errors
    /// [`MoveError`], and then nobody moves.
    pub(crate) fn move_workers(
        &self,
        rule: &str,
        cpus: &[Option<CpuId>],
        must: bool,
        send_urgent: impl Fn(usize),
    ) -> Result<usize, MoveError> {
        if cpus.len() != self.worker_count() {
            return Err(MoveError::WorkerCount {
                found: cpus.len(),
                expected: self.worker_count(),
            });
        }
        let mut is_crowded = self.is_crowded();
        if let Some(topology) = self.placing.topology {
            for &cpu in cpus.iter().flatten() {
                topology.check_binding(cpu)?;
            }
            let distinct: CpuSet = cpus.iter().flatten().copied().collect();
            let shares = distinct.len() < cpus.iter().flatten().count();
            let crowds = cpus.len() > topology.worker_count_default();
            is_crowded = shares || crowds;
        }
        let Ok(moved) = self.placing.want(rule, cpus, must) else {
            return Ok(0);
        };
        // Relaxed: see `binds`.
        self.placing.binds.store(true, Relaxed);
        // Relaxed: a hint for how to wait.
        self.crowded.store(is_crowded, Relaxed);
        for &worker in &moved {
            send_urgent(worker);
        }
        Ok(moved.len())
    }
}

impl Worker {
    /// Goes where this worker shall be. Substitutes go nowhere.
    pub(crate) fn go(&self) {
        if self.index() < self.shared().worker_count() {
            self.shared().placing.go(self.index());
        }
    }

    /// Binds this substitute to where the worker is whose place it takes.
    pub(crate) fn take_place_of(&self, worker_index: usize) {
        let placing = &self.shared().placing;
        if let Some(topology) = placing.topology.filter(|_| placing.binds()) {
            // Where the system refuses, the substitute runs where it ran before.
            let _ = bind(topology, placing.present(worker_index));
        }
    }
}

/// Lets the calling thread run anywhere, whatever it has inherited from the worker that started it.
pub(crate) fn shake_off_binding() {
    if let Ok(topology) = Topology::this_machine() {
        // Where the system refuses, it stays with the worker.
        let _ = topology.unbind_this_thread();
    }
}

/// True when threads that the current one starts inherit the binding of a worker.
pub(crate) fn is_on_bound_worker() -> bool {
    current_worker().is_some_and(|worker| worker.shared().placing.binds())
}

fn bind(topology: &Topology, cpu: Option<CpuId>) -> Result<(), BindError> {
    match cpu {
        Some(cpu) => topology.bind_this_thread(cpu),
        None => topology.unbind_this_thread(),
    }
}
