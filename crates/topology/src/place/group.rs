//! Bottom-up placement by Algorithm 1 of the study: groups of parties that exchange much, groups of
//! groups, and so on up to the whole machine.
//!
//! The levels of the tree of places are treated from the leaves up (`GroupProcesses`). A level gets
//! as many groups as it has objects, and each group gets as many members as its object has
//! children. The traffic between groups is added up (`AggregateComMatrix`), and the groups are the
//! members of the next level. At the end the tree is read from the root down (`MapGroups`). If
//! there are more parties than places, a place is itself an object with several slots, which adds a
//! level.
//!
//! Trees are uneven if some CPUs may not be used. Therefore objects have shapes, which record their
//! composition. A member has the shape of the object that it fills, and the group for an object
//! takes a member of the right shape for each child of the object. Surplus slots are filled with
//! empty members, which have no traffic.
//!
//! If there are few ways to form groups, all of them are tried. Otherwise groups are filled one
//! after the other: each starts with the member that has the most traffic, and takes the member
//! that has the most traffic with the group until it is full. Finally members are swapped between
//! groups while that helps.
//!
//! # Source
//! Jeannot, Mercier, Tessier: Process Placement in Multicore Clusters: Algorithmic Issues and
//! Practical Techniques. IEEE TPDS 25(4), 2014, section 4.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::exchange::Exchange;
use super::target::Target;
use super::traffic::Traffic;

/// The largest number of ways to form groups for which all of them are tried.
const WAYS_MAX: u64 = 3000;

/// Returns the place of each party.
pub(super) fn group(traffic: &Traffic, target: &Target<'_>) -> Vec<u32> {
    let mut grouper = Grouper::new(traffic, target);
    for height in 1..=grouper.heights[0] {
        grouper.make_groups(height);
    }
    grouper.map_groups(target)
}

/// A class of interchangeable objects: those of the same height, composed of the same shapes.
type Shape = usize;

/// A party, a group, or an empty slot.
#[derive(Clone, Debug)]
struct Member {
    shape: Shape,
    /// Its vertex in the graph of the level. `None` for a member that contains no party.
    vertex: Option<u32>,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    Party(u32),
    Empty,
    Group(Vec<Member>),
}

/// An object that needs a group.
struct Wanted {
    shape: Shape,
    /// The number of members of each shape that it takes.
    parts: BTreeMap<Shape, usize>,
}

struct Grouper {
    /// The height of each node: 0 for a leaf with one slot, 1 for a leaf with several slots, and
    /// one more than its children for an inner node.
    heights: Vec<usize>,
    /// The shape of each node.
    shapes: Vec<Shape>,
    /// The composition of each shape: the number of parts of each other shape.
    parts: Vec<BTreeMap<Shape, usize>>,
    /// The members from which the groups of the next level are formed.
    members: Vec<Member>,
    /// The traffic between the members.
    graph: Traffic,
}

/// The shape of a slot for one party.
const SLOT: Shape = 0;

impl Grouper {
    fn new(traffic: &Traffic, target: &Target<'_>) -> Self {
        let count = target.nodes.len();
        let (mut heights, mut shapes) = (vec![0; count], vec![SLOT; count]);
        let mut known: HashMap<(usize, BTreeMap<Shape, usize>), Shape> = HashMap::new();
        let mut all_parts = vec![BTreeMap::new()];
        let mut slot_count = 0;
        for own in (0..count).rev() {
            let node = &target.nodes[own];
            // Children have larger indexes than their parents, so their shapes are known already.
            let mut parts = BTreeMap::new();
            let mut height = 0;
            if node.children.is_empty() {
                let slots = target.place_limits[node.first].1 as usize;
                slot_count += slots;
                if slots == 1 {
                    continue;
                }
                parts.insert(SLOT, slots);
            }
            for &child in &node.children {
                *parts.entry(shapes[child]).or_default() += 1;
                height = height.max(heights[child]);
            }
            heights[own] = height + 1;
            let next = all_parts.len();
            shapes[own] = *known.entry((height + 1, parts.clone())).or_insert_with(|| {
                all_parts.push(parts);
                next
            });
        }
        let party_count = traffic.order();
        let members = (0..slot_count)
            .map(|slot| Member {
                shape: SLOT,
                vertex: (slot < party_count).then_some(slot as u32),
                contents: if slot < party_count {
                    Contents::Party(slot as u32)
                } else {
                    Contents::Empty
                },
            })
            .collect();
        Self {
            heights,
            shapes,
            parts: all_parts,
            members,
            graph: traffic.clone(),
        }
    }

