//! `raddle lk23`: Livermore kernel 23 with ordered locations, its rate, and a check of the result.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use raddle::Runtime;
use raddle::orwl::{Outcome, Program, ProgramPlacement, RunError};
use raddle_numerics::lk23::{
    self, FLOPS_PER_POINT, Form, Input, Lk23, Plan, PlanError, Ran, Wanted,
};
use raddle_topology::Topology;

use super::program::{self, Kernel, Measured, Watch};
use crate::arguments::{Options, ProgramArguments, sides, values};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::{Count, Plain, Report};
use crate::{units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle lk23 --size 4096 --turns 100
  raddle lk23 --rows 1000 --columns 3000 --block 100x500 --check
  raddle lk23 --size 512 --turns 10 --depth 1 --block 128 --threads --stats
  raddle lk23 --show-binding --show-matrix borders.svg --json

Each block is a task: one operation sweeps over it, and one for each neighbour copies the border
that the neighbour needs. A block makes several sweeps while it is in a cache (--depth); with
--depth 1 the blocks exchange borders in every sweep. The result equals that of plain loops, bit
for bit.";

/// `raddle lk23`.
#[derive(Debug, Clone, Args)]
pub(crate) struct Lk23Arguments {
    /// Rows and columns [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    size: Option<u32>,
    /// Rows [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    rows: Option<u32>,
    /// Columns [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    columns: Option<u32>,
    /// Number of sweeps over all points, such as 100 or 1e3
    #[arg(long, value_name = "T", default_value = "100", value_parser = values::round_count)]
    turns: u64,
    /// Approximate rows and columns of a block [default: such that a block fits into the cache of a
    /// worker]
    #[arg(long, value_name = "N[xM]")]
    block: Option<BlockChoice>,
    /// Largest number of sweeps over a block before it exchanges borders with its neighbours
    /// [default: depends on the size of a block]
    #[arg(long, value_name = "D", value_parser = values::count)]
    depth: Option<NonZeroUsize>,
    /// Assignment of blocks to workers
    #[arg(long, value_enum, default_value_t = BlockPlacement::Dealt)]
    placement: BlockPlacement,
    /// Seed of the numbers; the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramArguments,
}

/// The ways to assign the blocks of `raddle lk23` to workers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum BlockPlacement {
    /// Deals out rows of blocks, so that all workers take part in each wave
    Dealt,
    /// Places blocks that exchange much data close together
    Auto,
}

/// Rows and columns of a block: `128`, or `128x256`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct BlockChoice {
    rows: NonZeroUsize,
    columns: NonZeroUsize,
}

impl FromStr for BlockChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (rows, columns) = text.split_once(['x', 'X', '×']).unwrap_or((text, text));
        let sides = rows.parse().ok().zip(columns.parse().ok());
        sides
            .map(|(rows, columns)| Self { rows, columns })
            .ok_or_else(|| "expected rows and columns from 1, such as 128 or 128x256".to_owned())
    }
}

/// Sweeps over the matrix, checks the result if `--check` asks for it, and reports.
///
/// # Errors
/// [`CliError`]: blocks that do not fit the matrix, matrices that need too much memory, or a wrong
/// result.
pub(super) fn run(arguments: &Lk23Arguments, options: &Options) -> Result<Report, CliError> {
    arguments.program.check(&options.runtime)?;
    let watch = Watch::new(options);
    let [rows, columns] = sides(arguments.size, [arguments.rows, arguments.columns])?;
    let input = Input {
        rows,
        columns,
        seed: arguments.seed,
    };
    let plan = plan(&input, arguments)?;
    // The result is gathered from the blocks. A check compares it with that of plain loops, which
    // have matrices of their own.
    let matrices = 8 * (input.rows as u128 + 2) * (input.columns as u128 + 2);
    let gathered = if arguments.program.check {
        8 * matrices
    } else {
        matrices
    };
    program::check_memory(u128::from(plan.bytes()) + gathered, || name(&input))?;
    let runtime = workers::start(options)?;
    let stencil = Stencil {
        input,
        plan,
        turns: arguments.turns,
        is_dealt: arguments.placement == BlockPlacement::Dealt,
        checksum: 0,
    };
    program::run(stencil, runtime, watch, &arguments.program, options)
}

