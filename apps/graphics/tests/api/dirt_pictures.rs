//! Pictures by a supervisor and workers: the same pixels as those of one node.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;

use raddle::net::bricks::{Answers, Associativity, BrickSource};
use raddle::net::{NetError, Node, NodeId, TransportKind};
use raddle_graphics::dirt::{
    Content, DirtError, DirtOptions, SupervisedFrame, Supervisor, TileRule, WorkerReport, work,
};
use raddle_graphics::render::{FrameError, FrameOptions};
use raddle_graphics::volume::isosurface::{BrickFetch, IsosurfaceOptions, render};
use raddle_graphics::volume::{
    BrickLayout, Formula, FormulaBricks, Macrocells, ValueRanges, Volume, VolumeBricks,
};
use raddle_sync::prim::{AtomicU64, Relaxed};

const SIZE: (u32, u32) = (150, 110);

/// Passes bricks on, except one that cannot be read.
struct Broken(VolumeBricks, u64);

impl BrickSource for Broken {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        if self.1 == key {
            return Err("the disk is broken".into());
        }
        self.0.read(key, into)
    }
}

/// Returns the distances from the middle, with some noise.
fn volume() -> Arc<Volume> {
    let size = [45, 38, 41];
    let mut voxels = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let at = [x, y, z].map(|at: usize| at as f32 - 20.0);
                let distance = at.iter().map(|it| it * it).sum::<f32>().sqrt();
                let noise = (x * 7 + y * 13 + z * 29) % 11;
                voxels.push((40.0 * distance) as i16 + noise as i16);
            }
        }
    }
    Arc::new(Volume::new(size, voxels).expect("a sound volume"))
}

fn content(volume: &Arc<Volume>, edge: usize, is_in_memory: bool, fails: Option<u64>) -> Content {
    let kind = volume.voxels().kind();
    let layout = BrickLayout::new(volume.grid(), edge, kind.bytes()).expect("a valid edge");
    let bricks = VolumeBricks::new(Arc::clone(volume), layout);
    let source: Arc<dyn BrickSource> = match fails {
        Some(key) => Arc::new(Broken(bricks, key)),
        None => Arc::new(bricks),
    };
    Content {
        grid: *volume.grid(),
        kind,
        ranges: Arc::new(ValueRanges::measured(Macrocells::of(volume))),
        backup: Some(Arc::clone(&source)),
        source,
        is_in_memory,
    }
}

fn scene(isovalue: f64) -> IsosurfaceOptions {
    IsosurfaceOptions {
        frame: FrameOptions {
            size: SIZE,
            ..FrameOptions::default()
        },
        ..IsosurfaceOptions::new(isovalue)
    }
}

/// Runs a supervisor and its workers in this process. `lead` gets the supervisor.
fn run<R: Send>(
    kind: TransportKind,
    options: &DirtOptions,
    content: &Content,
    lead: impl FnOnce(Result<Supervisor, DirtError>) -> R + Send,
) -> (R, Vec<Result<(), DirtError>>) {
    let mut nodes = Node::in_process_by(kind, options.shape()).expect("memory");
    let first = nodes.remove(0);
    thread::scope(|scope| {
        let workers: Vec<_> = nodes
            .into_iter()
            .map(|node| scope.spawn(move || work(&node, content.clone(), options, |_| ())))
            .collect();
        let led = lead(Supervisor::start(&first, options));
        drop(first);
        let join = |worker: thread::ScopedJoinHandle<'_, _>| worker.join().expect("no panic");
        (led, workers.into_iter().map(join).collect())
    })
}

fn frame(
    supervisor: &mut Supervisor,
    scene: &IsosurfaceOptions,
) -> Result<SupervisedFrame, DirtError> {
    supervisor.render(scene, |_, _| ())
}

/// Renders two frames, and compares them with those of one node. Returns the reports.
fn check(kind: TransportKind, options: &DirtOptions, is_in_memory: bool) -> Vec<WorkerReport> {
    let volume = volume();
    let macrocells = Macrocells::of(&volume);
    let content = content(&volume, options.brick_edge, is_in_memory, None);
    let (reports, ended) = run(kind, options, &content, |supervisor| {
        let mut supervisor = supervisor.expect("all workers begin");
        for isovalue in [500.0, 620.5] {
            let scene = scene(isovalue);
            let expected = render(&volume, &macrocells, &scene, |_| ()).expect("valid options");
            let found = frame(&mut supervisor, &scene).expect("all workers run");
            let is_same = found.picture.pixels() == expected.picture.pixels();
            assert!(is_same, "{kind}, {options:?}");
            assert_eq!(found.lost, 0);
        }
        supervisor.finish().expect("all workers run").workers
    });
    for ended in ended {
        ended.expect("no worker fails");
    }
    assert_eq!(reports.len(), usize::from(options.workers));
    reports.into_iter().map(|(_, report)| report).collect()
}

