//! Which turns come after which: what the FIFOs of a program say before it runs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use raddle_sync::fifo::Access;

use crate::sketch::Sketch;

/// For each operation, whose turns stand next to its own, and how many turns later.
pub(super) struct Graph {
    /// Whom its turn waits for: an operation, and how many turns back.
    waits: Vec<Vec<(usize, u64)>>,
    /// Who waits for its turn: an operation, and how many turns on.
    behind: Vec<Vec<(usize, u64)>>,
}

impl Graph {
    pub(super) fn of(sketch: &Sketch) -> Self {
        let count = sketch.operations.len();
        let mut waits: Vec<Vec<_>> = (0..count).map(|own| vec![(own, 1)]).collect();
        for fifo in fifos(sketch) {
            fifo.add_waits(&mut waits);
        }
        let mut behind = vec![Vec::new(); count];
        for (operation, waits) in waits.iter_mut().enumerate() {
            waits.sort_unstable();
            waits.dedup();
            for &(other, back) in &*waits {
                behind[other].push((operation, back));
            }
        }
        Self { waits, behind }
    }
}

/// A FIFO: how many values there are, and who uses it how, in the order of declaration.
struct Fifo {
    depth: u64,
    uses: Vec<(usize, Access)>,
}

impl Fifo {
    fn add_waits(&self, waits: &mut [Vec<(usize, u64)>]) {
        let is_writer = |at: &usize| self.uses[*at].1 == Access::Write;
        let writers: Vec<usize> = (0..self.uses.len()).filter(is_writer).collect();
        let (Some(&first), Some(&last)) = (writers.first(), writers.last()) else {
            return;
        };
        for (at, &(operation, access)) in self.uses.iter().enumerate() {
            let in_front = writers.iter().rev().find(|&&writer| writer < at);
            let mut wait =
                |other: usize, back: u64| waits[operation].push((self.uses[other].0, back));
            match (access, in_front) {
                (Access::Read, Some(&writer)) => wait(writer, 0),
                // Declared before the writers: it reads what the last of them wrote in the turn before.
                (Access::Read, None) => wait(last, 1),
                (Access::Write, Some(&writer)) => (writer..at).for_each(|other| wait(other, 0)),
                // What the first writer writes over: all that was done with it, `depth` turns ago.
                (Access::Write, None) => {
                    (last..self.uses.len()).for_each(|other| wait(other, self.depth));
                    (0..first).for_each(|other| wait(other, self.depth - 1));
                }
            }
        }
    }
}

/// All FIFOs: one for each location, or for each of its pieces, in which the whole is used, too.
fn fifos(sketch: &Sketch) -> Vec<Fifo> {
    let mut pieces: Vec<Vec<usize>> = vec![Vec::new(); sketch.locations.len()];
    for (location, of) in sketch.locations.iter().enumerate() {
        if of.whole != location {
            pieces[of.whole].push(location);
        }
    }
    let depths = sketch
        .locations
        .iter()
        .map(|location| location.depth as u64);
    let fifo = |depth| Fifo {
        depth,
        uses: Vec::new(),
    };
    let mut fifos: Vec<Fifo> = depths.map(fifo).collect();
    for (operation, of) in sketch.operations.iter().enumerate() {
        for &(location, access) in &of.uses {
            let own = [location];
            let places = match &*pieces[location] {
                [] => &own[..],
                pieces => pieces,
            };
            for &place in places {
                fifos[place].uses.push((operation, access));
            }
        }
    }
    fifos
}

/// Turns that have not begun.
pub(super) struct Pending<'a> {
    graph: &'a Graph,
    turns: u64,
    /// By turn and operation: how many turns it still waits for, and the end of the last of those that have ended.
    rows: Vec<(usize, u64)>,
    /// Those that wait for nobody any more: since when, the turn, the operation.
    ready: BinaryHeap<Reverse<(u64, u64, usize)>>,
}

impl<'a> Pending<'a> {
    pub(super) fn new(graph: &'a Graph, turns: u64) -> Self {
        let mut ready = BinaryHeap::new();
        let mut rows = Vec::new();
        for turn in 0..turns {
            for (operation, waits) in graph.waits.iter().enumerate() {
                let count = waits.iter().filter(|&&(_, back)| back <= turn).count();
                rows.push((count, 0));
                if count == 0 {
                    ready.push(Reverse((0, turn, operation)));
                }
            }
        }
        Self {
            graph,
            turns,
            rows,
            ready,
        }
    }

    /// The turn that has been ready for longest: since when, its number, its operation.
    pub(super) fn next(&mut self) -> Option<(u64, u64, usize)> {
        self.ready.pop().map(|Reverse(next)| next)
    }

    /// A turn cannot begin before then.
    pub(super) fn put_off(&mut self, until: u64, turn: u64, operation: usize) {
        self.ready.push(Reverse((until, turn, operation)));
    }

    /// A turn has ended.
    pub(super) fn ended(&mut self, operation: usize, turn: u64, end: u64) {
        for &(other, on) in &self.graph.behind[operation] {
            let then = turn + on;
            if then >= self.turns {
                continue;
            }
            let row = then as usize * self.graph.waits.len() + other;
            let (missing, since) = &mut self.rows[row];
            *since = end.max(*since);
            *missing -= 1;
            if *missing == 0 {
                self.ready.push(Reverse((*since, then, other)));
            }
        }
    }
}
