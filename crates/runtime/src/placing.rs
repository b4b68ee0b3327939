//! The places of the workers of a running runtime: the CPU to which each worker is bound, and the
//! CPU where it is wanted.
//!
//! Moving a worker has two steps: [`Placing::set_wanted`] records and claims its new CPU, and later
//! the worker itself goes there with [`Placing::move_to_wanted`]. `worker/moves.rs` sends the
//! messages between the two steps.
//!
//! # Claims
//! A CPU is claimed before a worker gets the message to go there. The claim is given back when no
//! worker is there and none is wanted there. All claims are given back when the last worker has
//! ended.
//!
//! With `auto`, workers move by themselves: see [`review`].
//!
//! # Inherited bindings
//! A thread inherits the binding of the thread that starts it. A compensating thread wants that,
//! and is bound anew when it takes the place of another worker. A blocking thread, or a worker of
//! another runtime that is started from a task, does not want it.

mod hand_over;
mod initial;
mod review;
mod worker_at;

use std::collections::BTreeMap;
use std::fmt;

use raddle_sync::prim::{AtomicBool, Mutex, Relaxed};
use raddle_topology::{
    Affinity, BindError, Claim, ClaimError, Claims, CpuId, CpuSet, Plan, Topology,
};
use raddle_trace::Moves;

use self::hand_over::HandOver;
pub(crate) use self::initial::{Claiming, Machine, Placed, place};
use self::review::PlacementReview;
pub(crate) use self::review::{Decide, ROUNDS_PER_CLOCK};
use self::worker_at::WorkerAt;

/// The places of the workers of one runtime.
pub(crate) struct Placing {
    machine: Machine,
    claims: Claims,
    is_auto: bool,
    /// True if some worker is or was bound, so that threads started by workers inherit a binding.
    binds: AtomicBool,
    state: Mutex<PlacingState>,
    worker_at: WorkerAt,
    hand_over: HandOver,
    review: PlacementReview,
    /// Moves of objects, by the kind of the objects.
    objects: Mutex<BTreeMap<String, Moves>>,
}

struct PlacingState {
    /// The plan as it was last computed.
    plan: Plan,
    /// True if workers have moved since the plan was computed.
    is_stale: bool,
    /// The rule by which the workers were placed last.
    rule: String,
    /// The CPU of each worker, and the CPU where it is wanted.
    present: Vec<Option<CpuId>>,
    wanted: Vec<Option<CpuId>>,
    held: Vec<Claim>,
    /// The latest failure, for the plan.
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
    /// Creates a state in which no worker is bound, without reading the machine.
    pub(crate) fn unbound(worker_count: usize) -> Self {
        Self::new(Placed::unbound(
            worker_count,
            Machine::None,
            Claims::default(),
        ))
    }

