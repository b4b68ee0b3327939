//! The command line of `raddle dirt`.

use std::path::{Path, PathBuf};
use std::thread;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use raddle::chare::nodes::JobEnvironment;
use raddle::net::bricks::{Answers, Associativity, HomeRule};
use raddle::net::{Launch, TransportKind};
use raddle_graphics::dirt::{DirtOptions, TileRule};
use raddle_graphics::volume::BRICK_EDGE_MAX;
use raddle_graphics::volume::isosurface::BrickFetch;
use raddle_topology::Affinity;

use super::characterise::CharacteriseArguments;
use crate::arguments::model::one_of;
use crate::arguments::nodes::{NODES_MAX, transport_parser};
use crate::arguments::values::Bytes;
use crate::arguments::{
    Options, OutputOptions, SurfaceArguments, ViewArguments, VolumeArguments, WorkerOptions,
};
use crate::commands::turn::FRAMES_MAX;
use crate::commands::view::PageArguments;
use crate::error::CliError;

pub(crate) const EXAMPLES: &str = "\
Examples:
  raddle dirt head.nrrd --iso 400 -o skull.png --nodes 4
  raddle dirt head.nrrd --iso 400 -o turn.png --frames 36 --nodes 2 --transport socket
  raddle dirt --scene spheres:256 --iso 4000 --iso-step 1000 --turn 5 --frames 10 -o a.png
  raddle dirt head.nrrd --iso 400 -o a.png --nodes 32 --transport threads --cache 1M --stats
  raddle dirt head.bricks --iso 400 -o skull.png --on-demand --cache 16M
  raddle dirt --scene spheres:2892 --on-demand --iso 4000 -o large.png --nodes 4
  raddle dirt head.nrrd --iso 400 --view --nodes 4
  mpirun --bind-to none -n 5 raddle dirt head.nrrd --iso 400 -o skull.png
  raddle dirt --scene spheres:256 --iso 4000 --frames 6 --turn 30 --size 512x512 --cache 1M \
    --characterise -o dirt.toml
  raddle predict --parameters dirt.toml --nodes 64 --renderers 1

A supervisor divides each picture into tiles and assigns them to the nodes. The volume is cut into
bricks, each of which has a home among the nodes. A node keeps the bricks of which it is the home,
and a cache of others. The picture is the same, bit by bit, as that of raddle isosurface, whatever
the number of nodes, their transport, the bricks and the caches. If a node ends, the others render
its tiles.

Pictures: .png, .ppm, .exr.";

const DIRT: &str = "Nodes and bricks";
/// The number of voxels along an edge of a brick, as in the study.
const EDGE: usize = 12;
const OUTPUT: &str = "Output";
/// The largest number of renderers of a node, in the type of a `clap` range.
const RENDERERS_MAX: i64 = 256;

/// `raddle dirt`.
#[derive(Debug, Clone, Args)]
pub(crate) struct DirtArguments {
    #[command(flatten)]
    pub(super) input: VolumeArguments,
    #[command(flatten)]
    pub(super) surfaces: SurfaceArguments,
    /// File for the picture; its extension (.png, .ppm or .exr) selects the format. With
    /// --characterise: file for the parameters (.toml)
    #[arg(short, long, value_name = "PICTURE", value_hint = ValueHint::FilePath)]
    #[arg(required_unless_present = "view_page")]
    output: Option<PathBuf>,
    /// Show the volume in a browser instead, as raddle view does; nodes can be taken out of the
    /// work and put back there
    #[arg(long = "view", conflicts_with_all = ["output", "frames", "turn", "iso_step", "stats"])]
    #[arg(conflicts_with_all = ["profile", "trace", "up", "clip", "samples", "size"])]
    pub(super) view_page: bool,
    #[command(flatten)]
    pub(super) page: PageArguments,
    /// Number of pictures
    #[arg(long, value_name = "N", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=FRAMES_MAX as i64))]
    pub(super) frames: u32,
    /// Turn of the camera from one picture to the next [default: a whole turn over all pictures]
    #[arg(long, value_name = "DEGREES", allow_negative_numbers = true)]
    turn: Option<f64>,
    /// Change of the values of all surfaces from one picture to the next
    #[arg(
        long,
        value_name = "VALUE",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    pub(super) iso_step: f64,
    #[command(flatten)]
    pub(super) view: ViewArguments,
    #[command(flatten)]
    pub(super) nodes: NodeArguments,
    #[command(flatten)]
    pub(super) characterise: CharacteriseArguments,
    /// CPUs of the renderers: auto, none, compact, scatter, or a list such as 0,2,4-7 [default:
    /// auto]
    #[arg(long, value_name = "WHERE", help_heading = DIRT)]
    affinity: Option<Affinity>,
    /// Print how the renderers were placed
    #[arg(long, help_heading = OUTPUT)]
    show_binding: bool,
    /// Print the work of each node and its counts of bricks
    #[arg(long, help_heading = OUTPUT)]
    stats: bool,
    /// Measure all functions of all threads, and print their calls and times
    #[arg(long, help_heading = OUTPUT)]
    pub(super) profile: bool,
    /// Write a timeline of all tiles to this file, for Perfetto and for raddle simulate tracer
    /// --tiles; as JSON for Chrome if its name ends with .json
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath, help_heading = OUTPUT)]
    pub(super) trace: Option<PathBuf>,
    #[command(flatten)]
    output_options: OutputOptions,
}

