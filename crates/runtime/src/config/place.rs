//! Where workers begin: the rule, who else is on the machine, and the claims.

use raddle_topology::{
    Affinity, Claim, ClaimError, Claims, Others, Plan, PlanEntry, PlanError, Topology, plan_beside,
    relocate,
};

use crate::placing::Decide;

/// Where the workers of a runtime shall begin.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) plan: Plan,
    pub(crate) affinity: Affinity,
    /// None in models, which have no machine.
    pub(crate) topology: Option<&'static Topology>,
    pub(crate) claims: Claims,
    /// The claims on the CPUs of the plan.
    pub(crate) held: Vec<Claim>,
    /// What moves workers later.
    pub(crate) decide: Decide,
    /// Tests let workers move where nothing can be gained by it.
    pub(crate) is_never_alike: bool,
}

impl Placed {
    /// Workers that are bound nowhere, on a machine that is not asked.
    pub(crate) fn nowhere(worker_count: usize) -> Self {
        let entries = (0..worker_count).map(|worker_index| PlanEntry {
            worker_index,
            cpu: None,
            reason: "not bound: the machine was not asked".to_owned(),
        });
        Self {
            plan: Plan {
                summary: "placed by none: the machine was not asked".to_owned(),
                entries: entries.collect(),
            },
            affinity: Affinity::None,
            topology: None,
            claims: Claims::default(),
            held: Vec::new(),
            decide: relocate,
            is_never_alike: false,
        }
    }
}

/// Whether a plan is only to be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claiming {
    /// Claims nothing.
    Look,
    /// Claims every CPU of the plan.
    Claim,
}

/// Plans beside others, and claims what was planned.
///
/// By [`Affinity::Auto`], whoever claims one of its CPUs in between has it, and the plan is made anew without it: each turn leaves a CPU
/// out, so there are at most as many turns as CPUs. Other rules are obeyed, and claim what is free; `before` workers of other processes have the first places by these.
pub(super) fn place(
    topology: &'static Topology,
    affinity: Affinity,
    worker_count: usize,
    before: usize,
    claims: Claims,
    claiming: Claiming,
) -> Result<Placed, PlanError> {
    let mut others = if affinity != Affinity::None {
        claims.others(&topology.allowed_set())
    } else {
        Others::none()
    };
    others.before = before;
    let mut held: Vec<Claim> = Vec::new();
    let plan = loop {
        let plan = plan_beside(topology, &affinity, worker_count, &others)?;
        if claiming == Claiming::Look {
            break plan;
        }
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
        topology: Some(topology),
        claims,
        held,
        decide: relocate,
        is_never_alike: false,
    })
}

/// Adds claims on the plan's CPUs to `held`. Where the rule was asked for, those of others are passed over.
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
