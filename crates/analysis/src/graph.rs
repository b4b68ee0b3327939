//! The strands of a recording, and which of them must end before which may begin.
//!
//! A *strand* is a part of a task, message or call during which nothing else becomes possible: it
//! ends where a task is put, a message is sent, a fork is made or joined, a wait begins, or a
//! section begins or ends. The strands and their dependencies are a directed acyclic graph, as in
//! the theory of work and span.
//!
//! # Dependencies
//! 1. A strand of a task depends on the strand before it.
//! 2. The first strand of a task or message depends on the strand that has put or sent it.
//! 3. Both halves of a fork depend on the strand that has made it, and the strand after the join
//!    depends on both. It does not matter which thread has run the second half.
//! 4. The strand after a wait depends on the tasks for which it waited.
//! 5. Messages to one object run in the order of the recording.
//! 6. A section of a location depends on the one before it, or on all readers before it.
//! 7. A call, or a message that a thread outside of the runtime has sent, depends on what ended
//!    last, if nothing ran at that time. The time in between is a strand of its own, of the
//!    *outside*, which needs no worker. After a wait, such a thread depends on the task that it had
//!    put and that ended closest to the end of the wait.
//!
//! # Source
//! Work and span: Blumofe, Leiserson: Scheduling multithreaded computations by work stealing. JACM
//! 46(5), 1999. Measuring both in one run: Leiserson et al.: The Cilkview scalability analyzer.
//! SPAA 2010.

mod dependencies;
mod outside;
mod strands;

use crate::links::Links;
use crate::recording::Recording;

/// The number of a run that does not exist: that of strands outside.
pub(crate) const OUTSIDE: u32 = u32::MAX;

/// A part of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Strand {
    /// The begin, in nanoseconds.
    pub(crate) from_ns: u64,
    /// The duration, without times in which the thread was preempted: they are those of other
    /// programs, or of more threads than CPUs.
    pub(crate) duration_ns: u64,
    /// The time in which the thread was preempted.
    pub(crate) lost_ns: u64,
    /// The index of its run, or [`OUTSIDE`].
    pub(crate) run: u32,
    /// The event of the timeline that gives its name: a scope, section, entry or run.
    pub(crate) event: u32,
}

impl Strand {
    /// Returns the end in the recording, in nanoseconds.
    pub(crate) const fn until_ns(&self) -> u64 {
        self.from_ns + self.duration_ns + self.lost_ns
    }
}

/// A task, fork, message or call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// The event of the timeline.
    pub(crate) event: u32,
    pub(crate) first: u32,
    pub(crate) last: u32,
    /// The object of a message: a number for each object of the recording.
    pub(crate) object: Option<u32>,
    /// The object that a task has made. A task is bound to no worker, and the object is where the
    /// task ran.
    pub(crate) makes: Option<u32>,
}

/// The strands of a recording in an order in which each comes after those that it depends on.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    pub(crate) strands: Vec<Strand>,
    pub(crate) runs: Vec<Run>,
    /// For each strand, where its successors begin in `successors`; one more at the end.
    offsets: Vec<u32>,
    successors: Vec<u32>,
    /// For each object, the number of its collection, and its rank among the objects of that.
    pub(crate) objects: Vec<ObjectRank>,
}

/// An object that receives messages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ObjectRank {
    /// The position among the objects of its collection.
    pub(crate) rank: u64,
    /// The number of objects of its collection.
    pub(crate) count: u64,
}

impl Graph {
    /// Finds the strands of a recording, and their dependencies.
    pub(crate) fn of(recording: &Recording, links: &Links) -> Self {
        let mut found = strands::Found::of(recording);
        let objects = found.number_objects(recording);
        dependencies::add(recording, links, &mut found);
        let mut graph = Self::sorted(found.strands, found.edges, found.runs);
        graph.objects = objects;
        graph
    }

