//! Pictures of volumes.
//!
//! - `study-full`, `study-adaptive`: the four frames of the task pool study, exactly as SPLASH-2
//!   renders them, in 35,344 tasks. The peer is the original's time in yards, which is a constant
//!   times a sort that runs alternately (peer `yard`).
//! - `pools-full`, `pools-adaptive`: the same frames with each tile as a task, on every pool, and
//!   by the original's own scheme (`splash`: a counter for each band of tiles). Compare with figure
//!   10 and table 2 of the study. As in the suite `pools`, `base` is a stack on one thread.
//! - `direct-NAME`: direct rendering at 512 × 512 on one thread, with a step of 0.5 voxels, against
//!   VTK with the same transfer function.
//! - `surface-NAME-EDGE`: a surface on one thread, against OpenVDB (a level set that is built
//!   beforehand), VTK, Embree on the extracted mesh, and Embree with extraction and build for each
//!   frame (`embree-new`). Raddle prepares the isovalue for each frame. `-hits` is the number of
//!   rays that hit the surface, by each program.
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, section 4.

use std::cell::Cell;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;

use raddle_graphics::render::FrameOptions;
use raddle_graphics::volume::direct::{self, DirectOptions};
use raddle_graphics::volume::isosurface::{self, IsosurfaceOptions};
use raddle_graphics::volume::{Histogram, Macrocells, TransferFunction, Volume, Voxels};

use self::frames::Frames;
use crate::chart::{self, Chart};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Request, Sample, Unit, timed};
use crate::peer::{self, OPENVDB, Peer, YARD};
use crate::pools::RaddlePools;
use crate::record::Record;
use crate::suites::{Measurement, pools as task_pools};

mod frames;

const SUITE: &str = "volumes";

/// The names of the cases.
pub(crate) const CASES: [&str; 17] = [
    "study-full",
    "study-adaptive",
    "pools-full",
    "pools-adaptive",
    "direct-head",
    "direct-engine",
    "direct-aneurism",
    "surface-aneurism-512",
    "surface-heptane-512",
    "surface-engine-512",
    "surface-cthead-512",
    "surface-walnut-512",
    "surface-aneurism-1024",
    "surface-heptane-1024",
    "surface-engine-1024",
    "surface-cthead-1024",
    "surface-walnut-1024",
];

/// The cases that a chart shows.
pub(crate) const DRAWN: [&str; 2] = ["pools-full", "pools-adaptive"];

/// The file, the isovalue and the spacing along z of each volume.
const VOLUMES: [(&str, &str, f64, f64); 6] = [
    ("head", "head.den.zst", 0.0, 1.0),
    ("engine", "engine_256x256x128_u8.raw.zst", 80.0, 1.0),
    ("aneurism", "aneurism_256x256x256_u8.raw.zst", 60.0, 1.0),
    ("heptane", "heptane_302x302x302_u8.raw.zst", 60.0, 1.0),
    (
        "cthead",
        "unc_cthead_256x256x113_i16le.raw.zst",
        1150.0,
        2.0,
    ),
    ("walnut", "walnut_ct_128x96x114_u16le.raw.zst", 9000.0, 1.0),
];

/// The times of the original for the four frames, in yards.
const YARDS_FULL: f64 = 0.081;
const YARDS_ADAPTIVE: f64 = 0.045;
/// The edge of a picture by direct rendering.
const DIRECT_EDGE: u32 = 512;
/// The share of pixels by which the hits of peers may differ.
const TOLERANCE: f64 = 0.05;
/// The share for VTK, which rounds values to its table of opacities, and for OpenVDB, which loses
/// thin parts and surfaces that end at the border of the volume.
const TOLERANCE_ROUNDING: f64 = 0.35;

/// Runs the suite.
///
/// # Errors
/// [`BenchError::NoData`] if a volume is missing; and the errors of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    for name in CASES {
        if !measurement.wants(name) {
            continue;
        }
        let words: Vec<&str> = name.split('-').collect();
        match words[..] {
            ["study", kind] => study(measurement, name, kind == "adaptive")?,
            ["pools", kind] => pools(measurement, name, kind == "adaptive")?,
            ["direct", volume] => direct_rendering(measurement, name, volume)?,
            ["surface", volume, edge] => surface(measurement, name, volume, edge)?,
            _ => {}
        }
    }
    Ok(())
}

fn failed(error: impl std::fmt::Display) -> BenchError {
    BenchError::contender("raddle", error)
}

/// Returns a case in which every contender computes the same result.
fn case_of(name: &str, expected: u64) -> Case<'_> {
    Case {
        suite: SUITE,
        name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected,
        tolerance: 0,
    }
}

