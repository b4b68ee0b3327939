//! Heat in a plate, by Jacobi's method: each point becomes the mean of its four neighbours, until
//! no point changes much.
//!
//! This example shows an array of two dimensions, messages with large buffers, which are moved and
//! never copied, and an `async` entry that describes the life of an element in one function: it
//! sends its edges, waits for those of its neighbours, computes, and learns from a reduction over
//! all elements whether to continue.
//!
//! The program also runs on several nodes, which are processes that share the work, for example
//! with `RADDLE_NODES=3`. Every node creates the array; the rest of the program runs once, on the
//! first node.
//!
//! The plate is cut into blocks. A block has a frame of points around it, its ghosts, for copies of
//! its neighbours' edges.
//!
//! `cargo run --release -p raddle --example jacobi` prints:
//! ```text
//! a plate of 48 × 36 points in 4 × 3 blocks
//! steady after 1562 turns
//! one plate in one piece takes 1562
//! ```

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use std::process::ExitCode;

use raddle::chare::nodes::{Job, JobError};
use raddle::prelude::*;
use raddle::reduce::Max;
use serde::{Deserialize, Serialize};

/// The number of rows and columns of blocks.
const BLOCKS: [usize; 2] = [4, 3];
/// The number of points along each side of a block.
const SIDE: usize = 12;
/// The heat beyond the upper border of the plate; beyond the other borders it is 0.
const HEAT: f64 = 100.0;
/// The computation ends when no point changes by more than this.
const TOLERANCE: f64 = 1e-3;

/// The points of a plate in rows, with a frame around them.
#[derive(Clone, Serialize, Deserialize)]
struct Plate {
    height: usize,
    width: usize,
    points: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
enum Side {
    Top,
    Bottom,
    Left,
    Right,
}

impl Plate {
    /// Creates a cold plate, with heat beyond its upper border if `is_top`.
    fn new(height: usize, width: usize, is_top: bool) -> Self {
        let mut points = vec![0.0; (height + 2) * (width + 2)];
        if is_top {
            points[..width + 2].fill(HEAT);
        }
        Self {
            height,
            width,
            points,
        }
    }

    /// Returns the index of a point. Rows and columns are counted from the frame.
    fn at(&self, row: usize, column: usize) -> usize {
        row * (self.width + 2) + column
    }

    /// Replaces each point by the mean of its neighbours. Returns the largest change.
    fn relax(&mut self) -> f64 {
        let old = self.points.clone();
        let mut largest: f64 = 0.0;
        for row in 1..=self.height {
            for column in 1..=self.width {
                let here = self.at(row, column);
                let (above, below) = (self.at(row - 1, column), self.at(row + 1, column));
                let mean = (old[above] + old[below] + old[here - 1] + old[here + 1]) / 4.0;
                largest = largest.max((mean - old[here]).abs());
                self.points[here] = mean;
            }
        }
        largest
    }

    /// Returns the indices of the points along a side, at `depth` points from the frame.
    fn along(&self, side: Side, depth: usize) -> Vec<usize> {
        let (rows, columns) = (1..=self.height, 1..=self.width);
        match side {
            Side::Top => columns.map(|column| self.at(depth, column)).collect(),
            Side::Bottom => {
                let row = self.height + 1 - depth;
                columns.map(|column| self.at(row, column)).collect()
            }
            Side::Left => rows.map(|row| self.at(row, depth)).collect(),
            Side::Right => {
                let column = self.width + 1 - depth;
                rows.map(|row| self.at(row, column)).collect()
            }
        }
    }

    fn edge(&self, side: Side) -> Vec<f64> {
        let edge = self.along(side, 1).into_iter();
        edge.map(|at| self.points[at]).collect()
    }

    fn set_ghosts(&mut self, side: Side, points: &[f64]) {
        for (at, &point) in self.along(side, 0).into_iter().zip(points) {
            self.points[at] = point;
        }
    }
}

impl Side {
    const ALL: [Self; 4] = [Self::Top, Self::Bottom, Self::Left, Self::Right];

    fn opposite(self) -> Self {
        match self {
            Self::Top => Self::Bottom,
            Self::Bottom => Self::Top,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// Returns the index of the block beyond this side. No block has the returned index at a border
    /// of the plate.
    fn beyond(self, [row, column]: [usize; 2]) -> [usize; 2] {
        match self {
            Self::Top => [row.wrapping_sub(1), column],
            Self::Bottom => [row + 1, column],
            Self::Left => [row, column.wrapping_sub(1)],
            Self::Right => [row, column + 1],
        }
    }
}

struct Block {
    plate: Plate,
}

#[chare(index = [usize; 2], nodes)]
impl Block {
    fn new([row, _column]: [usize; 2]) -> Self {
        Self {
            plate: Plate::new(SIDE, SIDE, row == 0),
        }
    }

    /// Delivers the edge of the neighbour on a side. The asynchronous entry waits for it.
    #[message]
    fn edge(side: Side, points: Vec<f64>);

    /// Computes until the whole plate is steady. Returns the number of turns.
    #[entry]
    async fn run(&mut self, cx: &mut Cx<Self>) -> usize {
        let (blocks, index) = (cx.array(), cx.index());
        let neighbour = |side: Side| Some((side, blocks.get(side.beyond(index))?));
        let neighbours: Vec<_> = Side::ALL.into_iter().filter_map(neighbour).collect();
        let mut turns = 0;
        loop {
            for &(side, neighbour) in &neighbours {
                neighbour.edge(side.opposite(), self.plate.edge(side));
            }
            for _ in &neighbours {
                let (side, points) = cx.next(Self::edge).await;
                self.plate.set_ghosts(side, &points);
            }
            let change = self.plate.relax();
            turns += 1;
            // No element gets the result before all have contributed, so edges of two turns never
            // mix.
            if cx.reduce(Max(change)).await <= TOLERANCE {
                return turns;
            }
        }
    }

    #[entry]
    fn plate(&self) -> Plate {
        self.plate.clone()
    }
}

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs on the number of nodes that the environment specifies.
fn run() -> Result<(), JobError> {
    let job = Job::from_environment()?;
    job.run(
        |setup| setup.array(BLOCKS, Block::new),
        |_, blocks| heat(blocks),
    )?;
    Ok(())
}

/// Heats the plate that consists of these blocks, and compares it with a plate in one piece.
fn heat(blocks: raddle::Array<Block>) {
    let [down, across] = BLOCKS;
    let (height, width) = (down * SIDE, across * SIDE);
    println!("a plate of {height} × {width} points in {down} × {across} blocks");

    let indices = || (0..down).flat_map(|row| (0..across).map(move |column| [row, column]));
    let replies: Vec<_> = indices().map(|index| blocks.at(index).run()).collect();
    let turns: Vec<_> = replies.into_iter().map(|reply| reply.wait()).collect();
    println!("steady after {} turns", turns[0]);

    // The same computation in one piece.
    let mut whole = Plate::new(height, width, true);
    let mut whole_turns = 1;
    while whole.relax() > TOLERANCE {
        whole_turns += 1;
    }
    println!("one plate in one piece takes {whole_turns}");
    assert!(turns.iter().all(|&turns| turns == whole_turns));
    for [row, column] in indices() {
        let block = blocks.at([row, column]).plate().wait();
        for place in 1..=SIDE {
            let part = &block.points[block.at(place, 1)..=block.at(place, SIDE)];
            let from = whole.at(row * SIDE + place, column * SIDE + 1);
            assert_eq!(part, &whole.points[from..from + SIDE]);
        }
    }
}
