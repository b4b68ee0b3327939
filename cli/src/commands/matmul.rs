//! `raddle matmul`: a product of matrices by locations, its rate, and whether it is right.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use raddle::Runtime;
use raddle_numerics::matmul::{self, BLOCK_PRODUCT, Difference, Input, Product};
use serde_json::{Map, Value, json};

use super::program::{self, Told, Watch};
use crate::arguments::{MatmulArguments, Options, sides};
use crate::error::CliError;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::times::Times;
use crate::{output, schema, workers};

/// Multiplies, checks where that was asked for, and reports.
///
/// # Errors
/// [`CliError`]: matrices that memory is too small for, a result that is wrong, an output that fails.
pub(crate) fn run(arguments: &MatmulArguments, options: &Options) -> Result<(), CliError> {
    let mut watch = Watch::new(options);
    let given = [arguments.rows, arguments.inner, arguments.columns];
    let [rows, inner, columns] = sides(arguments.size, given)?;
    let input = Input {
        rows,
        inner,
        columns,
        seed: arguments.seed,
    };
    // The result is gathered from the rows, and what checks it has a B of its own.
    let gathered = 8 * input.rows as u128 * input.columns as u128;
    let checked = if arguments.program.check {
        8 * input.inner as u128 * input.columns as u128
    } else {
        0
    };
    program::check_memory(input.bytes() + gathered + checked, || name(&input))?;
    let runtime = workers::start(options)?;
    let tasks = task_count(&input, arguments, &runtime)?;
    let mut told = None;
    let mut difference = None;
    let mut times = Vec::new();
    for repeat in 0..arguments.program.repeat {
        let phase = Arc::new(Phase::begin("multiplying", options.quiet));
        let note = {
            let (phase, total) = (Arc::clone(&phase), input.flops() as u64);
            move |flops| phase.more_of(flops as u64, total)
        };
        let program = Product::new(
            &runtime,
            &input,
            tasks,
            program::form(&arguments.program),
            note,
        );
        if repeat == 0 {
            told = Some(program::show(
                &program.program,
                |program| program.compute_placement(&runtime),
                &runtime,
                &arguments.program,
                options,
            )?);
        }
        let failed = |source| CliError::Program {
            what: name(&input),
            source,
        };
        watch.begin();
        let ran = program.run_on(&runtime).map_err(failed)?;
        watch.pause();
        drop(phase);
        times.push(ran.outcome.elapsed);
        if let Some(told) = &mut told {
            told.sections = ran.outcome.sections;
        }
        if repeat == 0 && arguments.program.check {
            let _phase = Phase::begin("checking", options.quiet);
            let c = ran.values().map_err(|broken| failed(broken.into()))?;
            difference = Some(check(&runtime, &input, &c)?);
        }
    }
    let mut told = told.expect("it ran at least once");
    told.watched(watch);
    let multiplied = Multiplied {
        input,
        tasks,
        times: Times::of(times),
        difference,
        told,
    };
    if options.json {
        let mut result = multiplied.json();
        multiplied.told.describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&multiplied.text(&runtime))?;
    }
    multiplied.told.print_stats(&runtime, options)
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

/// Compares with what three loops make.
fn check(runtime: &Runtime, input: &Input, c: &[f64]) -> Result<Difference, CliError> {
    let difference = runtime.install(|| matmul::difference(input, c));
    if difference.is_allowed() {
        return Ok(difference);
    }
    let (row, column) = difference.at;
    Err(CliError::ResultWrong {
        what: name(input),
        found: format!(
            "row {row}, column {column}: off by {:e}; expected at most {:e}",
            difference.found, difference.bound
        ),
    })
}

/// What there is to say about the product.
#[derive(Debug)]
struct Multiplied {
    input: Input,
    tasks: usize,
    times: Times,
    difference: Option<Difference>,
    told: Told,
}

impl Multiplied {
    /// Operations a second, in the median.
    fn rate(&self) -> f64 {
        // A clock that did not move between two readings.
        self.input.flops() / self.times.median.max(Duration::from_nanos(1)).as_secs_f64()
    }

    fn json(&self) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        insert("command", json!("matmul"));
        insert("rows", json!(self.input.rows));
        insert("inner", json!(self.input.inner));
        insert("columns", json!(self.input.columns));
        insert("seed", json!(self.input.seed));
        insert("tasks", json!(self.tasks));
        insert("block_product", json!(BLOCK_PRODUCT));
        insert("run_s", self.times.json());
        insert("gflops", json!(self.rate() / 1e9));
        insert("checked", json!(self.difference.is_some()));
        if let Some(difference) = &self.difference {
            insert(
                "difference",
                json!({ "found": difference.found, "bound": difference.bound }),
            );
        }
        result
    }

    fn text(&self, runtime: &Runtime) -> String {
        let mut table = Table::default();
        let Input {
            rows,
            inner,
            columns,
            seed,
        } = self.input;
        table
            .row(
                "product",
                format!("{rows} × {inner} by {inner} × {columns} (seed {seed})"),
            )
            .row(
                "by",
                format!(
                    "{} row {}, {}, blocks by {BLOCK_PRODUCT}",
                    self.tasks,
                    table::plural(self.tasks, "task"),
                    self.told.operations_on(runtime)
                ),
            )
            .row("time", self.times.text())
            .row("a second", format!("{:.2} GFLOP", self.rate() / 1e9));
        if let Some(difference) = &self.difference {
            let text = format!(
                "off by {:.1e} at most, where {:.1e} is allowed",
                difference.found, difference.bound
            );
            table.row("check", text);
        }
        table.text()
    }
}
