//! Pictures of generated scenes are reproducible and show the scene.

use raddle_graphics::camera::Setting;
use raddle_graphics::kdtree::{KdTree, Parameters};
use raddle_graphics::render::FrameOptions;
use raddle_graphics::render_mesh::{RenderOptions, Rendering, render};
use raddle_graphics::scene::{Scene, generate};

use crate::common::runtime;

fn options(size: (u32, u32), samples: u32) -> RenderOptions {
    RenderOptions {
        frame: FrameOptions {
            size,
            samples,
            ..FrameOptions::default()
        },
        ..RenderOptions::default()
    }
}

fn rendered(scene: Scene, options: &RenderOptions) -> Rendering {
    let mesh = generate(scene, 5_000);
    let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
    render(&mesh, &tree, options, |_| ()).unwrap()
}

#[test]
fn a_picture_is_the_same_every_time() {
    let options = options((150, 110), 3);
    for scene in Scene::ALL {
        let first = rendered(scene, &options);
        let second = rendered(scene, &options);
        assert!(first.picture == second.picture, "{scene:?}");
        assert_eq!(first.report.rays(), second.report.rays());
    }
}

#[test]
fn the_picture_does_not_depend_on_the_number_of_workers() {
    let options = options((130, 97), 2);
    let expected = rendered(Scene::Flake, &options);
    for workers in [1, 2, 3, 8] {
        let runtime = runtime(workers);
        let rendering = runtime.install(|| rendered(Scene::Flake, &options));
        assert!(rendering.picture == expected.picture, "{workers} workers");
        assert_eq!(rendering.report.rays(), expected.report.rays());
    }
}

#[test]
fn every_scene_is_in_the_middle_of_its_picture() {
    for scene in Scene::ALL {
        let Rendering {
            report, picture, ..
        } = rendered(scene, &options((160, 120), 1));
        assert_eq!(report.setting, Setting::Object, "{scene:?}");
        let share = report.rays_hit as f64 / report.rays_primary as f64;
        assert!((0.1..0.9).contains(&share), "{scene:?} covers {share}");
        let light = picture.pixels().as_flattened();
        assert!(
            light.iter().all(|value| (0.0..4.0).contains(value)),
            "{scene:?}"
        );
    }
}

#[test]
fn more_samples_change_only_the_edges() {
    let [few, many] =
        [4, 64].map(|samples| rendered(Scene::Knot, &options((120, 90), samples)).picture);
    let differences = few
        .pixels()
        .iter()
        .zip(many.pixels())
        .map(|(few, many)| (few[1] - many[1]).abs());
    let mean = differences.sum::<f32>() / few.pixels().len() as f32;
    assert!(mean < 0.02, "mean difference {mean}");
}

// Regression: a terrain used to be a thin band across an empty picture, since it was framed as a
// whole.
#[test]
fn scenes_fill_their_picture() {
    for scene in Scene::ALL {
        let mesh = generate(scene, 20_000);
        let tree = KdTree::build(&mesh, &Parameters::default()).unwrap();
        let options = RenderOptions {
            view: scene.view(),
            ..options((96, 72), 1)
        };
        let report = render(&mesh, &tree, &options, |_| ()).unwrap().report;
        let share = report.rays_hit as f64 / report.rays_primary as f64;
        let least = match scene {
            Scene::Terrain => 0.6,
            _ => 0.15,
        };
        assert!(share > least, "{scene}: {share}");
    }
}
