//! Benchmarks of Raddle against its peers, measured alternately in one run.
//!
//! `cargo run --release -p raddle-bench -- SUITE [--case C] [--json] [--pairs N] [--workers LIST]`
#![forbid(unsafe_code)]

mod bars;
mod bvh_peer;
mod chart;
mod error;
mod harness;
mod load;
mod output;
mod parkd;
mod peer;
mod pools;
mod probe;
mod record;
mod suites;
mod two_threads;
mod workload;

use std::cell::RefCell;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, ValueEnum};
use raddle::PoolKind;

use crate::chart::{Chart, Lines};
use crate::error::BenchError;
use crate::output::Output;
use crate::record::{Environment, Record, table_head, table_row};
use crate::suites::{
    Measurement, bricks, build, dirt, drop_in, forks, idle, kdtree, lk23, locations, locks, loops,
    matmul, memory, messages, model, multicore, nodes, place, pools as task_pools, rays, sort,
    trace, view, volumes, waits, wake,
};

/// Measures Raddle and its peers in alternation, and prints medians and ratios.
///
/// A ratio is Raddle's figure divided by the peer's, as the median over the pairs. Below 1, Raddle
/// takes less time. If the unit is a rate, a ratio above 1 means that Raddle does more.
#[derive(Debug, Parser)]
#[command(name = "raddle-bench", version)]
struct Arguments {
    /// The suite to measure.
    suite: Suite,
    /// Measure only this case of the suite.
    #[arg(long)]
    case: Option<String>,
    /// Print one JSON object per line instead of a table.
    #[arg(long)]
    json: bool,
    /// The number of pairs of runs per comparison.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    pairs: u16,
    /// Numbers of workers, separated by commas. Default: 1 and the number of CPUs; `kdtree` adds
    /// the powers of two between them.
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..))]
    workers: Vec<u16>,
    /// Draw the speedups of `pools` and `volumes`, the times of `locks`, `memory`, `lk23` and
    /// `matmul`, the curves of `messages`, `multicore` and `nodes`, the figures of `kdtree`, or the
    /// ratios of `drop-in` into this SVG file.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Measure the figures of `kdtree` on this mesh; can be repeated. Default: all `mesh/*.ply.zst`
    /// of RADDLE_DATA.
    #[arg(long = "mesh", value_name = "FILE")]
    meshes: Vec<PathBuf>,
    /// Measure nothing: show or draw the records in this file of earlier `--json` lines.
    #[arg(long, value_name = "FILE")]
    #[arg(conflicts_with_all = ["json", "pairs", "workers", "meshes", "pools"])]
    from: Option<PathBuf>,
    /// Compare only these pools in `pools` and `volumes`, separated by commas, with auto and the
    /// stack. Default: all that `raddle pools` lists.
    #[arg(long = "pool", value_name = "NAME", value_delimiter = ',')]
    pools: Vec<PoolKind>,
}

impl Arguments {
    /// Returns the reason why a parsed call is refused, if it is.
    fn refusal(&self) -> Option<String> {
        let (suite, case) = (self.suite, self.case.as_deref());
        if let Some(case) = case.filter(|case| !suite.cases().contains(case)) {
            let choices = suite.cases().join(", ");
            return Some(format!("no case {case:?}; expected one of {choices}"));
        }
        if !self.meshes.is_empty() && !suite.takes_mesh(case) {
            let figures = kdtree::FIGURES.join(", ");
            return Some(format!(
                "--mesh applies to the suite kdtree and its cases {figures}"
            ));
        }
        if !self.pools.is_empty() && !suite.takes_pool(case) {
            let what = "--pool applies to the cases tree*, tiles and sort* of the suite pools, and \
                        to pools-* of the suite volumes";
            return Some(what.to_owned());
        }
        if !self.workers.is_empty() && !suite.takes_workers(case) {
            let what = case.map_or_else(
                || format!("the suite {}", suite.name()),
                |case| format!("the case {case}"),
            );
            return Some(format!(
                "--workers does not apply to {what}, which sets the number itself"
            ));
        }
        let drawn = suite.drawn();
        if self.plot.is_some() && drawn.is_empty() {
            let what = "--plot draws only the suites pools, volumes, locks, memory, messages, \
                        multicore, nodes, kdtree, lk23, matmul and drop-in";
            return Some(what.to_owned());
        }
        let undrawn = case.filter(|case| self.plot.is_some() && !drawn.contains(case))?;
        let choices = drawn.join(", ");
        Some(format!(
            "--plot cannot draw {undrawn:?}; expected one of {choices}"
        ))
    }
}

