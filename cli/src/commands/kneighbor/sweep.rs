//! `raddle kneighbor --mode` and `--bytes`: compares the exchange between threads and between
//! nodes, for several sizes of a message.

use std::ffi::OsString;
use std::time::Duration;

use raddle::chare::nodes::{Job, JobError, Progress};
use raddle::net::Launch;
use raddle::trace::Report as WorkersReport;
use raddle_messages::kneighbor::{KNeighbor, Shape, claims, together};
use serde_json::json;

use super::arguments::{KneighborArguments, Mode};
use super::{by_mpi, check_memory, ring_in_words};
use crate::arguments::Options;
use crate::error::CliError;
use crate::report::{ByteCount, Column, Columns, Count, Object, Report, Row};
use crate::times::Times;
use crate::{units, workers};

/// The largest number of iterations that run before those that are timed.
const WARM_UP_MAX: u64 = 100;

/// The reason why processes that MPI has started cannot measure several things with MPI.
const ONCE: &str = "a process can be a node by MPI once";

/// Runs all sizes in all modes, in turns, and reports. Returns `None` in a process that was started
/// as a node.
///
/// # Errors
/// [`CliError`]: nodes that do not start, messages that were lost or changed.
pub(super) fn run(
    arguments: &KneighborArguments,
    options: &Options,
) -> Result<Option<Report>, CliError> {
    let left_out = left_out(arguments)?;
    let counts = NodesAndWorkers::new(arguments, options)?;
    if !Launch::is_started() {
        // Wrong options and variables are reported once, not by each node.
        let plan = workers::builder(options).workers(counts.workers).plan();
        plan.map_err(|error| workers::refused(error, options))?;
    }
    let shape = Shape {
        elements: arguments
            .elements
            .map_or(counts.worker_count(), |count| count as usize),
        k: arguments.k as usize,
        bytes: arguments.bytes.0[0].0,
        touch: arguments.touch,
    };
    let runs = runs(arguments, shape)?;
    let teams = Team::all(arguments, &left_out);
    check_call(&teams, &runs, options)?;
    let jobs = teams.iter().map(|team| team.job(&counts, options));
    let measured = together(jobs, shape, |rings| {
        let teams: Vec<_> = teams.iter().zip(rings).collect();
        for (_, ring) in &teams {
            workers::print_plan(&ring.runtime().plan(), options)?;
        }
        let lines = runs
            .iter()
            .map(|&run| Line::measure(&teams, run, arguments.repeat));
        let lines = lines.collect::<Result<Vec<_>, _>>()?;
        let stats = match options.stats {
            true => node_reports(&teams)?,
            false => Vec::new(),
        };
        Ok::<_, CliError>((lines, stats))
    });
    let measured = measured.map_err(|source| match source {
        JobError::Build(error) => workers::refused(error, options),
        source => CliError::Job {
            what: format!("--nodes {} --workers {}", counts.nodes, counts.workers),
            source,
        },
    })?;
    // A process that was started as a node has finished.
    let Some(measured) = measured else {
        return Ok(None);
    };
    let (lines, stats) = measured?;
    let mut comparison = Comparison {
        shape,
        counts,
        repeat: arguments.repeat,
        teams,
        lines,
        stats,
        left_out: Vec::new(),
    };
    for (mode, why) in left_out {
        // If MPI has not started this process, this process can start others with MPI.
        let is_by_mpi = matches!(mode, Mode::Nodes(kind) if kind.is_by_mpi());
        if !is_by_mpi || Launch::rank_count().is_some() {
            comparison.left_out.push((mode, why));
            continue;
        }
        let own = std::env::args_os().skip(1);
        match by_mpi::measure(mode, own, counts.nodes, arguments.ways()) {
            Ok(columns) => columns
                .into_iter()
                .for_each(|(progress, times)| comparison.add(mode, progress, times)),
            Err(why) => comparison.left_out.push((mode, why)),
        }
    }
    Ok(Some(comparison.report()))
}

