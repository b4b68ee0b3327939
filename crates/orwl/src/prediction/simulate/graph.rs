//! The order of turns, computed from the FIFOs of a program before it runs.

use std::borrow::Cow;

use raddle_sync::fifo::Access;

use super::super::sketch::Sketch;

/// The dependencies between the turns of operations.
pub(super) struct Graph {
    /// For each operation, the turns that its turn waits for: an operation, and how many turns
    /// back. This includes the operation's own previous turn.
    pub(super) waits: Vec<Vec<(usize, u64)>>,
    /// For each operation, the turns that wait for its turn: an operation, and how many turns
    /// later.
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

/// A FIFO of requests.
struct Fifo {
    /// The number of values that the location keeps.
    depth: u64,
    /// The operations that use it, with their access, in the order of declaration.
    uses: Vec<(usize, Access)>,
}

impl Fifo {
    /// Adds the dependencies that this FIFO causes to those of each operation.
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
                // Declared before all writers, so it reads what the last of them wrote in the
                // previous turn.
                (Access::Read, None) => wait(last, 1),
                (Access::Write, Some(&writer)) => (writer..at).for_each(|other| wait(other, 0)),
                // The first writer overwrites a value of an earlier turn. It waits for all uses of
                // that value: by the last writer and the users behind it `depth` turns ago, and by
                // the readers ahead of the writers one turn later.
                (Access::Write, None) => {
                    (last..self.uses.len()).for_each(|other| wait(other, self.depth));
                    (0..first).for_each(|other| wait(other, self.depth - 1));
                }
            }
        }
    }
}

/// Returns the pieces of each location.
pub(super) fn pieces_of(sketch: &Sketch) -> Vec<Vec<usize>> {
    let mut pieces = vec![Vec::new(); sketch.locations.len()];
    for (location, of) in sketch.locations.iter().enumerate() {
        if of.whole != location {
            pieces[of.whole].push(location);
        }
    }
    pieces
}

/// Returns the pieces of a location, or the location itself if it has none.
pub(super) fn in_pieces(location: usize, pieces: &[Vec<usize>]) -> Cow<'_, [usize]> {
    match &*pieces[location] {
        [] => Cow::Owned(vec![location]),
        pieces => Cow::Borrowed(pieces),
    }
}

/// Returns the FIFO of each location.
///
/// A use of a whole with pieces is a use of each of its pieces, so its own FIFO is empty.
fn fifos(sketch: &Sketch) -> Vec<Fifo> {
    let pieces = pieces_of(sketch);
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
        for used in &of.uses {
            for &place in in_pieces(used.location, &pieces).iter() {
                fifos[place].uses.push((operation, used.access));
            }
        }
    }
    fifos
}

/// The turns that have ended, and those that may begin.
pub(super) struct Order<'a> {
    graph: &'a Graph,
    turns: u64,
    /// For each operation, the number of turns that have ended, which is the index of its next one.
    ended: Vec<u64>,
    /// For each operation, the number of turns that its next turn still waits for.
    missing: Vec<usize>,
}

impl<'a> Order<'a> {
    pub(super) fn new(graph: &'a Graph, turns: u64) -> Self {
        let mut order = Self {
            graph,
            turns,
            ended: vec![0; graph.waits.len()],
            missing: vec![0; graph.waits.len()],
        };
        for operation in 0..order.ended.len() {
            order.missing[operation] = order.missing_for_next(operation);
        }
        order
    }

    /// Returns the number of the turn that an operation is in, or else of its next turn.
    pub(super) fn turn_of(&self, operation: usize) -> u64 {
        self.ended[operation]
    }

    /// Returns the operation that has ended the fewest turns, unless it has ended all of them.
    pub(super) fn waiting(&self) -> Option<usize> {
        let operations = 0..self.ended.len();
        let last = operations.min_by_key(|&operation| self.ended[operation]);
        last.filter(|&last| self.ended[last] < self.turns)
    }

    /// Returns the operations that may begin their first turn.
    pub(super) fn first(&self) -> Vec<usize> {
        let operations = 0..self.ended.len();
        operations.filter(|&own| self.may_begin(own)).collect()
    }

    /// Records that an operation's turn has ended.
    ///
    /// Appends to `may_begin` the operations that may begin their next turn because of that.
    pub(super) fn end_turn(&mut self, operation: usize, may_begin: &mut Vec<usize>) {
        let turn = self.ended[operation];
        self.ended[operation] += 1;
        self.missing[operation] = self.missing_for_next(operation);
        if self.may_begin(operation) {
            may_begin.push(operation);
        }
        let graph = self.graph;
        for &(other, on) in &graph.behind[operation] {
            if other != operation && self.ended[other] == turn + on {
                self.missing[other] -= 1;
                if self.may_begin(other) {
                    may_begin.push(other);
                }
            }
        }
    }

    fn may_begin(&self, operation: usize) -> bool {
        self.missing[operation] == 0 && self.ended[operation] < self.turns
    }

    fn missing_for_next(&self, operation: usize) -> usize {
        let turn = self.ended[operation];
        let waits = self.graph.waits[operation].iter();
        let is_missing = |&&(other, back): &&(usize, u64)| {
            turn.checked_sub(back)
                .is_some_and(|awaited| self.ended[other] <= awaited)
        };
        waits.filter(is_missing).count()
    }
}