#[test]
fn a_profile_has_all_threads_and_changes_no_pixel() {
    for answers in Answers::ALL {
        let options = DirtOptions {
            profiles: true,
            answers,
            cache_bytes: 5_000,
            tiles: TileRule::Fixed(16),
            ..DirtOptions::new(3, 2)
        };
        check(TransportKind::Memory, &options, true);
        let volume = volume();
        let content = content(&volume, options.brick_edge, true, None);
        let (report, _) = run(TransportKind::Memory, &options, &content, |supervisor| {
            let mut supervisor = supervisor.expect("all workers begin");
            frame(&mut supervisor, &scene(500.0)).expect("all workers run");
            supervisor.finish().expect("all workers run")
        });
        // The supervisor; three communicators, each with two renderers.
        let threads = report.threads.iter();
        let threads: Vec<_> = threads.map(|it| (it.node, it.renderer)).collect();
        let of_node = |node| [(node, None), (node, Some(0)), (node, Some(1))];
        let expected = [vec![(0, None)], [1, 2, 3].map(of_node).concat()].concat();
        assert_eq!(threads, expected);
        let tiles: usize = report.threads.iter().map(|it| it.tiles.len()).sum();
        let sum = report
            .workers
            .iter()
            .fold(WorkerReport::default(), |mut sum, (_, it)| {
                sum += *it;
                sum
            });
        assert_eq!(tiles as u64, sum.tiles);
        let misses = report.threads.iter().flat_map(|it| &it.tiles);
        assert_eq!(misses.map(|it| it.misses).sum::<u64>(), sum.bricks.misses);
        assert!(sum.bricks.misses > 0);
        let rendered = report.threads.iter().map(|it| it.times.of("render tile").0);
        assert_eq!(rendered.sum::<u64>(), sum.tiles, "{answers}");
        let of_renderers = |name| -> u64 {
            let all = report.threads.iter().filter(|it| it.renderer.is_some());
            all.map(|it| it.times.of(name).0).sum()
        };
        match answers {
            Answers::Get => assert!(of_renderers("read from home") > 0),
            _ => assert!(of_renderers("wait for brick") > 0 && of_renderers("send request") > 0),
        }
    }
}

#[test]
fn pictures_have_the_same_bits_on_any_number_of_nodes() {
    for (workers, renderers) in [(1, 1), (2, 1), (1, 3), (4, 2), (32, 1)] {
        for kind in [TransportKind::Threads, TransportKind::Memory] {
            let reports = check(kind, &DirtOptions::new(workers, renderers), true);
            let local: u64 = reports.iter().map(|report| report.bricks.local).sum();
            let misses: u64 = reports.iter().map(|report| report.bricks.misses).sum();
            assert!(local > 0);
            assert_eq!(misses > 0, workers > 1);
        }
    }
}

#[test]
fn neither_bricks_nor_messages_change_the_picture() {
    for answers in Answers::ALL {
        for fetch in BrickFetch::ALL {
            for is_in_memory in [true, false] {
                if answers == Answers::Get && !is_in_memory {
                    continue;
                }
                for (edge, associativity, lines) in [
                    (5, Associativity::Direct, 2),
                    (7, Associativity::FourWay, 30),
                    (12, Associativity::Clock, 3),
                    (13, Associativity::FourWay, 1_000),
                ] {
                    let options = DirtOptions {
                        answers,
                        fetch,
                        brick_edge: edge,
                        associativity,
                        cache_bytes: lines * 2 * (edge as u64).pow(3),
                        tiles: TileRule::Fixed(16),
                        ..DirtOptions::new(2, 2)
                    };
                    // The transports differ only in how messages travel.
                    let kinds = match edge {
                        5 => TransportKind::WITHIN,
                        _ => &[TransportKind::Memory],
                    };
                    for kind in kinds {
                        check(*kind, &options, is_in_memory);
                    }
                }
            }
        }
    }
}

