//! The command line: commands, options and what the help says about them.

mod kdtree;
mod launch;
mod model;
mod nodes;
mod numerics;
mod options;
mod parse;
mod pingpong;
mod place;
pub(crate) mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;
use glam::{DVec3, Vec3};

use self::values::{SceneChoice, Size};

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

/// More are a mistake, which is better told at once than after a long time.
const ELEMENTS_MAX: i64 = 1_000_000;
const NEIGHBOURS_MAX: i64 = 100_000;

const EXAMPLES: &str = "\
Examples:
  raddle                                        render a generated scene, to have a look
  raddle render dragon.ply.zst -o dragon.png    a mesh, from a camera that is chosen for it
  raddle render --scene terrain:500000 -o t.exr --size 1920x1080 --samples 16
  raddle kdtree dragon.ply --check --repeat 5   build the tree only, and compare the builders
  raddle sort 2e7                               quicksort, and its speedup
  raddle lk23 --size 4096 --check               a stencil in waves, over ordered locations
  raddle matmul --size 2048                     a product whose blocks go from task to task
  raddle kneighbor --bytes 64K                  messages between neighbours in a ring
  raddle kneighbor --mode all --size all        the same between threads and between processes
  raddle pingpong                               what one message takes, there and back
  raddle pingpong --nodes 2                     the same from process to process
  raddle launch -n 4 ./program                  a program of yours on four processes
  raddle predict --nodes 256                    a ray tracer on nodes that are not there
  raddle simulate pingpong                      a message between them, event by event
  raddle topology                               the machine, its caches and its CPUs
  raddle place traffic.csv                      who should run where, by who talks to whom
  raddle place --program lk23                   the same for a program, and how long it would take
  raddle --show-binding --workers 4             where workers would run, and why

Environment: RADDLE_WORKERS, RADDLE_POOL, RADDLE_BLOCKS, RADDLE_AFFINITY,
RADDLE_IDLE, RADDLE_TASK_MEMORY and RADDLE_MAILBOX stand in for the options of those names; an
option wins over its variable. RADDLE_SEEDS says how new chares spread: stealing, random, ring,
mesh or hypercube. RADDLE_CLAIMS names the group of processes that leave each other's CPUs alone.
RADDLE_NODES, RADDLE_TRANSPORT and RADDLE_PROGRESS are for kneighbor, pingpong and launched
programs; the other commands run on one node. RADDLE_PARAMETERS stands in for --parameters. A
variable of another name that begins with RADDLE_ is reported on standard error.

JSON: each command with --json prints one object on one line. Its number \"schema\" grows when a key
goes, or means something else; keys end in their units (_s, _ms, _us, _ns, _bytes).

Exit codes: 0 done, 1 failed (one line on standard error says why), 2 wrong call or variable.";

const RENDER_EXAMPLES: &str = "\
Examples:
  raddle render bunny.obj -o bunny.png
  raddle render --scene flake -o flake.png --size 1280x720 --samples 16
  raddle render sponza.glb -o hall.png --eye=-10,2,0 --look-at=0,2,0 --fov 70
  raddle render dragon.ply.zst -o dragon.exr --workers 2 --stats

Meshes: PLY, OBJ, STL and binary glTF, each also as .gz or .zst. Pictures: .png, .ppm, .exr.";

const SORT_EXAMPLES: &str = "\
Examples:
  raddle sort 2e7
  raddle sort 1e8 --seed 7 --repeat 11 --stats
  raddle sort 1e7 --tasks --pool central --workers 8 --json

The numbers are 32-bit integers. The speedup that is printed beside the measured one is
N log N / T(N, p) for T(N, p) = 2 N (1 - 1/2^ceil(log p)) + N/p (log N - ceil(log p)).";

const TOPOLOGY_EXAMPLES: &str = "\
Examples:
  raddle topology
  raddle topology --format svg -o machine.svg
  raddle topology --synthetic \"numa:2 core:4 pu:2\"
  raddle topology --xml other-machine.xml --format json";

/// Runs irregular parallel programs: renders meshes, sorts, exchanges messages, shows the machine.
///
/// Without a command it renders a generated scene into the current folder.
#[derive(Debug, Parser)]
#[command(name = "raddle", version, after_help = EXAMPLES, max_term_width = 100)]
#[command(disable_help_subcommand = true)]
pub(crate) struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
    /// Options without a command; those before one are read as its own (see [`parse()`]).
    #[command(flatten)]
    pub(crate) options: Options,
}

