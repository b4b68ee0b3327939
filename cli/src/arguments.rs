//! The command line: the options, and the text of the help.
//!
//! The commands themselves are listed in [`crate::commands`]. Options that only one small command
//! has are declared in the file of that command.

mod kdtree;
mod launch;
mod model;
mod nodes;
mod numerics;
mod options;
mod parse;
mod pingpong;
mod place;
mod render;
pub(crate) mod values;

use clap::Parser;

use crate::commands::Command;

pub(crate) use self::kdtree::{BuilderChoice, KdtreeArguments};
pub(crate) use self::launch::LaunchArguments;
pub(crate) use self::model::{
    HandlerReceive, MachineArguments, PingpongProgram, PredictArguments, RunArguments,
    SimulateArguments, SimulatedProgram, SpeedsChoice, SymmetricProgram, TracerProgram,
};
pub(crate) use self::nodes::{KneighborArguments, Mode};
pub(crate) use self::numerics::{
    BlockPlacement, Lk23Arguments, MatmulArguments, ProgramArguments, sides,
};
pub(crate) use self::options::{Options, Running, WorkerOptions};
pub(crate) use self::parse::{command, parse};
pub(crate) use self::pingpong::{LayerChoice, PingpongArguments, WaitChoice};
pub(crate) use self::place::{PlaceArguments, PlaceFormat, ProgramChoice, SimulatedArguments};
pub(crate) use self::render::{InputArguments, RenderArguments};

/// The text below the help of each command.
pub(crate) mod examples {
    pub(crate) use super::kdtree::EXAMPLES as KDTREE;
    pub(crate) use super::launch::EXAMPLES as LAUNCH;
    pub(crate) use super::model::{PREDICT_EXAMPLES as PREDICT, SIMULATE_EXAMPLES as SIMULATE};
    pub(crate) use super::nodes::KNEIGHBOR_EXAMPLES as KNEIGHBOR;
    pub(crate) use super::numerics::{LK23_EXAMPLES as LK23, MATMUL_EXAMPLES as MATMUL};
    pub(crate) use super::pingpong::EXAMPLES as PINGPONG;
    pub(crate) use super::place::EXAMPLES as PLACE;
    pub(crate) use super::render::EXAMPLES as RENDER;
}

/// Larger numbers are a mistake, which is better reported at once than after a long time.
const ELEMENTS_MAX: i64 = 1_000_000;
const NEIGHBOURS_MAX: i64 = 100_000;

const EXAMPLES: &str = "\
Examples:
  raddle                                        render a generated scene, to have a look
  raddle render dragon.ply.zst -o dragon.png    a mesh, from a camera that is chosen for it
  raddle render --scene terrain:500000 -o t.exr --size 1920x1080 --samples 16
  raddle kdtree dragon.ply --check --repeat 5   build the tree only, and compare the builders
  raddle sort 2e7                               quicksort, and its speedup
  raddle lk23 --size 4096 --check               a stencil in waves, with ordered locations
  raddle matmul --size 2048                     a product whose blocks move from task to task
  raddle kneighbor --bytes 64K                  messages between neighbours in a ring
  raddle kneighbor --mode all --size all        the same between threads and between processes
  raddle pingpong                               the time of one message, there and back
  raddle pingpong --nodes 2                     the same from process to process
  raddle launch -n 4 ./program                  a program of yours on four processes
  raddle predict --nodes 256                    a ray tracer on nodes that need not exist
  raddle simulate pingpong                      a message between them, event by event
  raddle topology                               the machine, its caches and its CPUs
  raddle place traffic.csv                      place parties by the bytes that they exchange
  raddle place --program lk23                   the same for a program, with its predicted time
  raddle --show-binding --workers 4             where workers would run, and why

Environment: RADDLE_WORKERS, RADDLE_POOL, RADDLE_BLOCKS, RADDLE_VICTIMS, RADDLE_AFFINITY,
RADDLE_IDLE, RADDLE_TASK_MEMORY and RADDLE_MAILBOX replace the options of those names; an option
wins over its variable. RADDLE_SEEDS selects how new chares spread: stealing, random, ring, mesh or
hypercube. RADDLE_CLAIMS names a group of processes that do not use each other's CPUs.
RADDLE_NODES, RADDLE_TRANSPORT and RADDLE_PROGRESS are for kneighbor, pingpong and launched
programs; the other commands run on one node. RADDLE_PARAMETERS replaces --parameters. Any other
variable that begins with RADDLE_ is reported on standard error.

JSON: each command with --json prints one object on one line. Its number \"schema\" grows when a key
is removed or changes its meaning; keys end in their units (_s, _ms, _us, _ns, _bytes).

Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong call or variable.";

/// Runs irregular parallel programs: renders meshes, sorts, exchanges messages, shows the machine.
///
/// Without a command it renders a generated scene into the current folder.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// The command.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Options without a command. Options before a command belong to the command (see [`parse()`]).
    #[command(flatten)]
    pub(crate) options: Options,
}

#[cfg(test)]
mod tests;