// No node ever has the whole volume: bricks are generated on demand, and bounds of their values
// follow from the formula.
#[test]
fn a_generated_volume_needs_no_memory() {
    for formula in [Formula::Spheres, Formula::MarschnerLobb] {
        let size = [61, 50, 57];
        let volume = formula.volume(size).expect("a small volume");
        let macrocells = Macrocells::of(&volume);
        let [low, high] = macrocells.range();
        for answers in [Answers::Handler, Answers::Direct] {
            let options = DirtOptions {
                answers,
                ..DirtOptions::new(3, 2)
            };
            let bricks = FormulaBricks::new(formula, size, options.brick_edge);
            let source: Arc<dyn BrickSource> = Arc::new(bricks.expect("a valid edge"));
            let ranges = ValueRanges::of_formula(formula, size).expect("a valid size");
            let content = Content {
                grid: *volume.grid(),
                kind: formula.kind(),
                ranges: Arc::new(ranges),
                backup: Some(Arc::clone(&source)),
                source,
                is_in_memory: false,
            };
            let ((), ended) = run(TransportKind::Memory, &options, &content, |supervisor| {
                let mut supervisor = supervisor.expect("all workers begin");
                for share in [0.4, 0.6] {
                    let scene = scene(low + share * (high - low));
                    let expected = render(&volume, &macrocells, &scene, |_| ());
                    let expected = expected.expect("valid options");
                    let found = frame(&mut supervisor, &scene).expect("all workers run");
                    assert!(
                        found.picture.pixels() == expected.picture.pixels(),
                        "{formula}"
                    );
                    assert!(expected.counts.hits > 0);
                }
                supervisor.finish().expect("all workers run");
            });
            assert!(ended.iter().all(Result::is_ok), "{ended:?}");
        }
    }
}

// A cache of one line, and many renderers of one node.
#[test]
fn a_cache_of_one_line_serves_eight_renderers() {
    for answers in Answers::ALL {
        let options = DirtOptions {
            answers,
            cache_bytes: 1,
            ..DirtOptions::new(2, 8)
        };
        check(TransportKind::Threads, &options, true);
    }
}

/// Passes bricks on, and panics after some of them.
struct Breaking {
    source: Arc<dyn BrickSource>,
    left: AtomicU64,
}

impl BrickSource for Breaking {
    fn read(&self, key: u64, into: &mut [u8]) -> Result<(), String> {
        // Relaxed: only a count.
        let left = self
            .left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        assert!(left.is_ok(), "this worker ends here");
        self.source.read(key, into)
    }
}

// A worker panics during a frame. Its tiles are assigned again, and its bricks produced elsewhere.
#[test]
fn a_frame_is_completed_without_a_worker_that_ends() {
    for answers in [Answers::Handler, Answers::Direct] {
        for kind in TransportKind::WITHIN.iter().copied() {
            for bricks in [1, 25] {
                check_without_one(kind, answers, bricks);
            }
        }
    }
}

/// Renders frames while the third worker ends after it has produced some bricks.
fn check_without_one(kind: TransportKind, answers: Answers, bricks: u64) {
    let volume = volume();
    let macrocells = Macrocells::of(&volume);
    let options = DirtOptions {
        answers,
        cache_bytes: 20_000,
        tiles: TileRule::Fixed(8),
        ..DirtOptions::new(3, 2)
    };
    let content = content(&volume, options.brick_edge, false, None);
    let breaking = Content {
        source: Arc::new(Breaking {
            source: Arc::clone(&content.source),
            left: AtomicU64::new(bricks),
        }),
        ..content.clone()
    };
    let scene = scene(500.0);
    let expected = render(&volume, &macrocells, &scene, |_| ()).expect("valid options");
    let mut nodes = Node::in_process_by(kind, options.shape()).expect("memory");
    let first = nodes.remove(0);
    let (options, content, breaking) = (&options, &content, &breaking);
    thread::scope(|scope| {
        for node in nodes {
            let is_weak = node.id() == NodeId(3);
            let content = if is_weak { breaking } else { content };
            // The node is dropped by the panic, so that it has died for the others.
            let works = move || work(&node, content.clone(), options, |_| ());
            scope.spawn(move || match catch_unwind(AssertUnwindSafe(works)) {
                Ok(ended) => ended.expect("no other worker fails"),
                Err(_) => assert!(is_weak),
            });
        }
        let mut supervisor = Supervisor::start(&first, options).expect("they begin");
        let mut lost = 0;
        for _ in 0..2 {
            let found = frame(&mut supervisor, &scene).expect("two workers are left");
            let is_same = found.picture.pixels() == expected.picture.pixels();
            assert!(is_same, "{answers}, {kind}");
            lost += found.lost;
        }
        assert_eq!(lost, 1, "{answers}, {kind}, {bricks}");
        assert_eq!(supervisor.worker_count(), 2);
        let reports = supervisor.finish().expect("two workers are left").workers;
        assert_eq!(reports.len(), 2);
        // The workers serve each other until the supervisor leaves.
        drop(first);
    });
}

