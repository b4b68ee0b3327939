//! The trees of the real meshes under `RADDLE_DATA`: one tree whoever builds it, and right for rays.

use std::path::{Path, PathBuf};

use glam::Vec3;
use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{
    MessageBuilder, MessageOptions, NodeGrain, ScanChoice, SharedArrays, WorkerTasks,
};
use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters, Prepared};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::ray::Ray;

/// All meshes of the folder of real data.
fn meshes() -> Vec<(PathBuf, Mesh)> {
    let folder = std::env::var_os("RADDLE_DATA").expect(
        "RADDLE_DATA must name the folder with the real test data: this test loads mesh/*.ply.zst from it",
    );
    let folder = PathBuf::from(folder).join("mesh");
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("a directory that can be read").path())
        .filter(|path| path.to_string_lossy().ends_with(".ply.zst"))
        .collect();
    paths.sort();
    assert!(
        paths.len() >= 6,
        "only {} meshes in {}",
        paths.len(),
        folder.display()
    );
    paths
        .into_iter()
        .map(|path| {
            let mesh = Mesh::load(&path).unwrap_or_else(|error| panic!("{error}"));
            (path, mesh)
        })
        .collect()
}

#[test]
fn every_mesh_has_one_tree() {
    let runtime = raddle::Runtime::builder().workers(2).build().unwrap();
    let builder = MessageBuilder::new(&runtime, MessageOptions::default());
    for (path, mesh) in meshes() {
        for depth_limit in [DepthLimit::At(15), DepthLimit::Automatic] {
            let parameters = Parameters {
                depth_limit,
                ..Parameters::default()
            };
            let tree = KdTree::build(&mesh, &parameters).unwrap();
            let sequential = KdTree::build_sequential(&mesh, &parameters).unwrap();
            assert!(tree == sequential, "{} at {depth_limit:?}", path.display());
            let prepared = Prepared::new(&mesh).unwrap();
            let built = builder.build(prepared, &parameters, |_| ()).unwrap();
            assert!(
                built.tree == sequential,
                "by messages: {} at {depth_limit:?}",
                path.display()
            );
        }
    }
}

/// Each choice once where many tasks work on many cells, and both kinds of worker tasks with both kinds of arrays.
fn switched() -> Vec<MessageOptions> {
    let many = MessageOptions {
        grain: NodeGrain::Tasks(64),
        triangles_per_task: Some(4 * 1024),
        ..MessageOptions::default()
    };
    let mut all = Vec::new();
    for worker_tasks in WorkerTasks::ALL {
        for arrays in SharedArrays::ALL {
            all.push(MessageOptions {
                worker_tasks,
                arrays,
                ..many
            });
        }
    }
    for worker_tasks in WorkerTasks::ALL {
        let forms = SectionForm::ALL.into_iter();
        all.extend(forms.map(|sync| MessageOptions {
            worker_tasks,
            sync,
            ..many
        }));
    }
    let scans = ScanChoice::ALL.into_iter();
    all.extend(scans.map(|scans| MessageOptions { scans, ..many }));
    all
}

#[test]
fn every_switch_gives_the_tree_of_real_meshes() {
    let runtime = raddle::Runtime::builder().workers(2).build().unwrap();
    let parameters = Parameters {
        depth_limit: DepthLimit::At(15),
        ..Parameters::default()
    };
    let is_wanted = |path: &Path| {
        let name = path.to_string_lossy();
        ["bunny", "dragon_871k", "sponza", "car"]
            .iter()
            .any(|wanted| name.contains(wanted))
    };
    let meshes = meshes().into_iter().filter(|(path, _)| is_wanted(path));
    let mut count = 0;
    for (path, mesh) in meshes {
        count += 1;
        let prepared = Prepared::new(&mesh).unwrap();
        let reference = prepared.clone();
        let reference = KdTree::from_prepared_sequential(reference, &parameters, |_| ()).unwrap();
        for options in switched() {
            let builder = MessageBuilder::new(&runtime, options);
            let built = builder.build(prepared.clone(), &parameters, |_| ());
            let is_same = built.unwrap().tree == reference;
            assert!(is_same, "{} with {options:?}", path.display());
        }
    }
    assert_eq!(count, 4, "meshes by these names");
}

#[test]
fn rays_at_real_meshes_hit_what_trying_all_triangles_hits() {
    for (path, mesh) in meshes() {
        let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
        // A leaf with everything in it: the same test of every triangle.
        let parameters = Parameters {
            depth_limit: DepthLimit::At(0),
            ..Parameters::default()
        };
        let list = KdTree::build_sequential(&mesh, &parameters).unwrap();
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
                path.display()
            );
            assert_eq!(tree.is_hit(&ray), expected.is_some());
        }
    }
}
