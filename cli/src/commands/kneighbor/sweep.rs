//! `raddle kneighbor --mode` and `--size`: the same exchange between threads and between nodes, over the size of a message.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::time::Duration;

use raddle::chare::nodes::{Job, JobError, Progress};
use raddle::net::Launch;
use raddle_messages::kneighbor::{KNeighbor, Shape, claims, together};
use serde_json::{Map, Value, json};

use super::{by_mpi, check_memory};
use crate::arguments::{KneighborArguments, Mode, Options};
use crate::error::CliError;
use crate::times::Times;
use crate::{output, schema, table, workers};

/// Iterations before those that are timed, at most.
const FIRST: u64 = 100;

/// Why processes that MPI has started do not measure one thing by it after the other.
const ONCE: &str = "a process can be a node by MPI once";

/// Runs all sizes in all modes, in turns, and reports.
///
/// # Errors
/// [`CliError`]: nodes that do not come up, messages that did not come as they were sent.
pub(super) fn run(arguments: &KneighborArguments, options: &Options) -> Result<(), CliError> {
    check_call(options)?;
    let left_out = left_out(arguments)?;
    let crew = Crew::new(arguments, options)?;
    if !Launch::is_started() {
        // What is wrong with options and variables is reported once, not by each node.
        let plan = workers::builder(options).workers(crew.workers).plan();
        plan.map_err(|error| workers::refused(error, options))?;
    }
    let shape = Shape {
        elements: arguments
            .elements
            .map_or(crew.worker_count(), |count| count as usize),
        k: arguments.k as usize,
        bytes: arguments.bytes.0[0].0,
        touch: arguments.touch,
    };
    let runs = runs(arguments, shape)?;
    let teams = Team::all(arguments, &left_out);
    let jobs = teams.iter().map(|team| team.job(&crew, options));
    let measured = together(jobs, shape, |rings| {
        let teams: Vec<_> = teams.iter().zip(rings).collect();
        for (_, ring) in teams
            .iter()
            .filter(|_| options.show_binding && !options.json)
        {
            output::print(&format!("{}\n", ring.runtime().plan()))?;
        }
        let lines = runs
            .iter()
            .map(|&run| Line::measure(&teams, run, arguments.repeat));
        lines.collect::<Result<Vec<_>, _>>()
    });
    let measured = measured.map_err(|source| match source {
        JobError::Build(error) => workers::refused(error, options),
        source => CliError::Job {
            what: format!("--nodes {} --workers {}", crew.nodes, crew.workers),
            source,
        },
    })?;
    // A process that was started as a node is through.
    let Some(lines) = measured else { return Ok(()) };
    let mut report = Report {
        shape,
        crew,
        repeat: arguments.repeat,
        teams,
        lines: lines?,
        left_out: Vec::new(),
    };
    for (mode, why) in left_out {
        // Where MPI has not started this process, it can start others.
        let is_by_mpi = matches!(mode, Mode::Nodes(kind) if kind.is_by_mpi());
        if !is_by_mpi || Launch::rank_count().is_some() {
            report.left_out.push((mode, why));
            continue;
        }
        let own = std::env::args_os().skip(1);
        match by_mpi::measure(mode, own, crew.nodes, arguments.ways()) {
            Ok(columns) => columns
                .into_iter()
                .for_each(|(progress, times)| report.add(mode, progress, times)),
            Err(why) => report.left_out.push((mode, why)),
        }
    }
    if options.json {
        schema::print(report.json())
    } else if options.quiet {
        Ok(())
    } else {
        output::print(&report.text())
    }
}

/// Refuses what is reported of the workers of one run only.
fn check_call(options: &Options) -> Result<(), CliError> {
    let refused = [
        ("--stats", options.stats),
        (
            "--show-binding --json",
            options.show_binding && options.json,
        ),
    ];
    match refused.into_iter().find(|(_, is_there)| *is_there) {
        Some((name, _)) => Err(CliError::WrongCall {
            options: name.to_owned(),
            reason: "several runs are compared, each by other workers; expected one size, and neither --mode nor --nodes"
                .to_owned(),
        }),
        None => Ok(()),
    }
}

