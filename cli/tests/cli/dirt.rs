//! `raddle dirt`: the pictures of several nodes, also while nodes are killed and stopped.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use crate::common::{Folder, Outcome, has, json, run, run_badly, run_well};
use crate::processes::{expect_gone, signal, start};

const SCENE: [&str; 6] = [
    "--scene",
    "spheres:40",
    "--iso=-5000",
    "--size",
    "90x70",
    "-q",
];

/// Renders the scene with a command and some options.
fn rendered(folder: &Folder, command: &str, options: &[&str], name: &str) -> Vec<u8> {
    let path = folder.path(name);
    let path = path.to_str().expect("a plain path");
    let call = [&[command, "-o", path], &SCENE[..], options].concat();
    run_well(call);
    fs::read(path).expect("the picture was written")
}

#[test]
fn pictures_are_those_of_one_node() {
    let folder = Folder::new("dirt-same");
    let expected = rendered(&folder, "isosurface", &[], "expected.ppm");
    for options in [
        "",
        "--nodes 1 --renderers 3",
        "--nodes 3 --transport threads --brick 5 --cache 500 --lines direct",
        "--nodes 4 --transport shm --brick 7 --cache 2K --fetch brick --tile 16",
        "--nodes 2 --transport socket --brick 12 --answers direct --lines clock",
        "--nodes 2 --transport socket --brick 13 --answers handler --home blocks",
        "--nodes 3 --transport shm --answers direct --cache 1 --renderers 8",
        "--nodes 32 --transport threads --affinity none --tile 32-8 --ahead 1",
        "--nodes 2 --transport shm --on-demand",
        "--nodes 3 --transport socket --on-demand --answers handler --cache 8K",
    ] {
        let words: Vec<_> = options.split_whitespace().collect();
        let found = rendered(&folder, "dirt", &words, "found.ppm");
        assert!(found == expected, "{options}");
    }
}

// A file of bricks is a volume for each command, and dirt reads only its own part of it.
#[test]
fn a_file_of_bricks_is_a_volume() {
    let folder = Folder::new("dirt-bricks");
    let path = folder.path("scene.bricks");
    let file = path.to_str().expect("a plain path");
    let text = run_well([
        "bricks",
        "--scene",
        "spheres:40",
        "--brick",
        "7",
        "-o",
        file,
    ]);
    assert!(text.contains("216 of 7³ voxels"), "{text}");
    let info = run_well(["info", file]);
    assert!(info.contains("bricks"), "{info}");
    let expected = rendered(&folder, "isosurface", &[], "expected.ppm");
    let picture = folder.path("a.ppm");
    let picture = picture.to_str().expect("a plain path");
    let rest = &SCENE[2..];
    run_well([&["isosurface", file, "-o", picture], rest].concat());
    assert!(fs::read(picture).expect("written") == expected);
    for options in [
        "",
        "--on-demand --cache 20K",
        "--brick 7 --transport threads",
    ] {
        let words: Vec<_> = options.split_whitespace().collect();
        run_well([&["dirt", file, "-o", picture], rest, &words].concat());
        assert!(fs::read(picture).expect("written") == expected, "{options}");
    }
    let other = run(["dirt", file, "--iso", "1", "-o", picture, "--brick", "8"]);
    assert_eq!(other.code, Some(2), "{other:?}");
    assert!(other.errors.contains("expected the same"), "{other:?}");
    let bytes = fs::read(&path).expect("written");
    fs::write(&path, &bytes[..bytes.len() - 1]).expect("a file");
    let error = run_badly(["dirt", file, "--iso", "1", "-o", picture]);
    assert!(error.contains("a complete file"), "{error}");
    let volume = folder.file("a.den", [0; 70]);
    let volume = volume.to_str().expect("a plain path");
    let whole = run(["dirt", volume, "--iso", "1", "-o", picture, "--on-demand"]);
    assert_eq!(whole.code, Some(2), "{whole:?}");
    assert!(whole.errors.contains("raddle bricks"), "{whole:?}");
}

