//! `raddle matmul`: a product of matrices with ordered locations, its rate, and a check of the
//! result.

use std::num::NonZeroUsize;
use std::sync::Arc;

use clap::Args;
use raddle::Runtime;
use raddle::orwl::{Outcome, Program, ProgramPlacement, RunError};
use raddle_numerics::lk23::Form;
use raddle_numerics::matmul::{self, BLOCK_PRODUCT, Difference, Input, Product, Ran};
use serde_json::json;

use super::program::{self, Kernel, Measured, Watch};
use crate::arguments::{Options, ProgramArguments, sides, values};
use crate::error::CliError;
use crate::progress::Phase;
use crate::report::Report;
use crate::{units, workers};

pub(super) const EXAMPLES: &str = "\
Examples:
  raddle matmul --size 2048
  raddle matmul --rows 4096 --inner 512 --columns 1024 --tasks 8 --check
  raddle matmul --show-binding --show-matrix rows.csv

Each task computes some rows of the result. Blocks of columns of the second matrix move from task
to task. With --check, the result is compared with that of three nested loops. An element may differ
by the bound of its rounding error: 2 k u / (1 - k u) times the sum of |a b|, for a sum of k
products and u = 2^-53.";

/// `raddle matmul`.
#[derive(Debug, Clone, Args)]
pub(crate) struct MatmulArguments {
    /// Rows, columns and the inner dimension [default: 1024]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    size: Option<u32>,
    /// Rows of the first matrix [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    rows: Option<u32>,
    /// Columns of the first matrix and rows of the second [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    inner: Option<u32>,
    /// Columns of the second matrix [default: --size]
    #[arg(long, value_name = "N", value_parser = values::matrix_side)]
    columns: Option<u32>,
    /// Number of tasks, which is also the number of blocks of columns [default: two per worker, but
    /// at least 64 rows and columns per task]
    #[arg(long, value_name = "N", value_parser = values::count)]
    tasks: Option<NonZeroUsize>,
    /// Seed of the numbers; the same seed gives the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    program: ProgramArguments,
}

/// Multiplies, checks the result if `--check` asks for it, and reports.
///
/// # Errors
/// [`CliError`]: matrices that need too much memory, more tasks than rows or columns, or a wrong
/// result.
pub(super) fn run(arguments: &MatmulArguments, options: &Options) -> Result<Report, CliError> {
    arguments.program.check(&options.runtime)?;
    let watch = Watch::new(options);
    let given = [arguments.rows, arguments.inner, arguments.columns];
    let [rows, inner, columns] = sides(arguments.size, given)?;
    let input = Input {
        rows,
        inner,
        columns,
        seed: arguments.seed,
    };
    // The result is gathered from the rows, and the check has a second matrix of its own.
    let gathered = 8 * input.rows as u128 * input.columns as u128;
    let checked = if arguments.program.check {
        8 * input.inner as u128 * input.columns as u128
    } else {
        0
    };
    program::check_memory(input.bytes() + gathered + checked, || name(&input))?;
    let runtime = workers::start(options)?;
    let multiplication = Multiplication {
        tasks: task_count(&input, arguments, &runtime)?,
        input,
        difference: None,
    };
    program::run(multiplication, runtime, watch, &arguments.program, options)
}

fn task_count(
    input: &Input,
    arguments: &MatmulArguments,
    runtime: &Runtime,
) -> Result<usize, CliError> {
    let most = input.rows.min(input.columns);
    match arguments.tasks.map(NonZeroUsize::get) {
        None => Ok(Product::task_count(input, runtime.worker_count())),
        Some(tasks) if tasks <= most => Ok(tasks),
        Some(tasks) => Err(CliError::WrongCall {
            options: format!("--tasks {tasks}"),
            reason: format!(
                "{} rows and {} columns; expected at most {most} tasks",
                input.rows, input.columns
            ),
        }),
    }
}

fn name(input: &Input) -> String {
    format!(
        "--rows {} --inner {} --columns {}",
        input.rows, input.inner, input.columns
    )
}

/// A product with rows that are divided among tasks.
struct Multiplication {
    input: Input,
    tasks: usize,
    /// The difference from the result of three loops, if it was checked.
    difference: Option<Difference>,
}

impl Kernel for Multiplication {
    type Declared = Product;
    type Ran = Ran;
    const PHASE: &'static str = "multiplying";

    fn name(&self) -> String {
        name(&self.input)
    }

    fn declare(
        &self,
        runtime: &Runtime,
        form: Form,
        phase: Arc<Phase>,
    ) -> (Product, Option<ProgramPlacement>) {
        let total = self.input.flops() as u64;
        let note = move |flops| phase.more_of(flops as u64, total);
        let program = Product::new(runtime, &self.input, self.tasks, form, note);
        (program, None)
    }

    fn program(declared: &Product) -> &Program {
        &declared.program
    }

    fn run_on(declared: Product, runtime: &Runtime) -> Result<Ran, RunError> {
        declared.run_on(runtime)
    }

    fn outcome(ran: &Ran) -> &Outcome {
        &ran.outcome
    }

    fn inspect(&mut self, runtime: &Runtime, ran: &Ran, is_checked: bool) -> Result<(), CliError> {
        if !is_checked {
            return Ok(());
        }
        let c = ran.values();
        let c = c.map_err(|broken| program::failed(self, broken.into()))?;
        let difference = runtime.install(|| matmul::difference(&self.input, &c));
        if !difference.is_allowed() {
            let (row, column) = difference.at;
            return Err(CliError::ResultWrong {
                what: self.name(),
                found: format!(
                    "row {row}, column {column}: off by {:e}; expected at most {:e}",
                    difference.found, difference.bound
                ),
            });
        }
        self.difference = Some(difference);
        Ok(())
    }

    fn describe(&self, measured: &Measured, report: &mut Report) {
        let Input {
            rows,
            inner,
            columns,
            seed,
        } = self.input;
        let tasks = self.tasks;
        let gflops = self.input.flops() / measured.seconds() / 1e9;
        report
            .row(
                "product",
                format!("{rows} × {inner} times {inner} × {columns} (seed {seed})"),
            )
            .field("rows", rows)
            .field("inner", inner)
            .field("columns", columns)
            .field("seed", seed)
            .row(
                "computed by",
                format!(
                    "{tasks} row {}, {}, block products by {BLOCK_PRODUCT}",
                    units::plural(tasks, "task"),
                    measured.operations_in_words
                ),
            )
            .field("tasks", tasks)
            .field("block_product", BLOCK_PRODUCT)
            .quantity("time", "run_s", &measured.times)
            .row("per second", format!("{gflops:.2} GFLOP"))
            .field("gflops", gflops);
        if let Some(difference) = &self.difference {
            let Difference { found, bound, .. } = difference;
            report
                .row(
                    "check",
                    format!("off by {found:.1e} at most, where {bound:.1e} is allowed"),
                )
                .field("difference", json!({ "found": found, "bound": bound }));
        }
    }
}