/// The nodes, their bricks, and their tiles.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = DIRT)]
pub(super) struct NodeArguments {
    /// Number of nodes that render; the supervisor is another one [default: RADDLE_NODES, or 2, or
    /// one fewer than mpirun has started]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..NODES_MAX))]
    pub(super) nodes: Option<u16>,
    /// Number of renderers of each node [default: the number of CPUs of this machine, divided by
    /// that of its nodes]
    #[arg(long, value_name = "R")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=RENDERERS_MAX))]
    pub(super) renderers: Option<u16>,
    /// Transport of messages and bricks; with threads, the nodes are threads of this process
    /// [default: shm, or mpi if mpirun has started this process]
    #[arg(long, value_name = "NAME", value_parser = transport_parser(TransportKind::ALL))]
    pub(super) transport: Option<TransportKind>,
    /// Voxels along an edge of a brick [default: 12, or that of a file of bricks]
    #[arg(long, value_name = "VOXELS")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=BRICK_EDGE_MAX as i64))]
    brick: Option<u16>,
    /// Bytes of the cache of each node, such as 64K, 16M or 1G
    #[arg(long, value_name = "BYTES", default_value = "64M")]
    cache: Bytes,
    /// Lines of the cache that a brick may use: one (direct), four (4-way), or any (clock)
    #[arg(long, value_name = "NAME", default_value = Associativity::default().name())]
    #[arg(value_parser = one_of(Associativity::ALL, Associativity::name))]
    lines: Associativity,
    /// Bricks that a ray requests: all that a macrocell needs, or those of a cell (brick)
    #[arg(long, value_name = "NAME", default_value = BrickFetch::default().name())]
    #[arg(value_parser = one_of(BrickFetch::ALL, BrickFetch::name))]
    fetch: BrickFetch,
    /// Homes of bricks: one after the other (cyclic), or a range of bricks each (blocks)
    #[arg(long, value_name = "RULE", default_value = "cyclic")]
    #[arg(value_parser = PossibleValuesParser::new(["cyclic", "blocks"]))]
    home: String,
    /// Way of a brick: by the thread that receives messages (handler), directly to the renderer,
    /// or by a read of the home's memory (get) [default: get, or direct with --on-demand]
    #[arg(long, value_name = "NAME", value_parser = one_of(Answers::ALL, Answers::name))]
    pub(super) answers: Option<Answers>,
    /// Read the bricks of a file of raddle bricks, or generate those of a --scene, when they are
    /// needed, so that the volume can be larger than the memory
    #[arg(long)]
    on_demand: bool,
    /// Edge of tiles in pixels, a multiple of 8: all with the same edge, or from the first to the
    /// last one of a picture
    #[arg(long, value_name = "EDGE|FIRST-LAST", default_value = "64-8", value_parser = tiles)]
    tile: TileRule,
    /// Tiles that a node is assigned in advance, for each of its renderers
    #[arg(long, value_name = "N", default_value_t = 2)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=64))]
    ahead: u16,
}

fn tiles(text: &str) -> Result<TileRule, String> {
    let edge = |text: &str, max: u32| {
        let edge = text.parse().ok();
        edge.filter(|&edge| (8..=max).contains(&edge) && edge % 8 == 0)
    };
    let rule = match text.split_once('-') {
        None => edge(text, 96).map(TileRule::Fixed),
        Some((first, last)) => {
            let is_power = |edge: &u32| edge.is_power_of_two();
            let both = edge(first, 64).zip(edge(last, 64));
            both.filter(|(first, last)| first >= last && is_power(first) && is_power(last))
                .map(|(first, last)| TileRule::Shrinking(first, last))
        }
    };
    rule.ok_or_else(|| {
        "expected a multiple of 8 up to 96, such as 16, or two powers of two from 64 to 8, such as \
         64-8"
            .to_owned()
    })
}

/// The origin of the bricks of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BrickOrigin {
    /// A volume that is read as a whole.
    Volume,
    /// A volume that is generated.
    Scene,
    /// A file of bricks with this edge.
    File {
        /// The file.
        path: PathBuf,
        /// The number of voxels along an edge.
        edge: usize,
    },
}

/// The nodes of a call.
#[derive(Debug, Clone)]
pub(super) struct Job {
    /// The transport.
    pub(super) kind: TransportKind,
    /// The options that all nodes share.
    pub(super) options: DirtOptions,
    /// True if bricks are generated when they are needed.
    pub(super) on_demand: bool,
}