/// Cuts the matrix into blocks as the options ask, or for the caches of this machine.
fn plan(input: &Input, arguments: &Lk23Arguments) -> Result<Plan, CliError> {
    let cache = Topology::this_machine()
        .ok()
        .and_then(|machine| machine.caches_at(2).next()?.size_bytes);
    let wanted = Wanted {
        block: arguments.block.map(|block| (block.rows, block.columns)),
        depth: arguments.depth,
        cache_bytes: cache.and_then(|bytes| usize::try_from(bytes).ok()),
        has_threads: arguments.program.threads,
    };
    Plan::new(input.rows, input.columns, arguments.turns, &wanted).map_err(|error| {
        CliError::WrongCall {
            options: match &error {
                PlanError::Depth { depth, .. } => format!("--depth {depth}"),
                PlanError::Block { .. } => "--block".to_owned(),
                _ => name(input),
            },
            reason: error.to_string(),
        }
    })
}

fn name(input: &Input) -> String {
    format!("--rows {} --columns {}", input.rows, input.columns)
}

/// Kernel 23 on a matrix that is cut into blocks.
struct Stencil {
    input: Input,
    plan: Plan,
    turns: u64,
    is_dealt: bool,
    /// The checksum of the last result.
    checksum: u64,
}

impl Stencil {
    /// Compares a result with that of the plain loops, bit by bit.
    fn check(&self, za: &[f64]) -> Result<(), CliError> {
        let expected = lk23::reference(&self.input, self.turns);
        let wrong = za
            .iter()
            .zip(&expected)
            .position(|(a, b)| a.to_bits() != b.to_bits());
        let Some(at) = wrong else { return Ok(()) };
        let width = self.input.columns + 2;
        Err(CliError::ResultWrong {
            what: self.name(),
            found: format!(
                "row {}, column {}: {}; expected {}",
                at / width,
                at % width,
                za[at],
                expected[at]
            ),
        })
    }
}

impl Kernel for Stencil {
    type Declared = Lk23;
    type Ran = Ran;
    const PHASE: &'static str = "sweeping";

    fn name(&self) -> String {
        name(&self.input)
    }

    fn declare(
        &self,
        runtime: &Runtime,
        form: Form,
        phase: Arc<Phase>,
    ) -> (Lk23, Option<ProgramPlacement>) {
        let total = self.plan.points().saturating_mul(self.plan.sweeps());
        let note = move |points| phase.more_of(points, total);
        let mut program = Lk23::new(runtime, &self.input, &self.plan, form, note);
        let placement = self.is_dealt.then(|| program.deal(runtime));
        (program, placement)
    }

    fn program(declared: &Lk23) -> &Program {
        &declared.program
    }

    fn run_on(declared: Lk23, runtime: &Runtime) -> Result<Ran, RunError> {
        declared.run_on(runtime)
    }

    fn outcome(ran: &Ran) -> &Outcome {
        &ran.outcome
    }

    fn inspect(&mut self, _: &Runtime, ran: &Ran, is_checked: bool) -> Result<(), CliError> {
        let za = ran.values();
        let za = za.map_err(|broken| program::failed(self, broken.into()))?;
        self.checksum = lk23::checksum(&za);
        if is_checked {
            self.check(&za)?;
        }
        Ok(())
    }

    fn describe(&self, measured: &Measured, report: &mut Report) {
        let Input {
            rows,
            columns,
            seed,
        } = self.input;
        let (down, across) = self.plan.blocks();
        let (depth, sweeps) = (self.plan.depth(), self.plan.sweeps());
        let rate = self.plan.points() as f64 * sweeps as f64 / measured.seconds();
        let gflops = rate * FLOPS_PER_POINT as f64 / 1e9;
        let checksum = format!("{:016x}", self.checksum);
        let (grouped_rows, grouped_columns) = (units::grouped(rows), units::grouped(columns));
        report
            .row(
                "matrix",
                format!("{grouped_rows} × {grouped_columns} (seed {seed})"),
            )
            .field("rows", rows)
            .field("columns", columns)
            .field("seed", seed)
            .row(
                "blocks",
                format!(
                    "{down} × {across}, of about {} × {} points, up to {depth} {} per turn",
                    rows / down,
                    columns / across,
                    units::plural(depth, "sweep")
                ),
            )
            .field("blocks", [down, across])
            .field("depth", depth)
            .row("computed by", &measured.operations_in_words)
            .quantity("turns", "turns", &Count(sweeps))
            .quantity("time", "run_s", &measured.times)
            .row(
                "per second",
                format!("{} points, {gflops:.2} GFLOP", units::large(rate)),
            )
            .field("points_per_s", rate)
            .field("gflops", gflops)
            .quantity("checksum", "checksum", &Plain(checksum));
        if measured.is_checked {
            report.row("check", "equal to the plain loops, bit for bit");
        }
    }
}
