//! `raddle lk23`: Livermore kernel 23 by locations, its rate, and whether it is right.

use std::sync::Arc;
use std::time::Duration;

use raddle::Runtime;
use raddle_numerics::lk23::{self, FLOPS_PER_POINT, Input, Lk23, Plan, PlanError, Wanted};
use raddle_topology::Topology;
use serde_json::{Map, Value, json};

use super::program::{self, Told, Watch};
use crate::arguments::{BlockPlacement, Lk23Arguments, Options, sides};
use crate::error::CliError;
use crate::progress::Phase;
use crate::table::{self, Table};
use crate::times::Times;
use crate::{output, schema, workers};

/// Computes, checks where that was asked for, and reports.
///
/// # Errors
/// [`CliError`]: blocks that cannot be, matrices that memory is too small for, a result that is wrong, an output that fails.
pub(crate) fn run(arguments: &Lk23Arguments, options: &Options) -> Result<(), CliError> {
    let mut watch = Watch::new(options);
    let [rows, columns] = sides(arguments.size, [arguments.rows, arguments.columns])?;
    let input = Input {
        rows,
        columns,
        seed: arguments.seed,
    };
    let plan = plan(&input, arguments)?;
    // The result is gathered from the blocks, and may be compared with another.
    let matrices = 8 * (input.rows as u128 + 2) * (input.columns as u128 + 2);
    let checked = if arguments.program.check {
        8 * matrices
    } else {
        matrices
    };
    program::check_memory(u128::from(plan.bytes()) + checked, || name(&input))?;
    let runtime = workers::start(options)?;
    let mut told = None;
    let mut times = Vec::new();
    let mut checksum = 0;
    for repeat in 0..arguments.program.repeat {
        let phase = Arc::new(Phase::begin("sweeping", options.quiet));
        let total = plan.points().saturating_mul(plan.sweeps());
        let note = {
            let phase = Arc::clone(&phase);
            move |points| phase.more_of(points, total)
        };
        let mut program = Lk23::new(
            &runtime,
            &input,
            &plan,
            program::form(&arguments.program),
            note,
        );
        let is_dealt = arguments.placement == BlockPlacement::Dealt;
        let dealt = is_dealt.then(|| program.deal(&runtime));
        if repeat == 0 {
            told = Some(program::show(
                &program.program,
                |program| dealt.unwrap_or_else(|| program.compute_placement(&runtime)),
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
        let za = ran.values().map_err(|broken| failed(broken.into()))?;
        checksum = lk23::checksum(&za);
        if let Some(told) = &mut told {
            told.sections = ran.outcome.sections;
        }
        if repeat == 0 && arguments.program.check {
            let _phase = Phase::begin("checking", options.quiet);
            check(&input, arguments.turns, &za)?;
        }
    }
    let mut told = told.expect("it ran at least once");
    told.watched(watch);
    let swept = Swept {
        input,
        plan,
        times: Times::of(times),
        checksum,
        told,
    };
    if options.json {
        let mut result = swept.json(arguments);
        swept.told.describe(&runtime, options, &mut result);
        schema::print(result)?;
    } else if !options.quiet {
        output::print(&swept.text(&runtime, arguments))?;
    }
    swept.told.print_stats(&runtime, options)
}

/// Cuts the matrix as asked, or for the caches of this machine.
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

/// Compares with what the plain loops make.
fn check(input: &Input, turns: u64, za: &[f64]) -> Result<(), CliError> {
    let expected = lk23::reference(input, turns);
    let wrong = za
        .iter()
        .zip(&expected)
        .position(|(a, b)| a.to_bits() != b.to_bits());
    let Some(at) = wrong else { return Ok(()) };
    let width = input.columns + 2;
    Err(CliError::ResultWrong {
        what: name(input),
        found: format!(
            "row {}, column {}: {}; expected {}",
            at / width,
            at % width,
            za[at],
            expected[at]
        ),
    })
}

/// What there is to say about the sweeps.
#[derive(Debug)]
struct Swept {
    input: Input,
    plan: Plan,
    times: Times,
    checksum: u64,
    told: Told,
}

impl Swept {
    /// Points a second, in the median.
    fn rate(&self) -> f64 {
        // A clock that did not move between two readings.
        let time = self.times.median.max(Duration::from_nanos(1));
        self.plan.points() as f64 * self.plan.sweeps() as f64 / time.as_secs_f64()
    }

    fn json(&self, arguments: &Lk23Arguments) -> Map<String, Value> {
        let mut result = Map::new();
        let mut insert = |name: &str, value: Value| result.insert(name.to_owned(), value);
        let (down, across) = self.plan.blocks();
        insert("command", json!("lk23"));
        insert("rows", json!(self.input.rows));
        insert("columns", json!(self.input.columns));
        insert("seed", json!(self.input.seed));
        insert("turns", json!(self.plan.sweeps()));
        insert("blocks", json!([down, across]));
        insert("depth", json!(self.plan.depth()));
        insert("run_s", self.times.json());
        insert("points_per_s", json!(self.rate()));
        insert("gflops", json!(self.rate() * FLOPS_PER_POINT as f64 / 1e9));
        insert("checksum", json!(format!("{:016x}", self.checksum)));
        insert("checked", json!(arguments.program.check));
        result
    }

    fn text(&self, runtime: &Runtime, arguments: &Lk23Arguments) -> String {
        let (down, across) = self.plan.blocks();
        let mut table = Table::default();
        let Input {
            rows,
            columns,
            seed,
        } = self.input;
        table
            .row(
                "matrix",
                format!(
                    "{} × {} (seed {seed})",
                    table::grouped(rows as u64),
                    table::grouped(columns as u64)
                ),
            )
            .row(
                "blocks",
                format!(
                    "{down} × {across}, of about {} × {} points, up to {} {} in a turn",
                    rows / down,
                    columns / across,
                    self.plan.depth(),
                    table::plural(self.plan.depth(), "sweep")
                ),
            )
            .row("swept by", self.told.operations_on(runtime))
            .row("turns", table::grouped(self.plan.sweeps()))
            .row("time", self.times.text())
            .row(
                "a second",
                format!(
                    "{} points, {:.2} GFLOP",
                    table::large(self.rate()),
                    self.rate() * FLOPS_PER_POINT as f64 / 1e9
                ),
            )
            .row("checksum", format!("{:016x}", self.checksum));
        if arguments.program.check {
            table.row("check", "as the plain loops, to the last bit");
        }
        table.text()
    }
}
