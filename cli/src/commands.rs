//! The commands, and what the rest of the program knows about each of them.
//!
//! A command is a function from its arguments to a [`Report`], which [`Entry::run`] prints. To add
//! a command:
//!
//! 1. `commands/NAME.rs` has its arguments and a function that returns a report. A large command
//!    is a folder, with its arguments in `commands/NAME/arguments.rs`.
//! 2. In this file, [`Command`] gets a variant, with a comment that becomes its line in the help,
//!    [`Entry::of`] gets an arm, and the test gets a call. Nothing else in the program lists
//!    commands.
//! 3. `tests/cli/regress_json.rs` gets a call of it if it has `--json`.
//! 4. `RADDLE_BLESS=1 cargo test -p raddle-cli --test cli help` writes its help to
//!    `tests/snapshots/help.txt`.
//!
//! [`Call`] has the beginning of the help, and parses calls. [`crate::arguments`] has the groups of
//! options that several commands share. [`Running`] adds the options for workers and output to the
//! arguments of a command: [`TaskOptions`] if it has tasks, [`MailboxOptions`] if its workers send
//! each other messages.

mod binding;
mod bricks;
mod call;
mod completions;
mod demo;
mod dirt;
mod info;
mod isosurface;
mod kdtree;
mod kneighbor;
mod launch;
mod lk23;
mod matmul;
mod model;
mod node_group;
mod pingpong;
mod place;
mod pools;
mod predict;
mod program;
mod render;
mod report;
mod simulate;
mod sort;
mod top;
mod topology;
mod turn;
mod view;
mod volume;

use clap::Subcommand;

pub(crate) use self::call::parse;

use self::bricks::BricksArguments;
use self::call::Call;
use self::completions::CompletionsArguments;
use self::dirt::DirtArguments;
use self::info::InfoArguments;
use self::isosurface::IsosurfaceArguments;
use self::kdtree::KdtreeArguments;
use self::kneighbor::KneighborArguments;
use self::launch::LaunchArguments;
use self::lk23::Lk23Arguments;
use self::matmul::MatmulArguments;
use self::pingpong::PingpongArguments;
use self::place::PlaceArguments;
use self::pools::PoolsArguments;
use self::predict::PredictArguments;
use self::render::RenderArguments;
use self::report::ReportArguments;
use self::simulate::SimulateArguments;
use self::sort::SortArguments;
use self::top::TopArguments;
use self::topology::TopologyArguments;
use self::view::ViewCommandArguments;
use self::volume::VolumeCommandArguments;
use crate::arguments::{
    MailboxOptions, Options, Running, TaskAndMailboxOptions, TaskOptions, WorkOptions,
};
use crate::error::CliError;
use crate::report::{Report, finish};
use crate::trace::Trace;

