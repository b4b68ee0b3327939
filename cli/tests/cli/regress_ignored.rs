//! Values and options that silently had no effect, or another effect than requested.

use crate::common::{Folder, Outcome, json, raddle, run, run_well};
use serde_json::Value;

/// Expects exit code 2 and an error that contains all parts.
#[track_caller]
fn is_refused(call: &str, parts: &[&str]) {
    let outcome = run(call.split(' '));
    assert_eq!(outcome.code, Some(2), "{call}: {outcome:?}");
    assert_eq!(outcome.output, "", "{call}");
    for part in parts {
        assert!(
            outcome.errors.contains(part),
            "{part:?} is missing: {call}: {outcome:?}"
        );
    }
}

// Regression: the rest of the round trip was cut to 0, so all longer sleeps gave the same answer.
#[test]
fn a_sleep_longer_than_a_round_trip_is_refused_by_predict_and_can_be_simulated() {
    is_refused(
        "predict --slower sleep=5us",
        &["slower sleep is 5000 ns; expected at most 4314.0 ns"],
    );
    is_refused(
        "predict --slower sleep=1s",
        &["slower sleep is 1000000000 ns; expected at most 4314.0 ns"],
    );
    is_refused(
        "predict --slower sleep=3us,sleep=2us",
        &["slower sleep is 5000"],
    );
    let found = json(&run_well("predict --slower sleep=4314ns --json".split(' ')));
    let left_ns = found["round_trip_ns"].as_f64().expect("a time");
    assert!((0.0..1e-3).contains(&left_ns), "{left_ns}");
    let call = "simulate tracer --nodes 2 --renderers 1 --slower sleep=5us --json";
    let found = json(&run_well(call.split(' ')));
    assert!(found["cycle_ns"].as_f64() > Some(5_000.0), "{found}");
    let reason = found["predicted"]["error"].as_str().expect("a reason");
    assert!(reason.contains("slower sleep"), "{reason}");
}

// On a machine with short round trips, the lines of the figure end where the model becomes
// invalid.
#[test]
fn the_figure_of_slower_sleeps_ends_at_the_length_of_a_round_trip() {
    let call = "predict --parameters zen4-shm --renderers 1 --figure wake --json";
    let found = json(&run_well(call.split(' ')));
    let figures = found["figures"].as_array().expect("figures");
    let by_sleep = &figures[1];
    assert_eq!(by_sleep["x"]["name"], "added sleep overhead of renderers");
    let way = json(&run_well(
        "predict --parameters zen4-shm --renderers 1 --json".split(' '),
    ));
    let way_us = way["round_trip_ns"].as_f64().expect("a time") * 1e-3;
    for line in by_sleep["lines"].as_array().expect("lines") {
        let points = line["points"].as_array().expect("points");
        let sleeps: Vec<_> = points
            .iter()
            .filter_map(|point| point[0].as_f64())
            .collect();
        assert!(sleeps.len() > 3, "{line}");
        assert!(sleeps.iter().all(|&sleep| sleep <= way_us), "{line}");
    }
}

/// Returns the measurements of a busy machine, as `pingpong --overheads` prints them.
fn busy(wire_ns: u32) -> String {
    let rows = [
        ("send overhead", 43),
        ("wire", wire_ns),
        ("polling receive overhead (message waiting)", 20),
        ("polling period (no message waiting)", 4),
        ("notified receive overhead (message waiting)", 30),
        ("thread wake overhead", 1),
        ("thread wake latency (in its wait)", 50),
        ("round trip, polling", 240),
        ("round trip, notified", 262),
    ];
    let rows = rows.map(|(name, ns)| format!("{{\"quantity\":\"{name}\",\"time_s\":{ns}e-9}}"));
    format!("{{\"overheads\":[{}]}}", rows.join(","))
}