#[test]
fn views_and_surfaces_change_from_picture_to_picture() {
    let folder = Folder::new("dirt-frames");
    let path = folder.path("a.ppm");
    let path = path.to_str().expect("a plain path");
    let frames = ["--frames", "3", "--turn", "-120", "--iso-step", "2000"];
    let text = run_well(
        [
            &["dirt", "-o", path, "--shadows", "--json"],
            &SCENE[..],
            &frames,
        ]
        .concat(),
    );
    let report = json(&text);
    has(&report, &["counts.hit_share", "frame_s.median", "by_node"]);
    assert_eq!(report["pictures"].as_array().map(Vec::len), Some(3));
    let shadows = ["--shadows", "--opacity", "1"];
    let still = rendered(&folder, "isosurface", &shadows, "still.ppm");
    let first = fs::read(folder.path("a-000.ppm")).expect("written");
    assert!(first == still);
    // A turn of -240° is one of 120°, which is the second of three pictures of a whole turn.
    let turned = folder.path("turned.ppm");
    let turned = turned.to_str().expect("a plain path");
    run_well(
        [
            &["isosurface", "-o", turned, "--iso=-1000", "--shadows"],
            &SCENE[..2],
            &SCENE[3..],
            &["--frames", "3"],
        ]
        .concat(),
    );
    let third = fs::read(folder.path("a-002.ppm")).expect("written");
    let expected = fs::read(folder.path("turned-001.ppm")).expect("written");
    assert_eq!(third.len(), expected.len());
    let differing = third.iter().zip(&expected).filter(|(a, b)| a != b).count();
    // The angles differ in their last digit.
    assert!(differing < 100, "{differing} bytes differ");
}

#[test]
fn a_profile_shows_the_functions_of_all_kinds_of_threads() {
    let folder = Folder::new("dirt-profile");
    let path = folder.path("a.ppm");
    let path = path.to_str().expect("a plain path");
    let options = "--nodes 2 --renderers 2 --transport shm --answers handler --cache 20K --profile";
    let words: Vec<_> = options.split_whitespace().collect();
    let call = [&["dirt", "-o", path], &SCENE[..], &words].concat();
    let text = run_well(&call);
    for shown in [
        "Renderers",
        "Communicators",
        "Supervisor",
        "wait for brick",
        "subtracted",
    ] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    let found = json(&run_well([&call[..], &["--json"]].concat()));
    for (kind, function) in [
        ("renderers", "render tile"),
        ("communicators", "send answer"),
        ("supervisor", "copy tile"),
    ] {
        let lines = found["profile"][kind].as_array().expect("a list");
        let line = lines.iter().find(|line| line["function"] == function);
        assert!(
            line.is_some_and(|it| it["calls"].as_u64() > Some(0)),
            "{kind}: {lines:?}"
        );
    }
}

