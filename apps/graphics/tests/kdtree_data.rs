//! The trees of the real meshes under `RADDLE_DATA`: all builders give the same tree, and rays hit
//! the right triangles.

mod common;

use std::path::PathBuf;
use std::sync::LazyLock;

use glam::Vec3;
use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{
    MessageBuilder, MessageOptions, NodeGrain, ScanChoice, SharedArrays, WorkerTasks,
};
use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters, Prepared};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;

use self::common::runtime;

/// A real mesh, and the trees that the sequential builder makes of it.
struct Real {
    path: PathBuf,
    mesh: Mesh,
    prepared: Prepared,
    /// The tree with at most 15 levels.
    to_15: KdTree,
    /// The tree with default parameters.
    default_tree: KdTree,
}

/// All meshes in the folder of real data. Reading them and building their trees takes seconds, so
/// the tests share them.
static REAL: LazyLock<Vec<Real>> = LazyLock::new(|| {
    let folder = std::env::var_os("RADDLE_DATA").expect(
        "RADDLE_DATA must name the folder with the real test data: \
         this test loads mesh/*.ply.zst from it",
    );
    let folder = PathBuf::from(folder).join("mesh");
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("the directory is readable").path())
        .filter(|path| path.to_string_lossy().ends_with(".ply.zst"))
        .collect();
    paths.sort();
    assert!(
        paths.len() >= 6,
        "only {} meshes in {}",
        paths.len(),
        folder.display()
    );
    raddle::map(0..paths.len(), |index| Real::load(paths[index].clone()))
});

/// Returns the parameters of the study, which uses trees of 15 levels.
fn to_15() -> Parameters {
    Parameters {
        depth_limit: DepthLimit::At(15),
        ..Parameters::default()
    }
}

impl Real {
    fn load(path: PathBuf) -> Self {
        let mesh = Mesh::load(&path).unwrap_or_else(|error| panic!("{error}"));
        let prepared = Prepared::new(&mesh).unwrap();
        let to_15 = KdTree::from_prepared_sequential(prepared.clone(), &to_15(), |_| ());
        Self {
            to_15: to_15.unwrap(),
            default_tree: KdTree::build_sequential(&mesh, &Parameters::default()).unwrap(),
            path,
            mesh,
            prepared,
        }
    }
}

#[test]
fn every_mesh_has_one_tree() {
    let runtime = runtime(2);
    let builder = MessageBuilder::new(&runtime, MessageOptions::default());
    for real in &*REAL {
        let path = real.path.display();
        for (parameters, expected) in [
            (to_15(), &real.to_15),
            (Parameters::default(), &real.default_tree),
        ] {
            let depth_limit = parameters.depth_limit;
            let tree = KdTree::build(&real.mesh, &parameters).unwrap();
            assert!(tree == *expected, "{path} at {depth_limit:?}");
            let built = builder.build(real.prepared.clone(), &parameters, |_| ());
            let is_same = built.unwrap().tree == *expected;
            assert!(is_same, "by messages: {path} at {depth_limit:?}");
        }
    }
}

/// Returns each value of each option, with many tasks working on many cells, and both kinds of
/// worker tasks with both kinds of arrays.
fn option_variants() -> Vec<MessageOptions> {
    let many = MessageOptions {
        grain: NodeGrain::Tasks(64),
        // Two hundred tasks for the largest of the meshes.
        triangles_per_task: Some(1024),
        ..MessageOptions::default()
    };
    let mut all = Vec::new();
    for worker_tasks in WorkerTasks::ALL {
        let many = MessageOptions {
            worker_tasks,
            ..many
        };
        all.extend(SharedArrays::ALL.map(|arrays| MessageOptions { arrays, ..many }));
        all.extend(SectionForm::ALL.map(|sync| MessageOptions { sync, ..many }));
    }
    all.extend(ScanChoice::ALL.map(|scans| MessageOptions { scans, ..many }));
    // The default options occur once per option. Keep only the first occurrence.
    let is_new = |index: &usize| !all[..*index].contains(&all[*index]);
    (0..all.len())
        .filter(is_new)
        .map(|index| all[index])
        .collect()
}

#[test]
fn every_option_gives_the_same_tree_of_real_meshes() {
    let runtime = runtime(2);
    // The full dragon, which is five times as large, is built by messages in another test.
    let wanted = ["bunny", "dragon_res2", "sponza", "car"];
    let is_wanted = |real: &&Real| {
        let name = real.path.to_string_lossy();
        wanted.iter().any(|wanted| name.contains(wanted))
    };
    let mut count = 0;
    for real in REAL.iter().filter(is_wanted) {
        count += 1;
        for options in option_variants() {
            let builder = MessageBuilder::new(&runtime, options);
            let built = builder.build(real.prepared.clone(), &to_15(), |_| ());
            let is_same = built.unwrap().tree == real.to_15;
            assert!(is_same, "{} with {options:?}", real.path.display());
        }
    }
    assert_eq!(count, 4, "meshes by these names");
}

#[test]
fn rays_at_real_meshes_hit_the_nearest_of_all_triangles() {
    for real in &*REAL {
        let (mesh, tree) = (&real.mesh, &real.default_tree);
        // A single leaf with all triangles: the same test is applied to every triangle.
        let parameters = Parameters {
            depth_limit: DepthLimit::At(0),
            ..Parameters::default()
        };
        let list = KdTree::from_prepared_sequential(real.prepared.clone(), &parameters, |_| ());
        let list = list.unwrap();
        let bounds = mesh.bounds();
        let rays = 6_000_000 / mesh.triangles.len();
        for index in 0..rays {
            // From around the box towards corners of triangles, where a ray is most easily lost.
            let angle = index as f32 * 2.4;
            let around = Vec3::new(angle.cos(), (1.7 * angle).sin(), angle.sin());
            let origin = bounds.center() + bounds.extent().length() * around;
            let triangle = mesh.triangle(index * 7919 % mesh.triangles.len());
            let target = triangle[index % 3];
            let ray = Ray::new(origin, target - origin);
            let expected = list.nearest(&ray);
            assert_eq!(
                tree.nearest(&ray),
                expected,
                "ray {index} in {}",
                real.path.display()
            );
            assert_eq!(tree.is_hit(&ray), expected.is_some());
        }
    }
}
