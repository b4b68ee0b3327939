//! Bottom-up: groups of parties that talk, groups of groups, up to the whole machine: Algorithm 1 of the study.
//!
//! Each level of the tree of places is treated from the leaves up (`GroupProcesses`): as many groups are made as the
//! level has objects, each of as many members as the object has children; what groups exchange is added up
//! (`AggregateComMatrix`), and they are the members of the next level. At the end the tree is read from the root down
//! (`MapGroups`). More parties than places are a level more: a place is then an object with several seats.
//!
//! Trees are uneven where CPUs may not be used. So objects have shapes, which say what they are made of,
//! members have the shape of the object that they fill, and a group for an object takes for each of its children a
//! member of that shape. Seats that nobody needs are filled by nobody: such members talk to no one.
//!
//! Groups are found by trying all while there are few ways, then one after the other: each begins with who
//! talks most and takes who talks most to it; at last members are exchanged between groups while that helps.
//!
//! # Source
//! Jeannot, Mercier, Tessier: Process Placement in Multicore Clusters: Algorithmic Issues and Practical Techniques.
//! IEEE TPDS 25(4), 2014, section 4.

use std::collections::{BTreeMap, BinaryHeap, HashMap};

use super::exchange::Exchange;
use super::target::Target;
use super::traffic::Traffic;

/// All ways to make groups are tried while they are at most so many.
const WAYS_MAX: u64 = 3000;

/// Lists the place of each party.
pub(super) fn group(traffic: &Traffic, target: &Target<'_>) -> Vec<u32> {
    let mut grouper = Grouper::new(traffic, target);
    for height in 1..=grouper.heights[0] {
        grouper.make_groups(height);
    }
    grouper.map_groups(target)
}

/// Which objects are alike: those of the same height, made of the same shapes.
type Shape = usize;

/// A party, a group, or nobody.
#[derive(Clone, Debug)]
struct Member {
    shape: Shape,
    /// Its vertex in the graph of the level; `None` for a member without any party in it.
    vertex: Option<u32>,
    contents: Contents,
}

#[derive(Clone, Debug)]
enum Contents {
    Party(u32),
    Nobody,
    Group(Vec<Member>),
}

/// An object whose seats are to be filled.
struct Wanted {
    shape: Shape,
    /// How many members of each shape.
    parts: BTreeMap<Shape, usize>,
}

struct Grouper {
    /// Above the leaves, 1 and more; a leaf with several seats has 1, its seats have 0.
    heights: Vec<usize>,
    shapes: Vec<Shape>,
    /// What objects of each shape are made of.
    parts: Vec<BTreeMap<Shape, usize>>,
    members: Vec<Member>,
    graph: Traffic,
}

/// The shape of a seat for one party.
const SEAT: Shape = 0;

impl Grouper {
    fn new(traffic: &Traffic, target: &Target<'_>) -> Self {
        let count = target.nodes.len();
        let (mut heights, mut shapes) = (vec![0; count], vec![SEAT; count]);
        let mut known: HashMap<(usize, BTreeMap<Shape, usize>), Shape> = HashMap::new();
        let mut all_parts = vec![BTreeMap::new()];
        let mut seat_count = 0;
        for own in (0..count).rev() {
            let node = &target.nodes[own];
            let mut parts = BTreeMap::new();
            let mut height = 0;
            if node.children.is_empty() {
                let seats = target.place_limits[node.first].1 as usize;
                seat_count += seats;
                if seats == 1 {
                    continue;
                }
                parts.insert(SEAT, seats);
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
        let members = (0..seat_count)
            .map(|seat| Member {
                shape: SEAT,
                vertex: (seat < party_count).then_some(seat as u32),
                contents: if seat < party_count {
                    Contents::Party(seat as u32)
                } else {
                    Contents::Nobody
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

    /// Makes the groups for all objects of a height out of the members of lower ones.
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
        // Of all that wait, those that fit least elsewhere, the largest, choose first.
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

    /// Tries all ways to fill groups of one and the same kind; `None` when there are too many ways, or several kinds.
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

    /// Fills groups one after the other, each around a member that talks much.
    fn one_after_the_other(&self, wanted: &[Wanted]) -> Vec<Vec<usize>> {
        let mut member_of = vec![usize::MAX; self.graph.order()];
        let mut silent: BTreeMap<Shape, Vec<usize>> = BTreeMap::new();
        let mut volumes: Vec<(f32, usize)> = Vec::new();
        for (index, member) in self.members.iter().enumerate() {
            match member.vertex {
                Some(vertex) => {
                    member_of[vertex as usize] = index;
                    volumes.push((self.graph.row(vertex as usize).1.iter().sum(), index));
                }
                None => silent.entry(member.shape).or_default().push(index),
            }
        }
        volumes.sort_by(|left, right| right.0.total_cmp(&left.0).then(left.1.cmp(&right.1)));
        let mut is_taken = vec![false; self.members.len()];
        let mut attached = vec![0.0_f32; self.members.len()];
        let mut seeds: BTreeMap<Shape, usize> = BTreeMap::new();
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
                // Nobody who is wanted talks to the group: who talks most begins anew, and at last nobody.
                let index = next
                    .or_else(|| {
                        let seed = seeds.entry(shape).or_default();
                        while let Some(&(_, index)) = volumes.get(*seed) {
                            if !is_taken[index] && self.members[index].shape == shape {
                                return Some(index);
                            }
                            *seed += 1;
                        }
                        None
                    })
                    .or_else(|| silent.get_mut(&shape).and_then(Vec::pop));
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
                        // Attachment is positive, so its bits are ordered as it is.
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

    /// Exchanges members of the same shape between groups while that puts more traffic inside groups.
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

    /// Makes members of groups, and the graph of what they exchange.
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
        // Members that are for higher objects stay as they are.
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

    /// Reads the groups from the root down.
    fn map_groups(mut self, target: &Target<'_>) -> Vec<u32> {
        let mut places = vec![0; 0];
        let Some(root) = self.members.pop() else {
            return places;
        };
        let mut waiting = vec![(0, root)];
        while let Some((node, member)) = waiting.pop() {
            let object = &target.nodes[node];
            match member.contents {
                Contents::Nobody => {}
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

/// All groups of one size, one after the other.
struct Trial<'run> {
    grouper: &'run Grouper,
    size: usize,
    groups: Vec<Vec<usize>>,
    /// The traffic inside the groups, and the groups.
    best: (f64, Vec<Vec<usize>>),
}

impl Trial<'_> {
    /// Makes groups of all that are left; the first of them is always in the next group.
    fn fill(&mut self, left: &[usize], inside: f64) {
        let Some((&first, others)) = left.split_first() else {
            if inside > self.best.0 {
                self.best = (inside, self.groups.clone());
            }
            return;
        };
        self.choose(&mut vec![first], others, inside);
    }

    /// Adds members to a group, in rising order, and goes on when it is full.
    fn choose(&mut self, group: &mut Vec<usize>, others: &[usize], inside: f64) {
        self.choose_from(group, others, 0, inside);
    }

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

/// In how many ways `count` members make groups of `size`, or something larger than [`WAYS_MAX`].
fn ways(count: usize, size: usize) -> u64 {
    let mut ways = 1_u64;
    let mut left = count;
    while left > 0 {
        // The first one that is left is in the next group, with size - 1 of the others.
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

/// Adds up what the vertices with the same parent exchange; rows are sorted.
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
