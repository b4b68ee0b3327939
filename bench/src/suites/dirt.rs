//! The time of a picture of surfaces, by several nodes that share a volume in bricks.
//!
//! - `local`: one node with a renderer for each CPU, so that all bricks are in its memory. Peer
//!   `isosurface`: the same picture of the same volume as one array, by as many workers.
//! - `nodes`: two nodes with one renderer each, and shared memory between them. Peer `one`: one
//!   node with one renderer.
//! - `ways`: two nodes, with caches that have space for a part of the bricks. `raddle` reads the
//!   memory of the home, and all bricks of a macrocell at once. Peers: `brick`, which fetches the
//!   bricks of each cell; `direct` and `handler`, the other ways of answering.
//! - `profile`: one thread with all bricks in memory, in a profile of its functions. The cost of
//!   the profile, by its own measure, is subtracted. Peer `plain`: the same without a profile.
//!
//! The nodes are in one process, with mappings of their own as in several processes. The scene is
//! that of the study, scaled to 256³ voxels, at 1024 × 1024 pixels. All pictures have the same
//! bits.
//!
//! # Source
//! Parker, Efficient user-level event notification, section 6.1: the scene and the size.

use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use raddle::Runtime;
use raddle::net::bricks::{Answers, BrickOptions, BrickReader, Bricks, Homes, Store};
use raddle::net::{Node, Shape, TransportKind};
use raddle_graphics::dirt::{Content, DirtError, DirtOptions, Supervisor, work};
use raddle_graphics::picture::Picture;
use raddle_graphics::render::{FrameOptions, Part};
use raddle_graphics::volume::isosurface::{
    self, BrickAccess, BrickFetch, IsosurfaceOptions, Prepared,
};
use raddle_graphics::volume::{
    BrickLayout, Formula, Macrocells, ValueRanges, Volume, VolumeBricks, VoxelKind,
};
use raddle_trace::profile::{Activity, NoProfile, Profiler, ThreadProfile};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit, timed};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 4] = ["local", "nodes", "ways", "profile"];

const EDGE: usize = 256;
const ISOVALUE: f64 = 4_000.0;
const SIDE: u32 = 1_024;
/// The edge of the tiles of the case `profile`.
const TILE: u32 = 64;
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
            "profile" => (
                by_one_thread("raddle", &volume, &scene, true),
                vec![by_one_thread("plain", &volume, &scene, false)],
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
            match stage.supervisor.render(scene, |_, _| ()) {
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

/// Renders by one thread of one node, and may profile it.
fn by_one_thread<'a>(
    name: &'static str,
    volume: &'a Arc<Volume>,
    scene: &'a IsosurfaceOptions,
    is_profiled: bool,
) -> Peer<'a> {
    let mut alone = None;
    Box::new(Local::new(name, move |request| {
        let alone: &mut Alone = match &mut alone {
            Some(alone) => alone,
            none => none.insert(Alone::new(volume, scene)?),
        };
        let mut sample = Sample {
            time: Duration::ZERO,
            result: 0,
        };
        for _ in 0..request.repetitions {
            let (picture, time) = match is_profiled {
                true => {
                    let profile = ThreadProfile::begin("profile", Activity::Compute);
                    let (picture, profile) = alone.render(profile)?;
                    let ns = profile.finish().total_ns();
                    (picture, Duration::from_nanos(ns.max(0.0) as u64))
                }
                false => {
                    let begun = Instant::now();
                    let (picture, NoProfile) = alone.render(NoProfile)?;
                    (picture, begun.elapsed())
                }
            };
            sample.time += time;
            sample.result = seen(&picture);
        }
        Ok(sample)
    }))
}

/// A node that has all bricks, and a picture of them.
struct Alone {
    _node: Node,
    /// The reader of the bricks, except while a picture is rendered.
    reader: Option<BrickReader>,
    layout: BrickLayout,
    kind: VoxelKind,
    prepared: Prepared,
}

impl Alone {
    fn new(volume: &Volume, scene: &IsosurfaceOptions) -> Result<Self, BenchError> {
        let options = DirtOptions::new(1, 1);
        let kind = volume.voxels().kind();
        let layout = BrickLayout::new(volume.grid(), options.brick_edge, kind.bytes());
        let layout = layout.map_err(failure)?;
        let shape = Shape { nodes: 1, ports: 2 };
        let nodes = Node::in_process_by(TransportKind::Memory, shape);
        let node = nodes.map_err(failure)?.remove(0);
        let (bytes, users) = (layout.brick_bytes(), vec![node.id()]);
        let homes = Homes::new(users.clone(), layout.brick_count(), options.homes.clone());
        let homes = homes.map_err(failure)?;
        let len = layout.brick_count() as usize * bytes;
        let filled = node.read_only_segment(len, |all| {
            for (key, place) in homes.keys_of(0).zip(all.chunks_exact_mut(bytes)) {
                layout.write_any(volume.voxels(), key, place);
            }
        });
        let store = Some(Store::Memory(filled.map_err(failure)?.0));
        let properties = BrickOptions {
            brick_bytes: bytes,
            cache_bytes: options.cache_bytes,
            associativity: options.associativity,
            answers: options.answers,
            server_port: 0,
        };
        let bricks = Bricks::start(&node, &users, homes, store, None, properties);
        let macrocells = Macrocells::of(volume);
        let prepared = Prepared::new(volume.grid(), &macrocells, scene.clone());
        Ok(Self {
            reader: Some(bricks.map_err(failure)?.reader(node.port(1))),
            _node: node,
            layout,
            kind,
            prepared: prepared.map_err(failure)?,
        })
    }

    /// Renders the picture tile by tile.
    fn render<P: Profiler>(&mut self, profiler: P) -> Result<(Picture, P), BenchError> {
        let reader = self.reader.take();
        let reader = reader.ok_or_else(|| failure("the last picture has failed"))?;
        let fetch = BrickFetch::default();
        let mut access = BrickAccess::new(reader, self.layout, self.kind, fetch, profiler);
        let mut picture = Picture::new(SIDE, SIDE);
        let mut pixels = vec![[0.0; 3]; (TILE * TILE) as usize];
        for tile in 0..(SIDE / TILE) * (SIDE / TILE) {
            let corner = (tile % (SIDE / TILE) * TILE, tile / (SIDE / TILE) * TILE);
            let part = Part {
                corner,
                size: (TILE, TILE),
            };
            pixels.fill([0.0; 3]);
            let rendered = self.prepared.render_part(&mut access, part, &mut pixels);
            rendered.map_err(failure)?;
            for (row, pixels) in pixels.chunks_exact(TILE as usize).enumerate() {
                let first = (corner.1 as usize + row) * SIDE as usize + corner.0 as usize;
                picture.pixels_mut()[first..first + pixels.len()].copy_from_slice(pixels);
            }
        }
        let (reader, profiler) = access.into_parts();
        self.reader = Some(reader);
        Ok((picture, profiler))
    }
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