#[test]
fn a_brick_that_cannot_be_read_is_one_error() {
    let volume = volume();
    let options = DirtOptions::new(3, 2);
    let content = content(&volume, options.brick_edge, true, Some(1));
    let (error, ended) = run(TransportKind::Threads, &options, &content, |supervisor| {
        supervisor.map(|_| ()).expect_err("a worker cannot begin")
    });
    assert_eq!(error.to_string(), "node 2: brick 1: the disk is broken");
    assert!(ended.iter().all(Result::is_err));
    assert!(matches!(
        error,
        DirtError::Worker {
            node: NodeId(2),
            ..
        }
    ));
}

// The caller stops a frame, and ends the run, while renderers wait for bricks of each other.
#[test]
fn a_run_ends_with_tiles_under_way() {
    for answers in Answers::ALL {
        for kind in TransportKind::WITHIN.iter().copied() {
            let volume = volume();
            let options = DirtOptions {
                answers,
                cache_bytes: 1,
                brick_edge: 4,
                ..DirtOptions::new(3, 2)
            };
            let content = content(&volume, options.brick_edge, true, None);
            let (count, ended) = run(kind, &options, &content, |supervisor| {
                let mut supervisor = supervisor.expect("all workers begin");
                let stopped = supervisor.render(&scene(500.0), |_, _| ControlFlow::Break(()));
                assert!(matches!(
                    stopped,
                    Err(DirtError::Frame(FrameError::Stopped))
                ));
                supervisor.finish().expect("all workers run").workers.len()
            });
            assert_eq!(count, 3);
            for ended in ended {
                ended.expect("no worker fails");
            }
        }
    }
}

#[test]
fn workers_end_when_the_supervisor_does() {
    let volume = volume();
    let options = DirtOptions::new(2, 1);
    let content = content(&volume, options.brick_edge, true, None);
    let ((), ended) = run(TransportKind::Memory, &options, &content, |supervisor| {
        drop(supervisor);
    });
    for ended in ended {
        let error = ended.expect_err("the supervisor is gone");
        assert!(
            matches!(error, DirtError::Supervisor(NetError::Left(NodeId(0)))),
            "{error}"
        );
    }
}

#[test]
fn options_out_of_range_are_errors() {
    let volume = volume();
    let content = content(&volume, 12, true, None);
    let options = DirtOptions::new(1, 1);
    let (error, _) = run(TransportKind::Threads, &options, &content, |supervisor| {
        let mut supervisor = supervisor.expect("it begins");
        let error = frame(&mut supervisor, &scene(f64::NAN)).expect_err("no isovalue");
        // The supervisor can be used afterwards.
        frame(&mut supervisor, &scene(500.0)).expect("a frame");
        supervisor.finish().expect("the worker runs");
        error
    });
    assert_eq!(error.to_string(), "isovalue NaN; expected a finite number");
}

// Regression: communicators ended at once with the supervisor, while renderers of two workers
// waited for bricks of each other.
#[test]
fn workers_that_wait_for_each_other_end_with_the_supervisor() {
    let volume = volume();
    for turn in 0..12 {
        let options = DirtOptions {
            answers: Answers::Direct,
            fetch: BrickFetch::Brick,
            brick_edge: 3,
            cache_bytes: 1,
            tiles: TileRule::Fixed(8),
            ..DirtOptions::new(2, 3)
        };
        let content = content(&volume, options.brick_edge, true, None);
        let (stopped, ended) = run(TransportKind::Memory, &options, &content, |supervisor| {
            let mut supervisor = supervisor.expect("all workers begin");
            let mut left = turn;
            let stopped = supervisor.render(&scene(500.0), |_, _| {
                left -= 1;
                match left {
                    ..=0 => ControlFlow::Break(()),
                    _ => ControlFlow::Continue(()),
                }
            });
            stopped.is_err()
        });
        assert!(stopped, "{turn}");
        for ended in ended {
            ended.expect_err("the supervisor has left");
        }
    }
}