/// Loads a volume, and returns its isovalue.
fn load(name: &str) -> Result<(Volume, f64), BenchError> {
    let found = VOLUMES.iter().find(|volume| volume.0 == name);
    let (_, file, isovalue, depth) = *found.unwrap_or(&VOLUMES[0]);
    let path = super::data_folder().join("volume").join(file);
    super::check_data(&path)?;
    let volume = Volume::load(&path)?;
    let (spacing, direction) = (volume.spacing().with_z(depth), volume.direction());
    let volume = volume.with_geometry(spacing, glam::DVec3::ZERO, direction);
    Ok((volume.map_err(failed)?, isovalue))
}

/// Compares the four frames with the time of the original.
fn study(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    is_adaptive: bool,
) -> Result<(), BenchError> {
    let frames = Frames::new(&load("head")?.0, is_adaptive)?;
    let yards = match is_adaptive {
        true => YARDS_ADAPTIVE,
        false => YARDS_FULL,
    };
    let mut pools = RaddlePools::default();
    let expected = pools.install(1, || frames.render())?;
    let case = case_of(name, expected);
    let mut raddle = Local::new("raddle", |request| {
        pools.install(request.workers, || {
            timed(request.repetitions, || frames.render())
        })
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = Vec::new();
    match Peer::start(YARD) {
        Ok(yard) => peers.push(Box::new(Original {
            yard,
            yards,
            expected,
        })),
        Err(failure) => (measurement.warn)(failure.to_string()),
    }
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Compares all pools, and the original's scheme, on the tiles of the four frames.
fn pools(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    is_adaptive: bool,
) -> Result<(), BenchError> {
    let frames = Frames::new(&load("head")?.0, is_adaptive)?;
    let bands = Box::new(frames.bands());
    task_pools::compare_pools(measurement, SUITE, name, &frames, vec![bands])
}

/// Returns true if the case compares the pools that `--pool` can name.
pub(crate) fn takes_pool(case: &str) -> bool {
    DRAWN.contains(&case)
}

/// Returns the charts of the records: the speedups of the pools.
pub(crate) fn charts(records: &[Record]) -> Vec<Chart<'_>> {
    let speedups = Chart::of_speedups(records, chart::BASE);
    let speedups = std::iter::once(speedups);
    speedups.filter(|chart| !chart.cases().is_empty()).collect()
}

/// The original program, of which only the time in yards is known.
struct Original {
    yard: Peer,
    yards: f64,
    /// The result that it would have.
    expected: u64,
}

impl Contender for Original {
    fn name(&self) -> &str {
        "original"
    }

    fn process(&self) -> Option<u32> {
        self.yard.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        let yard = self.yard.measure(request)?;
        Ok(Sample {
            time: yard.time.mul_f64(self.yards),
            // The sort checks its own result.
            result: if yard.result == 1 { self.expected } else { 0 },
        })
    }
}

/// A peer with a number of hits that is only near the expected one.
struct Near {
    inner: Box<dyn Contender>,
    expected: u64,
    /// The permitted difference, as a share.
    tolerance: f64,
    /// The last number of hits.
    found: Rc<Cell<u64>>,
}

impl Contender for Near {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn process(&self) -> Option<u32> {
        self.inner.process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        let sample = self.inner.measure(request)?;
        self.found.set(sample.result);
        let difference = sample.result.abs_diff(self.expected) as f64;
        let is_near = difference <= self.tolerance * self.expected as f64;
        let result = if is_near {
            self.expected
        } else {
            sample.result
        };
        Ok(Sample { result, ..sample })
    }
}

/// Returns the record of the hits in a picture.
fn hits_record(
    measurement: &Measurement<'_>,
    name: &str,
    contender: &str,
    hits: u64,
    expected: u64,
) -> Record {
    Record {
        suite: SUITE.to_owned(),
        case: format!("{name}-hits"),
        contender: contender.to_owned(),
        workers: 1,
        unit: "hits".to_owned(),
        median: hits as f64,
        min: hits as f64,
        max: hits as f64,
        pairs: 1,
        ratio: (contender != "raddle").then(|| expected as f64 / hits as f64),
        ratio_range: None,
        machine: measurement.environment.machine.clone(),
        mode: "one-thread".to_owned(),
        commit: measurement.environment.commit.clone(),
    }
}

/// Compares direct rendering with VTK.
fn direct_rendering(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    volume_name: &str,
) -> Result<(), BenchError> {
    let (volume, _) = load(volume_name)?;
    let macrocells = Macrocells::of(&volume);
    let histogram = Histogram::of(&volume, macrocells.range(), 256);
    let transfer = TransferFunction::of_histogram(&histogram);
    let mut facts = String::new();
    for point in transfer.points() {
        let [red, green, blue] = point.colour;
        let (value, opacity) = (point.value, point.opacity);
        // Writing to a string cannot fail.
        let _infallible = writeln!(facts, "point {value} {red} {green} {blue} {opacity}");
    }
    let options = DirectOptions {
        frame: frame(DIRECT_EDGE),
        ..DirectOptions::new(transfer)
    };
    let picture = || {
        let rendering = direct::render(&volume, &macrocells, &options, |_| ());
        rendering.map_or(0, |rendering| rendering.counts.hits)
    };
    compare(
        measurement,
        name,
        &volume,
        &facts,
        DIRECT_EDGE,
        &["vtk"],
        picture,
    )
}

/// Compares a surface with all peers.
fn surface(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    volume_name: &str,
    edge: &str,
) -> Result<(), BenchError> {
    let (volume, isovalue) = load(volume_name)?;
    let edge = edge.parse().map_err(failed)?;
    let macrocells = Macrocells::of(&volume);
    let options = IsosurfaceOptions {
        frame: frame(edge),
        ..IsosurfaceOptions::new(isovalue)
    };
    let picture = || {
        let rendering = isosurface::render(&volume, &macrocells, &options, |_| ());
        rendering.map_or(0, |rendering| rendering.counts.hits)
    };
    let peers = ["openvdb", "vtk", "embree", "embree-new"];
    let facts = format!("iso {isovalue}\n");
    compare(measurement, name, &volume, &facts, edge, &peers, picture)
}

fn frame(edge: u32) -> FrameOptions {
    FrameOptions {
        size: (edge, edge),
        ..FrameOptions::default()
    }
}

/// Compares pictures on one thread. The result is the number of hits.
fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    volume: &Volume,
    facts: &str,
    edge: u32,
    peers: &[&'static str],
    picture: impl Fn() -> u64 + Sync,
) -> Result<(), BenchError> {
    let input = Input::write(name, volume, facts, edge)?;
    let mut pools = RaddlePools::default();
    let expected = pools.install(1, &picture)?;
    let case = Case {
        file: Some(&input.facts),
        ..case_of(name, expected)
    };
    let mut raddle = Local::new("raddle", |request| {
        pools.install(request.workers, || timed(request.repetitions, &picture))
    });
    let mut others: Vec<Box<dyn Contender + '_>> = Vec::new();
    let mut hits = vec![("raddle", Rc::new(Cell::new(expected)))];
    for &peer in peers {
        let (inner, tolerance) = match peer {
            "openvdb" => (measurement.peer(OPENVDB), TOLERANCE_ROUNDING),
            "vtk" => (measurement.python_peer(peer), TOLERANCE_ROUNDING),
            _ => (measurement.python_peer(peer), TOLERANCE),
        };
        if let Some(inner) = inner {
            let found = Rc::new(Cell::new(0));
            hits.push((peer, Rc::clone(&found)));
            others.push(Box::new(Near {
                inner,
                expected,
                tolerance,
                found,
            }));
        }
    }
    measurement.compare_on(1, &case, &mut raddle, &mut others)?;
    let records = hits
        .iter()
        .map(|(contender, found)| hits_record(measurement, name, contender, found.get(), expected));
    let records = records.collect();
    measurement.add(records)
}

/// The files for the peers, which are removed at the end.
struct Input {
    facts: PathBuf,
    raw: PathBuf,
}

impl Input {
    /// Writes the voxels, and the facts that `peers/volumes.py` describes.
    fn write(name: &str, volume: &Volume, facts: &str, edge: u32) -> Result<Self, BenchError> {
        let folder = peer::program_folder();
        let stem = format!("{name}-{}", std::process::id());
        let input = Self {
            facts: folder.join(format!("{stem}.txt")),
            raw: folder.join(format!("{stem}.raw")),
        };
        let bytes: Vec<u8> = match volume.voxels() {
            Voxels::U8(list) => list.clone(),
            Voxels::U16(list) => list.iter().flat_map(|voxel| voxel.to_le_bytes()).collect(),
            Voxels::I16(list) => list.iter().flat_map(|voxel| voxel.to_le_bytes()).collect(),
            other => return Err(failed(format!("voxels of type {}", other.type_name()))),
        };
        let camera = volume
            .camera(&raddle_graphics::camera::View::default())
            .map_err(failed)?;
        let [x, y, z] = volume.size();
        let (spacing, eye, at) = (volume.spacing(), camera.eye(), volume.bounds().center());
        let text = format!(
            "raw {} {} {x} {y} {z}\nspacing {} {} {}\npixels {edge}\neye {} {} {}\nat {} {} {}\n\
             up 0 0 1\nfov {}\n{facts}",
            input.raw.display(),
            volume.voxels().type_name(),
            spacing.x,
            spacing.y,
            spacing.z,
            eye.x,
            eye.y,
            eye.z,
            at.x,
            at.y,
            at.z,
            camera.fov_degrees(),
        );
        fs::create_dir_all(&folder)
            .and_then(|()| fs::write(&input.raw, bytes))
            .and_then(|()| fs::write(&input.facts, text))
            .map_err(|source| BenchError::System {
                what: folder.display().to_string(),
                source,
            })?;
        Ok(input)
    }
}

impl Drop for Input {
    fn drop(&mut self) {
        // Files that are left over only take space.
        let _gone = fs::remove_file(&self.raw);
        let _gone = fs::remove_file(&self.facts);
    }
}
