//! The time of a picture of surfaces, by several nodes that share a volume in bricks.
//!
//! - `local`: one node with a renderer for each CPU, so that all bricks are in its memory. Peer
//!   `isosurface`: the same picture of the same volume as one array, by as many workers.
//! - `nodes`: two nodes with one renderer each, and shared memory between them. Peer `one`: one
//!   node with one renderer.
//! - `ways`: two nodes, with caches that have space for a part of the bricks. `raddle` reads the
//!   memory of the home, and all bricks of a macrocell at once. Peers: `brick`, which fetches the
//!   bricks of each cell; `direct` and `handler`, the other ways of answering.
//!
//! The nodes are in one process, with mappings of their own as in several processes. The scene is
//! that of the study, scaled to 256³ voxels, at 1024 × 1024 pixels. All pictures have the same
//! bits.
//!
//! # Source
//! Parker, Efficient user-level event notification, section 6.1: the scene and the size.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use raddle::Runtime;
use raddle::net::bricks::Answers;
use raddle::net::{Node, TransportKind};
use raddle_graphics::dirt::{Content, DirtError, DirtOptions, Supervisor, work};
use raddle_graphics::picture::Picture;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::volume::isosurface::{self, BrickFetch, IsosurfaceOptions};
use raddle_graphics::volume::{
    BrickLayout, Formula, Macrocells, ValueRanges, Volume, VolumeBricks,
};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit, timed};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 3] = ["local", "nodes", "ways"];

const EDGE: usize = 256;
const ISOVALUE: f64 = 4_000.0;
const SIDE: u32 = 1_024;
/// The number of pictures of a sample.
const REPETITIONS: u64 = 3;
/// The bytes of a cache in the case `ways`: a part of the 21 MB of bricks of the other node.
const SMALL_CACHE: u64 = 2 << 20;

/// Runs the suite, always with two renderers in all, except for the peer with one.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    let volume = Formula::Spheres.volume([EDGE; 3]).map_err(failure)?;
    let volume = Arc::new(volume);
    let scene = IsosurfaceOptions {
        frame: FrameOptions {
            size: (SIDE, SIDE),
            ..FrameOptions::default()
        },
        ..IsosurfaceOptions::new(ISOVALUE)
    };
    let macrocells = Macrocells::of(&volume);
    let expected = isosurface::render(&volume, &macrocells, &scene, |_| ()).map_err(failure)?;
    let expected = seen(&expected.picture);
    for name in CASES {
        if !measurement.wants(name) {
            continue;
        }
        let case = Case {
            suite: "dirt",
            name,
            unit: Unit::Milliseconds,
            repetitions: REPETITIONS,
            file: None,
            expected,
            tolerance: 0,
        };
        let nodes = |name, options| by_nodes(name, &volume, &scene, options);
        let (mut raddle, mut peers) = match name {
            "local" => (
                nodes("raddle", DirtOptions::new(1, 2)),
                vec![by_one_array(&volume, &macrocells, &scene)],
            ),
            "nodes" => (
                nodes("raddle", DirtOptions::new(2, 1)),
                vec![nodes("one", DirtOptions::new(1, 1))],
            ),
            _ => {
                let way = |name, answers, fetch| {
                    let options = DirtOptions {
                        answers,
                        fetch,
                        cache_bytes: SMALL_CACHE,
                        ..DirtOptions::new(2, 1)
                    };
                    nodes(name, options)
                };
                let macrocell = BrickFetch::Macrocell;
                let peers = vec![
                    way("brick", Answers::Get, BrickFetch::Brick),
                    way("direct", Answers::Direct, macrocell),
                    way("handler", Answers::Handler, macrocell),
                ];
                (way("raddle", Answers::Get, macrocell), peers)
            }
        };
        measurement.compare(&case, &mut *raddle, &mut peers)?;
    }
    Ok(())
}

type Peer<'a> = Box<dyn Contender + 'a>;

/// Renders by nodes, which are started with the first sample.
fn by_nodes<'a>(
    name: &'static str,
    volume: &'a Arc<Volume>,
    scene: &'a IsosurfaceOptions,
    options: DirtOptions,
) -> Peer<'a> {
    let mut stage = None;
    Box::new(Local::new(name, move |request| {
        let stage = match &mut stage {
            Some(stage) => stage,
            none => none.insert(Stage::new(volume, &options)?),
        };
        let mut failed = None;
        let sample = timed(request.repetitions, || {
            match stage.supervisor.render(scene, |_, _, _| ()) {
                Ok(rendered) => seen(&rendered.picture),
                Err(error) => {
                    failed = Some(error);
                    0
                }
            }
        });
        match failed {
            Some(error) => Err(failure(error)),
            None => Ok(sample),
        }
    }))
}

/// Renders the volume as one array.
fn by_one_array<'a>(
    volume: &'a Volume,
    macrocells: &'a Macrocells,
    scene: &'a IsosurfaceOptions,
) -> Peer<'a> {
    let mut runtime = None;
    Box::new(Local::new("isosurface", move |request| {
        let runtime = match &mut runtime {
            Some(runtime) => runtime,
            none => none.insert(
                Runtime::builder()
                    .workers(request.workers)
                    .build()
                    .map_err(failure)?,
            ),
        };
        let mut failed = None;
        let sample = runtime.install(|| {
            timed(request.repetitions, || {
                match isosurface::render(volume, macrocells, scene, |_| ()) {
                    Ok(rendering) => seen(&rendering.picture),
                    Err(error) => {
                        failed = Some(error);
                        0
                    }
                }
            })
        });
        match failed {
            Some(error) => Err(failure(error)),
            None => Ok(sample),
        }
    }))
}

/// A supervisor, and nodes that render for it.
struct Stage {
    supervisor: Supervisor,
    _first: Node,
    /// Each ends when the node of the supervisor leaves, which is dropped before.
    _workers: Vec<JoinHandle<Result<(), DirtError>>>,
}

impl Stage {
    fn new(volume: &Arc<Volume>, options: &DirtOptions) -> Result<Self, BenchError> {
        let nodes = Node::in_process_by(TransportKind::Memory, options.shape());
        let mut nodes = nodes.map_err(failure)?;
        let first = nodes.remove(0);
        let kind = volume.voxels().kind();
        let layout = BrickLayout::new(volume.grid(), options.brick_edge, kind.bytes());
        let layout = layout.map_err(failure)?;
        let content = Content {
            grid: *volume.grid(),
            kind,
            ranges: Arc::new(ValueRanges::measured(Macrocells::of(volume))),
            source: Arc::new(VolumeBricks::new(Arc::clone(volume), layout)),
            is_in_memory: true,
            backup: None,
        };
        let start = |node: Node| {
            let (content, options) = (content.clone(), options.clone());
            thread::spawn(move || work(&node, content, &options, |_| ()))
        };
        let workers = nodes.into_iter().map(start).collect();
        let supervisor = Supervisor::start(&first, options).map_err(failure)?;
        Ok(Self {
            supervisor,
            _first: first,
            _workers: workers,
        })
    }
}

/// Returns a number that depends on all pixels.
fn seen(picture: &Picture) -> u64 {
    let values = picture.pixels().as_flattened().iter();
    values.fold(0, |sum: u64, value| {
        sum.rotate_left(5) ^ u64::from(value.to_bits())
    })
}

fn failure(error: impl std::fmt::Display) -> BenchError {
    BenchError::contender("raddle", error)
}