#[test]
fn the_program_is_characterised_and_predicted() {
    let folder = Folder::new("dirt-characterise");
    let path = folder.path("dirt.toml");
    let path = path.to_str().expect("a plain path");
    let charts = folder.path("charts");
    let options = "--frames 2 --turn 5 --cache 20K --tile 16 --characterise --count-nodes 2,3,4 \
                   --count-renderers 1,2 --count-runs 1 --measure-nodes 1,2 --measure-runs 1 \
                   --charts";
    let words: Vec<_> = options.split_whitespace().collect();
    let charts = charts.to_str().expect("a plain path");
    let call = [&["dirt", "-o", path], &SCENE[..], &words, &[charts]].concat();
    let found = json(&run_well([&call[..], &["--json"]].concat()));
    assert_eq!(found["misses"]["counted"].as_array().map(Vec::len), Some(6));
    let predictions = found["predictions"].as_array().expect("a list");
    assert_eq!(predictions.len(), 2);
    for prediction in predictions {
        let ratio = prediction["cpu_ratio"].as_f64().expect("a number");
        assert!(ratio > 0.0 && ratio.is_finite(), "{prediction}");
    }
    // The run from which the parameters are derived has the supervisor's work that they predict.
    // Other works depend on the misses, of which each run has others.
    let supervisor = |key: &str| predictions[1][key]["supervisor_ms"].as_f64();
    let [measured, predicted] = ["cpu", "cpu_predicted"].map(|key| supervisor(key).expect("ms"));
    assert!(
        (measured / predicted - 1.0).abs() < 1e-6,
        "{measured} {predicted}"
    );
    let misses = |row: usize| predictions[row]["misses_per_frame"].as_f64();
    assert_eq!(misses(0), Some(0.0));
    assert!(misses(1).is_some_and(|misses| misses > 0.0));
    for chart in ["39-time-by-nodes", "40-speedup-by-nodes", "47-misses"] {
        let svg = fs::read_to_string(folder.path("charts").join(format!("{chart}.svg")));
        assert!(
            svg.expect("the chart was written").contains("<svg"),
            "{chart}"
        );
    }
    let text = run_well([
        "predict",
        "--parameters",
        path,
        "--nodes",
        "16",
        "--renderers",
        "1",
    ]);
    assert!(text.contains("raddle dirt on this machine"), "{text}");
    run_well([
        "simulate",
        "tracer",
        "--parameters",
        path,
        "--nodes",
        "2",
        "--renderers",
        "1",
    ]);
    for (wrong, reason) in [
        (vec!["-o", "a.png", "--characterise"], "ends in .toml"),
        (
            vec!["-o", path, "--characterise", "--measure-nodes", "1"],
            "above 1",
        ),
        (
            vec!["-o", path, "--characterise", "--answers", "direct"],
            "handler or get",
        ),
        (
            vec!["-o", path, "--characterise", "--transport", "mpi"],
            "threads, shm or socket",
        ),
        (
            vec!["-o", path, "--characterise", "--nodes", "3"],
            "cannot be used with",
        ),
        (vec!["-o", path, "--count-runs", "3"], "--characterise"),
    ] {
        let outcome = run([&["dirt"], &SCENE[..], &wrong].concat());
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains(reason), "{wrong:?}: {outcome:?}");
    }
}

#[test]
fn wrong_calls_are_errors_of_one_line() {
    let folder = Folder::new("dirt-wrong");
    let broken = folder.file("broken.nrrd", "NRRD0004\ntype: short\ndimension: 3\n");
    let broken = broken.to_str().expect("a plain path");
    let picture = folder.path("a.png");
    let picture = picture.to_str().expect("a plain path");
    let error = run_badly(["dirt", broken, "--iso", "1", "-o", picture]);
    assert!(error.contains("broken.nrrd"), "{error}");
    for (options, expected) in [
        ("--eye 1,1,1 --look-at 1,1,1", "two different points"),
        ("--turn inf --frames 2", "a finite number"),
        ("--tile 12", "a multiple of 8"),
        ("--on-demand --answers get", "expected direct or handler"),
        ("--brick 0", "1..=256"),
        ("--port 8080 --no-open", "expected --view"),
        ("--view", "cannot be used with"),
        ("--colour black,white", "one for each isovalue"),
    ] {
        let words: Vec<_> = options.split_whitespace().collect();
        let call = [&["dirt", "-o", picture], &SCENE[..], &words].concat();
        let outcome = run(call);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains(expected), "{outcome:?}");
    }
    assert!(!fs::exists(picture).expect("a plain path"));
}

#[test]
fn a_value_without_surface_is_a_warning() {
    let folder = Folder::new("dirt-nothing");
    let picture = folder.path("a.png");
    let picture = picture.to_str().expect("a plain path");
    let call = ["dirt", "--scene", "spheres:16", "--iso", "40000", "-o"];
    let outcome = run([&call[..], &[picture, "--size", "9x9"]].concat());
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.errors.contains("no isovalue is above"),
        "{outcome:?}"
    );
}

/// Generates numbers from a seed, for times and nodes.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % end
    }
}

/// A run of three nodes that takes about a second, of which some are killed or stopped.
struct Run<'a> {
    folder: &'a Folder,
    expected: &'a [Vec<u8>],
    seed: u64,
}