/// The commands in the order of the help.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render a mesh or a generated scene
    #[command(after_help = render::EXAMPLES)]
    Render(Running<RenderArguments, TaskOptions>),
    /// Render a volume directly, by a transfer function
    #[command(after_help = volume::EXAMPLES)]
    Volume(Running<VolumeCommandArguments, TaskOptions>),
    /// Render surfaces of equal value in a volume
    #[command(after_help = isosurface::EXAMPLES)]
    Isosurface(Running<IsosurfaceArguments, TaskOptions>),
    /// Render surfaces of equal value on several nodes, which share the volume in bricks
    #[command(after_help = dirt::EXAMPLES)]
    Dirt(DirtArguments),
    /// Write a volume as a file of bricks, for volumes that are larger than the memory
    #[command(after_help = bricks::EXAMPLES)]
    Bricks(Running<BricksArguments, TaskOptions>),
    /// Show a volume or a mesh in a browser, where it can be turned and changed
    #[command(after_help = view::EXAMPLES, mut_arg("quiet", |quiet| quiet.help(view::QUIET)))]
    View(Running<ViewCommandArguments, TaskOptions>),
    /// Describe a mesh, a volume or a matrix: format, size, range and histogram
    #[command(after_help = info::EXAMPLES)]
    Info(Running<InfoArguments, TaskOptions>),
    /// Build a kd-tree and report time, nodes, leaves, depth, cost and memory
    #[command(after_help = kdtree::EXAMPLES)]
    Kdtree(Running<KdtreeArguments, TaskAndMailboxOptions>),
    /// Sort random numbers and report time, speedup, tasks and their size
    #[command(after_help = sort::EXAMPLES)]
    Sort(Running<SortArguments, TaskOptions>),
    /// Sweep over a matrix with Livermore kernel 23 and report the rate
    #[command(after_help = lk23::EXAMPLES)]
    Lk23(Running<Lk23Arguments, TaskAndMailboxOptions>),
    /// Multiply matrices and report the rate
    #[command(after_help = matmul::EXAMPLES)]
    Matmul(Running<MatmulArguments, TaskAndMailboxOptions>),
    /// Exchange messages between neighbours in a ring and report the time per iteration
    #[command(after_help = kneighbor::EXAMPLES)]
    Kneighbor(Running<KneighborArguments, MailboxOptions>),
    /// Send a message there and back and report the time of a round trip
    #[command(after_help = pingpong::EXAMPLES)]
    Pingpong(Running<PingpongArguments, MailboxOptions>),
    /// Run your own program on several nodes, each of which is a process
    #[command(after_help = launch::EXAMPLES)]
    Launch(LaunchArguments),
    /// Predict the frame time of a distributed ray tracer, by a model of the machine
    #[command(after_help = predict::EXAMPLES)]
    Predict(PredictArguments),
    /// Simulate nodes with user-level notification, event by event
    #[command(after_help = simulate::EXAMPLES, disable_help_subcommand = true)]
    Simulate(SimulateArguments),
    /// Explain a recording: where the time went, and what to do about it
    #[command(after_help = report::EXAMPLES)]
    Report(ReportArguments),
    /// Show the workers of running programs, again and again
    #[command(after_help = top::EXAMPLES)]
    Top(TopArguments),
    /// Show the topology of this machine, of a made-up one, or of one in an XML file
    #[command(after_help = topology::EXAMPLES)]
    Topology(TopologyArguments),
    /// Place parties on CPUs by the bytes that they exchange, and compare the cost with baselines
    #[command(after_help = place::EXAMPLES)]
    Place(PlaceArguments),
    /// List the pools that --pool accepts
    Pools(PoolsArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
}

/// The nodes on which a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nodes {
    /// The command starts no workers.
    None,
    /// The command runs on the workers of this process, whatever `RADDLE_NODES` says.
    One,
    /// The command runs on the nodes that its options or `RADDLE_NODES` ask for.
    Several,
}

/// A call of a command: how it is carried out, and what the program has to know beforehand.
pub(crate) struct Entry<'call> {
    /// The name of the command, and the field `command` of its JSON.
    name: &'static str,
    /// The name of the call in warnings.
    pub(crate) title: &'static str,
    pub(crate) nodes: Nodes,
    /// True if the process becomes another program, which inherits the signal mask of the process.
    pub(crate) becomes_program: bool,
    options: Options,
    run: Box<dyn FnOnce(&Options) -> Outcome + 'call>,
}

/// The report of a command; `None` in a process that was started as a node, which has nothing to
/// print.
type Outcome = Result<Option<Report>, CliError>;

impl<'call> Entry<'call> {
    /// Looks up the command of a call.
    pub(crate) fn of(call: &'call Call) -> Self {
        let Some(command) = &call.command else {
            return Self::without_command(call.options());
        };
        match command {
            Command::Render(it) => Self::with_workers("render", it, render::run),
            Command::Volume(it) => Self::with_workers("volume", it, volume::run),
            Command::Isosurface(it) => Self::with_workers("isosurface", it, isosurface::run),
            Command::Dirt(it) => {
                let entry = Self::new("dirt", it.options(), |options| dirt::run(it, options));
                entry.on(Nodes::Several)
            }
            Command::Bricks(it) => Self::with_workers("bricks", it, bricks::run),
            Command::View(it) => Self::with_workers("view", it, view::run),
            Command::Info(it) => Self::with_workers("info", it, info::run),
            Command::Kdtree(it) => Self::with_workers("kdtree", it, kdtree::run),
            Command::Sort(it) => Self::with_workers("sort", it, sort::run),
            Command::Lk23(it) => Self::with_workers("lk23", it, lk23::run),
            Command::Matmul(it) => Self::with_workers("matmul", it, matmul::run),
            Command::Kneighbor(it) => {
                Self::with_workers("kneighbor", it, kneighbor::run).on(Nodes::Several)
            }
            Command::Pingpong(it) => {
                Self::with_workers("pingpong", it, pingpong::run).on(Nodes::Several)
            }
            Command::Launch(it) => {
                let entry = Self::new("launch", Options::default(), |_| launch::run(it));
                entry.on(Nodes::Several).becoming_program()
            }
            Command::Predict(it) => {
                Self::new("predict", it.options(), |options| predict::run(it, options))
            }
            Command::Simulate(it) => Self::new("simulate", it.output.options(), |options| {
                simulate::run(it, options).map(Some)
            }),
            Command::Report(it) => Self::new("report", it.options(), |_| report::run(it).map(Some)),
            Command::Top(it) => Self::new("top", it.options(), |_| top::run(it)),
            Command::Topology(it) => {
                Self::new("topology", it.options(), |_| topology::run(it).map(Some))
            }
            Command::Place(it) => Self::new("place", it.options(), |_| place::run(it).map(Some)),
            Command::Pools(it) => Self::new("pools", it.options(), |_| Ok(Some(pools::run()))),
            Command::Completions(it) => Self::new("completions", Options::default(), |_| {
                Ok(Some(completions::run(it)))
            }),
        }
    }