/// The suites, with the help text of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Suite {
    /// fib38, tree24, queens12 against plain code, rayon, chili, oneTBB and OpenMP.
    Forks,
    /// loop1e6, loop1e3 against a serial loop, rayon and OpenMP.
    Loops,
    /// bunny: primary rays per second on one thread, against Embree and the crate bvh.
    Rays,
    /// study-full, study-adaptive: four frames of SPLASH's renderer, in yards; pools-full,
    /// pools-adaptive: their 35,344 tiles on every pool, and by SPLASH's own scheme; direct
    /// rendering and surfaces of five volumes on one thread, against VTK, OpenVDB and Embree.
    Volumes,
    /// first-picture: the time from the start of `raddle view` to its first picture; drag-surface,
    /// drag-direct, drag-maximum: pictures per second during a drag; two-surface, two-direct,
    /// two-maximum: the same for each of two pages; rest: CPU time of a view that is left alone.
    View,
    /// kd-trees and pictures of real meshes, parallel against sequential.
    Build,
    /// sort2e7: quicksort of 2·10^7 numbers against plain code, rayon, chili, oneTBB and OpenMP.
    Sort,
    /// skewed loops of 4 to 1,000 items, first-join, beside, ramp, ramp-tree, ramp-loop, leaf:
    /// tests whether workers are idle while there is work, against rayon.
    Idle,
    /// sleeping, spinning: how soon a worker without work notices new work, against a bare futex
    /// and a bare spin.
    Wake,
    /// local, cached, remote, remote-socket: a brick of 3,456 bytes by where it is, and the three
    /// ways to answer, against a map, a copy and a ping-pong.
    Bricks,
    /// A picture of surfaces by nodes that share a volume: local, with all bricks in memory,
    /// against raddle isosurface; nodes: two nodes against one; ways: the ways of a brick.
    Dirt,
    /// soon, late: two threads that wait for each other in wait cells, answered at once and late,
    /// against spinning, a futex, eventfd, channels and tokio; idle: the CPU time of ten seconds of
    /// waiting.
    Waits,
    /// every pool on trees of tasks of 1 to 420 µs, tiles of a picture and quicksort, against auto
    /// and a stack without synchronisation; blocks-tree6us, blocks-sort1e7: shapes of blocks;
    /// sizes1e7, sizes1e8: the tasks of a quicksort by size; simulated1e7, simulated1e8: speedups
    /// of simulated pools with up to 32 workers.
    Pools,
    /// ticket, simple, clh: uncontended, against a Pthreads mutex; contended-ticket,
    /// contended-simple, contended-clh: the same with several threads; queue, private: a task put
    /// into DQ-TL-PRIV-C and taken back.
    Locks,
    /// section, grant, futures: the cost of a section of a location, alone, between two spinning
    /// tasks, and with 100,000 tasks.
    Locations,
    /// private: one number per worker, against an array of them; allocation: task cells against the
    /// system's allocator.
    Memory,
    /// kneighbor, trip, one-way, burst, broadcast, quiescence, fib24: messages against channels and
    /// measurements of Charm++; observed: kneighbor with and without observation of the traffic;
    /// queens12 by seeds; mailbox, send, section, scan, access, update: curves.
    Messages,
    /// kNeighbor with 7 elements, over the size of a message: threads against processes, and each
    /// step of the multicore study against the state before it.
    Multicore,
    /// pingpong-1B, pingpong-3456B, pingpong-64K: round trips of a message between two processes,
    /// polling and notified, against Open MPI; kneighbor: an exchange between two workers against
    /// the same between two processes, by shared memory and by sockets; mpi: messages of MPI
    /// against its windows.
    Nodes,
    /// chapter: all figures of chapter 8 of the notification study; tracer-512x7: simulated events
    /// per second of its ray tracer.
    Model,
    /// dragon-d15, bunny-d15: kd-trees by messages against other builders; for every mesh: grain,
    /// balance, sync, scans, arrays, speedup, relative.
    Kdtree,
    /// lk23-4096, lk23-512: Livermore kernel 23 by locations against the same blocks on one thread
    /// and by OpenMP.
    Lk23,
    /// matmul-4096, matmul-1024: products of matrices by locations against faer's own threads and
    /// OpenBLAS.
    Matmul,
    /// programs of the registry and loops that use rayon, as published, and with the two lines that
    /// make them run on Raddle: time, CPU time, threads. Downloads and builds the programs.
    DropIn,
    /// the cost of placements of measured matrices on real machines, against Scotch; dense-5000,
    /// sparse-100000: the time to compute a placement.
    Place,
    /// event-*: the cost of a recorded event; on-*: programs that are recorded, against the same
    /// that are not; off-*: against a build without events; scope-*: the time of a scope in the
    /// profile, against the same work without it; forecast-*: the time on two workers that a
    /// recording on one predicts, against the measured one. Builds the workloads twice.
    Trace,
}

