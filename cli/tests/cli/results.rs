//! The results of the commands, as text and as JSON.

use std::ffi::OsStr;
use std::fs;

use crate::common::{Folder, TETRAHEDRON, has, json, raddle, run, run_well};
use serde_json::Value;

#[test]
fn a_picture_is_rendered_and_described() {
    let folder = Folder::new("render");
    let mesh = folder.file("mesh.obj", TETRAHEDRON);
    for (name, magic) in [
        ("a.png", &b"\x89PNG"[..]),
        ("a.ppm", b"P6\n40 30\n"),
        ("a.exr", b"\x76\x2f\x31\x01"),
    ] {
        let picture = folder.path(name);
        let text = run_well([
            "render".as_ref(),
            mesh.as_os_str(),
            "-o".as_ref(),
            picture.as_os_str(),
            "--size".as_ref(),
            "40x30".as_ref(),
        ]);
        assert!(text.contains(name) && text.contains("40x30"), "{text}");
        assert!(
            fs::read(&picture).expect("a picture").starts_with(magic),
            "{name}"
        );
    }
    assert_eq!(folder.names(), ["a.exr", "a.png", "a.ppm", "mesh.obj"]);
}

#[test]
fn a_picture_does_not_depend_on_the_workers_or_the_pool() {
    let folder = Folder::new("same");
    let render = |name: &str, options: &[&str]| {
        let picture = folder.path(name);
        let mut arguments = vec!["render", "--scene", "flake:3000", "--size", "48x36", "-o"];
        let path = picture.to_str().expect("a plain path");
        arguments.push(path);
        arguments.extend(options);
        run_well(&arguments);
        fs::read(&picture).expect("a picture")
    };
    let reference = render("reference.ppm", &["--workers", "1"]);
    for (name, options) in [
        ("two.ppm", &["--workers", "2"][..]),
        ("five.ppm", &["--workers", "5", "--idle", "park"]),
        ("central.ppm", &["--workers", "2", "--pool", "central"]),
        (
            "distributed.ppm",
            &[
                "--workers",
                "2",
                "--pool",
                "distributed",
                "--affinity",
                "none",
            ],
        ),
    ] {
        assert_eq!(render(name, options), reference, "{name}");
    }
}

#[test]
fn the_camera_options_change_the_picture() {
    let folder = Folder::new("camera");
    let render = |name: &str, options: &[&str]| {
        let picture = folder.path(name);
        let path = picture.to_str().expect("a plain path");
        let mut arguments = vec![
            "render",
            "--scene",
            "knot:1000",
            "--size",
            "32x24",
            "-o",
            path,
        ];
        arguments.extend(options);
        run_well(&arguments);
        fs::read(&picture).expect("a picture")
    };
    let pictures = [
        render("plain.ppm", &[]),
        render("eye.ppm", &["--eye", "-9,4,2"]),
        render("at.ppm", &["--eye", "-9,4,2", "--look-at", "0,1,0"]),
        render("up.ppm", &["--eye", "-9,4,2", "--up", "0,0,1"]),
        render("fov.ppm", &["--eye", "-9,4,2", "--fov", "80"]),
    ];
    for (index, picture) in pictures.iter().enumerate() {
        assert!(
            !pictures[..index].contains(picture),
            "picture {index} is like an earlier one"
        );
    }
}

#[test]
fn the_json_of_render_has_its_documented_fields() {
    let folder = Folder::new("render-json");
    let picture = folder.path("a.ppm");
    let text = run_well([
        "render".as_ref(),
        "--scene".as_ref(),
        "terrain:2000".as_ref(),
        "-o".as_ref(),
        picture.as_os_str(),
        "--size".as_ref(),
        "32x24".as_ref(),
        "--samples".as_ref(),
        "2".as_ref(),
        "--json".as_ref(),
        "--stats".as_ref(),
        "--show-binding".as_ref(),
    ]);
    let value = json(&text);
    has(
        &value,
        &[
            "command",
            "input.scene",
            "input.triangles",
            "input.vertices",
            "input.load_s",
            "build_s",
            "render_s",
            "write_s",
            "rays.primary",
            "rays.hit",
            "rays.shadow",
            "rays.per_second",
            "tree.tests_per_ray",
            "tree.is_slow",
            "camera.eye",
            "camera.forward",
            "camera.fov_degrees",
            "camera.setting",
            "picture.file",
            "picture.width",
            "picture.height",
            "picture.samples",
            "memory_peak_bytes",
            "workers",
            "binding.summary",
            "binding.entries",
            "stats.total.tasks",
            "stats.workers",
        ],
    );
    assert_eq!(value["rays"]["primary"], 32 * 24 * 2);
}

