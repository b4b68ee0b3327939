//! What the workers make of the main job: kd-trees and pictures of real meshes.
//!
//! | case | Raddle | peer |
//! |---|---|---|
//! | `tree_bunny`, `tree_dragon` | the task-parallel builder on so many workers | `sequential`: the plain builder |
//! | `render_bunny`, `render_dragon` | a picture of 512 × 384 on so many workers | `one-worker`: the same on one |
//!
//! The peers here are ours too: a ratio is what parallelism leaves of the time, 0.5 at best on two
//! workers.

use glam::Vec3;
use raddle_graphics::kdtree::{BuildError, KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::picture::Picture;
use raddle_graphics::render::{self, RenderOptions};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Unit, timed};
use crate::pools::RaddlePools;
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 4] = ["tree_bunny", "tree_dragon", "render_bunny", "render_dragon"];

const FILES: [&str; 2] = ["stanford_bunny_69k.ply.zst", "stanford_dragon_871k.ply.zst"];

const PICTURE: (u32, u32) = (512, 384);

/// Runs the suite.
///
/// # Errors
/// [`BenchError::NoData`] without the meshes, and as [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    let [tree_bunny, tree_dragon, render_bunny, render_dragon] = CASES;
    for (tree, render, file) in [
        (tree_bunny, render_bunny, FILES[0]),
        (tree_dragon, render_dragon, FILES[1]),
    ] {
        if !measurement.wants(tree) && !measurement.wants(render) {
            continue;
        }
        let mesh = super::load(file)?;
        if measurement.wants(tree) {
            compare_trees(measurement, tree, &mesh)?;
        }
        if measurement.wants(render) {
            compare_pictures(measurement, render, &mesh)?;
        }
    }
    Ok(())
}

fn compare_trees(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    mesh: &Mesh,
) -> Result<(), BenchError> {
    let parameters = Parameters::default();
    let expected = fingerprint(KdTree::build_sequential(mesh, &parameters)).map_err(failure)?;
    let case = Case {
        suite: "build",
        name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected,
        tolerance: 0,
    };
    let mut pools = RaddlePools::default();
    let mut raddle = Local::new("raddle", move |request| {
        pools.install(request.workers, || {
            timed(request.repetitions, || {
                fingerprint(KdTree::build(mesh, &parameters)).unwrap_or_default()
            })
        })
    });
    let mut peers: Vec<Box<dyn Contender + '_>> =
        vec![Box::new(Local::new("sequential", |request| {
            Ok(timed(request.repetitions, || {
                fingerprint(KdTree::build_sequential(mesh, &parameters)).unwrap_or_default()
            }))
        }))];
    measurement.compare(&case, &mut raddle, &mut peers)
}

fn compare_pictures(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    mesh: &Mesh,
) -> Result<(), BenchError> {
    let tree = KdTree::build(mesh, &Parameters::default()).map_err(failure)?;
    let options = RenderOptions {
        size: PICTURE,
        ..RenderOptions::default()
    };
    let render = || {
        // A picture that cannot be made has no light in it, and no such sum is expected.
        render::render(mesh, &tree, &options, |_| ()).map_or(0, |made| light(&made.picture))
    };
    let case = Case {
        suite: "build",
        name,
        unit: Unit::Milliseconds,
        repetitions: 1,
        file: None,
        expected: render().max(1),
        tolerance: 0,
    };
    let mut pools = RaddlePools::default();
    let mut alone = RaddlePools::default();
    let mut raddle = Local::new("raddle", |request| {
        pools.install(request.workers, || timed(request.repetitions, render))
    });
    let mut peers: Vec<Box<dyn Contender + '_>> =
        vec![Box::new(Local::new("one-worker", |request| {
            alone.install(1, || timed(request.repetitions, render))
        }))];
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// The sum of all pixels' bit patterns: pictures do not depend on the number of workers, to the
/// last bit.
fn light(picture: &Picture) -> u64 {
    picture
        .pixels()
        .as_flattened()
        .iter()
        .fold(0, |sum, channel| {
            sum.wrapping_add(u64::from(channel.to_bits()))
        })
}

/// A number that differs when trees do, cheap beside a build: the size of the tree and some hits in
/// it.
fn fingerprint(tree: Result<KdTree, BuildError>) -> Result<u64, BuildError> {
    let tree = tree?;
    let bounds = tree.bounds();
    let size = bounds.max - bounds.min;
    let probes = (0..64_u64).map(|i| {
        let across = Vec3::new((i % 8) as f32 / 7.0, (i / 8) as f32 / 7.0, -0.5);
        let ray = raddle_graphics::ray::Ray::new(bounds.min + size * across, Vec3::Z);
        tree.nearest(&ray)
            .map_or(i, |hit| u64::from(hit.triangle) << (i % 16))
    });
    let nodes = tree.nodes().len() as u64;
    Ok(probes.fold(nodes, |sum, probe| sum.wrapping_mul(31).wrapping_add(probe)))
}

fn failure(error: BuildError) -> BenchError {
    BenchError::Contender {
        contender: "raddle".to_owned(),
        message: error.to_string(),
    }
}