    /// Creates the entry of a call without a command: `--show-binding` alone, or else the demo.
    fn without_command(options: Options) -> Self {
        let name = if options.show_binding {
            "binding"
        } else {
            "render"
        };
        let entry = Self::new(name, options, move |options| {
            options.runtime.check()?;
            let run = match options.show_binding {
                true => binding::run,
                false => demo::run,
            };
            run(options).map(Some)
        });
        Self {
            title: "raddle without a command",
            ..entry.on(Nodes::One)
        }
    }

    /// Creates the entry of a command that starts workers in this process.
    fn with_workers<A: clap::Args, W: WorkOptions, R: Into<Option<Report>> + 'call>(
        name: &'static str,
        call: &'call Running<A, W>,
        run: fn(&A, &Options) -> Result<R, CliError>,
    ) -> Self {
        let entry = Self::new(name, call.options(), move |options| {
            options.runtime.check()?;
            Ok(run(&call.arguments, options)?.into())
        });
        entry.on(Nodes::One)
    }

    fn new(
        name: &'static str,
        options: Options,
        run: impl FnOnce(&Options) -> Outcome + 'call,
    ) -> Self {
        Self {
            name,
            title: name,
            nodes: Nodes::None,
            becomes_program: false,
            options,
            run: Box::new(run),
        }
    }

    fn on(mut self, nodes: Nodes) -> Self {
        self.nodes = nodes;
        self
    }

    fn becoming_program(mut self) -> Self {
        self.becomes_program = true;
        self
    }

    /// Returns true if the call has `--quiet`, which also turns off warnings.
    pub(crate) fn is_quiet(&self) -> bool {
        self.options.quiet
    }

    /// Carries out the command and prints its report.
    ///
    /// # Errors
    /// Those of the command, and of printing.
    pub(crate) fn run(self) -> Result<(), CliError> {
        let trace = Trace::begin(&self.options)?;
        let outcome = match (self.run)(&self.options) {
            Ok(Some(report)) => finish(&report, self.name, &self.options),
            Ok(None) => Ok(()),
            Err(error) => Err(error),
        };
        if outcome.as_ref().is_err_and(CliError::is_of_the_call) {
            trace.discard();
            return outcome;
        }
        // The file shows a command that has failed, too.
        let written = trace.finish(&self.options);
        outcome.and(written)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_entry_has_the_name_of_its_command() {
        let calls = [
            "render --scene knot -o a.png",
            "volume a.nrrd -o a.png",
            "isosurface a.nrrd --iso 1 -o a.png",
            "dirt a.nrrd --iso 1 -o a.png",
            "bricks a.nrrd -o a.bricks",
            "view a.nrrd",
            "info a.ply",
            "kdtree a.ply",
            "sort 9",
            "lk23",
            "matmul",
            "kneighbor",
            "pingpong",
            "launch -n 2 true",
            "predict",
            "simulate tracer",
            "report a.pftrace",
            "top",
            "topology",
            "place a.csv",
            "pools",
            "completions bash",
        ];
        let name_of = |call: &str| call.split(' ').next().expect("a name").to_owned();
        for call in calls {
            let words = ["raddle"].into_iter().chain(call.split(' '));
            let parsed = parse(words.map(Into::into)).expect("a call");
            assert_eq!(Entry::of(&parsed).name, name_of(call));
        }
        let definition = call::definition();
        let declared = definition
            .get_subcommands()
            .map(|it| it.get_name().to_owned());
        assert_eq!(
            declared.collect::<BTreeSet<_>>(),
            calls.map(name_of).into_iter().collect()
        );
    }
}
