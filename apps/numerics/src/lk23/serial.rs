//! The kernel on one thread: as plain loops, and block by block.

use super::Side;
use super::block::Block;
use super::input::Input;
use super::kernel::point;
use super::plan::Plan;
use super::values::Coefficients;

/// The kernel as plain loops on one thread.
#[derive(Clone, Debug)]
pub struct Loops {
    rows: usize,
    columns: usize,
    za: Vec<f64>,
    z: Vec<Coefficients>,
}

impl Loops {
    /// Creates the matrices.
    #[must_use]
    pub fn new(input: &Input) -> Self {
        let value_row = |row| (0..input.columns + 2).map(move |column| input.value(row, column));
        let row = |row| (1..=input.columns).map(move |column| input.coefficients(row, column));
        Self {
            rows: input.rows,
            columns: input.columns,
            za: (0..input.rows + 2).flat_map(value_row).collect(),
            z: (1..=input.rows).flat_map(row).collect(),
        }
    }

    /// Runs `turns` turns.
    pub fn run(&mut self, turns: u64) {
        let (za, width) = (&mut self.za, self.columns + 2);
        for _ in 0..turns {
            for j in 1..=self.rows {
                for k in 1..=self.columns {
                    let at = j * width + k;
                    za[at] = point(
                        za[at + width],
                        za[at - width],
                        za[at + 1],
                        za[at - 1],
                        za[at],
                        self.z[(j - 1) * self.columns + k - 1],
                    );
                }
            }
        }
    }

    /// Returns all values in row-major order, including the frame.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.za
    }
}

/// Returns the result of the plain loops: all values in row-major order, including the frame.
#[must_use]
pub fn reference(input: &Input, turns: u64) -> Vec<f64> {
    let mut loops = Loops::new(input);
    loops.run(turns);
    loops.za
}

/// Returns a checksum that depends on every bit of all values and on their order.
#[must_use]
pub fn checksum(za: &[f64]) -> u64 {
    za.iter().fold(0, |hash: u64, value| {
        hash.wrapping_mul(31).wrapping_add(value.to_bits())
    })
}

/// The blocks of a matrix, computed one after the other by one thread.
#[derive(Clone, Debug)]
pub struct Blocks {
    input: Input,
    plan: Plan,
    blocks: Vec<Block>,
}

impl Blocks {
    /// Creates the blocks.
    #[must_use]
    pub fn new(input: &Input, plan: &Plan) -> Self {
        let block_of = |rows| {
            plan.columns
                .iter()
                .map(move |&columns| Block::new(input, rows, columns, plan.depth))
        };
        Self {
            input: *input,
            plan: plan.clone(),
            blocks: plan.rows.iter().flat_map(|&rows| block_of(rows)).collect(),
        }
    }

    /// Runs all turns. After each turn of a block, `note` is called with the number of points that
    /// were computed.
    pub fn run(&mut self, mut note: impl FnMut(u64)) {
        for turn in 0..self.plan.turns() {
            let (sweeps, before) = (self.plan.sweeps_of(turn), self.plan.sweeps_before(turn));
            for index in 0..self.blocks.len() {
                let mut block = std::mem::take(&mut self.blocks[index]);
                for (side, sweeps) in Side::BEHIND
                    .map(|side| (side, before))
                    .into_iter()
                    .chain(Side::AHEAD.map(|side| (side, sweeps)))
                {
                    if let Some(other) = neighbour(&self.plan, index, side) {
                        block.take(side, &self.blocks[other], sweeps);
                    }
                }
                block.sweep(sweeps);
                note(block.points(sweeps));
                self.blocks[index] = block;
            }
        }
    }

    /// Returns all values in row-major order, including the frame.
    #[must_use]
    pub fn values(&self) -> Vec<f64> {
        gather(&self.input, &self.plan, |index, za, width, sweeps| {
            self.blocks[index].write(sweeps, za, width)
        })
    }
}

/// Returns all values: those of the frame, and those that `write` writes for each block.
pub(super) fn gather(
    input: &Input,
    plan: &Plan,
    mut write: impl FnMut(usize, &mut [f64], usize, usize),
) -> Vec<f64> {
    let width = input.columns + 2;
    let mut za = vec![0.0; width * (input.rows + 2)];
    for row in [0, input.rows + 1] {
        (0..width).for_each(|column| za[row * width + column] = input.value(row, column));
    }
    for row in 1..=input.rows {
        for column in [0, input.columns + 1] {
            za[row * width + column] = input.value(row, column);
        }
    }
    let sweeps = plan.sweeps_of(plan.turns() - 1);
    (0..plan.rows.len() * plan.columns.len())
        .for_each(|index| write(index, &mut za, width, sweeps));
    za
}

/// Returns the index of the neighbour of block `index` on `side`, if there is one. Blocks are
/// numbered row by row.
pub(super) fn neighbour(plan: &Plan, index: usize, side: Side) -> Option<usize> {
    let (down, across) = plan.blocks();
    let row = (index / across).checked_add_signed(side.down().into())?;
    let column = (index % across).checked_add_signed(side.across().into())?;
    (row < down && column < across).then(|| row * across + column)
}