    /// Forms the groups for all objects of a height out of the members of lower heights.
    fn make_groups(&mut self, height: usize) {
        let mut wanted: Vec<Wanted> = Vec::new();
        for (node, _) in self
            .heights
            .iter()
            .enumerate()
            .filter(|&(_, own)| *own == height)
        {
            let shape = self.shapes[node];
            wanted.push(Wanted {
                shape,
                parts: self.parts[shape].clone(),
            });
        }
        // Larger objects choose their members first, since they are the hardest to fill.
        wanted.sort_by_key(|wanted| std::cmp::Reverse(wanted.parts.values().sum::<usize>()));
        let groups = match self.best_of_all_ways(&wanted) {
            Some(groups) => groups,
            None => {
                let mut groups = self.one_after_the_other(&wanted);
                self.exchange(&mut groups);
                groups
            }
        };
        self.aggregate(&wanted, groups);
    }

    /// Tries all ways to form the groups, if they all have the same shape and one shape of members.
    ///
    /// Returns `None` if that is not so, or if there are too many ways.
    fn best_of_all_ways(&self, wanted: &[Wanted]) -> Option<Vec<Vec<usize>>> {
        let first = wanted.first()?;
        let (&part, &size) = first.parts.iter().next()?;
        let is_uniform =
            first.parts.len() == 1 && wanted.iter().all(|one| one.shape == first.shape);
        let members: Vec<usize> = (0..self.members.len())
            .filter(|&member| self.members[member].shape == part)
            .collect();
        if !is_uniform
            || members.len() != wanted.len() * size
            || ways(members.len(), size) > WAYS_MAX
        {
            return None;
        }
        let mut trial = Trial {
            grouper: self,
            size,
            groups: Vec::new(),
            best: (f64::NEG_INFINITY, Vec::new()),
        };
        trial.fill(&members, 0.0);
        Some(trial.best.1)
    }

    /// Returns the traffic between two members.
    fn between(&self, left: usize, right: usize) -> f32 {
        let (Some(left), Some(right)) = (self.members[left].vertex, self.members[right].vertex)
        else {
            return 0.0;
        };
        let (to, weights) = self.graph.row(left as usize);
        match to.binary_search(&right) {
            Ok(at) => weights[at],
            Err(_) => 0.0,
        }
    }

