//! `raddle kdtree`: its trees, its text and its JSON.

use crate::common::{Folder, Outcome, TETRAHEDRON, has, json, raddle, run, run_well};

#[test]
fn the_json_of_kdtree_has_its_documented_fields() {
    let folder = Folder::new("kdtree-json");
    let mesh = folder.file("mesh.obj", TETRAHEDRON);
    let text = run_well([
        "kdtree".as_ref(),
        mesh.as_os_str(),
        "--json".as_ref(),
        "--repeat".as_ref(),
        "3".as_ref(),
        "--check".as_ref(),
    ]);
    let value = json(&text);
    has(
        &value,
        &[
            "command",
            "input.file",
            "input.format",
            "input.compression",
            "input.triangles",
            "input.vertices",
            "input.degenerate_triangles",
            "input.load_s",
            "builder",
            "depth_limit.asked",
            "depth_limit.levels",
            "references_s.median",
            "events_s.median",
            "sort_s.median",
            "build_s.median",
            "build_s.min",
            "build_s.max",
            "tree.node_count",
            "tree.leaf_count",
            "tree.depth",
            "tree.expected_cost",
            "tree.leaf_largest",
            "tree.tests_per_ray",
            "tree.is_slow",
            "tree.memory_bytes",
            "checked",
            "memory_peak_bytes",
            "workers",
        ],
    );
    assert_eq!(value["build_s"]["repeats"], 3);
    assert_eq!(value["input"]["triangles"], 4);
}

#[test]
fn all_builders_make_the_same_tree_at_every_depth() {
    for depth in ["auto", "none", "8", "0"] {
        let tree = |builder: &str| {
            let text = run_well([
                "kdtree",
                "--scene",
                "flake:4000",
                "--depth",
                depth,
                "--builder",
                builder,
                "--check",
                "--json",
                // No warning about slow rays when all triangles are in one leaf.
                "--quiet",
            ]);
            json(&text)["tree"].clone()
        };
        let sequential = tree("sequential");
        assert_eq!(tree("tasks"), sequential, "depth {depth}");
        assert_eq!(tree("messages"), sequential, "depth {depth}");
    }
}

#[test]
fn a_build_by_messages_follows_its_options() {
    let base = "kdtree --scene knot:5000 --builder messages --check --json --repeat 2 \
                --triangles-per-task 500";
    for (options, key, value) in [
        ("--grain 16", "grain", "16"),
        ("--grain Tuned", "grain", "tuned"),
        ("--worker-tasks static", "worker_tasks", "static"),
        ("--sync binomial", "sync", "binomial"),
        (
            "--sync two-level --worker-tasks static",
            "sync",
            "two-level",
        ),
        ("--scans recursive-doubling", "scans", "recursive-doubling"),
        ("--arrays Plain", "arrays", "plain"),
    ] {
        let grain = if key == "grain" { "" } else { " --grain 16" };
        let more = format!("{base}{grain} {options}");
        let found = json(&run_well(more.split(' ')))["messages"].clone();
        assert_eq!(found[key], value, "{found}");
        assert_eq!(found["triangles_per_task"], 500);
        // The tuner may find that one task is best; a single task calls no worker tasks.
        let is_tuned = value == "tuned";
        assert!(
            is_tuned || found["worker_task_count"].as_u64() > Some(0),
            "{found}"
        );
        assert!(found["node_tasks"].as_u64() > Some(0), "{found}");
    }
}

