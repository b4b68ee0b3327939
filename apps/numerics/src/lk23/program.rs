//! The kernel as a program of tasks and locations.

use std::sync::Arc;

use raddle::Runtime;
use raddle::orwl::{Broken, Extent, Location, Outcome, Program, ReadHandle, RunError, Task, Turns};

use super::Side;
use super::block::Block;
use super::input::Input;
use super::plan::Plan;
use super::serial::{gather, neighbour};

/// The way in which operations run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    /// Each operation is a future on a worker.
    #[default]
    Future,
    /// Each operation has its own thread.
    Thread,
}

/// The kernel as a program that has not run yet.
#[derive(Debug)]
pub struct Lk23 {
    /// The tasks and locations. They can be inspected, and placed differently.
    pub program: Program,
    input: Input,
    pub(super) plan: Plan,
    blocks: Vec<Location<Block>>,
}

/// The kernel after its run.
#[derive(Debug)]
#[must_use = "it contains the values"]
pub struct Ran {
    /// The outcome of the program.
    pub outcome: Outcome,
    input: Input,
    plan: Plan,
    blocks: Vec<Location<Block>>,
}

/// The locations of a block's borders and their sizes in bytes; `None` if there is no neighbour.
type Borders = [Option<(Location<Vec<f64>>, usize)>; 8];

impl Lk23 {
    /// Declares the program. After each turn of a block, `note` is called on the worker that
    /// computed it, with the number of points.
    pub fn new(
        runtime: &Runtime,
        input: &Input,
        plan: &Plan,
        form: Form,
        note: impl Fn(u64) + Send + Sync + 'static,
    ) -> Self {
        let (down, across) = plan.blocks();
        let mut program = Program::new("lk23");
        let made = runtime.install(|| {
            raddle::map(0..down * across, |index| {
                Some(Block::new(
                    input,
                    plan.rows[index / across],
                    plan.columns[index % across],
                    plan.depth,
                ))
            })
        });
        let name = |index: usize| format!("block {},{}", index / across, index % across);
        let mut declare = |(index, block): (usize, Option<Block>)| {
            let block = block.expect("`map` fills every entry");
            let border = |side: Side| {
                neighbour(plan, index, side)?;
                let mut values = Vec::new();
                block.give(side, &mut values);
                Some((side, values))
            };
            let borders = Side::ALL.map(border).map(|border| {
                border.map(|(side, values)| {
                    let (name, bytes) =
                        (format!("{} {}", name(index), side.name()), values.bytes());
                    (program.location(name, values), bytes)
                })
            });
            (program.location(name(index), block), borders)
        };
        let (blocks, borders): (Vec<_>, Vec<Borders>) =
            made.into_iter().enumerate().map(&mut declare).unzip();
        let shared = Arc::new(Shared {
            plan: plan.clone(),
            note: Box::new(note),
        });
        for index in 0..blocks.len() {
            let mut operations = program.operations(name(index));
            let task = BlockTask {
                shared: &shared,
                index,
                blocks: &blocks,
                borders: &borders,
            };
            match form {
                Form::Future => task.declare_futures(&mut operations),
                Form::Thread => task.declare_threads(&mut operations),
            }
        }
        Self {
            program,
            input: *input,
            plan: plan.clone(),
            blocks,
        }
    }

    /// Runs the program to its end.
    ///
    /// # Errors
    /// [`RunError`] of the program.
    pub fn run_on(self, runtime: &Runtime) -> Result<Ran, RunError> {
        let outcome = self.program.run_on(runtime, Turns(self.plan.turns()))?;
        Ok(Ran {
            outcome,
            input: self.input,
            plan: self.plan,
            blocks: self.blocks,
        })
    }
}

impl Ran {
    /// Returns all values in row-major order, including the frame.
    ///
    /// # Errors
    /// [`Broken`] if a task has panicked.
    pub fn values(&self) -> Result<Vec<f64>, Broken> {
        let blocks = self
            .blocks
            .iter()
            .map(Location::read)
            .collect::<Result<Vec<_>, _>>()?;
        Ok(gather(
            &self.input,
            &self.plan,
            |index, za, width, sweeps| blocks[index].write(sweeps, za, width),
        ))
    }
}