// Regression: calibrating while other work ran gave measurements that contradicted each other,
// without a warning.
#[test]
fn measurements_that_contradict_each_other_are_a_warning_and_a_comment() {
    let folder = Folder::new("busy");
    let toml = folder.path("busy.toml");
    let calibrate = |content: &str, more: &[&str]| {
        let file = folder.file("run.json", content);
        let (file, toml) = (file.display().to_string(), toml.display().to_string());
        let call = ["predict", "--calibrate-from", &file, "-o", &toml, "--json"];
        run([&call[..], more].concat())
    };
    let outcome = calibrate(&busy(125), &[]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert_eq!(outcome.errors.lines().count(), 1, "{outcome:?}");
    for part in [
        "warning: network.wire_ns",
        "240.0 ns",
        "busy",
        "calibrate again",
    ] {
        assert!(
            outcome.errors.contains(part),
            "{part:?} is missing: {outcome:?}"
        );
    }
    let doubts = &json(&outcome.output)["measured"]["doubts"];
    assert_eq!(doubts.as_array().map(Vec::len), Some(1), "{doubts}");
    let text = std::fs::read_to_string(&toml).expect("a file");
    assert!(text.starts_with("# doubtful: network.wire_ns"), "{text}");
    // The file can still be read.
    let path = toml.display().to_string();
    run_well(["predict", "--parameters", &path]);
    assert_eq!(calibrate(&busy(125), &["--quiet"]).errors, "");
    let outcome = calibrate(&busy(52), &[]);
    assert_eq!(
        (outcome.code, &*outcome.errors),
        (Some(0), ""),
        "{outcome:?}"
    );
    let text = std::fs::read_to_string(&toml).expect("a file");
    assert!(!text.contains("doubtful"), "{text}");
}

// Regression: runs that are compared had fewer iterations than requested, as only the JSON showed.
#[test]
fn compared_runs_have_the_requested_iterations() {
    // Two sizes are runs to compare. Between threads a message is passed on without a copy.
    let run = "kneighbor --workers 2 --size 4000000,2000000 --repeat 1";
    let iterations = |more: &[&str]| {
        let call: Vec<_> = run.split(' ').chain(more.iter().copied()).collect();
        let value = json(&run_well([&call[..], &["--json"]].concat()));
        [0, 1].map(|size| value["sizes"][size]["iterations"].as_u64())
    };
    assert_eq!(iterations(&["--iterations", "30"]), [Some(30), Some(30)]);
    // Without the option an element sends 300 MB in a run.
    assert_eq!(iterations(&[]), [Some(12), Some(25)]);
    let text = run_well(run.split(' '));
    let rows: Vec<_> = text.lines().collect();
    assert!(rows[2].contains("size iterations"), "{text}");
    assert!(rows[3].contains("4.00 MB         12"), "{text}");
    let nodes = "kneighbor --mode shm --iterations 20001 --repeat 1 --size 16 --json";
    let value = json(&run_well(nodes.split(' ')));
    assert_eq!(value["sizes"][0]["iterations"], 20_001);
}

#[test]
fn options_that_contradict_each_other_are_refused() {
    for (call, parts) in [
        ("kneighbor --mode all --stats", &["--stats", "one mode"][..]),
        ("kneighbor --size 16,64 --stats", &["--stats", "one size"]),
        (
            "kneighbor --mode shm --nodes 1 --progress send",
            &["--progress --nodes 1", "more nodes"],
        ),
        (
            "kneighbor --progress any-send",
            &["--progress", "expected --mode"],
        ),
        (
            "kneighbor --size 16,64 --show-binding --json",
            &["--show-binding --json"],
        ),
        (
            "pingpong --nodes 2 --overheads --trips 20001",
            &["--overheads --trips 20001", "at most 20000"],
        ),
        (
            "sort 100 --pool deque --blocks 8x2",
            &["--blocks --pool deque", "DQ-BL-*"],
        ),
        (
            "launch -n 2 --pool deque --blocks 8x2 true",
            &["--blocks --pool deque", "DQ-BL-*"],
        ),
        ("topology --json --format svg", &["cannot be used with"]),
        (
            "place --program lk23 --json --format text",
            &["cannot be used with"],
        ),
        (
            "place --program pipeline --core-gflops 2",
            &["--core-gflops 2", "lk23 or matmul"],
        ),
        (
            "kdtree --scene knot:500 --builder sequential --workers 2",
            &["--workers 2 --builder sequential", "one worker", "--check"],
        ),
        (
            "kdtree --scene knot:500 --builder sequential --pool deque --mailbox locked",
            &[
                "--pool --mailbox --builder sequential",
                "no tasks",
                "--check",
            ],
        ),
        (
            "kdtree --scene knot:500 --builder sequential --idle park --task-memory malloc",
            &["--idle --task-memory --builder sequential"],
        ),
        (
            "kdtree --scene knot:500 --builder sequential --blocks 4x2",
            &["--blocks --builder sequential", "--builder tasks"],
        ),
        (
            "--show-binding --pool deque --idle park",
            &["--show-binding --pool --idle", "no worker is started"],
        ),
        (
            "place --program lk23 --format svg --link-gbs 15 --stay 2",
            &["--link-gbs --stay --format svg", "predicted times"],
        ),
        ("predict --misses worst", &["--misses worst", "--brick"]),
        (
            "predict --misses worst --figure bricks,wire",
            &["--misses worst", "--brick", "combined"],
        ),
        ("simulate tracer --misses worst", &["--brick"]),
        (
            "predict --show-parameters --nodes 64",
            &["--show-parameters", "--nodes"],
        ),
        (
            "lk23 --size 100 --rows 30 --columns 40",
            &["--size 100", "option of its own"],
        ),
        (
            "matmul --size 100 --rows 30 --inner 20 --columns 40",
            &["--size 100"],
        ),
    ] {
        is_refused(call, parts);
    }
}

// Regression: `--mailbox` was accepted where no worker sends messages.
#[test]
fn a_mailbox_is_refused_where_no_message_is_sent() {
    for (call, parts) in [
        (
            "kdtree --scene knot:500 --mailbox locked",
            &[
                "--mailbox locked --builder tasks",
                "only the message builder",
            ],
        ),
        (
            "kdtree --scene knot:500 --builder sequential --check --mailbox pairs",
            &["--mailbox pairs --builder sequential", "--builder messages"],
        ),
        (
            "lk23 --size 40 --turns 1 --threads --mailbox locked",
            &["--mailbox locked --threads", "without --threads"],
        ),
        (
            "matmul --size 40 --threads --mailbox locked",
            &["--mailbox locked --threads", "without --threads"],
        ),
    ] {
        is_refused(call, parts);
    }
}

// Regression: `--blocks` was ignored if `RADDLE_POOL` selected a pool without blocks.
#[test]
fn blocks_are_refused_for_a_pool_without_blocks_in_the_environment() {
    let code_and_errors = |pool: &str, more: &[&str]| {
        let call = ["sort", "100", "--repeat", "1", "--blocks", "8x2", "--quiet"];
        let output = raddle()
            .args(call)
            .args(more)
            .env("RADDLE_POOL", pool)
            .output();
        let outcome = Outcome::from(output.expect("the program starts"));
        (outcome.code, outcome.errors)
    };
    let (code, errors) = code_and_errors("deque", &[]);
    assert_eq!(code, Some(2), "{errors}");
    assert!(
        errors.contains("--blocks with RADDLE_POOL=deque"),
        "{errors}"
    );
    for (pool, more) in [("blocks", &[][..]), ("deque", &["--pool", "blocks"])] {
        assert_eq!(code_and_errors(pool, more), (Some(0), String::new()));
    }
}

#[test]
fn options_that_agree_are_accepted() {
    for call in [
        "sort 100 --repeat 1 --pool blocks --blocks 8x2 --quiet",
        "sort 100 --repeat 1 --pool auto --blocks 8x2 --quiet",
        "lk23 --size 40 --rows 30 --turns 1 --quiet",
        "matmul --size 40 --rows 30 --inner 20 --quiet",
        "lk23 --size 40 --turns 1 --mailbox locked --quiet",
        "matmul --size 40 --mailbox locked --quiet",
        "kdtree --scene knot:500 --builder messages --mailbox locked --quiet",
        "predict --misses expected --quiet",
        "predict --misses worst --brick 7 --quiet",
        "predict --misses worst --figure bricks,direct --quiet",
        "predict --misses worst --figure all --quiet",
        "kdtree --scene knot:500 --builder sequential --workers 1 --affinity none --quiet",
        "kdtree --scene knot:500 --builder sequential --check --workers 2 --pool deque --quiet",
    ] {
        assert_eq!(run_well(call.split(' ')), "", "{call}");
    }
}

// Regression: the plan of nodes was printed as text only.
#[test]
fn the_binding_of_nodes_is_in_their_json() {
    let call = "pingpong --nodes 2 --trips 5 --receive poll --size 16 --show-binding --json";
    let value = json(&run_well(call.split(' ')));
    let entries = value["binding"]["entries"].as_array().map(Vec::len);
    assert_eq!(entries, Some(2), "{value}");
    let call = "pingpong --nodes 2 --trips 5 --receive poll --size 16 --json";
    let value = json(&run_well(call.split(' ')));
    assert_eq!(value["binding"], Value::Null);
}
