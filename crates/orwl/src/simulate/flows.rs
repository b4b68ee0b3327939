//! Bytes under way: how fast each transfer is while others want the same memories and links.
//!
//! All transfers get the same rate, as far as nothing is in the way: what a core takes, what its share of a memory or a link gives. What one of
//! them cannot use the others get (*max-min fairness*). Rates change whenever a transfer begins or ends.
//!
//! # Source
//! Bertsekas, Gallager: Data Networks, 2nd ed. 1992, section 6.5.2: progressive filling.

use super::MachineSpeed;

/// Transfers under way in a machine.
pub(super) struct Flows {
    core: f64,
    /// Bytes a nanosecond of each memory and, behind them, of each link.
    capacities: Vec<f64>,
    node_count: usize,
    flows: Vec<Flow>,
    /// Until when `left` is right, in nanoseconds.
    now: f64,
    /// The rates are for other transfers than there are.
    is_stale: bool,
    /// What is left of each capacity, and what wants it; for `share_out` alone.
    left: Vec<f64>,
    wanted: Vec<f64>,
}

struct Flow {
    /// For whom.
    operation: usize,
    /// Bytes to go.
    left: f64,
    /// Bytes a nanosecond; none yet while it is NaN.
    rate: f64,
    from: usize,
    to: usize,
    /// What a byte takes of the links.
    far: f64,
}

impl Flow {
    /// What it uses, and how much of that for each byte.
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
        // Whatever does not move would never end.
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

    /// Begins to bring bytes for an operation from one node to another, or within one.
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

    /// When the next transfer ends, if nothing begins before.
    pub(super) fn next_end(&mut self) -> Option<f64> {
        self.first_to_end().map(|(end, _)| end)
    }

    /// Ends the transfer whose end is next; returns for whom it was.
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

    /// Raises the rates of all transfers together, and leaves those behind that have come to the end of a memory or a link.
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
            let shares = self.left.iter().zip(&self.wanted).enumerate();
            let shares = shares.filter(|(_, (_, wanted))| **wanted > 0.0);
            let shares = shares.map(|(at, (left, wanted))| (left.max(0.0) / wanted, at));
            let full = shares.min_by(|left, right| left.0.total_cmp(&right.0));
            let (rate, full) = match full {
                Some((rate, at)) if rate < self.core => (rate, Some(at)),
                _ => (self.core, None),
            };
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
                // Whatever rounding has left over: all who wanted it have what they get.
                self.wanted[full] = 0.0;
            }
        }
    }
}