impl Run<'_> {
    const FRAMES: usize = 10;
    const NODES: usize = 3;
    const OPTIONS: [&'static str; 4] = [
        "",
        "--transport socket",
        "--answers direct --cache 4K",
        "--transport socket --answers handler --cache 4K --renderers 2",
    ];

    fn options(&self) -> impl Iterator<Item = &'static str> + use<> {
        let options = Self::OPTIONS[self.seed as usize % Self::OPTIONS.len()];
        options.split_whitespace()
    }

    fn path(&self, index: Option<usize>) -> PathBuf {
        let seed = self.seed;
        self.folder.path(&match index {
            None => format!("run{seed}.ppm"),
            Some(index) => format!("run{seed}-{index:03}.ppm"),
        })
    }

    /// Kills or stops some of the nodes at random times. Expects all pictures, or one error.
    fn check(&self, signals: &[&str]) {
        let mut random = Random(self.seed);
        let path = self.path(None);
        let path = path.to_str().expect("a plain path");
        let mut call = vec!["dirt", "-o", path, "--frames", "10", "--nodes", "3"];
        call.extend(&SCENE[..5]);
        self.options().for_each(|option| call.push(option));
        let (first, others) = start(&call, Self::NODES);
        let count = 1 + random.below(Self::NODES as u64);
        for _ in 0..count {
            thread::sleep(Duration::from_micros(random.below(300_000)));
            let victim = others[random.below(Self::NODES as u64) as usize];
            let name = signals[random.below(signals.len() as u64) as usize];
            if fs::exists(format!("/proc/{victim}")).expect("it can be asked") {
                // The process may end at this moment.
                let _ = std::panic::catch_unwind(|| signal(name, victim));
            }
        }
        let outcome: Outcome = first.wait_with_output().expect("it ends").into();
        self.expect(&outcome);
        expect_gone(&others);
    }

    #[track_caller]
    fn expect(&self, outcome: &Outcome) {
        let seed = self.seed;
        assert!(!outcome.errors.contains("panicked"), "{seed}: {outcome:?}");
        match outcome.code {
            Some(0) => {
                for (index, expected) in self.expected.iter().enumerate() {
                    let found = fs::read(self.path(Some(index))).expect("it was written");
                    assert!(found == *expected, "{seed}, picture {index}: {outcome:?}");
                }
            }
            Some(1) => {
                let errors = outcome.errors.matches("error: ").count();
                assert_eq!(errors, 1, "{seed}: {outcome:?}");
            }
            _ => panic!("{seed}: {outcome:?}"),
        }
    }
}

fn expected(folder: &Folder) -> Vec<Vec<u8>> {
    let frames = ["--frames", "10"];
    rendered_frames(folder, &frames)
}

fn rendered_frames(folder: &Folder, options: &[&str]) -> Vec<Vec<u8>> {
    let path = folder.path("expected.ppm");
    let path = path.to_str().expect("a plain path");
    run_well([&["isosurface", "-o", path], &SCENE[..], options].concat());
    let picture = |index: usize| fs::read(folder.path(&format!("expected-{index:03}.ppm")));
    let pictures = (0..Run::FRAMES).map(picture);
    pictures.map(|picture| picture.expect("written")).collect()
}

/// Returns the number of runs, which a variable may raise.
fn run_count(usual: u64) -> u64 {
    let given = std::env::var("RADDLE_TEST_KILLS").ok();
    given.and_then(|count| count.parse().ok()).unwrap_or(usual)
}

#[test]
fn killed_nodes_are_replaced() {
    let folder = Folder::new("dirt-kills");
    let expected = expected(&folder);
    for seed in 0..run_count(16) {
        let run = Run {
            folder: &folder,
            expected: &expected,
            seed,
        };
        run.check(&["KILL"]);
    }
}

// All runs at the same time: each takes the ten seconds for which a node may be silent.
#[test]
fn stopped_nodes_are_replaced() {
    let folder = Folder::new("dirt-stops");
    let expected = expected(&folder);
    thread::scope(|scope| {
        for seed in 1_000..1_000 + run_count(16) / 4 {
            let (folder, expected) = (&folder, &expected[..]);
            scope.spawn(move || {
                let run = Run {
                    folder,
                    expected,
                    seed,
                };
                run.check(&["STOP", "KILL"]);
            });
        }
    });
}