#[test]
fn the_text_is_a_table() {
    let text = run_well([
        "kdtree",
        "--scene",
        "knot:1000",
        "--check",
        "--repeat",
        "2",
        "--stats",
    ]);
    for part in [
        "triangles",
        "boxes made in",
        "events made in",
        "sorted in",
        "built in",
        "median of 2",
        "nodes",
        "leaves",
        "depth",
        "SAH cost",
        "memory of tree",
        "tree checked",
        "node for node",
        "pool: auto: now ",
        "stolen",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// Builds from which the tuner learns were included in the median.
#[test]
fn builds_from_which_the_tuner_learns_do_not_count() {
    let base = "kdtree --scene knot:1000 --builder messages --repeat 3";
    for (more, learning) in [("", 8), (" --grain tuned", 8), (" --grain 4", 0)] {
        let text = run_well(format!("{base}{more}").split(' '));
        let has_learned = text.contains("after 8 builds that the tuner has learned from");
        assert_eq!(has_learned, learning > 0, "{text}");
        assert!(text.contains("median of 3"), "{text}");
        let value = json(&run_well(format!("{base}{more} --json").split(' ')));
        assert_eq!(value["messages"]["learning_builds"], learning, "{value}");
        assert_eq!(value["build_s"]["repeats"], 3, "{value}");
    }
}

// Regression: the report included workers that did nothing.
#[test]
fn the_sequential_builder_has_one_worker_with_any_number_of_workers() {
    for (more, threads) in [("", 1), (" --check", 4)] {
        let call = format!("kdtree --scene knot:500 --json --stats{more}");
        let with_four = |call: &str| {
            let output = raddle()
                .args(call.split(' '))
                .env("RADDLE_WORKERS", "4")
                .output();
            let outcome = Outcome::from(output.expect("the program starts"));
            assert_eq!((outcome.code, &*outcome.errors), (Some(0), ""), "{call}");
            json(&outcome.output)
        };
        let alone = with_four(&format!("{call} --builder sequential"));
        assert_eq!(alone["workers"], 1, "{alone}");
        let counted = alone["stats"]["workers"].as_array().map(Vec::len);
        assert_eq!(counted, Some(threads), "{alone}");
        let together = with_four(&call);
        assert_eq!(together["workers"], 4, "{together}");
    }
    let call = "kdtree --scene knot:500 --builder sequential --check --workers 4 --json --stats";
    let checked = json(&run_well(call.split(' ')));
    assert_eq!(checked["workers"], 1, "{checked}");
    let counted = checked["stats"]["workers"].as_array().map(Vec::len);
    assert_eq!(counted, Some(4), "{checked}");
}

// Regression: the sequential builder ran on the main thread, which `--affinity` does not bind.
#[test]
#[cfg(target_os = "linux")]
fn the_sequential_builder_runs_where_the_binding_says() {
    let call = "kdtree --scene knot:500 --builder sequential --affinity none --show-binding \
                --stats --json";
    let value = json(&run_well(call.split_whitespace()));
    let entries = value["binding"]["entries"].as_array().map(Vec::len);
    assert_eq!(entries, Some(1), "{value}");
    let workers = value["stats"]["workers"].as_array().expect("a list");
    let tasks = workers[0]["tasks"].as_u64().expect("a number");
    // The main thread waits for the worker. The task of the build may not be counted yet.
    assert!(tasks >= 1, "{value}");
}

#[test]
fn the_text_describes_a_build_by_messages() {
    let base = "kdtree --scene knot:1000 --builder messages --grain 16";
    let text = run_well(base.split(' '));
    for part in ["sync ", "by-depth", "chunked", "only for cells near"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    let more = format!(
        "{base} --triangles-per-task 250 --sync binomial --scans prescan-push --arrays plain"
    );
    let text = run_well(more.split(' '));
    for part in [
        "binomial",
        "prescan-push",
        "plain",
        "one for each 250 triangles",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

/// Triangles with random corners in a cube, as an OBJ file.
fn soup(count: usize) -> String {
    let mut state = 1_u64;
    let mut coordinate = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        state >> 40
    };
    let mut text = String::new();
    for index in 0..count {
        for _ in 0..3 {
            let [x, y, z] = [coordinate(), coordinate(), coordinate()];
            text += &format!("v {x} {y} {z}\n");
        }
        let [a, b, c] = [1, 2, 3].map(|corner| 3 * index + corner);
        text += &format!("f {a} {b} {c}\n");
    }
    text
}

// Regression: rendering a soup of triangles took hours, without a warning.
#[test]
fn a_tree_with_slow_rays_causes_a_warning() {
    let folder = Folder::new("kdtree-slow");
    let mesh = folder.file("soup.obj", soup(20_000));
    let mesh = mesh.to_str().expect("a name in UTF-8");
    let picture = folder.path("soup.png");
    let picture = picture.to_str().expect("a name in UTF-8");
    let commands: [&[&str]; 2] = [
        &["kdtree", mesh, "--json"],
        &["render", mesh, "-o", picture, "--size", "4x4", "--json"],
    ];
    for command in commands {
        let outcome = run(command);
        assert_eq!(outcome.code, Some(0), "{outcome:?}");
        assert!(outcome.errors.starts_with("warning: "), "{outcome:?}");
        assert_eq!(outcome.errors.matches('\n').count(), 1, "{outcome:?}");
        let tree = &json(&outcome.output)["tree"];
        assert_eq!(tree["is_slow"], true, "{tree}");
        let tests = tree["tests_per_ray"].as_f64().expect("a number");
        assert!((1_000.0..5_000.0).contains(&tests), "{tree}");
        let quiet = [command, &["--quiet"]].concat();
        assert_eq!(run(quiet).errors, "");
    }
}
