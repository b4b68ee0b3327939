//! All ways to place queens on a board so that no queen attacks another, with a chare for each
//! partial placement.
//!
//! This example shows seeds: a new chare waits until some worker has time for it, so a search with
//! unpredictable branches distributes itself. A `Grain` decides which branches are worth a chare. A
//! group, which has an element on each worker, adds up the results found there. No chare waits:
//! quiescence detection reports when all searches are done.
//!
//! `cargo run --release -p raddle --example queens` prints:
//! ```text
//! 9 queens
//! rows by one chare    chares  solutions
//!                 9         1        352
//!                 7        66        352
//!                 1      8042        352
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use raddle::prelude::*;
use raddle::reduce::Sum;
use raddle::{Grain, Group};

/// The side of the board.
const SIZE: usize = 9;

/// A board with queens in its first rows. Bit `c` of a word is column `c` of the next row.
#[derive(Clone, Copy)]
struct Board {
    rows_left: usize,
    columns: u32,
    to_the_left: u32,
    to_the_right: u32,
}

impl Board {
    const EMPTY: Self = Self {
        rows_left: SIZE,
        columns: 0,
        to_the_left: 0,
        to_the_right: 0,
    };

    /// Returns the boards with one more queen.
    fn next(self) -> impl Iterator<Item = Self> {
        let attacked = self.columns | self.to_the_left | self.to_the_right;
        (0..SIZE)
            .map(|column| 1 << column)
            .filter(move |queen| attacked & queen == 0)
            .map(move |queen| Self {
                rows_left: self.rows_left - 1,
                columns: self.columns | queen,
                to_the_left: (self.to_the_left | queen) >> 1,
                to_the_right: (self.to_the_right | queen) << 1,
            })
    }

    /// Returns the number of ways to place the other queens.
    fn solutions(self) -> u64 {
        if self.rows_left == 0 {
            1
        } else {
            self.next().map(Self::solutions).sum()
        }
    }
}

/// A search for solutions that start with a given board. It has no entries: its creation does all
/// the work.
struct Search;

#[chare]
impl Search {
    fn new(cx: &mut Cx<Self>, board: Board, grain: Grain, totals: Group<Totals>) -> Self {
        let mut solutions = 0;
        if grain.splits(board.rows_left) {
            for next in board.next() {
                cx.chare(move |cx| Self::new(cx, next, grain, totals));
            }
        } else {
            solutions = board.solutions();
        }
        // This message goes to the group's element on this worker, so it never leaves the worker.
        totals.here().add(solutions);
        cx.end();
        Self
    }
}

/// The totals of the searches on one worker.
#[derive(Default)]
struct Totals {
    solutions: u64,
    searches: u64,
}

#[chare]
impl Totals {
    #[entry]
    fn add(&mut self, solutions: u64) {
        self.solutions += solutions;
        self.searches += 1;
    }

    /// Contributes to the sum over all workers.
    #[entry]
    fn report(&mut self, cx: &mut Cx<Self>) {
        cx.contribute((Sum(self.solutions), Sum(self.searches)));
    }
}

fn main() {
    println!("{SIZE} queens\nrows by one chare    chares  solutions");
    let runtime = raddle::default_runtime();
    for rows_alone in [SIZE, SIZE - 2, 1] {
        let grain = Grain::at_most(rows_alone);
        let totals = runtime.group(|_worker| Totals::default());
        runtime.chare(move |cx| Search::new(cx, Board::EMPTY, grain, totals));
        runtime.quiescence().wait();

        totals.all().report();
        let (solutions, searches): (u64, u64) = totals.reduction().wait();
        println!("{rows_alone:>17} {searches:>9} {solutions:>10}");
        assert_eq!(solutions, Board::EMPTY.solutions());
    }
}
