//! Swaps members between groups while that increases the traffic inside the groups.
//!
//! A table holds the traffic of each member with each group. So a pair of members is rated in
//! constant time, and a swap costs as many steps as the two have neighbours. For n members, a round
//! takes n² steps, and the table has n times the number of groups entries.

use super::traffic::Traffic;

/// The maximum number of rounds over all pairs.
const ROUNDS_MAX: usize = 4;

/// With more members than this, nothing is swapped, as every pair would be rated.
const MEMBERS_MAX: usize = 1024;

/// The traffic between members, and which members may be swapped.
pub(super) struct Exchange<'a> {
    /// The traffic between vertices.
    pub(super) graph: &'a Traffic,
    /// The vertex of each member. `None` for a member without traffic.
    pub(super) vertices: &'a [Option<u32>],
    /// The shape of each member. Members of the same shape may be swapped.
    pub(super) shapes: &'a [usize],
}

impl Exchange<'_> {
    /// Swaps members of `groups`, each of which lists members by index.
    pub(super) fn run(&self, groups: &mut [Vec<usize>]) {
        let positions: Vec<(usize, usize)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, members)| (0..members.len()).map(move |slot| (group, slot)))
            .collect();
        if positions.len() > MEMBERS_MAX {
            return;
        }
        let mut table = self.table(groups);
        for _ in 0..ROUNDS_MAX {
            let mut is_better = false;
            for (index, &(group, slot)) in positions.iter().enumerate() {
                for &(other_group, other_slot) in &positions[index + 1..] {
                    let (one, other) = (groups[group][slot], groups[other_group][other_slot]);
                    if group == other_group || self.shapes[one] != self.shapes[other] {
                        continue;
                    }
                    let before = table.of(self, one, group) + table.of(self, other, other_group);
                    let least = before * 1.000_001;
                    let after = table.of(self, one, other_group) + table.of(self, other, group);
                    // The traffic between the two members still crosses groups after the swap, but
                    // `after` counts it twice as inside.
                    if after > least && after - 2.0 * self.between(one, other) > least {
                        groups[group][slot] = other;
                        groups[other_group][other_slot] = one;
                        table.moved(self, one, group, other_group);
                        table.moved(self, other, other_group, group);
                        is_better = true;
                    }
                }
            }
            if !is_better {
                break;
            }
        }
    }

    /// Returns the traffic between two members.
    fn between(&self, left: usize, right: usize) -> f64 {
        let (Some(left), Some(right)) = (self.vertices[left], self.vertices[right]) else {
            return 0.0;
        };
        let (to, weights) = self.graph.row(left as usize);
        to.binary_search(&right)
            .map_or(0.0, |at| f64::from(weights[at]))
    }

    /// Creates the table for the given groups.
    fn table(&self, groups: &[Vec<usize>]) -> Table {
        let mut row_of = vec![None; self.graph.order()];
        let members = groups.iter().flatten().copied();
        let rows = members.clone().count();
        for (row, vertex) in members.map(|member| self.vertices[member]).enumerate() {
            if let Some(vertex) = vertex {
                row_of[vertex as usize] = Some(row);
            }
        }
        let width = groups.len();
        let mut table = Table {
            row_of,
            width,
            exchanged: vec![0.0; rows * width],
        };
        for (group, members) in groups.iter().enumerate() {
            for &member in members {
                table.add(self, member, group, 1.0);
            }
        }
        table
    }
}

/// The traffic of each member with each group.
struct Table {
    /// The row of each vertex. `None` for a vertex in no group.
    row_of: Vec<Option<usize>>,
    width: usize,
    exchanged: Vec<f64>,
}

impl Table {
    /// Returns the traffic of a member with a group.
    fn of(&self, exchange: &Exchange<'_>, member: usize, group: usize) -> f64 {
        let row = exchange.vertices[member].and_then(|vertex| self.row_of[vertex as usize]);
        row.map_or(0.0, |row| self.exchanged[row * self.width + group])
    }

    /// Updates the table after a member has moved to another group.
    fn moved(&mut self, exchange: &Exchange<'_>, member: usize, from: usize, to: usize) {
        self.add(exchange, member, from, -1.0);
        self.add(exchange, member, to, 1.0);
    }

    /// Adds a member's traffic with its neighbours, times `sign`, to their traffic with a group.
    fn add(&mut self, exchange: &Exchange<'_>, member: usize, group: usize, sign: f64) {
        let Some(vertex) = exchange.vertices[member] else {
            return;
        };
        for (other, weight) in exchange.graph.neighbours(vertex as usize) {
            if let Some(row) = self.row_of[other] {
                self.exchanged[row * self.width + group] += sign * f64::from(weight);
            }
        }
    }
}
