//! The initial plan: the CPU of each worker when a runtime starts, and the claims on those CPUs.

use raddle_topology::{
    Affinity, Claim, ClaimError, Claims, Plan, PlanError, Topology, TopologyError, plan_beside,
    relocate,
};

use super::Decide;

/// The knowledge that a runtime has of the machine.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Machine {
    /// There is none: a model.
    None,
    /// It is read when it is needed.
    Unread,
    Read(&'static Topology),
}

impl Machine {
    /// Returns the machine, and reads it if necessary. Returns `None` in a model, and if it cannot
    /// be read.
    pub(crate) fn topology(self) -> Option<&'static Topology> {
        match self {
            Self::None => None,
            Self::Unread => Topology::this_machine().ok(),
            Self::Read(topology) => Some(topology),
        }
    }

    /// Returns the number of CPUs that this process may use, without reading the machine. A model
    /// has as many as it needs.
    ///
    /// # Errors
    /// Those of [`Topology::worker_count_here`].
    pub(crate) fn cpu_count(self) -> Result<usize, TopologyError> {
        match self {
            Self::None => Ok(usize::MAX),
            Self::Unread | Self::Read(_) => Topology::worker_count_here(),
        }
    }

    /// Returns the machine if it has been read.
    pub(crate) fn if_read(self) -> Option<&'static Topology> {
        match self {
            Self::Read(topology) => Some(topology),
            Self::None | Self::Unread => None,
        }
    }
}

/// The initial placement of the workers of a runtime.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) plan: Plan,
    pub(crate) affinity: Affinity,
    pub(crate) machine: Machine,
    pub(crate) claims: Claims,
    /// The claims on the CPUs of the plan.
    pub(crate) held: Vec<Claim>,
    /// The function that decides on moves later.
    pub(crate) decide: Decide,
    /// Set in tests, to let workers move where nothing can be gained by it.
    pub(crate) is_never_alike: bool,
}

impl Placed {
    /// Returns a placement in which no worker is bound, without reading the machine.
    pub(crate) fn unbound(worker_count: usize, machine: Machine, claims: Claims) -> Self {
        Self {
            plan: Plan::unbound(worker_count),
            affinity: Affinity::None,
            machine,
            claims,
            held: Vec::new(),
            decide: relocate,
            is_never_alike: false,
        }
    }
}

/// The use of a plan: it is only shown, or its CPUs are claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claiming {
    /// No CPU is claimed: the plan is only shown.
    Look,
    /// Every CPU of the plan is claimed.
    Claim,
}

/// Plans around the workers of other processes, and claims the planned CPUs.
///
/// With [`Affinity::Auto`], another process that claims one of the CPUs in between keeps it, and
/// the plan is made again without that CPU. Each turn excludes one CPU, so there are at most as
/// many turns as CPUs. Other rules are obeyed as given, and claim only free CPUs; with these rules,
/// `before` workers of other processes have the first places.
pub(crate) fn place(
    topology: &'static Topology,
    affinity: Affinity,
    worker_count: usize,
    before: usize,
    claims: Claims,
    claiming: Claiming,
) -> Result<Placed, PlanError> {
    let mut others = claims.others(&topology.allowed_set());
    others.before = before;
    let mut held: Vec<Claim> = Vec::new();
    let plan = loop {
        let plan = plan_beside(topology, &affinity, worker_count, &others)?;
        if claiming == Claiming::Look {
            break plan;
        }
        // Keep the claims that this plan still needs, and claim its other CPUs.
        held.retain(|claim| plan.cpus().any(|cpu| cpu == claim.cpu()));
        match claim_all(&plan, &claims, &mut held, &affinity) {
            Ok(()) => break plan,
            Err(ClaimError::Taken { cpu }) => {
                others.processes.insert(cpu);
            }
            Err(error) => {
                others.note = Some(format!("others cannot see it: {error}"));
                break plan_beside(topology, &affinity, worker_count, &others)?;
            }
        }
    };
    Ok(Placed {
        plan,
        affinity,
        machine: Machine::Read(topology),
        claims,
        held,
        decide: relocate,
        is_never_alike: false,
    })
}

/// Adds claims on the CPUs of `plan` to `held`. With a rule other than [`Affinity::Auto`], CPUs
/// that other processes have claimed are skipped.
fn claim_all(
    plan: &Plan,
    claims: &Claims,
    held: &mut Vec<Claim>,
    affinity: &Affinity,
) -> Result<(), ClaimError> {
    for cpu in plan.cpus() {
        if held.iter().any(|claim| claim.cpu() == cpu) {
            continue;
        }
        match claims.claim(cpu) {
            Ok(claim) => held.push(claim),
            Err(ClaimError::Taken { .. }) if *affinity != Affinity::Auto => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