    /// Returns the strands that depend on a strand.
    pub(crate) fn successors(&self, strand: usize) -> &[u32] {
        let range = self.offsets[strand] as usize..self.offsets[strand + 1] as usize;
        &self.successors[range]
    }

    /// Returns, for each strand, the number of strands that it depends on.
    pub(crate) fn predecessor_counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.strands.len()];
        for successor in &self.successors {
            counts[*successor as usize] += 1;
        }
        counts
    }

    /// Sorts strands topologically. An edge against this order closes a circle, which only an
    /// error of the clocks can cause; it is left out.
    fn sorted(strands: Vec<Strand>, edges: Vec<(u32, u32)>, mut runs: Vec<Run>) -> Self {
        let count = strands.len();
        let (offsets, successors) = adjacency(count, &edges);
        drop(edges);
        let mut missing = vec![0_u32; count];
        for successor in &successors {
            missing[*successor as usize] += 1;
        }
        let mut order: Vec<u32> = Vec::with_capacity(count);
        let is_free = |strand: &u32| missing[*strand as usize] == 0;
        order.extend((0..count as u32).filter(is_free));
        let mut is_placed = vec![false; count];
        let mut by_time: Option<std::vec::IntoIter<u32>> = None;
        let mut at = 0;
        while order.len() < count || at < order.len() {
            if at == order.len() {
                // All others are in circles: the earliest one goes first.
                let rest = by_time.get_or_insert_with(|| {
                    let mut rest: Vec<u32> = (0..count as u32).collect();
                    rest.sort_by_key(|strand| strands[*strand as usize].from_ns);
                    rest.into_iter()
                });
                match rest
                    .find(|strand| missing[*strand as usize] > 0 && !is_placed[*strand as usize])
                {
                    Some(strand) => order.push(strand),
                    None => break,
                }
            }
            let strand = order[at] as usize;
            at += 1;
            is_placed[strand] = true;
            let range = offsets[strand] as usize..offsets[strand + 1] as usize;
            for successor in &successors[range] {
                let missing = &mut missing[*successor as usize];
                *missing = missing.saturating_sub(1);
                if *missing == 0 && !is_placed[*successor as usize] {
                    order.push(*successor);
                }
            }
        }
        let mut rank = vec![0_u32; count];
        for (place, strand) in order.iter().enumerate() {
            rank[*strand as usize] = place as u32;
        }
        let ranks = |strand: usize| {
            let range = offsets[strand] as usize..offsets[strand + 1] as usize;
            successors[range]
                .iter()
                .map(|successor| rank[*successor as usize])
        };
        let mut edges = Vec::with_capacity(successors.len());
        for (place, strand) in order.iter().enumerate() {
            let later = ranks(*strand as usize).filter(|successor| *successor > place as u32);
            edges.extend(later.map(|successor| (place as u32, successor)));
        }
        for run in &mut runs {
            (run.first, run.last) = (rank[run.first as usize], rank[run.last as usize]);
        }
        let (offsets, successors) = adjacency(count, &edges);
        Self {
            strands: order
                .iter()
                .map(|strand| strands[*strand as usize])
                .collect(),
            runs,
            offsets,
            successors,
            objects: Vec::new(),
        }
    }
}

/// Returns the edges by their sources: the offset of each source, and all targets.
fn adjacency(count: usize, edges: &[(u32, u32)]) -> (Vec<u32>, Vec<u32>) {
    let mut offsets = vec![0_u32; count + 1];
    for (from, _) in edges {
        offsets[*from as usize + 1] += 1;
    }
    for place in 0..count {
        offsets[place + 1] += offsets[place];
    }
    let mut next = offsets.clone();
    let mut targets = vec![0_u32; edges.len()];
    for (from, to) in edges {
        let place = &mut next[*from as usize];
        targets[*place as usize] = *to;
        *place += 1;
    }
    (offsets, targets)
}

#[cfg(test)]
mod tests;
