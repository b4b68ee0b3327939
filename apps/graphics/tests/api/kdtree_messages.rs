//! The builder by messages gives the tree of the sequential builder, node for node, with any
//! options.

use glam::Vec3;
use raddle::chare::SectionForm;
use raddle_graphics::kdtree::messages::{
    MessageBuilder, MessageOptions, NodeGrain, ScanChoice, SharedArrays, WorkerTasks,
};
use raddle_graphics::kdtree::{DepthLimit, KdTree, Parameters, Prepared};
use raddle_graphics::mesh::Mesh;
use raddle_graphics::scene::{Scene, generate};

use crate::common::runtime;
use crate::kdtree_support::{degenerate, soup};

/// So fine that small meshes have many node tasks, and these have many worker tasks.
const FINE: MessageOptions = MessageOptions {
    grain: NodeGrain::Tasks(64),
    worker_tasks: WorkerTasks::Dynamic,
    triangles_per_task: Some(50),
    sync: SectionForm::Auto,
    scans: ScanChoice::ByDepth,
    arrays: SharedArrays::Chunked,
};

/// A prepared mesh, and the tree that the sequential builder makes of it.
///
/// Both take longer than most builds by messages, so they are made once for all comparisons.
struct Expected {
    prepared: Prepared,
    parameters: Parameters,
    tree: KdTree,
}

impl Expected {
    fn new(mesh: &Mesh, parameters: Parameters) -> Self {
        Self {
            prepared: Prepared::new(mesh).unwrap(),
            parameters,
            tree: KdTree::build_sequential(mesh, &parameters).unwrap(),
        }
    }

    /// Builds by messages and compares the trees.
    #[track_caller]
    fn check(&self, builder: &MessageBuilder<'_>) {
        let built = builder.build(self.prepared.clone(), &self.parameters, |_| ());
        assert!(
            built.unwrap().tree == self.tree,
            "the trees of {} triangles differ: {:?}, {:?}",
            self.prepared.triangle_count(),
            builder.options(),
            self.parameters
        );
    }
}

fn at_depth(depth_limit: DepthLimit) -> Parameters {
    Parameters {
        depth_limit,
        ..Parameters::default()
    }
}

/// Returns all combinations of the options with few values.
fn all_options() -> Vec<MessageOptions> {
    let mut all = Vec::new();
    for worker_tasks in WorkerTasks::ALL {
        for sync in SectionForm::ALL {
            for scans in ScanChoice::ALL {
                for arrays in SharedArrays::ALL {
                    all.push(MessageOptions {
                        worker_tasks,
                        sync,
                        scans,
                        arrays,
                        ..FINE
                    });
                }
            }
        }
    }
    all
}

#[test]
fn every_option_gives_the_same_tree() {
    let depths = [DepthLimit::At(8), DepthLimit::Unlimited].map(at_depth);
    let scenes = Scene::ALL.map(|scene| generate(scene, 1_500));
    let expected = scenes
        .iter()
        .flat_map(|mesh| depths.map(|depth| Expected::new(mesh, depth)));
    let expected: Vec<Expected> = expected.collect();
    for workers in [1, 2, 5] {
        let runtime = runtime(workers);
        for options in all_options() {
            let builder = MessageBuilder::new(&runtime, options);
            expected
                .iter()
                .for_each(|expected| expected.check(&builder));
        }
    }
}

#[test]
fn every_grain_gives_the_same_tree() {
    let mesh = generate(Scene::Knot, 20_000);
    let runtime = runtime(2);
    let expected = Expected::new(&mesh, at_depth(DepthLimit::At(15)));
    for count in [1, 2, 3, 100, 1_000_000] {
        let options = MessageOptions {
            grain: NodeGrain::Tasks(count),
            ..FINE
        };
        expected.check(&MessageBuilder::new(&runtime, options));
    }
    let tuned = MessageOptions {
        grain: NodeGrain::Tuned,
        ..MessageOptions::default()
    };
    let builder = MessageBuilder::new(&runtime, tuned);
    for _ in 0..10 {
        expected.check(&builder);
    }
}

#[test]
fn degenerate_meshes_have_the_same_tree() {
    let few = [soup([]), soup([[Vec3::ZERO, Vec3::X, Vec3::Y]])];
    let depths = [DepthLimit::Automatic, DepthLimit::Unlimited].map(at_depth);
    let meshes = degenerate(5_000).into_iter().chain(few);
    let expected = meshes.flat_map(|mesh| depths.map(|depth| Expected::new(&mesh, depth)));
    let expected: Vec<Expected> = expected.collect();
    let runtime = runtime(2);
    for worker_tasks in WorkerTasks::ALL {
        for arrays in SharedArrays::ALL {
            let options = MessageOptions {
                worker_tasks,
                arrays,
                ..FINE
            };
            let builder = MessageBuilder::new(&runtime, options);
            expected
                .iter()
                .for_each(|expected| expected.check(&builder));
        }
    }
}

#[test]
fn concurrent_builds_do_not_disturb_each_other() {
    let expected = Scene::ALL
        .map(|scene| Expected::new(&generate(scene, 5_000), at_depth(DepthLimit::At(15))));
    let runtime = runtime(2);
    let tuned = MessageOptions {
        grain: NodeGrain::Tuned,
        ..FINE
    };
    let fixed = WorkerTasks::ALL.map(|worker_tasks| MessageOptions {
        worker_tasks,
        ..FINE
    });
    for options in fixed.into_iter().chain([tuned]) {
        let builder = MessageBuilder::new(&runtime, options);
        std::thread::scope(|scope| {
            for expected in &expected {
                scope.spawn(|| (0..3).for_each(|_| expected.check(&builder)));
            }
        });
    }
}

#[test]
#[should_panic(expected = "must not be called on a worker")]
fn a_build_on_a_worker_is_rejected() {
    let runtime = runtime(2);
    let builder = MessageBuilder::new(&runtime, FINE);
    let prepared = Prepared::new(&generate(Scene::Flake, 100)).unwrap();
    drop(runtime.install(|| builder.build(prepared, &Parameters::default(), |_| ())));
}

#[test]
fn the_number_of_worker_tasks_of_a_cell_is_bounded() {
    let runtime = runtime(2);
    let mesh = generate(Scene::Knot, 10_000);
    let options = MessageOptions {
        grain: NodeGrain::Tasks(2),
        triangles_per_task: Some(1),
        ..FINE
    };
    let builder = MessageBuilder::new(&runtime, options);
    let parameters = at_depth(DepthLimit::At(8));
    let built = builder.build(Prepared::new(&mesh).unwrap(), &parameters, |_| ());
    let built = built.unwrap();
    // In this scene no plane cuts off empty space, so each node task has one cell.
    assert!(built.worker_tasks <= 128 * built.node_tasks);
    assert!(built.worker_tasks >= 128);
}

#[test]
fn a_parameter_out_of_range_is_an_error() {
    let runtime = runtime(2);
    let builder = MessageBuilder::new(&runtime, FINE);
    let prepared = Prepared::new(&generate(Scene::Flake, 100)).unwrap();
    let parameters = Parameters {
        traversal_cost: f64::NAN,
        ..Parameters::default()
    };
    let outcome = builder.build(prepared, &parameters, |_| ());
    let message = outcome.unwrap_err().to_string();
    assert!(message.contains("traversal cost is NaN"), "{message}");
}
