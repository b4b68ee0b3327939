//! The speed of finding ray hits: `bunny`, primary rays at 1024 × 1024 on one thread.
//!
//! Every contender gets the same rays from memory, row by row, and computes the distance of the
//! nearest hit of each. The figure is a rate, so a ratio above 1 means that Raddle is faster.
//! `--workers` does not apply, because the suite measures one thread.
//!
//! Peers: `embree` (one ray at a time, default quality), `bvh` (the crate).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use glam::Vec3;
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;

use crate::bvh_peer::{Hierarchy, Shapes};
use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit, timed};
use crate::peer::{self, EMBREE};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 1] = ["bunny"];

const SIDE: u32 = 1024;
const FIELD_OF_VIEW_DEGREES: f32 = 40.0;
/// The number of units in the diagonal of the mesh, in which distances are summed.
const DISTANCE_STEPS: f64 = 1000.0;
/// The share by which the sums may differ: a few rays graze an edge.
const TOLERANCE: f64 = 1e-4;

/// Runs the suite.
///
/// # Errors
/// [`BenchError::NoData`] if the bunny is missing; and the errors of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let mesh = super::load("stanford_bunny_69k.ply.zst")?;
    let rays = primary_rays(&mesh);
    let scale = DISTANCE_STEPS / f64::from(diagonal(&mesh).length());
    let tree = KdTree::build(&mesh, &Parameters::default())
        .map_err(|error| BenchError::contender("raddle", error))?;
    let hierarchy = Hierarchy::build(Shapes::of(&mesh));
    let file = write_input(&mesh, &rays, scale)?;

    let expected = sum(&rays, scale, |ray| tree.nearest(ray).map(|hit| hit.t));
    let case = Case {
        suite: "rays",
        name: "bunny",
        unit: Unit::MillionsPerSecond {
            name: "Mrays/s",
            events: rays.len() as u64,
        },
        repetitions: 1,
        file: Some(&file),
        expected,
        tolerance: (expected as f64 * TOLERANCE) as u64,
    };
    let mut raddle = Local::new("raddle", |request| {
        Ok(timed(request.repetitions, || {
            sum(&rays, scale, |ray| tree.nearest(ray).map(|hit| hit.t))
        }))
    });
    let mut peers: Vec<Box<dyn Contender + '_>> = vec![Box::new(Local::new("bvh", |request| {
        Ok(timed(request.repetitions, || {
            sum(&rays, scale, |ray| hierarchy.nearest(ray))
        }))
    }))];
    peers.extend(measurement.peer(EMBREE));
    measurement.workers = vec![1];
    let outcome = measurement.compare(&case, &mut raddle, &mut peers);
    fs::remove_file(&file).map_err(|error| system(&file, error))?;
    outcome
}

/// Returns the sum of all hit distances. Each is rounded, so the order of the rays does not matter.
fn sum(rays: &[Ray], scale: f64, nearest: impl Fn(&Ray) -> Option<f32>) -> u64 {
    rays.iter()
        .filter_map(nearest)
        .map(|distance| (f64::from(distance) * scale) as u64)
        .sum()
}

fn diagonal(mesh: &Mesh) -> Vec3 {
    let bounds = mesh.bounds();
    bounds.max - bounds.min
}

/// Returns one ray per pixel, row by row, from a camera in front of the mesh, which fills most of
/// the picture.
fn primary_rays(mesh: &Mesh) -> Vec<Ray> {
    let bounds = mesh.bounds();
    let middle = (bounds.min + bounds.max) / 2.0;
    let size = diagonal(mesh).length();
    let forward = Vec3::new(-0.35, -0.25, -1.0).normalize();
    let eye = middle - forward * size * 1.25;
    let right = forward.cross(Vec3::Y).normalize();
    let up = right.cross(forward);
    let half = (FIELD_OF_VIEW_DEGREES.to_radians() / 2.0).tan();
    let offset = |pixel: u32| ((pixel as f32 + 0.5) / SIDE as f32 * 2.0 - 1.0) * half;
    (0..SIDE)
        .flat_map(|y| (0..SIDE).map(move |x| (x, y)))
        .map(|(x, y)| {
            let direction = forward + right * offset(x) - up * offset(y);
            Ray::new(eye, direction.normalize())
        })
        .collect()
}

/// Writes the input of `peers/embree.cpp`. The header of that file describes the layout.
fn write_input(mesh: &Mesh, rays: &[Ray], scale: f64) -> Result<PathBuf, BenchError> {
    let mut bytes = Vec::with_capacity(24 * rays.len() + 12 * mesh.positions.len());
    for count in [mesh.positions.len(), mesh.triangles.len(), rays.len()] {
        bytes.extend_from_slice(&(count as u64).to_le_bytes());
    }
    bytes.extend_from_slice(&scale.to_le_bytes());
    let mut put = |vector: Vec3| {
        for component in vector.to_array() {
            bytes.extend_from_slice(&component.to_le_bytes());
        }
    };
    mesh.positions.iter().copied().for_each(&mut put);
    let mut indices = Vec::with_capacity(12 * mesh.triangles.len());
    for index in mesh.triangles.iter().flatten() {
        indices.extend_from_slice(&index.to_le_bytes());
    }
    bytes.extend_from_slice(&indices);
    for ray in rays {
        for component in ray
            .origin
            .to_array()
            .into_iter()
            .chain(ray.direction.to_array())
        {
            bytes.extend_from_slice(&component.to_le_bytes());
        }
    }
    let path = peer::program_folder().join(format!("bunny-{}.rays", std::process::id()));
    fs::create_dir_all(peer::program_folder())
        .and_then(|()| fs::write(&path, bytes))
        .map_err(|error| system(&path, error))?;
    Ok(path)
}

fn system(path: &Path, source: io::Error) -> BenchError {
    BenchError::System {
        what: path.display().to_string(),
        source,
    }
}