// Regression: numbers of 32 bits were extended, and 45.85 became 45.849998474121094.
#[test]
fn json_has_numbers_as_they_were_given() {
    let folder = Folder::new("json-numbers");
    let picture = folder.path("picture.ppm");
    let path = picture.to_str().expect("plain");
    let call = [
        "render", "--scene", "knot:500", "--size", "16x12", "-o", path,
    ];
    let value = json(&run_well(
        [&call[..], &["--fov", "45.85", "--json"]].concat(),
    ));
    assert_eq!(value["camera"]["fov_degrees"], 45.85);
}

#[test]
fn numbers_are_sorted_on_every_pool_and_in_both_ways() {
    for pool in ["central", "distributed", "blocks", "deque", "auto"] {
        for way in [&[][..], &["--tasks"]] {
            let arguments = [
                "sort",
                "5e4",
                "--repeat",
                "2",
                "--workers",
                "2",
                "--pool",
                pool,
            ];
            let value = json(&run_well(
                [&arguments, way, &["--json", "--stats"]].concat(),
            ));
            has(
                &value,
                &[
                    "input.seed",
                    "sort_s.median",
                    "sequential_s.max",
                    "speedup",
                    "task_us",
                    "stats.total",
                ],
            );
            assert_eq!(value["input"]["numbers"], 50_000);
            assert_eq!(value["sort_s"]["repeats"], 2);
            assert_eq!(value["by"], if way.is_empty() { "joins" } else { "tasks" });
            let ideal = value["speedup_ideal"].as_f64().expect("a number");
            assert!((ideal - 1.8795).abs() < 0.001, "{ideal}");
            // At least one for every thousand numbers. Each split adds two tasks to the first one.
            let tasks = value["tasks"].as_u64().expect("a number");
            assert!((50..1_000).contains(&tasks) && tasks % 2 == 1, "{tasks}");
        }
    }
}

#[test]
fn the_cutoff_decides_how_many_tasks_a_sort_has() {
    let tasks = |options: &[&str]| {
        let arguments = [&["sort", "1e4", "--repeat", "1", "--json"], options].concat();
        json(&run_well(arguments))["tasks"].as_u64()
    };
    assert_eq!(tasks(&["--cutoff", "10000"]), Some(1));
    assert!(tasks(&["--cutoff", "9999"]) >= Some(3));
    assert!(tasks(&["--cutoff", "10"]) > tasks(&["--cutoff", "100"]));
}