impl DirtArguments {
    /// Returns the options for the output, and for the places of the renderers.
    pub(crate) fn options(&self) -> Options {
        Options {
            runtime: WorkerOptions {
                affinity: self.affinity.clone(),
                ..WorkerOptions::default()
            },
            show_binding: self.show_binding,
            stats: self.stats,
            ..self.output_options.options()
        }
    }

    /// Returns the file for the picture or the parameters. `--view` needs none.
    pub(super) fn output(&self) -> &Path {
        self.output.as_deref().unwrap_or(Path::new(""))
    }

    /// Returns the turn of the camera for a picture, in turns.
    pub(super) fn turns(&self, index: u32) -> f64 {
        let step = self.turn.map(|degrees| degrees / 360.0);
        f64::from(index) * step.unwrap_or(1.0 / f64::from(self.frames))
    }

    /// Checks the numbers that `clap` does not check.
    ///
    /// # Errors
    /// [`CliError::WrongCall`].
    pub(super) fn check(&self) -> Result<(), CliError> {
        let of_page = self.page.given();
        if !self.view_page && !of_page.is_empty() {
            return Err(CliError::WrongCall {
                options: of_page.join(" "),
                reason: "there is no page; expected --view".to_owned(),
            });
        }
        let numbers = [
            ("turn", self.turn.unwrap_or_default()),
            ("iso-step", self.iso_step),
        ];
        for (name, value) in numbers {
            if !value.is_finite() {
                return Err(CliError::WrongCall {
                    options: format!("--{name} {value}"),
                    reason: "expected a finite number".to_owned(),
                });
            }
        }
        self.surfaces.check(&self.view)
    }
}

impl NodeArguments {
    /// Returns the edge of a brick.
    fn brick_edge(&self, origin: &BrickOrigin) -> Result<usize, CliError> {
        let given = self.brick.map(usize::from);
        match origin {
            BrickOrigin::File { path, edge } => match given {
                Some(given) if given != *edge => Err(CliError::WrongCall {
                    options: format!("--brick {given}"),
                    reason: format!(
                        "{} has bricks with an edge of {edge}; expected the same",
                        path.display()
                    ),
                }),
                _ => Ok(*edge),
            },
            BrickOrigin::Volume if self.on_demand => Err(CliError::WrongCall {
                options: "--on-demand".to_owned(),
                reason: "the volume is read as a whole; expected a file that raddle bricks has \
                         written, or a --scene"
                    .to_owned(),
            }),
            BrickOrigin::Volume | BrickOrigin::Scene => Ok(given.unwrap_or(EDGE)),
        }
    }

    /// Returns the nodes that the options and the environment ask for.
    ///
    /// # Errors
    /// [`CliError::Job`] for a variable with a wrong value; [`CliError::WrongCall`] if there is no
    /// process for a supervisor besides the nodes.
    pub(super) fn job(&self, source: &BrickOrigin) -> Result<Job, CliError> {
        let brick_edge = self.brick_edge(source)?;
        let environment = JobEnvironment::read().map_err(|source| CliError::Job {
            what: "dirt".to_owned(),
            source,
        })?;
        let kind = self.transport.or(environment.transport).unwrap_or_default();
        let ranks = Launch::rank_count().filter(|_| kind.is_by_mpi());
        if ranks == Some(1) {
            return Err(CliError::WrongCall {
                options: "mpirun -n 1".to_owned(),
                reason: "the only process would be the supervisor; expected one more than the \
                         nodes that render"
                    .to_owned(),
            });
        }
        let of_environment = match ranks {
            Some(ranks) => Some(ranks - 1),
            None => environment.nodes,
        };
        let nodes = self.nodes.or(of_environment).unwrap_or(2);
        let here = Launch::local_rank_count().filter(|_| ranks.is_some());
        let here = usize::from(here.unwrap_or(nodes).clamp(1, nodes));
        let cpus = thread::available_parallelism().map_or(1, usize::from);
        // At most the number of CPUs, which is below 2¹⁶.
        let renderers = self.renderers.unwrap_or((cpus / here).max(1) as u16);
        let answers = match (self.answers, self.on_demand) {
            (Some(Answers::Get), true) => {
                return Err(CliError::WrongCall {
                    options: "--on-demand --answers get".to_owned(),
                    reason: "no node has the bricks in memory; expected direct or handler"
                        .to_owned(),
                });
            }
            (Some(answers), _) => answers,
            (None, true) => Answers::Direct,
            (None, false) => Answers::default(),
        };
        let homes = match &*self.home {
            "blocks" => HomeRule::Blocks,
            _ => HomeRule::Cyclic,
        };
        let options = DirtOptions {
            brick_edge,
            cache_bytes: self.cache.0 as u64,
            associativity: self.lines,
            answers,
            fetch: self.fetch,
            homes,
            tiles: self.tile,
            ahead: self.ahead.into(),
            is_oversubscribed: DirtOptions::is_oversubscribed(here, renderers),
            ..DirtOptions::new(nodes, renderers)
        };
        Ok(Job {
            kind,
            options,
            on_demand: self.on_demand,
        })
    }
}