impl Suite {
    fn cases(self) -> &'static [&'static str] {
        match self {
            Self::Forks => &forks::CASES,
            Self::Loops => &loops::CASES,
            Self::Rays => &rays::CASES,
            Self::Volumes => &volumes::CASES,
            Self::View => &view::CASES,
            Self::Build => &build::CASES,
            Self::Sort => &sort::CASES,
            Self::Idle => &idle::CASES,
            Self::Wake => &wake::CASES,
            Self::Bricks => &bricks::CASES,
            Self::Dirt => &dirt::CASES,
            Self::Waits => &waits::CASES,
            Self::Pools => &task_pools::CASES,
            Self::Locks => &locks::CASES,
            Self::Locations => &locations::CASES,
            Self::Memory => &memory::CASES,
            Self::Messages => &messages::CASES,
            Self::Multicore => &multicore::CASES,
            Self::Nodes => &nodes::CASES,
            Self::Model => &model::CASES,
            Self::Kdtree => &kdtree::CASES,
            Self::Lk23 => &lk23::CASES,
            Self::Matmul => &matmul::CASES,
            Self::DropIn => &drop_in::CASES,
            Self::Place => &place::CASES,
            Self::Trace => &trace::CASES,
        }
    }

    /// Returns the name of the suite, as on the command line and in records.
    fn name(self) -> String {
        let value = self.to_possible_value();
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }

    /// Returns a help text for each case, if the suite has such texts.
    fn about(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Kdtree => &kdtree::ABOUT,
            Self::Multicore => &multicore::ABOUT,
            _ => &[],
        }
    }

    /// Checks the input files before anything is measured.
    ///
    /// The other suites find a missing file at once.
    fn check(self, measurement: &Measurement<'_>) -> Result<(), BenchError> {
        match self {
            Self::Kdtree => kdtree::check(measurement),
            Self::View => view::check(),
            _ => Ok(()),
        }
    }

    fn run(self, measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
        match self {
            Self::Forks => forks::run(measurement),
            Self::Loops => loops::run(measurement),
            Self::Rays => rays::run(measurement),
            Self::Volumes => volumes::run(measurement),
            Self::View => view::run(measurement),
            Self::Build => build::run(measurement),
            Self::Sort => sort::run(measurement),
            Self::Idle => idle::run(measurement),
            Self::Wake => wake::run(measurement),
            Self::Bricks => bricks::run(measurement),
            Self::Dirt => dirt::run(measurement),
            Self::Waits => waits::run(measurement),
            Self::Pools => task_pools::run(measurement),
            Self::Locks => locks::run(measurement),
            Self::Locations => locations::run(measurement),
            Self::Memory => memory::run(measurement),
            Self::Messages => messages::run(measurement),
            Self::Multicore => multicore::run(measurement),
            Self::Nodes => nodes::run(measurement),
            Self::Model => model::run(measurement),
            Self::Kdtree => kdtree::run(measurement),
            Self::Lk23 => lk23::run(measurement),
            Self::Matmul => matmul::run(measurement),
            Self::DropIn => drop_in::run(measurement),
            Self::Place => place::run(measurement),
            Self::Trace => trace::run(measurement),
        }
    }

    /// Returns the cases that `--plot` can draw.
    fn drawn(self) -> &'static [&'static str] {
        match self {
            Self::Pools
            | Self::Memory
            | Self::Multicore
            | Self::Locks
            | Self::Lk23
            | Self::Matmul => self.cases(),
            Self::Messages => &messages::CURVES,
            Self::Nodes => &["kneighbor"],
            Self::DropIn => drop_in::DRAWN,
            Self::Volumes => &volumes::DRAWN,
            Self::Kdtree => &kdtree::FIGURES,
            _ => &[],
        }
    }

    /// Returns true if the case is measured on meshes that `--mesh` can name. Without a case,
    /// returns true if the suite has any such case.
    fn takes_mesh(self, case: Option<&str>) -> bool {
        self == Self::Kdtree && case.is_none_or(|case| kdtree::FIGURES.contains(&case))
    }

    /// Returns true if the case compares pools that `--pool` can name. Without a case, returns true
    /// if the suite has any such case.
    fn takes_pool(self, case: Option<&str>) -> bool {
        match self {
            Self::Pools => case.is_none_or(task_pools::takes_pool),
            Self::Volumes => case.is_none_or(volumes::takes_pool),
            _ => false,
        }
    }

    /// Returns true if `--workers` sets the numbers of workers of the case. Without a case, returns
    /// true if the suite has any such case.
    fn takes_workers(self, case: Option<&str>) -> bool {
        let Some(case) = case else {
            let fixed = [
                Self::Rays,
                Self::Wake,
                Self::Bricks,
                Self::Dirt,
                Self::Waits,
                Self::Nodes,
                Self::Model,
                Self::Place,
            ];
            return !fixed.contains(&self);
        };
        match self {
            Self::Idle => !case.starts_with("ramp") && case != "leaf",
            Self::Locks => case.starts_with("contended"),
            Self::Locations => case == "futures",
            Self::Messages => case != "access",
            Self::Trace => case.starts_with("on") || case.starts_with("off"),
            Self::Kdtree => case != "bunny-d15",
            Self::Volumes => case.starts_with("study") || case.starts_with("pools"),
            Self::Pools => !case.starts_with("sizes") && !case.starts_with("simulated"),
            _ => self.takes_workers(None),
        }
    }

    /// Returns the numbers of workers to measure with by default, on a machine of `all` CPUs.
    fn default_workers(self, all: usize) -> Vec<usize> {
        match self {
            Self::Kdtree => {
                let powers = (0..usize::BITS).map(|log2| 1 << log2);
                let below = powers.take_while(|&workers| workers < all);
                below.chain([all]).collect()
            }
            Self::View => vec![all],
            _ if all == 1 => vec![1],
            _ => vec![1, all],
        }
    }

    /// Returns the charts of the suite's records, if it has any.
    fn charts(self, records: &[Record]) -> Vec<Chart<'_>> {
        match self {
            Self::Pools => task_pools::charts(records),
            Self::Memory | Self::Locks | Self::Lk23 | Self::Matmul => {
                vec![Chart::of_medians(records)]
            }
            Self::Nodes => Chart::of_curves(records, Lines::OfMostWorkers, |_, _| {
                Some("bytes per message")
            }),
            Self::Messages => messages::charts(records),
            Self::Multicore => multicore::charts(records),
            Self::Volumes => volumes::charts(records),
            Self::Kdtree => kdtree::charts(records),
            _ => Vec::new(),
        }
    }

    /// Returns a text to print at the end, besides the charts.
    fn summary(self, records: &[Record]) -> Option<String> {
        match self {
            Self::Messages => messages::charm::table(records),
            Self::Kdtree => kdtree::summary(records),
            Self::DropIn => drop_in::summary(records),
            _ => None,
        }
    }
}

