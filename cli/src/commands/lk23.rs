//! `raddle lk23`: Livermore kernel 23 with ordered locations, its rate, and a check of the result.

use std::sync::Arc;

use raddle::Runtime;
use raddle::orwl::{Outcome, Program, ProgramPlacement, RunError};
use raddle_numerics::lk23::{
    self, FLOPS_PER_POINT, Form, Input, Lk23, Plan, PlanError, Ran, Wanted,
};
use raddle_topology::Topology;

use super::program::{self, Kernel, Measured, Watch};
use crate::arguments::{BlockPlacement, Lk23Arguments, Options, sides};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::Report;
use crate::{units, workers};

/// Sweeps over the matrix, checks the result if `--check` asks for it, and reports.
///
/// # Errors
/// [`CliError`]: blocks that do not fit the matrix, matrices that need too much memory, or a wrong
/// result.
pub(super) fn run(arguments: &Lk23Arguments, options: &Options) -> Result<Report, CliError> {
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
            .row("turns", units::grouped(sweeps))
            .field("turns", sweeps)
            .row("time", measured.times.text())
            .row(
                "per second",
                format!("{} points, {gflops:.2} GFLOP", units::large(rate)),
            )
            .field("points_per_s", rate)
            .field("gflops", gflops)
            .row("checksum", &checksum)
            .field("checksum", &checksum);
        if measured.is_checked {
            report.row("check", "equal to the plain loops, bit for bit");
        }
    }
}