    /// Fills groups one after the other, each starting with a member that has much traffic.
    fn one_after_the_other(&self, wanted: &[Wanted]) -> Vec<Vec<usize>> {
        // List the members of each shape without traffic, and all others by falling traffic.
        let mut member_of = vec![usize::MAX; self.graph.order()];
        let mut empty: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
        let mut volumes: Vec<(f32, usize)> = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            match member.vertex {
                Some(vertex) => {
                    member_of[vertex as usize] = index;
                    volumes.push((self.graph.row(vertex as usize).1.iter().sum(), index));
                }
                None => empty.entry(member.shape).or_default().push(index),
            }
        }
        volumes.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        // `attached` is the traffic of each member with the current group. `offers` has an entry
        // for each value that it had, so outdated entries are skipped.
        let mut is_taken = vec![false; self.members.len()];
        let mut attached = vec![0.0_f32; self.members.len()];
        let mut starts: BTreeMap<Shape, usize> = BTreeMap::new();
        let mut groups = Vec::with_capacity(wanted.len());
        for one in wanted {
            let mut left = one.parts.clone();
            let mut group = Vec::new();
            let mut touched = Vec::new();
            let mut offers: BinaryHeap<(u32, std::cmp::Reverse<usize>)> = BinaryHeap::new();
            while let Some(shape) = left.keys().next().copied() {
                let mut next = None;
                while let Some((bits, std::cmp::Reverse(index))) = offers.pop() {
                    let fits = left.contains_key(&self.members[index].shape);
                    if !is_taken[index] && fits && bits == attached[index].to_bits() {
                        next = Some(index);
                        break;
                    }
                }
                // If no suitable member has traffic with the group, take the one with the most
                // traffic overall, and finally an empty one.
                let index = next
                    .or_else(|| {
                        let start = starts.entry(shape).or_default();
                        while let Some(&(_, index)) = volumes.get(*start) {
                            if !is_taken[index] && self.members[index].shape == shape {
                                return Some(index);
                            }
                            *start += 1;
                        }
                        None
                    })
                    .or_else(|| empty.get_mut(&shape).and_then(Vec::pop));
                let Some(index) = index else { break };
                is_taken[index] = true;
                group.push(index);
                if let Some(count) = left.get_mut(&self.members[index].shape) {
                    *count -= 1;
                    if *count == 0 {
                        left.remove(&self.members[index].shape);
                    }
                }
                if let Some(vertex) = self.members[index].vertex {
                    for (other, weight) in self.graph.neighbours(vertex as usize) {
                        let other = member_of[other];
                        if other == usize::MAX || is_taken[other] {
                            continue;
                        }
                        attached[other] += weight;
                        touched.push(other);
                        // The traffic is positive, so its bit patterns have the same order as its
                        // values.
                        offers.push((attached[other].to_bits(), std::cmp::Reverse(other)));
                    }
                }
            }
            for other in touched {
                attached[other] = 0.0;
            }
            groups.push(group);
        }
        groups
    }

    /// Swaps members of the same shape between groups while that increases the traffic inside
    /// groups.
    fn exchange(&self, groups: &mut [Vec<usize>]) {
        let vertices: Vec<_> = self.members.iter().map(|member| member.vertex).collect();
        let shapes: Vec<_> = self.members.iter().map(|member| member.shape).collect();
        let exchange = Exchange {
            graph: &self.graph,
            vertices: &vertices,
            shapes: &shapes,
        };
        exchange.run(groups);
    }

    /// Turns the groups into members, and adds up the traffic between them.
    fn aggregate(&mut self, wanted: &[Wanted], groups: Vec<Vec<usize>>) {
        let mut members: Vec<Option<Member>> = self.members.drain(..).map(Some).collect();
        let mut parents = vec![u32::MAX; self.graph.order()];
        let mut next = 0_u32;
        let mut made = Vec::with_capacity(groups.len());
        for (wanted, group) in wanted.iter().zip(groups) {
            let inside: Vec<Member> = group
                .into_iter()
                .filter_map(|index| members[index].take())
                .collect();
            let vertices: Vec<u32> = inside.iter().filter_map(|member| member.vertex).collect();
            for &vertex in &vertices {
                parents[vertex as usize] = next;
            }
            made.push(Member {
                shape: wanted.shape,
                vertex: (!vertices.is_empty()).then_some(next),
                contents: Contents::Group(inside),
            });
            next += u32::from(!vertices.is_empty());
        }
        // Members that belong into higher objects stay as they are.
        for mut member in members.into_iter().flatten() {
            if let Some(vertex) = member.vertex {
                parents[vertex as usize] = next;
                member.vertex = Some(next);
                next += 1;
            }
            made.push(member);
        }
        self.graph = aggregated(&self.graph, &parents, next as usize);
        self.members = made;
    }

    /// Assigns places by reading the groups from the root down.
    fn map_groups(mut self, target: &Target<'_>) -> Vec<u32> {
        let mut places = vec![0; 0];
        let Some(root) = self.members.pop() else {
            return places;
        };
        let mut waiting = vec![(0, root)];
        while let Some((node, member)) = waiting.pop() {
            let object = &target.nodes[node];
            match member.contents {
                Contents::Empty => {}
                Contents::Party(party) => {
                    let party = party as usize;
                    places.resize(places.len().max(party + 1), 0);
                    places[party] = object.first as u32;
                }
                Contents::Group(inside) if object.children.is_empty() => {
                    waiting.extend(inside.into_iter().map(|member| (node, member)));
                }
                Contents::Group(mut inside) => {
                    for &child in &object.children {
                        let fits = |member: &Member| member.shape == self.shapes[child];
                        if let Some(at) = inside.iter().position(fits) {
                            waiting.push((child, inside.remove(at)));
                        }
                    }
                }
            }
        }
        places
    }
}