fn main() -> ExitCode {
    if raddle::net::Launch::is_started() {
        let words: Vec<_> = std::env::args().skip(1).collect();
        return multicore::follow(&words).unwrap_or_else(|| nodes::follow(&words));
    }
    // Clap's help lists all suites. If the call names one, its cases are explained as well.
    let named = std::env::args_os()
        .filter_map(|word| word.into_string().ok())
        .find_map(|word| Suite::from_str(&word, false).ok());
    let arguments = Arguments::from_arg_matches(&command(named).get_matches());
    let arguments = arguments.unwrap_or_else(|error| error.exit());
    if let Some(refusal) = arguments.refusal() {
        return fail(&refusal, 2);
    }
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string(), 1),
    }
}

/// Returns the command line parser. The help for `named` also lists that suite's cases.
fn command(named: Option<Suite>) -> clap::Command {
    let command = Arguments::command();
    let about = named.map_or(&[][..], Suite::about);
    let (Some(suite), [_, ..]) = (named, about) else {
        return command;
    };
    let mut text = format!("Cases of {}:", suite.name());
    for (case, what) in about {
        // Writing to a string cannot fail.
        let _infallible = write!(text, "\n  {case:<12} {what}");
    }
    command.after_help(text)
}

fn fail(message: &str, code: u8) -> ExitCode {
    // The error stream may be closed. Then only the exit code reports the failure.
    let _closed = writeln!(io::stderr(), "raddle-bench: {message}");
    ExitCode::from(code)
}