/// What there is to do.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Render a mesh or a generated scene
    #[command(after_help = RENDER_EXAMPLES)]
    Render(Running<RenderArguments>),
    /// Build a kd-tree and report time, nodes, leaves, depth, cost and memory
    #[command(after_help = kdtree::EXAMPLES)]
    Kdtree(Running<KdtreeArguments>),
    /// Sort random numbers and report time, speedup, tasks and their size
    #[command(after_help = SORT_EXAMPLES)]
    Sort(Running<SortArguments>),
    /// Sweep over a matrix by Livermore kernel 23, and report the rate
    #[command(after_help = numerics::LK23_EXAMPLES)]
    Lk23(Running<Lk23Arguments>),
    /// Multiply matrices, and report the rate
    #[command(after_help = numerics::MATMUL_EXAMPLES)]
    Matmul(Running<MatmulArguments>),
    /// Exchange messages between neighbours in a ring, and report what an iteration takes
    #[command(after_help = nodes::KNEIGHBOR_EXAMPLES)]
    Kneighbor(Running<KneighborArguments>),
    /// Send one message there and back, and report what that takes
    #[command(after_help = pingpong::EXAMPLES)]
    Pingpong(Running<PingpongArguments>),
    /// Run a program of yours on several nodes, which are processes
    #[command(after_help = launch::EXAMPLES)]
    Launch(LaunchArguments),
    /// Predict how long a frame of a distributed ray tracer takes, on a machine that need not exist
    #[command(after_help = model::PREDICT_EXAMPLES)]
    Predict(PredictArguments),
    /// Simulate nodes with user-level notification, event by event
    #[command(after_help = model::SIMULATE_EXAMPLES, disable_help_subcommand = true)]
    Simulate(SimulateArguments),
    /// Show this machine, a synthetic one or one from an XML file
    #[command(after_help = TOPOLOGY_EXAMPLES)]
    Topology(TopologyArguments),
    /// Place parties by the bytes that they exchange, and report what that costs beside the baselines
    #[command(after_help = place::EXAMPLES)]
    Place(PlaceArguments),
    /// List the pools that --pool knows
    Pools(PoolsArguments),
    /// Print a completion script for a shell
    Completions(CompletionsArguments),
}

/// Where the triangles come from.
#[derive(Debug, Clone, Args)]
#[group(id = "input", required = true, multiple = false)]
pub(crate) struct InputArguments {
    /// A mesh: PLY, OBJ, STL or binary glTF, also as .gz or .zst
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    /// A generated scene instead: flake, terrain or knot, with about so many triangles
    #[arg(long, value_name = "NAME[:TRIANGLES]")]
    pub(crate) scene: Option<SceneChoice>,
}

/// `raddle render`.
#[derive(Debug, Clone, Args)]
pub(crate) struct RenderArguments {
    #[command(flatten)]
    pub(crate) input: InputArguments,
    /// The picture; its extension (.png, .ppm, .exr) chooses the format
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    pub(crate) output: PathBuf,
    /// Width and height in pixels
    #[arg(long, value_name = "WxH", default_value = "1024x768")]
    pub(crate) size: Size,
    /// Samples a pixel
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) samples: u32,
    /// Where the camera stands [default: chosen so that the mesh fills the picture]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) eye: Option<DVec3>,
    /// What the camera looks at [default: the middle of the mesh]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::vector, allow_hyphen_values = true)]
    pub(crate) look_at: Option<DVec3>,
    /// Which way is up [default: 0,0,1 for STL, which is made upwards along z, 0,1,0 for all else]
    #[arg(long, value_name = "X,Y,Z", value_parser = values::direction, allow_hyphen_values = true)]
    pub(crate) up: Option<Vec3>,
    /// Vertical field of view in degrees [default: 32, or 68 within a room]
    #[arg(long, value_name = "DEGREES", value_parser = values::field_of_view)]
    pub(crate) fov: Option<f32>,
}

/// `raddle sort`.
#[derive(Debug, Clone, Args)]
pub(crate) struct SortArguments {
    /// How many numbers, such as 20000000 or 2e7
    #[arg(value_name = "N", value_parser = values::number_count)]
    pub(crate) count: usize,
    /// Where the numbers come from: the same seed, the same numbers
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub(crate) seed: u64,
    /// Parts of at most so many numbers are sorted by one task
    #[arg(long, value_name = "C", default_value = "1000")]
    pub(crate) cutoff: NonZeroUsize,
    /// Sort so often and report median, smallest and largest time
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(crate) repeat: u32,
    /// Make a pool task of every part, which is what --pool is about, instead of joins that become tasks when somebody asks
    #[arg(long)]
    pub(crate) tasks: bool,
}

/// How a topology is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TopologyFormat {
    /// An indented outline
    Text,
    /// A picture of nested boxes
    Svg,
    /// Everything that is known
    Json,
}

/// `raddle topology`.
#[derive(Debug, Clone, Args)]
pub(crate) struct TopologyArguments {
    /// A made-up machine, such as "numa:2 core:4 pu:2"
    #[arg(long, value_name = "DESCRIPTION", conflicts_with = "xml")]
    pub(crate) synthetic: Option<String>,
    /// A machine that hwloc wrote to an XML file
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) xml: Option<PathBuf>,
    /// How to draw it [default: text]
    #[arg(long, value_enum, default_value_t = TopologyFormat::Text, hide_default_value = true)]
    pub(crate) format: TopologyFormat,
    /// Print one JSON object on one line; --format json indents it
    #[arg(long, conflicts_with = "format")]
    pub(crate) json: bool,
    /// Write to this file instead of standard output
    #[arg(short, long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
}

/// `raddle pools`.
#[derive(Debug, Clone, Args)]
pub(crate) struct PoolsArguments {
    /// Print one JSON object instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// `raddle completions`.
#[derive(Debug, Clone, Args)]
pub(crate) struct CompletionsArguments {
    /// The shell
    pub(crate) shell: Shell,
}

#[cfg(test)]
mod tests;
