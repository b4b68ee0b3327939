//! Exchanges members between groups while that puts more traffic inside groups.
//!
//! A table holds what each member exchanges with each group, so that a pair is looked at in constant time, and an exchange costs what the two have
//! neighbours: in all n² for n members and a round, and n times the number of groups in memory.

use super::traffic::Traffic;

/// Members are exchanged in so many rounds at most.
const ROUNDS_MAX: usize = 4;

/// Every pair of members is looked at, for at most so many members.
const MEMBERS_MAX: usize = 1024;

/// Groups of members, what they exchange, and what may stand in whose place.
pub(super) struct Exchange<'a> {
    pub(super) graph: &'a Traffic,
    /// The vertex of each member; none for one who talks to no one.
    pub(super) vertices: &'a [Option<u32>],
    /// Members of the same shape may be exchanged.
    pub(super) shapes: &'a [usize],
}

impl Exchange<'_> {
    /// Exchanges members of `groups`, each of which lists numbers of members.
    pub(super) fn run(&self, groups: &mut [Vec<usize>]) {
        let seats: Vec<(usize, usize)> = groups
            .iter()
            .enumerate()
            .flat_map(|(group, members)| (0..members.len()).map(move |slot| (group, slot)))
            .collect();
        if seats.len() > MEMBERS_MAX {
            return;
        }
        let mut table = self.table(groups);
        for _ in 0..ROUNDS_MAX {
            let mut is_better = false;
            for (index, &(group, slot)) in seats.iter().enumerate() {
                for &(other_group, other_slot) in &seats[index + 1..] {
                    let (one, other) = (groups[group][slot], groups[other_group][other_slot]);
                    if group == other_group || self.shapes[one] != self.shapes[other] {
                        continue;
                    }
                    let before = table.of(self, one, group) + table.of(self, other, other_group);
                    let least = before * 1.000_001;
                    let after = table.of(self, one, other_group) + table.of(self, other, group);
                    // What they exchange with each other goes between groups as before.
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

    fn between(&self, left: usize, right: usize) -> f64 {
        let (Some(left), Some(right)) = (self.vertices[left], self.vertices[right]) else {
            return 0.0;
        };
        let (to, weights) = self.graph.row(left as usize);
        to.binary_search(&right)
            .map_or(0.0, |at| f64::from(weights[at]))
    }

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

/// What each member of a group exchanges with each group.
struct Table {
    /// Of each vertex that is in a group.
    row_of: Vec<Option<usize>>,
    width: usize,
    exchanged: Vec<f64>,
}

impl Table {
    fn of(&self, exchange: &Exchange<'_>, member: usize, group: usize) -> f64 {
        let row = exchange.vertices[member].and_then(|vertex| self.row_of[vertex as usize]);
        row.map_or(0.0, |row| self.exchanged[row * self.width + group])
    }

    /// A member has left a group for another.
    fn moved(&mut self, exchange: &Exchange<'_>, member: usize, from: usize, to: usize) {
        self.add(exchange, member, from, -1.0);
        self.add(exchange, member, to, 1.0);
    }

    /// Adds what a member exchanges with its neighbours to what they exchange with a group.
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
