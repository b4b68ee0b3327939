//! Pictures of surfaces in bricks: the same pixels as those of a volume in memory.

use std::sync::Arc;
use std::thread;

use glam::Vec3;
use raddle::net::bricks::{
    Answers, Associativity, BrickOptions, BrickReader, BrickServer, Bricks, HomeRule, Homes, Store,
};
use raddle::net::{Node, Port, Shape, TransportKind};
use raddle_graphics::render::{FrameOptions, Part};
use raddle_graphics::volume::isosurface::{
    BrickAccess, BrickFetch, IsosurfaceOptions, Prepared, Surface, render,
};
use raddle_graphics::volume::{BrickLayout, Macrocells, Volume, Voxels};
use raddle_sync::prim::{AtomicBool, Relaxed};
use raddle_trace::profile::NoProfile;

/// The picture: not a multiple of the edge of a tile.
const SIZE: (u32, u32) = (75, 61);
/// The edge of the parts that are rendered.
const PART: u32 = 16;
const NODES: u16 = 3;

/// The bricks of a test, and how they get to the reader.
#[derive(Debug, Clone, Copy)]
struct Case {
    edge: usize,
    lines: u64,
    associativity: Associativity,
    kind: TransportKind,
    answers: Answers,
    fetch: BrickFetch,
}

const PLAIN: Case = Case {
    edge: 12,
    lines: 20,
    associativity: Associativity::FourWay,
    kind: TransportKind::Threads,
    answers: Answers::Get,
    fetch: BrickFetch::Macrocell,
};

/// Returns two overlapping balls and noise, as values from 0 to 200.
fn value(x: usize, y: usize, z: usize) -> f32 {
    let at = Vec3::new(x as f32, y as f32, z as f32);
    let ball = |middle: Vec3| (at - middle).length();
    let nearest = ball(Vec3::new(11.0, 14.0, 12.0)).min(ball(Vec3::new(25.0, 12.0, 17.0)));
    let noise = (x * 7 + y * 13 + z * 29) % 5;
    (12.0 * nearest + noise as f32).min(200.0)
}

fn voxels(size: [usize; 3], make: impl Fn(Vec<f32>) -> Voxels) -> Volume {
    let mut all = Vec::new();
    for z in 0..size[2] {
        for y in 0..size[1] {
            all.extend((0..size[0]).map(|x| value(x, y, z)));
        }
    }
    Volume::new(size, make(all)).expect("a sound volume")
}

/// Returns volumes of all types, of sizes that are no multiples of anything.
fn volumes() -> Vec<Volume> {
    let map = |all: Vec<f32>, offset: f32| all.into_iter().map(move |it| it - offset);
    vec![
        voxels([37, 29, 31], |all| {
            map(all, 0.0).map(|it| it as u8).collect::<Vec<_>>().into()
        }),
        voxels([18, 41, 9], |all| {
            map(all, 100.0)
                .map(|it| it as i8)
                .collect::<Vec<_>>()
                .into()
        }),
        voxels([37, 29, 31], |all| {
            map(all, 0.0).map(|it| it as u16).collect::<Vec<_>>().into()
        }),
        voxels([13, 12, 25], |all| {
            map(all, 100.0)
                .map(|it| it as i16)
                .collect::<Vec<_>>()
                .into()
        }),
        voxels([33, 34, 35], |all| all.into()),
    ]
}

fn options(isovalue: f64) -> IsosurfaceOptions {
    IsosurfaceOptions {
        frame: FrameOptions {
            size: SIZE,
            ..FrameOptions::default()
        },
        ..IsosurfaceOptions::new(isovalue)
    }
}

fn parts() -> impl Iterator<Item = Part> {
    let steps = |len: u32| (0..len).step_by(PART as usize);
    steps(SIZE.1).flat_map(move |y| {
        steps(SIZE.0).map(move |x| Part {
            corner: (x, y),
            size: (PART.min(SIZE.0 - x), PART.min(SIZE.1 - y)),
        })
    })
}

fn serve(mut server: BrickServer, mut port: Port, is_over: &AtomicBool) {
    // Relaxed: the end is seen at some time.
    while !is_over.load(Relaxed) {
        let polled = port.poll(|arrival| {
            server.receive(&arrival);
        });
        if server.send(&mut port) && matches!(polled, Ok(0)) {
            thread::yield_now();
        }
    }
}