fn run(arguments: &Arguments) -> Result<(), BenchError> {
    if let Some(path) = &arguments.plot {
        chart::check(path)?;
    }
    let output = RefCell::new(Output::new(io::stdout()));
    let print = |line: &str| output.borrow_mut().line(line);
    let records = match &arguments.from {
        Some(path) => {
            let records = record::read(path, &arguments.suite.name(), arguments.case.as_deref())?;
            print(&table_head())?;
            let mut rows = records.iter().map(table_row);
            rows.try_for_each(|row| print(&row))?;
            records
        }
        None => measure(arguments, &print)?,
    };
    let charts = arguments.suite.charts(&records);
    if !arguments.json {
        let summary = arguments.suite.summary(&records);
        let tables = charts.iter().map(Chart::table);
        for text in summary.into_iter().chain(tables) {
            print(&format!("\n{text}"))?;
        }
    }
    match &arguments.plot {
        Some(path) if arguments.suite == Suite::DropIn => drop_in::plot(&records, path),
        Some(path) => chart::plot(&charts, path),
        None => Ok(()),
    }
}

/// Measures the suite, prints each record as it comes, and returns all of them.
fn measure(
    arguments: &Arguments,
    print: &impl Fn(&str) -> Result<(), BenchError>,
) -> Result<Vec<Record>, BenchError> {
    let workers = if arguments.workers.is_empty() {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        arguments.suite.default_workers(all)
    } else {
        arguments.workers.iter().copied().map(usize::from).collect()
    };
    let json = arguments.json;
    let mut measurement = Measurement {
        case: arguments.case.clone(),
        pairs: usize::from(arguments.pairs),
        workers,
        are_workers_asked: !arguments.workers.is_empty(),
        meshes: arguments.meshes.clone(),
        pools: arguments.pools.clone(),
        only_near: false,
        environment: Environment::find(),
        records: Vec::new(),
        emit: &mut |record: &Record| {
            print(&if json {
                record.json().unwrap_or_else(|error| error.to_string())
            } else {
                table_row(record)
            })
        },
        warn: &mut |message| {
            let _closed = writeln!(io::stderr(), "warning: {message}");
        },
    };
    arguments.suite.check(&measurement)?;
    if !json {
        print(&table_head())?;
    }
    arguments.suite.run(&mut measurement)?;
    Ok(measurement.records)
}

#[cfg(test)]
mod tests;
