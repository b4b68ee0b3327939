//! Which turns come after which: what the FIFOs of a program say before it runs.

use std::borrow::Cow;

use raddle_sync::fifo::Access;

use crate::sketch::Sketch;

/// For each operation, whose turns stand next to its own, and how many turns later.
pub(super) struct Graph {
    /// Whom its turn waits for: an operation, and how many turns back. Itself among them.
    pub(super) waits: Vec<Vec<(usize, u64)>>,
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

/// The pieces of each location.
pub(super) fn pieces_of(sketch: &Sketch) -> Vec<Vec<usize>> {
    let mut pieces = vec![Vec::new(); sketch.locations.len()];
    for (location, of) in sketch.locations.iter().enumerate() {
        if of.whole != location {
            pieces[of.whole].push(location);
        }
    }
    pieces
}

/// The pieces of a location, or itself where it has none.
pub(super) fn in_pieces(location: usize, pieces: &[Vec<usize>]) -> Cow<'_, [usize]> {
    match &*pieces[location] {
        [] => Cow::Owned(vec![location]),
        pieces => Cow::Borrowed(pieces),
    }
}

/// All FIFOs: one for each location, or for each of its pieces, in which the whole is used, too.
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

/// Which turns have ended, and which may begin.
pub(super) struct Order<'a> {
    graph: &'a Graph,
    turns: u64,
    /// For each operation its turns that have ended, and so the number of its next one,
    ended: Vec<u64>,
    /// and how many turns of others, and of its own, that one still waits for.
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

    /// The number of an operation's next turn, or of the one that it is in.
    pub(super) fn turn_of(&self, operation: usize) -> u64 {
        self.ended[operation]
    }

    /// Who has had the fewest turns, if that is not all.
    pub(super) fn waiting(&self) -> Option<usize> {
        let operations = 0..self.ended.len();
        let last = operations.min_by_key(|&operation| self.ended[operation]);
        last.filter(|&last| self.ended[last] < self.turns)
    }

    /// Those that may begin with their first turn.
    pub(super) fn first(&self) -> Vec<usize> {
        let operations = 0..self.ended.len();
        operations.filter(|&own| self.may_begin(own)).collect()
    }

    /// An operation's turn has ended; adds those that may begin now for that reason.
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