/// A search through all ways to form groups of one size.
struct Trial<'run> {
    grouper: &'run Grouper,
    size: usize,
    groups: Vec<Vec<usize>>,
    /// The best groups so far, and the traffic inside them.
    best: (f64, Vec<Vec<usize>>),
}

impl Trial<'_> {
    /// Forms groups of all remaining members. The first of them is always in the next group.
    fn fill(&mut self, left: &[usize], inside: f64) {
        let Some((&first, others)) = left.split_first() else {
            if inside > self.best.0 {
                self.best = (inside, self.groups.clone());
            }
            return;
        };
        self.choose(&mut vec![first], others, inside);
    }

    /// Completes a group in every possible way, and continues with the remaining members each time.
    fn choose(&mut self, group: &mut Vec<usize>, others: &[usize], inside: f64) {
        self.choose_from(group, others, 0, inside);
    }

    /// Adds members from index `from` on, in rising order, until the group is full.
    fn choose_from(&mut self, group: &mut Vec<usize>, others: &[usize], from: usize, inside: f64) {
        if group.len() == self.size {
            let left: Vec<usize> = others
                .iter()
                .filter(|other| !group.contains(other))
                .copied()
                .collect();
            self.groups.push(group.clone());
            self.fill(&left, inside);
            self.groups.pop();
            return;
        }
        for index in from..others.len() {
            let more: f32 = group
                .iter()
                .map(|&member| self.grouper.between(member, others[index]))
                .sum();
            group.push(others[index]);
            self.choose_from(group, others, index + 1, inside + f64::from(more));
            group.pop();
        }
    }
}

/// Returns the number of ways in which `count` members form groups of `size`, or some number above
/// [`WAYS_MAX`].
fn ways(count: usize, size: usize) -> u64 {
    let mut ways = 1_u64;
    let mut left = count;
    while left > 0 {
        // The first remaining member is in the next group, with size - 1 of the others.
        let mut choices = 1_u64;
        for index in 0..size - 1 {
            choices = choices * (left - 1 - index) as u64 / (index + 1) as u64;
            if choices > WAYS_MAX {
                return choices;
            }
        }
        ways *= choices;
        if ways > WAYS_MAX {
            return ways;
        }
        left -= size;
    }
    ways
}

/// Returns the graph in which all vertices with the same parent are one. Its rows are sorted.
fn aggregated(graph: &Traffic, parents: &[u32], count: usize) -> Traffic {
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); count];
    for (vertex, &parent) in parents.iter().enumerate() {
        if let Some(list) = members.get_mut(parent as usize) {
            list.push(vertex as u32);
        }
    }
    let mut offsets = vec![0];
    let (mut to, mut weights) = (Vec::new(), Vec::new());
    let mut sums = vec![0.0_f32; count];
    for (own, list) in members.iter().enumerate() {
        let mut touched: Vec<u32> = Vec::new();
        for &vertex in list {
            for (other, weight) in graph.neighbours(vertex as usize) {
                let other = parents[other] as usize;
                if other == own || other >= count {
                    continue;
                }
                if sums[other] == 0.0 {
                    touched.push(other as u32);
                }
                sums[other] += weight;
            }
        }
        touched.sort_unstable();
        for other in touched {
            to.push(other);
            weights.push(std::mem::take(&mut sums[other as usize]));
        }
        offsets.push(to.len());
    }
    Traffic::from_parts(offsets, to, weights)
}
