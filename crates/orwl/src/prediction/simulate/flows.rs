//! Concurrent transfers: the rate of each while others use the same memories and links.
//!
//! All transfers get the same rate, unless a resource limits them: the bandwidth of the core, or
//! the share of a memory or a link. Bandwidth that one transfer cannot use is given to the others
//! (*max-min fairness*). Rates change whenever a transfer begins or ends.
//!
//! # Source
//! Bertsekas, Gallager: Data Networks, 2nd ed. 1992, section 6.5.2: progressive filling.

use super::MachineSpeed;

/// The transfers in progress in a machine.
pub(super) struct Flows {
    core: f64,
    /// The bandwidth in bytes per nanosecond of each memory, followed by that of each link.
    capacities: Vec<f64>,
    node_count: usize,
    flows: Vec<Flow>,
    /// The time in nanoseconds for which the `left` field of each flow is valid.
    now: f64,
    /// True if transfers have begun or ended since the rates were computed.
    is_stale: bool,
    /// The part of each capacity that is not assigned yet. Used only by `share_out`.
    left: Vec<f64>,
    /// The demand for each capacity by flows without a rate. Used only by `share_out`.
    wanted: Vec<f64>,
}

struct Flow {
    /// The operation that waits for the bytes.
    operation: usize,
    /// The number of bytes that are left.
    left: f64,
    /// The rate in bytes per nanosecond; NaN while it is not known.
    rate: f64,
    from: usize,
    to: usize,
    /// The link capacity that one byte uses.
    far: f64,
}

impl Flow {
    /// Returns the index of each capacity that the flow uses, and how much of it per byte.
    fn uses(&self, node_count: usize) -> impl Iterator<Item = (usize, f64)> + use<> {
        let links = match self.from == self.to {
            true => [None, None],
            false => [self.from, self.to].map(|node| Some((node_count + node, self.far))),
        };
        std::iter::once((self.from, 1.0)).chain(links.into_iter().flatten())
    }
}

impl Flows {
    pub(super) fn new(speed: MachineSpeed, node_count: usize) -> Self {
        // A transfer with rate 0 would never end.
        let positive = |rate: f64| rate.max(f64::MIN_POSITIVE);
        let memories = vec![positive(speed.node); node_count];
        let links = vec![positive(speed.link); node_count];
        let capacities = [memories, links].concat();
        Self {
            core: positive(speed.core),
            left: capacities.clone(),
            wanted: capacities.clone(),
            capacities,
            node_count,
            flows: Vec::new(),
            now: 0.0,
            is_stale: false,
        }
    }

    /// Begins a transfer for an operation from one node to another, or within a node.
    pub(super) fn begin(
        &mut self,
        now: f64,
        operation: usize,
        bytes: f64,
        (from, to): (usize, usize),
        far: f64,
    ) {
        self.go_on_to(now);
        self.flows.push(Flow {
            operation,
            left: bytes,
            rate: f64::NAN,
            from,
            to,
            far,
        });
        self.is_stale = true;
    }

    /// Returns the time when the next transfer ends if no other begins before.
    pub(super) fn next_end(&mut self) -> Option<f64> {
        self.first_to_end().map(|(end, _)| end)
    }

    /// Ends the transfer that ends next, and returns its operation.
    pub(super) fn end_next(&mut self) -> Option<usize> {
        let (end, index) = self.first_to_end()?;
        self.go_on_to(end);
        self.is_stale = true;
        Some(self.flows.swap_remove(index).operation)
    }

    fn first_to_end(&mut self) -> Option<(f64, usize)> {
        if self.is_stale {
            self.share_out();
        }
        let ends = self.flows.iter().zip(0..);
        let ends = ends.map(|(flow, index)| (self.now + flow.left / flow.rate, index));
        ends.min_by(|left, right| left.0.total_cmp(&right.0))
    }

    fn go_on_to(&mut self, now: f64) {
        let passed = now - self.now;
        if passed > 0.0 {
            for flow in &mut self.flows {
                flow.left = (flow.left - passed * flow.rate).max(0.0);
            }
            self.now = now;
        }
    }

    /// Computes the rate of each transfer by progressive filling.
    ///
    /// All rates rise together. When a memory or a link is exhausted, the rates of the transfers
    /// that use it are final.
    fn share_out(&mut self) {
        self.is_stale = false;
        self.left.copy_from_slice(&self.capacities);
        self.wanted.fill(0.0);
        for flow in &mut self.flows {
            flow.rate = f64::NAN;
            for (at, share) in flow.uses(self.node_count) {
                self.wanted[at] += share;
            }
        }
        let mut raised = self.flows.len();
        while raised > 0 {
            // Find the resource that is exhausted first, unless the cores limit all transfers.
            let shares = self.left.iter().zip(&self.wanted).enumerate();
            let shares = shares.filter(|(_, (_, wanted))| **wanted > 0.0);
            let shares = shares.map(|(at, (left, wanted))| (left.max(0.0) / wanted, at));
            let full = shares.min_by(|left, right| left.0.total_cmp(&right.0));
            let (rate, full) = match full {
                Some((rate, at)) if rate < self.core => (rate, Some(at)),
                _ => (self.core, None),
            };
            // Fix the rates of the transfers that use it, and subtract their share from the rest.
            for flow in self.flows.iter_mut().filter(|flow| flow.rate.is_nan()) {
                if full.is_some_and(|full| flow.uses(self.node_count).all(|(at, _)| at != full)) {
                    continue;
                }
                flow.rate = rate.max(f64::MIN_POSITIVE);
                raised -= 1;
                for (at, share) in flow.uses(self.node_count) {
                    self.left[at] -= rate * share;
                    self.wanted[at] -= share;
                }
            }
            if let Some(full) = full {
                // All transfers that use it have their rates. This removes rounding errors.
                self.wanted[full] = 0.0;
            }
        }
    }
}