/// Returns the counters of the nodes of all teams, after the last run.
fn node_reports(teams: &[(&Team, &KNeighbor<'_>)]) -> Result<Vec<WorkersReport>, CliError> {
    let mut all = Vec::new();
    for (team, ring) in teams {
        let reports = ring.reports();
        all.extend(reports.map_err(|source| CliError::MessagesWrong {
            what: format!("--mode {} --stats", team.mode.name()),
            source,
        })?);
    }
    Ok(all)
}

/// Refuses options that describe the workers of a single run.
fn check_call(teams: &[Team], runs: &[Run], options: &Options) -> Result<(), CliError> {
    let is_one = teams.len() == 1 && runs.len() == 1;
    let refused = [
        ("--stats", options.stats && !is_one),
        (
            "--show-binding --json",
            options.show_binding && options.json,
        ),
    ];
    match refused.into_iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => Err(CliError::WrongCall {
            options: name.to_owned(),
            reason: "several runs are compared, each with other workers; \
                     expected one size and one mode"
                .to_owned(),
        }),
        None => Ok(()),
    }
}

/// Returns the modes that this process cannot use, and why.
///
/// # Errors
/// [`CliError::WrongCall`] if it can use none of the modes, or would have to be an MPI node several
/// times.
fn left_out(arguments: &KneighborArguments) -> Result<Vec<(Mode, String)>, CliError> {
    let modes = arguments.modes();
    let why_not = |&mode: &Mode| Some((mode, mode.why_not()?));
    let mut found: Vec<_> = modes.iter().filter_map(why_not).collect();
    if Launch::rank_count().is_some() {
        let is_by_mpi = |mode: &&Mode| matches!(mode, Mode::Nodes(kind) if kind.is_by_mpi());
        let mut by_mpi = modes.iter().filter(is_by_mpi);
        if by_mpi.next().is_some() && arguments.ways().len() > 1 {
            return Err(CliError::WrongCall {
                options: "--progress all".to_owned(),
                reason: format!(
                    "{ONCE}; expected one of them, or a call without mpirun, which is then \
                     started for each"
                ),
            });
        }
        found.extend(by_mpi.map(|&mode| (mode, ONCE.to_owned())));
    }
    match (modes, &found[..]) {
        // Every process has threads. A call that asks for MPI alone fails later, with an error that
        // explains how to start it.
        ([Mode::Threads], _) => Ok(Vec::new()),
        ([Mode::Nodes(kind)], _) if kind.is_by_mpi() => Ok(Vec::new()),
        ([mode @ Mode::Nodes(_)], [(_, why)]) => Err(CliError::WrongCall {
            options: format!("--mode {}", mode.name()),
            reason: why.clone(),
        }),
        _ if found.len() == modes.len() => Err(CliError::WrongCall {
            options: "--mode all".to_owned(),
            reason: found
                .iter()
                .map(|(mode, why)| format!("{} is left out: {why}", mode.name()))
                .collect::<Vec<_>>()
                .join("; "),
        }),
        _ => Ok(found),
    }
}

/// The size of the messages and the number of iterations of a run.
#[derive(Clone, Copy)]
struct Run {
    bytes: usize,
    iterations: u64,
}

/// Returns a run for each size.
fn runs(arguments: &KneighborArguments, shape: Shape) -> Result<Vec<Run>, CliError> {
    let mut runs = Vec::new();
    for bytes in &arguments.bytes.0 {
        let shape = Shape {
            bytes: bytes.0,
            ..shape
        };
        // The first node checks on behalf of all nodes.
        if !Launch::is_started() {
            check_memory(shape.memory_bytes(), || format!("--bytes {}", bytes.0))?;
        }
        runs.push(Run {
            bytes: bytes.0,
            iterations: arguments.iterations_of(bytes.0),
        });
    }
    Ok(runs)
}

/// The number of nodes and workers that run a ring, in every mode.
#[derive(Clone, Copy)]
struct NodesAndWorkers {
    nodes: u16,
    /// The workers of each node.
    workers: usize,
}

impl NodesAndWorkers {
    fn new(arguments: &KneighborArguments, options: &Options) -> Result<Self, CliError> {
        let are_threads_alone = arguments.modes() == [Mode::Threads];
        let nodes = arguments.nodes.unwrap_or(1 + u16::from(!are_threads_alone));
        let is_in_environment =
            std::env::var_os("RADDLE_WORKERS").is_some_and(|value| !value.is_empty());
        let is_one_run = are_threads_alone && arguments.nodes.is_none();
        let workers = match options.runtime.workers {
            Some(workers) => workers.get(),
            None if is_in_environment || is_one_run => workers::builder(options).worker_count()?,
            None => 1,
        };
        Ok(Self { nodes, workers })
    }

    fn worker_count(self) -> usize {
        usize::from(self.nodes) * self.workers
    }
}

/// A mode, and the way in which its nodes receive messages.
#[derive(Clone, Copy)]
struct Team {
    mode: Mode,
    progress: Progress,
}

impl Team {
    /// Returns one team for threads, and for nodes one for each way to receive messages.
    fn all(arguments: &KneighborArguments, left_out: &[(Mode, String)]) -> Vec<Self> {
        let ways = |mode| match mode {
            Mode::Threads => &[Progress::Pending],
            Mode::Nodes(_) => arguments.ways(),
        };
        let of_mode = |&mode: &Mode| {
            ways(mode)
                .iter()
                .map(move |&progress| Self { mode, progress })
        };
        let is_here = |mode: &&Mode| left_out.iter().all(|(other, _)| other != *mode);
        let modes = arguments.modes().iter().filter(is_here);
        modes.flat_map(of_mode).collect()
    }

    /// Returns the job that starts the team: in one process, or in several. The arguments of the
    /// other processes name the team to which they belong.
    fn job(self, counts: &NodesAndWorkers, options: &Options) -> Job {
        let Self { mode, progress } = self;
        let claims = claims(&format!("{}-{progress}", mode.name()));
        let builder = workers::builder(options).claims(claims);
        match mode {
            Mode::Threads => Job::new(1).runtime(builder.workers(counts.worker_count())),
            Mode::Nodes(kind) => {
                let which = ["--mode", kind.name(), "--progress", progress.name()];
                let own = std::env::args_os().skip(1);
                Job::new(counts.nodes)
                    .transport(kind)
                    .progress(progress)
                    .runtime(builder.workers(counts.workers))
                    .arguments(own.chain(which.map(OsString::from)))
                    .quiet(true)
            }
        }
    }

    /// Returns the name of the team. `has_ways` is true if other teams of the same mode receive
    /// messages in another way.
    fn name(self, has_ways: bool) -> String {
        match self.mode {
            Mode::Nodes(kind) if has_ways => format!("{kind} {}", self.progress),
            mode => mode.name().to_owned(),
        }
    }

    /// Measures the time of an iteration.
    fn measure(self, ring: &KNeighbor<'_>, run: Run) -> Result<Duration, CliError> {
        let exchange = ring.run_with(run.bytes, run.iterations);
        let exchange = exchange.map_err(|source| CliError::MessagesWrong {
            what: format!("--mode {} --bytes {}", self.mode.name(), run.bytes),
            source,
        })?;
        Ok(exchange.time.div_f64(run.iterations as f64))
    }
}

/// The measurements of one size.
struct Line {
    run: Run,
    /// The time of an iteration, for each team.
    times: Vec<Times>,
    /// The factor of each team over the first team, which is threads if there is more than one.
    factors: Vec<f64>,
}

impl Line {
    fn measure(teams: &[(&Team, &KNeighbor<'_>)], run: Run, repeat: u32) -> Result<Self, CliError> {
        let mut times = vec![Vec::new(); teams.len()];
        // The first messages of a size set up buffers and lanes and choose how to copy.
        let warm_up = Run {
            iterations: run.iterations.min(WARM_UP_MAX),
            ..run
        };
        for (team, ring) in teams {
            team.measure(ring, warm_up)?;
        }
        for _ in 0..repeat {
            for ((team, ring), times) in teams.iter().zip(&mut times) {
                times.push(team.measure(ring, run)?);
            }
        }
        let factor = |of_team: &Vec<Duration>| {
            let pairs = of_team.iter().zip(&times[0]);
            let mut ratios: Vec<_> = pairs
                .map(|(time, first)| time.as_secs_f64() / first.as_secs_f64().max(1e-9))
                .collect();
            ratios.sort_unstable_by(f64::total_cmp);
            ratios[ratios.len() / 2]
        };
        Ok(Self {
            run,
            factors: times.iter().map(factor).collect(),
            times: times.into_iter().map(Times::of).collect(),
        })
    }
}

/// All measurements.
struct Comparison {
    shape: Shape,
    counts: NodesAndWorkers,
    repeat: u32,
    teams: Vec<Team>,
    lines: Vec<Line>,
    /// The counters of each node, with `--stats`.
    stats: Vec<WorkersReport>,
    /// The modes that were not measured, and why.
    left_out: Vec<(Mode, String)>,
}

impl Comparison {
    /// Adds a team that was measured after the others; its factor is the ratio of the medians.
    fn add(&mut self, mode: Mode, progress: Progress, times: Vec<Times>) {
        self.teams.push(Team { mode, progress });
        for (line, times) in self.lines.iter_mut().zip(times) {
            let first = line.times[0].median.as_secs_f64();
            line.factors
                .push(times.median.as_secs_f64() / first.max(1e-9));
            line.times.push(times);
        }
    }

    /// Returns true if the first of several teams is threads, over which the others have a factor.
    fn has_factors(&self) -> bool {
        self.teams.len() > 1 && self.teams[0].mode == Mode::Threads
    }

    fn report(&self) -> Report {
        let touched = match self.shape.touch {
            true => ", all bytes written and read",
            false => "",
        };
        let mut report = Report::new();
        report
            .text(format!(
                "{}{touched}; time per iteration, median of {}\n\n",
                ring_in_words(&self.shape),
                self.repeat
            ))
            .field("nodes", self.counts.nodes)
            .field("workers", self.counts.workers)
            .field("elements", self.shape.elements)
            .field("neighbours_per_side", self.shape.k)
            .field("touch", self.shape.touch)
            .list("sizes", &self.table());
        let mut left_out = Vec::new();
        for (mode, why) in &self.left_out {
            report.text(format!("\n{} is left out: {why}\n", mode.name()));
            left_out.push(json!({ "mode": mode.name(), "why": why }));
        }
        report.field("left_out", left_out);
        if !self.stats.is_empty() {
            for (node, stats) in self.stats.iter().enumerate() {
                report.requested(&format!("\nnode {node}, {stats}"));
            }
            report.field("stats_of_nodes", &self.stats);
        }
        report
    }

    /// Creates a table with a row for each size, and a column for each team and its factor.
    fn table(&self) -> Columns {
        let first = self.teams[0].progress;
        let has_ways = self.teams.iter().any(|team| team.progress != first);
        let names: Vec<_> = self.teams.iter().map(|team| team.name(has_ways)).collect();
        let width = names.iter().map(String::len).fold(9, usize::max);
        let mut columns = vec![Column::right("size", 8), Column::right("iterations", 10)];
        for (index, name) in names.iter().enumerate() {
            columns.push(Column::right(name, width));
            if index > 0 && self.has_factors() {
                columns.push(Column::right("/threads", 8));
            }
        }
        let mut table = Columns::new(columns);
        for line in &self.lines {
            table.push(self.row(line));
        }
        table
    }

    fn row(&self, line: &Line) -> Row {
        let Run { bytes, iterations } = line.run;
        let mut row = Row::new();
        row.quantity("bytes", &ByteCount(bytes as u64))
            .quantity("iterations", &Count(iterations));
        let mut modes = Vec::new();
        let teams = self.teams.iter().zip(&line.times).zip(&line.factors);
        for (index, ((team, times), factor)) in teams.enumerate() {
            let mut mode = Object::new();
            mode.field("mode", team.mode.name());
            if let Mode::Nodes(_) = team.mode {
                mode.field("progress", team.progress.name());
            }
            row.cell(units::time(times.median));
            mode.field("iteration_s", times);
            if self.has_factors() {
                // The factor of threads over threads is no column, only a field.
                if index > 0 {
                    row.cell(format!("{factor:.2}"));
                }
                mode.field("over_threads", factor);
            }
            modes.push(mode);
        }
        row.field("modes", modes);
        row
    }
}

#[cfg(test)]
mod tests {
    use raddle::net::TransportKind;

    use super::*;

    #[test]
    fn cells_are_aligned_below_their_headings() {
        let times = || Times::of([1_500, 512, 900].map(Duration::from_nanos).to_vec());
        let line = Line {
            run: Run {
                bytes: 16_384,
                iterations: 10,
            },
            times: vec![times(), times(), times()],
            factors: vec![1.0, 2.5, 13.25],
        };
        let teams = Mode::all().take(3).map(|mode| Team {
            mode,
            progress: Progress::Pending,
        });
        let mut comparison = Comparison {
            shape: Shape {
                elements: 2,
                k: 3,
                bytes: 16_384,
                touch: true,
            },
            counts: NodesAndWorkers {
                nodes: 2,
                workers: 1,
            },
            repeat: 3,
            teams: teams.collect(),
            lines: vec![line],
            stats: Vec::new(),
            left_out: vec![(Mode::Nodes(TransportKind::Mpi), "not started".to_owned())],
        };
        let text = comparison.report().as_text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[2], rows[3], "{text}");
        assert!(text.contains("    13.25"), "{text}");
        assert!(
            text.contains("16.4 kB         10    900 ns    900 ns     2.50"),
            "{text}"
        );
        assert!(text.ends_with("\nmpi is left out: not started\n"), "{text}");
        let more = Times::of(vec![Duration::from_micros(9)]);
        comparison.add(
            Mode::Nodes(TransportKind::Mpi),
            Progress::Pending,
            vec![more],
        );
        assert!(
            comparison.report().as_text().contains("9.00 µs    10.00"),
            "{text}"
        );
        comparison.teams[2].progress = Progress::Thread;
        let text = comparison.report().as_text();
        assert!(text.contains("socket thread"), "{text}");
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[2], rows[3], "{text}");
    }
}