#[test]
fn the_text_of_a_sort_has_its_times_and_speedup() {
    let text = run_well([
        "sort",
        "12345",
        "--seed",
        "9",
        "--workers",
        "2",
        "--repeat",
        "3",
    ]);
    for part in [
        "12,345, random (seed 9)",
        "joins, 2 workers, cut-off 1,000",
        "median of 3",
        "sequential",
        "speedup",
        "µs each",
        "in order",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert!(run_well(["sort", "1", "--workers", "1"]).contains("median of 5"));
    assert_eq!(run_well(["sort", "100", "--quiet"]), "");
}

#[test]
fn neighbours_exchange_messages_through_every_mailbox() {
    for mailbox in ["lock-free", "locked", "producer-lock", "pairs"] {
        for options in [&["--workers", "1"][..], &["--workers", "3", "--touch"]] {
            let arguments = [
                "kneighbor",
                "--elements",
                "5",
                "-k",
                "2",
                "--bytes",
                "2K",
                "--iterations",
                "3e2",
                "--repeat",
                "2",
                "--mailbox",
                mailbox,
                "--json",
            ];
            let value = json(&run_well([&arguments[..], options].concat()));
            assert_eq!(value["mailbox"], mailbox);
            assert_eq!(
                (
                    &value["elements"],
                    &value["neighbours_per_side"],
                    &value["bytes"]
                ),
                (&Value::from(5), &Value::from(2), &Value::from(2048))
            );
            assert_eq!(value["messages_per_iteration"], 20);
            assert_eq!(value["iteration_s"]["repeats"], 2);
            let number = |pointer: &str| value.pointer(pointer).and_then(Value::as_f64);
            let rate = number("/messages_per_s").expect("a number");
            let iteration = number("/iteration_s/median").expect("a number");
            assert!((rate * iteration / 20.0 - 1.0).abs() < 1e-6, "{value}");
            let bytes = number("/bytes_per_s").expect("a number");
            assert!((bytes / rate - 2048.0).abs() < 1e-6, "{value}");
        }
    }
}

#[test]
fn the_text_of_kneighbor_has_the_ring_and_its_rates() {
    let arguments = ["kneighbor", "--workers", "2", "--iterations", "100"];
    let text = run_well(arguments);
    for part in [
        "2 elements, each with 3 neighbours on either side",
        "12 per iteration, 1.02 kB each",
        "2 workers, mailbox lock-free",
        "median of 5",
        "messages, ",
        "100 iterations",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert!(run_well([&arguments[..], &["--touch"]].concat()).contains("written and read"));
    assert_eq!(run_well([&arguments[..], &["--quiet"]].concat()), "");
}

#[test]
fn a_message_goes_there_and_back_on_every_layer() {
    let arguments = ["pingpong", "--workers", "2", "--trips", "200"];
    let value = json(&run_well([&arguments[..], &["--json"]].concat()));
    assert_eq!(
        (value["trips"].as_u64(), value["workers"].as_u64()),
        (Some(200), Some(2))
    );
    let lines = value["round_trips"].as_array().expect("lines");
    let names: Vec<_> = lines
        .iter()
        .map(|line| (line["layer"].as_str(), line["bytes"].as_u64()))
        .collect();
    let of = |layer| [16, 1_024, 65_536].map(|bytes| (Some(layer), Some(bytes)));
    assert_eq!(names, [of("array"), of("chare"), of("post")].concat());
    for line in lines {
        let keys = ["min_s", "median_s", "p90_s", "p99_s", "p99_9_s", "max_s"];
        let times = keys.map(|key| line[key].as_f64().expect("a number"));
        assert!(times.is_sorted() && times[0] >= 0.0, "{line}");
    }
    let text = run_well([&arguments[..], &["--layer", "post", "--bytes", "1M"]].concat());
    for part in ["200 round trips", "2 workers", "99.9 %", "post    1.05 MB"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert_eq!(text.lines().count(), 4, "{text}");
    assert_eq!(run_well([&arguments[..], &["--quiet"]].concat()), "");
}

#[test]
fn every_way_to_wait_is_measured_or_has_a_reason() {
    let arguments = [
        "pingpong", "--wait", "all", "--trips", "20", "--late", "200us",
    ];
    let value = json(&run_well([&arguments[..], &["--json"]].concat()));
    assert_eq!(value["late_pause_s"].as_f64(), Some(2e-4));
    assert!(value["waiter_cpu"].is_u64() && value["bystander_beside"].is_string());
    let rows = value["waits"].as_array().expect("a row for each way");
    let names: Vec<_> = rows.iter().filter_map(|row| row["wait"].as_str()).collect();
    let expected = "spin monitor pause futex auto eventfd signal pipe";
    assert_eq!(names.join(" "), expected);
    for row in rows {
        if let Some(missing) = row["missing"].as_str() {
            assert!(missing.starts_with("not on this processor: "), "{row}");
            continue;
        }
        for part in ["soon", "late"] {
            let keys = ["min_s", "median_s", "p90_s", "p99_s", "p99_9_s", "max_s"];
            let times = keys.map(|key| row[part][key].as_f64().expect("a number"));
            assert!(times.is_sorted() && times[0] >= 0.0, "{row}");
        }
        // Two threads that spin on one CPU make fewer than requested.
        for count in [&row["soon"]["trips"], &row["late"]["waits"]] {
            assert!(count.as_u64().is_some_and(|count| count <= 20), "{row}");
        }
        assert!(row["late"]["cpu_s"].is_f64(), "{row}");
        assert!(row["late"]["bystander_share"].is_f64(), "{row}");
    }
}

#[test]
fn the_text_of_a_way_to_wait_has_both_tables() {
    let arguments = ["pingpong", "--wait", "eventfd", "--trips", "10"];
    let text = run_well([&arguments[..], &["--affinity", "none"]].concat());
    for part in [
        "two threads that are not bound; no bystander",
        "answered at once",
        "answered after 500 µs",
        "99.9 %",
        "CPU time",
        "eventfd",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert_eq!(run_well([&arguments[..], &["--quiet"]].concat()), "");
}

#[test]
fn two_threads_on_one_cpu_wait_for_each_other_in_every_way() {
    let arguments = ["pingpong", "--trips", "5", "--json", "--wait"];
    let value = json(&run_well([&arguments[..], &["auto"]].concat()));
    let cpu = value["waiter_cpu"].to_string();
    let value = json(&run_well(
        [&arguments[..], &["all", "--affinity", &cpu]].concat(),
    ));
    assert_eq!(value["waiter_cpu"], value["answerer_cpu"]);
    for row in value["waits"].as_array().expect("a row for each way") {
        let was_measured = row["soon"]["trips"].as_u64().is_some_and(|trips| trips > 0);
        assert!(was_measured || row["missing"].is_string(), "{row}");
    }
}

#[test]
fn quiet_prints_nothing() {
    let folder = Folder::new("quiet");
    let picture = folder.path("a.ppm");
    assert_eq!(run_well(["kdtree", "--scene", "knot:500", "--quiet"]), "");
    let text = run_well([
        "render".as_ref(),
        "--scene".as_ref(),
        "knot:500".as_ref(),
        "--quiet".as_ref(),
        "--size".as_ref(),
        "8x8".as_ref(),
        "-o".as_ref(),
        picture.as_os_str(),
    ]);
    assert_eq!(text, "");
}

#[test]
fn the_binding_names_every_worker_and_the_reason() {
    let text = run_well(["--show-binding", "--workers", "3", "--affinity", "compact"]);
    for worker in ["0 |", "1 |", "2 |"] {
        assert!(text.contains(worker), "{text}");
    }
    assert!(text.contains("why"), "{text}");
    let line = text.lines().next().expect("a line");
    assert!(
        line.starts_with("placed by compact: 3 workers on CPU"),
        "{text}"
    );
    let value = json(&run_well(["--show-binding", "--workers", "3", "--json"]));
    let line = value["binding"]["summary"].as_str().expect("a line");
    assert!(line.starts_with("placed by auto: "), "{line}");
    assert!(!line.contains('\n'), "{line}");
    assert_eq!(
        value["binding"]["entries"].as_array().map(Vec::len),
        Some(3)
    );
}

#[test]
fn variables_replace_options() {
    let text = raddle()
        .env("RADDLE_WORKERS", "3")
        .env("RADDLE_POOL", "central")
        .env("RADDLE_MAILBOX", "pairs")
        .args(["kneighbor", "--iterations", "5", "--json", "--stats"])
        .output()
        .expect("the program starts");
    let value: Value = serde_json::from_slice(&text.stdout).expect("JSON");
    assert_eq!(value["workers"], 3);
    assert_eq!(value["stats"]["pool"], "SQ-TL");
    assert_eq!(value["mailbox"], "pairs");
}

#[test]
fn kneighbor_counts_what_the_system_does_in_each_run() {
    let call = "kneighbor --elements 7 --touch --iterations 50 --repeat 3 --workers 2 --stats";
    let text = run_well(call.split(' '));
    for part in [
        "context switches",
        "in 3 runs",
        "CPU migrations",
        "page faults",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json_call = format!("{call} --json");
    let value = json(&run_well(json_call.split(' ')));
    let system = &value["system"];
    let runs = system["runs"].as_array().expect("a list");
    assert_eq!(runs.len(), 3, "{system}");
    for key in [
        "context_switches_voluntary",
        "context_switches_involuntary",
        "page_faults_minor",
        "page_faults_major",
    ] {
        let sum: Option<u64> = runs.iter().map(|run| run[key].as_u64()).sum();
        assert!(sum.is_some(), "{key}: {system}");
        assert_eq!(sum, system[key].as_u64(), "{key}: {system}");
    }
    // Some systems do not count migrations.
    let migrations = &system["cpu_migrations"];
    assert!(migrations.is_null() || migrations.is_u64(), "{migrations}");
    let without = json(&run_well(["kneighbor", "--iterations", "5", "--json"]));
    assert!(without.get("system").is_none(), "{without}");
}

#[test]
fn a_topology_has_three_forms_and_can_be_written_to_a_file() {
    let folder = Folder::new("topology");
    let synthetic = ["topology", "--synthetic", "numa:2 core:4 pu:2"];
    let text = run_well(synthetic);
    assert!(text.contains("NUMA") && text.contains("Core"), "{text}");
    let value = json(&run_well(synthetic.iter().chain(&["--json"])));
    assert_eq!(value["counts"]["cpus"], 16);
    let indented = run_well(synthetic.iter().chain(&["--format", "json"]));
    assert!(indented.lines().count() > 20, "{indented}");
    assert_eq!(
        serde_json::from_str::<Value>(&indented).expect("JSON"),
        value
    );
    let svg = run_well(synthetic.iter().chain(&["--format", "svg"]));
    assert!(svg.contains("<svg") && svg.contains("</svg>"));
    let path = folder.path("machine.svg");
    let outcome = run_well(synthetic.iter().copied().chain([
        "--format",
        "svg",
        "-o",
        path.to_str().expect("a plain path"),
    ]));
    assert_eq!(outcome, "");
    assert_eq!(fs::read_to_string(path).expect("a file"), svg);
}

#[test]
fn without_a_command_a_picture_is_rendered_and_its_path_printed() {
    let folder = Folder::new("demo");
    let outcome = raddle()
        .current_dir(&folder)
        .args(["--workers", "2"])
        .output()
        .expect("the program starts");
    let text = String::from_utf8(outcome.stdout).expect("UTF-8");
    assert!(outcome.status.success(), "{text}");
    assert_eq!(folder.names(), ["raddle-demo.png"]);
    assert!(
        text.contains(
            folder
                .path("raddle-demo.png")
                .to_str()
                .expect("a plain path")
        ),
        "{text}"
    );
}

#[test]
fn there_is_no_progress_bar_without_a_terminal() {
    let outcome = run([
        "kdtree",
        "--scene",
        "terrain:50000",
        "--builder",
        "sequential",
    ]);
    assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""));
}

#[test]
fn an_stl_file_stands_upright_and_other_files_have_y_up() {
    let folder = Folder::new("upright");
    let stl = "solid\nfacet normal 0 0 1\nouter loop\n\
               vertex 0 0 0\nvertex 1 0 0\nvertex 0 1 1\n\
               endloop\nendfacet\nendsolid\n";
    let files = [
        (folder.file("a.stl", stl), 2),
        (folder.file("a.obj", TETRAHEDRON), 1),
    ];
    for (path, upright) in files {
        let picture = folder.path("a.ppm");
        let arguments = ["render", "--size", "9x9", "--json", "-o"].map(OsStr::new);
        let output = run_well([&arguments[..], &[picture.as_ref(), path.as_ref()]].concat());
        let result = json(&output);
        // The camera is above the middle and looks down.
        let forward = result["camera"]["forward"][upright].as_f64();
        assert!(
            forward.is_some_and(|down| (-0.4..-0.2).contains(&down)),
            "{output}"
        );
    }
}