/// Of all modes those that this process has not, and why.
///
/// # Errors
/// [`CliError::WrongCall`] where there was one to be, and it is such a one; where it was to be a node by MPI more than once.
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
                    "{ONCE}; expected one of them, or a call without mpirun, which is then started for each"
                ),
            });
        }
        found.extend(by_mpi.map(|&mode| (mode, ONCE.to_owned())));
    }
    match (modes, &found[..]) {
        // Each process has threads; and who asks for MPI is told how to have it.
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

/// Messages of one size, and iterations of them in a run.
#[derive(Clone, Copy)]
struct Run {
    bytes: usize,
    iterations: u64,
}

/// One for each size.
fn runs(arguments: &KneighborArguments, shape: Shape) -> Result<Vec<Run>, CliError> {
    let mut runs = Vec::new();
    for bytes in &arguments.bytes.0 {
        let shape = Shape {
            bytes: bytes.0,
            ..shape
        };
        // The first node does so for all.
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

/// How many run a ring, in every mode.
#[derive(Clone, Copy)]
struct Crew {
    nodes: u16,
    /// Of each node.
    workers: usize,
}

impl Crew {
    fn new(arguments: &KneighborArguments, options: &Options) -> Result<Self, CliError> {
        let are_threads_alone = arguments.modes() == [Mode::Threads];
        let nodes = arguments.nodes.unwrap_or(1 + u16::from(!are_threads_alone));
        let is_said = std::env::var_os("RADDLE_WORKERS").is_some_and(|value| !value.is_empty());
        let is_one_run = are_threads_alone && arguments.nodes.is_none();
        let workers = match options.runtime.workers {
            Some(workers) => workers.get(),
            None if is_said || is_one_run => workers::builder(options).worker_count()?,
            None => 1,
        };
        Ok(Self { nodes, workers })
    }

    fn worker_count(self) -> usize {
        usize::from(self.nodes) * self.workers
    }
}

/// Who exchanges, and who receives.
#[derive(Clone, Copy)]
struct Team {
    mode: Mode,
    progress: Progress,
}

impl Team {
    /// One for threads, and of nodes one for each way to receive.
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

    /// Brings it up: in one process, or in several, which come here with the words that say for which team they are.
    fn job(self, crew: &Crew, options: &Options) -> Job {
        let Self { mode, progress } = self;
        let claims = claims(&format!("{}-{progress}", mode.name()));
        let builder = workers::builder(options).claims(claims);
        match mode {
            Mode::Threads => Job::new(1).runtime(builder.workers(crew.worker_count())),
            Mode::Nodes(kind) => {
                let which = ["--mode", kind.name(), "--progress", progress.name()];
                let own = std::env::args_os().skip(1);
                Job::new(crew.nodes)
                    .transport(kind)
                    .progress(progress)
                    .runtime(builder.workers(crew.workers))
                    .arguments(own.chain(which.map(OsString::from)))
                    .quiet(true)
            }
        }
    }

    /// Its name, where others of the same mode receive in another way.
    fn name(self, has_ways: bool) -> String {
        match self.mode {
            Mode::Nodes(kind) if has_ways => format!("{kind} {}", self.progress),
            mode => mode.name().to_owned(),
        }
    }

    /// What an iteration takes.
    fn measure(self, ring: &KNeighbor<'_>, run: Run) -> Result<Duration, CliError> {
        let exchange = ring.run_with(run.bytes, run.iterations);
        let exchange = exchange.map_err(|source| CliError::MessagesWrong {
            what: format!("--mode {} --bytes {}", self.mode.name(), run.bytes),
            source,
        })?;
        Ok(exchange.time.div_f64(run.iterations as f64))
    }
}

/// What was found for one size.
struct Line {
    run: Run,
    /// Of an iteration, of each team.
    times: Vec<Times>,
    /// Of each team over the first, where that is threads.
    factors: Vec<f64>,
}

impl Line {
    fn measure(teams: &[(&Team, &KNeighbor<'_>)], run: Run, repeat: u32) -> Result<Self, CliError> {
        let mut times = vec![Vec::new(); teams.len()];
        // Buffers, lanes and ways to copy are found by the first messages of a size.
        let first = Run {
            iterations: run.iterations.min(FIRST),
            ..run
        };
        for (team, ring) in teams {
            team.measure(ring, first)?;
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

/// All that was found.
struct Report {
    shape: Shape,
    crew: Crew,
    repeat: u32,
    teams: Vec<Team>,
    lines: Vec<Line>,
    /// Modes that are not among them, and why.
    left_out: Vec<(Mode, String)>,
}

impl Report {
    /// Another team, which was measured after the others: its factor is that of the medians.
    fn add(&mut self, mode: Mode, progress: Progress, times: Vec<Times>) {
        self.teams.push(Team { mode, progress });
        for (line, times) in self.lines.iter_mut().zip(times) {
            let first = line.times[0].median.as_secs_f64();
            line.factors
                .push(times.median.as_secs_f64() / first.max(1e-9));
            line.times.push(times);
        }
    }

    /// Whether there are factors over threads, which are the first of several.
    fn has_factors(&self) -> bool {
        self.teams.len() > 1 && self.teams[0].mode == Mode::Threads
    }

    fn json(&self) -> Map<String, Value> {
        let line = |line: &Line| {
            let teams = self.teams.iter().zip(&line.times).zip(&line.factors);
            let teams = teams.map(|((team, times), factor)| {
                let mut value = Map::new();
                value.insert("mode".to_owned(), json!(team.mode.name()));
                if let Mode::Nodes(_) = team.mode {
                    value.insert("progress".to_owned(), json!(team.progress.name()));
                }
                value.insert("iteration_s".to_owned(), json!(times.json()));
                if self.has_factors() {
                    value.insert("over_threads".to_owned(), json!(factor));
                }
                Value::Object(value)
            });
            json!({
                "bytes": line.run.bytes,
                "iterations": line.run.iterations,
                "modes": teams.collect::<Vec<_>>(),
            })
        };
        let left_out = |(mode, why): &(Mode, String)| json!({ "mode": mode.name(), "why": why });
        let entries = [
            ("command", json!("kneighbor")),
            ("nodes", json!(self.crew.nodes)),
            ("workers", json!(self.crew.workers)),
            ("elements", json!(self.shape.elements)),
            ("neighbours_per_side", json!(self.shape.k)),
            ("touch", json!(self.shape.touch)),
            ("sizes", self.lines.iter().map(line).collect()),
            ("left_out", self.left_out.iter().map(left_out).collect()),
        ];
        let entries = entries.map(|(key, value)| (key.to_owned(), value));
        Map::from_iter(entries)
    }

    fn text(&self) -> String {
        let Shape { elements, k, .. } = self.shape;
        let mut text = format!(
            "{} {}, each with {k} {} on either side{}; an iteration, median of {}\n\n{:>8} {:>10}",
            table::grouped(elements as u64),
            table::plural(elements, "element"),
            table::plural(k, "neighbour"),
            if self.shape.touch {
                ", all bytes written and read"
            } else {
                ""
            },
            self.repeat,
            "size",
            "iterations"
        );
        let has_ways = self
            .teams
            .iter()
            .any(|team| team.progress != self.teams[0].progress);
        let names: Vec<_> = self.teams.iter().map(|team| team.name(has_ways)).collect();
        let width = names.iter().map(String::len).fold(9, usize::max);
        let has_factor = |index: usize| self.has_factors() && index > 0;
        for (index, name) in names.iter().enumerate() {
            // Writing to a string cannot fail, here and below.
            let _infallible = write!(text, " {name:>width$}");
            if has_factor(index) {
                let _infallible = write!(text, " {:>8}", "/threads");
            }
        }
        text.push('\n');
        for line in &self.lines {
            let iterations = table::grouped(line.run.iterations);
            let size = table::bytes(line.run.bytes as u64);
            let _infallible = write!(text, "{size:>8} {iterations:>10}");
            for (index, (times, factor)) in line.times.iter().zip(&line.factors).enumerate() {
                let _infallible = write!(text, " {:>width$}", table::time(times.median));
                if has_factor(index) {
                    let _infallible = write!(text, " {factor:>8.2}");
                }
            }
            text.push('\n');
        }
        for (mode, why) in &self.left_out {
            let _infallible = write!(text, "\n{} is left out: {why}\n", mode.name());
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use raddle::net::TransportKind;

    use super::*;

    #[test]
    fn columns_stand_below_their_heads() {
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
        let mut report = Report {
            shape: Shape {
                elements: 2,
                k: 3,
                bytes: 16_384,
                touch: true,
            },
            crew: Crew {
                nodes: 2,
                workers: 1,
            },
            repeat: 3,
            teams: teams.collect(),
            lines: vec![line],
            left_out: vec![(
                Mode::Nodes(TransportKind::Mpi),
                "it is not there".to_owned(),
            )],
        };
        let text = report.text();
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[2], rows[3], "{text}");
        assert!(text.contains("    13.25"), "{text}");
        assert!(
            text.contains("16.4 kB         10    900 ns    900 ns     2.50"),
            "{text}"
        );
        assert!(
            text.ends_with("\nmpi is left out: it is not there\n"),
            "{text}"
        );
        let more = Times::of(vec![Duration::from_micros(9)]);
        report.add(
            Mode::Nodes(TransportKind::Mpi),
            Progress::Pending,
            vec![more],
        );
        assert!(report.text().contains("9.00 µs    10.00"), "{text}");
        report.teams[2].progress = Progress::Thread;
        let text = report.text();
        assert!(text.contains("socket thread"), "{text}");
        let rows: Vec<_> = text.lines().map(|row| row.chars().count()).collect();
        assert_eq!(rows[2], rows[3], "{text}");
    }
}
