//! All ways to place queens on a board so that none attacks another, with a chare for each way to begin.
//!
//! What to see here: new chares are seeds, which wait until some worker has time for them, so that a search whose branches nobody
//! can foresee spreads by itself. A `Grain` says which of them are worth a chare. A group, which has an element on each
//! worker, adds up what is found there, and nobody waits for anything: quiescence says when all have searched.
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

/// A board whose first rows have their queens. Bit `c` of a word is column `c` of the next row.
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

    /// The boards with one more queen.
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

    /// The number of ways to place the other queens.
    fn solutions(self) -> u64 {
        if self.rows_left == 0 {
            1
        } else {
            self.next().map(Self::solutions).sum()
        }
    }
}

/// Looks for solutions that begin like a board. It has no entries: making it is all that there is to do.
struct Search;

#[chare]
impl Search {
    fn new(cx: &mut Cx<Self>, board: Board, grain: Grain, tally: Group<Tally>) -> Self {
        let mut solutions = 0;
        if grain.splits(board.rows_left) {
            for next in board.next() {
                cx.chare(move |cx| Self::new(cx, next, grain, tally));
            }
        } else {
            solutions = board.solutions();
        }
        // To the element on this worker, whichever that is: a message that stays where it is.
        tally.here().add(solutions);
        cx.end();
        Self
    }
}

/// Adds up what the searches on one worker have found.
#[derive(Default)]
struct Tally {
    solutions: u64,
    searches: u64,
}

#[chare]
impl Tally {
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
        let tally = runtime.group(|_worker| Tally::default());
        runtime.chare(move |cx| Search::new(cx, Board::EMPTY, grain, tally));
        runtime.quiescence().wait();

        tally.all().report();
        let (solutions, searches): (u64, u64) = tally.reduction().wait();
        println!("{rows_alone:>17} {searches:>9} {solutions:>10}");
        assert_eq!(solutions, Board::EMPTY.solutions());
    }
}