/// The data that all main operations share.
struct Shared {
    plan: Plan,
    note: Box<dyn Fn(u64) + Send + Sync>,
}

/// The declaration of the task of a block.
struct BlockTask<'a> {
    shared: &'a Arc<Shared>,
    index: usize,
    blocks: &'a [Location<Block>],
    borders: &'a [Borders],
}

impl BlockTask<'_> {
    fn declare_futures(&self, operations: &mut raddle::orwl::Operations<'_>) {
        operations.async_operation("main", |task| {
            let mut block = task.writes_each_turn(&self.blocks[self.index]);
            let (mut inputs, shared) = (self.inputs(task), Arc::clone(self.shared));
            let mut turns = task.turns();
            async move {
                while turns.next() {
                    let (turn, mut block) = (turns.turn(), block.enter().await);
                    for (side, input) in &mut inputs {
                        let border = input.enter().await;
                        take(&mut block, *side, &border, &shared.plan, turn);
                    }
                    shared.sweep(&mut block, turn);
                }
            }
        });
        for (side, border, bytes) in self.outputs() {
            operations.async_operation(side.name(), |task| {
                let mut block = self.edge(task, bytes);
                let mut border = task.writes_each_turn(border);
                let mut turns = task.turns();
                async move {
                    while turns.next() {
                        let (block, mut border) = (block.enter().await, border.enter().await);
                        block.give(side, &mut border);
                    }
                }
            });
        }
    }

    fn declare_threads(&self, operations: &mut raddle::orwl::Operations<'_>) {
        operations.operation("main", |task| {
            let mut block = task.writes_each_turn(&self.blocks[self.index]);
            let (mut inputs, shared) = (self.inputs(task), Arc::clone(self.shared));
            let mut turn = 0;
            move || {
                block.section(|block| {
                    for (side, input) in &mut inputs {
                        input.section(|border| take(block, *side, border, &shared.plan, turn));
                    }
                    shared.sweep(block, turn);
                });
                turn += 1;
            }
        });
        for (side, border, bytes) in self.outputs() {
            operations.operation(side.name(), |task| {
                let mut block = self.edge(task, bytes);
                let mut border = task.writes_each_turn(border);
                move || block.section(|block| border.section(|border| block.give(side, border)))
            });
        }
    }

    /// Returns handles on the borders that the neighbours give. The borders of the previous turn
    /// come first, because they already exist when the turn of this block begins.
    fn inputs(&self, task: &mut Task<'_>) -> Vec<(Side, ReadHandle<Vec<f64>>)> {
        let sides = Side::BEHIND.into_iter().chain(Side::AHEAD);
        let input = |side: Side| {
            let other = neighbour(&self.shared.plan, self.index, side)?;
            let (border, _) = self.borders[other][side.opposite() as usize].as_ref()?;
            Some((side, task.reads_each_turn(border)))
        };
        sides.filter_map(input).collect()
    }

    /// Returns a handle that reads `bytes` bytes of this block.
    fn edge(&self, task: &mut Task<'_>, bytes: usize) -> ReadHandle<Block> {
        task.reads_each_turn(&self.blocks[self.index])
            .touching(bytes)
    }

    /// Returns the borders that this block gives, and their sizes in bytes.
    fn outputs(&self) -> impl Iterator<Item = (Side, &Location<Vec<f64>>, usize)> {
        let borders = self.borders[self.index].iter();
        let given = Side::ALL.into_iter().zip(borders);
        given.filter_map(|(side, border)| {
            let (border, bytes) = border.as_ref()?;
            Some((side, border, *bytes))
        })
    }
}

fn take(block: &mut Block, side: Side, border: &[f64], plan: &Plan, turn: u64) {
    let is_behind = Side::BEHIND.contains(&side);
    let sweeps = if is_behind {
        plan.sweeps_before(turn)
    } else {
        plan.sweeps_of(turn)
    };
    let border = block.border_of(side, border);
    block.take(side, &border, sweeps);
}

impl Shared {
    fn sweep(&self, block: &mut Block, turn: u64) {
        let sweeps = self.plan.sweeps_of(turn);
        block.sweep(sweeps);
        (self.note)(block.points(sweeps));
    }
}