/// Calls `read` with the bricks of a volume, in three nodes, as seen from the first one.
fn with_bricks<R>(
    volume: &Volume,
    layout: BrickLayout,
    case: Case,
    read: impl FnOnce(BrickReader) -> R,
) -> R {
    let shape = Shape {
        nodes: NODES,
        ports: 2,
    };
    let nodes = Node::in_process_by(case.kind, shape).expect("memory");
    let users: Vec<_> = shape.node_ids().collect();
    let homes = Homes::new(users.clone(), layout.brick_count(), HomeRule::Cyclic);
    let homes = homes.expect("there are nodes");
    let bytes = layout.brick_bytes();
    let options = BrickOptions {
        brick_bytes: bytes,
        cache_bytes: case.lines * bytes as u64,
        associativity: case.associativity,
        answers: case.answers,
        server_port: 0,
    };
    let start = |node: &Node| {
        let home = usize::from(node.id().0);
        let len = homes.count_of(home) as usize * bytes;
        let (segment, ()) = node
            .read_only_segment(len, |all| {
                for (key, place) in homes.keys_of(home).zip(all.chunks_exact_mut(bytes)) {
                    layout.write_any(volume.voxels(), key, place);
                }
            })
            .expect("memory");
        let store = Some(Store::Memory(segment));
        Bricks::start(node, &users, homes.clone(), store, None, options).expect("all nodes run")
    };
    let started: Vec<Arc<Bricks>> = thread::scope(|scope| {
        let threads = nodes.iter().map(|node| scope.spawn(|| start(node)));
        let threads: Vec<_> = threads.collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        threads.into_iter().map(join).collect()
    });
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        for (node, bricks) in nodes.iter().zip(&started) {
            let (server, port, is_over) = (bricks.server(), node.port(0), &is_over);
            scope.spawn(move || serve(server, port, is_over));
        }
        let result = read(started[0].reader(nodes[0].port(1)));
        // Relaxed: as in `serve`.
        is_over.store(true, Relaxed);
        result
    })
}

/// Renders a picture part by part, and compares it with the whole one.
fn check(volume: &Volume, options: &IsosurfaceOptions, case: Case) {
    let macrocells = Macrocells::of(volume);
    let whole = render(volume, &macrocells, options, |_| ()).expect("valid options");
    let prepared = Prepared::new(volume.grid(), &macrocells, options.clone());
    let prepared = prepared.expect("valid options");
    let kind = volume.voxels().kind();
    let layout = BrickLayout::new(volume.grid(), case.edge, kind.bytes()).expect("a valid edge");
    let mut hits = 0;
    with_bricks(volume, layout, case, |reader| {
        let mut access = BrickAccess::new(reader, layout, kind, case.fetch, NoProfile);
        for part in parts() {
            let mut pixels = vec![[9.0; 3]; part.pixel_count()];
            let counts = prepared.render_part(&mut access, part, &mut pixels);
            hits += counts.expect("all nodes run").rays.hits;
            for (index, pixel) in pixels.iter().enumerate() {
                let (x, y) = (index as u32 % part.size.0, index as u32 / part.size.0);
                let at = (part.corner.1 + y) * SIZE.0 + part.corner.0 + x;
                let expected = whole.picture.pixels()[at as usize];
                assert_eq!(*pixel, expected, "{part:?}, {x}, {y}: {case:?}");
            }
        }
    });
    assert_eq!(hits, whole.counts.hits, "{case:?}");
    assert!(hits > 100, "the picture shows the surface");
}

#[test]
fn a_picture_of_bricks_has_the_same_bits() {
    for volume in volumes() {
        let isovalue = match volume.voxels() {
            Voxels::I8(_) | Voxels::I16(_) => 20.0,
            _ => 120.0,
        };
        for edge in [1, 3, 4, 5, 7, 12, 13, 64] {
            for fetch in BrickFetch::ALL {
                let case = Case {
                    edge,
                    fetch,
                    ..PLAIN
                };
                check(&volume, &options(isovalue), case);
            }
        }
    }
}

#[test]
fn neither_cache_nor_transport_changes_the_picture() {
    let volume = &volumes()[2];
    for kind in TransportKind::WITHIN.iter().copied() {
        for answers in Answers::ALL {
            for (lines, associativity) in [
                (1, Associativity::Direct),
                (2, Associativity::Clock),
                (8, Associativity::FourWay),
                (1_000, Associativity::FourWay),
            ] {
                let case = Case {
                    kind,
                    answers,
                    lines,
                    associativity,
                    ..PLAIN
                };
                check(volume, &options(80.0), case);
            }
        }
    }
}

#[test]
fn all_options_of_surfaces_work_with_bricks() {
    let volume = &volumes()[4];
    let transparent = |isovalue, place| Surface {
        opacity: 0.6,
        ..Surface::new(isovalue, place)
    };
    let all = [
        IsosurfaceOptions {
            is_smooth: true,
            ..options(80.0)
        },
        IsosurfaceOptions {
            has_shadows: true,
            ..options(80.0)
        },
        IsosurfaceOptions {
            surfaces: vec![transparent(60.0, 0), transparent(110.0, 1)],
            has_shadows: true,
            is_smooth: true,
            ..options(80.0)
        },
        IsosurfaceOptions {
            frame: FrameOptions {
                size: SIZE,
                samples: 3,
                ..FrameOptions::default()
            },
            ..options(80.0)
        },
    ];
    for options in all {
        for fetch in BrickFetch::ALL {
            let case = Case {
                edge: 5,
                fetch,
                ..PLAIN
            };
            check(volume, &options, case);
        }
    }
}