    pub(crate) fn new(placed: Placed) -> Self {
        let cpus: Vec<_> = placed.plan.entries.iter().map(|entry| entry.cpu).collect();
        Self {
            review: PlacementReview::new(&placed),
            objects: Mutex::default(),
            machine: placed.machine,
            claims: placed.claims,
            is_auto: placed.affinity == Affinity::Auto,
            binds: AtomicBool::new(cpus.iter().any(Option::is_some)),
            hand_over: HandOver::new(match placed.machine {
                Machine::Unread => cpus.len(),
                Machine::None | Machine::Read(_) => 0,
            }),
            worker_at: WorkerAt::new(placed.machine.if_read(), &cpus),
            state: Mutex::new(PlacingState {
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

    /// Returns the machine, and reads it if necessary. Returns `None` in a model.
    pub(crate) fn topology(&self) -> Option<&'static Topology> {
        self.machine.topology()
    }

    /// Returns true if some worker is or was bound.
    pub(crate) fn binds(&self) -> bool {
        // Relaxed: a worker that is moved meanwhile has started no thread from its new place.
        self.binds.load(Relaxed)
    }

    /// Returns where the workers are now, and why.
    pub(crate) fn plan(&self) -> Plan {
        self.change(|state| {
            if state.is_stale
                && let Some(topology) = self.topology()
            {
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

    /// Returns the CPU that a worker is bound to.
    pub(crate) fn present_cpu(&self, worker_index: usize) -> Option<CpuId> {
        self.change(|state| state.present.get(worker_index).copied().flatten())
    }

    /// Returns the CPU that each worker is bound to.
    pub(crate) fn present_cpus(&self) -> Vec<Option<CpuId>> {
        self.change(|state| state.present.clone())
    }

    /// Returns the worker that is bound to the CPU of the calling thread.
    pub(crate) fn worker_here(&self) -> Option<usize> {
        self.worker_at.here()
    }

    /// Lets an unbound worker wake up on the CPU of the calling thread, which is about to wake the
    /// worker, and then to wait.
    pub(crate) fn hand_over(&self, worker_index: usize) {
        self.hand_over.hand_over(worker_index);
    }

    /// Records that the calling thread, which is this worker, is about to sleep.
    pub(crate) fn fall_asleep(&self, worker_index: usize) {
        self.hand_over.fall_asleep(worker_index);
    }

    /// Takes back the CPUs of the calling thread, which is this worker and has slept.
    pub(crate) fn wake_up(&self, worker_index: usize) {
        self.hand_over.wake_up(worker_index);
    }

    /// Returns the CPUs of these workers and the unclaimed CPUs.
    fn within_reach(&self, topology: &Topology) -> CpuSet {
        let allowed = topology.allowed_set();
        let others = self.claims.others(&allowed);
        self.change(|state| {
            let ours = |cpu: CpuId| state.held.iter().any(|claim| claim.cpu() == cpu);
            let free = allowed.iter().filter(|&cpu| ours(cpu) || !others.have(cpu));
            free.collect()
        })
    }

    /// Returns true if the affinity is [`Affinity::Auto`].
    pub(crate) fn is_auto(&self) -> bool {
        self.is_auto
    }

    /// Returns the moves of workers and objects so far.
    pub(crate) fn moves(&self) -> Vec<Moves> {
        let objects = self.objects.lock().expect("nothing panics under this lock");
        self.review
            .moves()
            .into_iter()
            .chain(objects.values().cloned())
            .collect()
    }

    /// Records moves of some kind of objects.
    pub(crate) fn note_moves(&self, kind: &str, note: impl FnOnce(&mut Moves)) {
        let mut objects = self.objects.lock().expect("nothing panics under this lock");
        note(
            objects
                .entry(kind.to_owned())
                .or_insert_with(|| Moves::of(kind)),
        );
    }

    /// Records where each worker is wanted, and claims these CPUs. Returns the workers that are
    /// elsewhere.
    ///
    /// # Errors
    /// If the runtime `must` have the CPUs to itself and another process has claimed one of them;
    /// then nothing has changed.
    pub(crate) fn set_wanted(
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
            // Relaxed: see `binds`.
            self.binds.store(true, Relaxed);
            let moved = (0..cpus.len()).filter(|&worker| cpus[worker] != state.present[worker]);
            Ok(moved.collect())
        })
    }

    /// Binds the calling thread, which is this worker, to the CPU where it is wanted.
    pub(crate) fn move_to_wanted(&self, worker_index: usize) {
        let Some(topology) = self.topology() else {
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
                    // The worker stays, and so does the claim on its CPU.
                    state.wanted[worker_index] = state.present[worker_index];
                    state.note = Some(format!("worker {worker_index} stays: {error}"));
                }
            }
            state.is_stale = true;
            self.worker_at.update(&state.present);
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

    /// Binds the calling thread, which starts as this worker.
    ///
    /// With [`Affinity::Auto`], a refusal of the system is accepted: the worker stays unbound.
    ///
    /// # Errors
    /// With any other rule, the refusal of the system.
    pub(crate) fn begin(&self, worker_index: usize, inherits: bool) -> Result<(), BindError> {
        let Some(cpu) = self.present_cpu(worker_index) else {
            self.hand_over.begin(worker_index);
            if inherits && let Some(topology) = self.topology() {
                // If the system refuses, the thread keeps the binding of its parent.
                let _ = topology.unbind_this_thread();
            }
            return Ok(());
        };
        let Some(topology) = self.topology() else {
            return Ok(());
        };
        match topology.bind_this_thread(cpu) {
            Err(error) if self.is_auto => {
                self.change(|state| {
                    state.present[worker_index] = None;
                    self.worker_at.update(&state.present);
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

    /// Gives all claims back: the last worker has ended.
    pub(crate) fn give_back(&self) {
        self.change(|state| state.held.clear());
    }

    fn change<R>(&self, change: impl FnOnce(&mut PlacingState) -> R) -> R {
        change(&mut self.state.lock().expect("nothing panics under this lock"))
    }
}

/// Removes the binding that the calling thread has inherited from the worker that started it.
pub(crate) fn remove_inherited_binding() {
    if let Ok(topology) = Topology::this_machine() {
        // If the system refuses, the thread keeps the binding of the worker.
        let _ = topology.unbind_this_thread();
    }
}

/// Binds the calling thread to `cpu`, or unbinds it.
pub(crate) fn bind(topology: &Topology, cpu: Option<CpuId>) -> Result<(), BindError> {
    match cpu {
        Some(cpu) => topology.bind_this_thread(cpu),
        None => topology.unbind_this_thread(),
    }
}
