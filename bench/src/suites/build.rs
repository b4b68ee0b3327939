//! The parallel speed of building kd-trees and rendering pictures of real meshes.
//!
//! | case | Raddle | peer |
//! |---|---|---|
//! | `tree_bunny`, `tree_dragon` | the task-parallel builder | `sequential`: the plain builder |
//! | `render_bunny`, `render_dragon` | a picture of 512 × 384 | `one-worker`: the same on one |
//!
//! The peers are part of Raddle too. A ratio is the parallel time divided by the sequential one: on
//! two workers, 0.5 at best.

use glam::Vec3;
use raddle_graphics::kdtree::{BuildError, KdTree, Parameters};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::picture::Picture;
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{self as render, RenderOptions};

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
/// [`BenchError::NoData`] if a mesh is missing; and the errors of [`Measurement::compare`].
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
    let frame = FrameOptions {
        size: PICTURE,
        samples: 4,
        ..FrameOptions::default()
    };
    let options = RenderOptions {
        frame,
        ..RenderOptions::default()
    };
    let render = || {
        // A failed picture counts as dark. Its sum of zero is never the expected one.
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
    let mut single = RaddlePools::default();
    let mut raddle = Local::new("raddle", |request| {
        pools.install(request.workers, || timed(request.repetitions, render))
    });
    let mut peers: Vec<Box<dyn Contender + '_>> =
        vec![Box::new(Local::new("one-worker", |request| {
            single.install(1, || timed(request.repetitions, render))
        }))];
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Returns the sum of the bit patterns of all pixels. Pictures do not depend on the number of
/// workers, so the sum is exact.
fn light(picture: &Picture) -> u64 {
    picture
        .pixels()
        .as_flattened()
        .iter()
        .fold(0, |sum, channel| {
            sum.wrapping_add(u64::from(channel.to_bits()))
        })
}

/// Returns a number that differs between different trees: a hash of the size and of some hits.
///
/// It is cheap compared with a build.
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
    BenchError::contender("raddle", error)
}
