//! The options of the command line, and the text of their help.
//!
//! The commands themselves are listed in [`crate::commands`]. Options that only one small command
//! has are declared in the file of that command.

mod kdtree;
mod launch;
mod model;
mod nodes;
mod numerics;
mod options;
mod pingpong;
mod place;
mod render;
pub(crate) mod values;

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
