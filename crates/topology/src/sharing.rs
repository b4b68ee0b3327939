//! The smallest part of a machine that each pair of workers shares.

use serde::Serialize;

use crate::cpu_set::CpuId;
use crate::topology::Topology;

/// The number of workers above which the pairs are too many to list.
const WORKERS_MAX: usize = 1_024;

/// The smallest object of a machine that each pair of workers shares.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Sharing {
    /// The kinds of objects, such as `L3`, the nearest first. The last one is `unknown`, for
    /// workers that are not bound.
    pub kinds: Vec<String>,
    /// For each worker and each worker before it, an index of `kinds`. Empty if there are more than
    /// 1,024 workers.
    pub between: Vec<Vec<usize>>,
}

impl Sharing {
    /// Finds the objects that workers on these CPUs share. Takes O(w² · d) time for w workers and a
    /// tree of depth d.
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::{CpuId, Sharing, Topology};
    /// let topology = Topology::synthetic("package:2 core:2 pu:1")?;
    /// let sharing = Sharing::of(&topology, &[0, 1, 2].map(|cpu| Some(CpuId(cpu))));
    /// assert_eq!(sharing.kind(0, 1), Some("Package"));
    /// assert_eq!(sharing.kind(2, 0), Some("Machine"));
    /// # Ok::<(), raddle_topology::TopologyError>(())
    /// ```
    #[must_use]
    pub fn of(topology: &Topology, cpus: &[Option<CpuId>]) -> Self {
        let count = if cpus.len() > WORKERS_MAX {
            0
        } else {
            cpus.len()
        };
        let shared = |left: Option<CpuId>, right: Option<CpuId>| {
            let object = topology.common_ancestor(left?, right?)?;
            // A deeper object is nearer.
            Some((std::cmp::Reverse(object.depth?), object.kind_name()))
        };
        let pairs = |worker: usize| {
            cpus[..worker]
                .iter()
                .map(move |other| (cpus[worker], *other))
        };
        let mut kinds: Vec<_> = (0..count)
            .flat_map(pairs)
            .filter_map(|(left, right)| shared(left, right))
            .collect();
        kinds.sort_unstable();
        kinds.dedup();
        let index = |(left, right)| {
            let kind = shared(left, right);
            let place = kind.and_then(|kind| kinds.binary_search(&kind).ok());
            place.unwrap_or(kinds.len())
        };
        let between = (0..count).map(|worker| pairs(worker).map(index).collect());
        let between = between.collect();
        let names = kinds.into_iter().map(|(_, name)| name);
        Self {
            kinds: names.chain(["unknown".to_owned()]).collect(),
            between,
        }
    }

    /// Returns the kind of the smallest object that two workers share, or `None` if it is unknown.
    #[must_use]
    pub fn kind(&self, one: usize, other: usize) -> Option<&str> {
        let index = *self.between.get(one.max(other))?.get(one.min(other))?;
        let kind = self.kinds.get(index)?;
        (index + 1 < self.kinds.len()).then_some(kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_kinds_come_first_and_unbound_workers_share_nothing_known() {
        let topology = Topology::synthetic("package:2 l3:1 core:2 pu:2").expect("a description");
        let cpus = [
            Some(CpuId(0)),
            Some(CpuId(1)),
            Some(CpuId(2)),
            Some(CpuId(4)),
            None,
        ];
        let sharing = Sharing::of(&topology, &cpus);
        assert_eq!(sharing.kind(0, 1), Some("Core"));
        assert_eq!(sharing.kind(2, 0), Some("L3"));
        assert_eq!(sharing.kind(3, 0), Some("Machine"));
        assert_eq!(sharing.kind(4, 0), None);
        assert_eq!(sharing.kinds, ["Core", "L3", "Machine", "unknown"]);
        assert_eq!(sharing.kind(0, 9), None);
    }
}
