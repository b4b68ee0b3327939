//! Commands that start nodes, which are processes of the same program.

use crate::common::{json, raddle, run, run_badly, run_well};
use raddle::net::TransportKind;
use serde_json::Value;

fn rows<'value>(value: &'value Value, key: &str) -> &'value Vec<Value> {
    value[key].as_array().expect("rows")
}

#[track_caller]
fn expect_times(row: &Value) {
    let keys = ["min_s", "median_s", "p90_s", "p99_s", "p99_9_s", "max_s"];
    let times = keys.map(|key| row[key].as_f64().expect("a number"));
    assert!(times.is_sorted() && times[0] >= 0.0, "{row}");
}

#[test]
fn a_message_goes_from_process_to_process_and_back_in_every_way() {
    for transport in ["shm", "socket"] {
        let arguments = [
            "pingpong",
            "--nodes",
            "2",
            "--trips",
            "50",
            "--transport",
            transport,
        ];
        let sizes = ["--size", "1,3456,64K,200000"];
        let value = json(&run_well([&arguments[..], &sizes, &["--json"]].concat()));
        assert_eq!(
            (&value["nodes"], &value["transport"]),
            (&2.into(), &transport.into())
        );
        assert_eq!(rows(&value, "cpus").len(), 2);
        let lines = rows(&value, "round_trips");
        let names: Vec<_> = lines
            .iter()
            .map(|line| (line["receive"].as_str(), line["bytes"].as_u64()))
            .collect();
        let of = |how| [1, 3_456, 65_536, 200_000].map(|bytes| (Some(how), Some(bytes)));
        assert_eq!(names, [of("poll"), of("notify"), of("thread")].concat());
        for line in lines {
            expect_times(line);
            assert!(
                line["trips"].as_u64().is_some_and(|trips| trips <= 50),
                "{line}"
            );
        }
    }
}

/// Nodes that are threads need no other processes.
#[test]
fn nodes_that_are_threads_measure_like_processes() {
    let arguments = [
        "pingpong",
        "--nodes",
        "2",
        "--transport",
        "threads",
        "--trips",
        "50",
    ];
    let value = json(&run_well([&arguments[..], &["--json"]].concat()));
    assert_eq!(value["transport"], "threads");
    for line in rows(&value, "round_trips") {
        assert!(
            line["trips"].as_u64().is_some_and(|trips| trips > 0),
            "{line}"
        );
    }
    let overheads = [
        "pingpong",
        "--nodes",
        "2",
        "--transport",
        "threads",
        "--overheads",
    ];
    let text = run_well(overheads);
    assert!(text.contains("threads"), "{text}");
    let outcome = run(["launch", "--transport", "threads", "-n", "2", "true"]);
    let names: Vec<&str> = TransportKind::OF_PROCESSES
        .iter()
        .map(|kind| kind.name())
        .collect();
    let expected = format!("[possible values: {}]", names.join(", "));
    assert!(outcome.errors.contains(&expected), "{outcome:?}");
}

// Regression: commands that measure between nodes ignored the variables of `raddle launch`.
#[test]
fn the_environment_selects_nodes_and_transport() {
    let report_of = |arguments: &[&str]| {
        let output = raddle()
            .args(arguments)
            .args(["--json"])
            .envs([("RADDLE_NODES", "2"), ("RADDLE_TRANSPORT", "socket")])
            .output()
            .expect("it starts");
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{errors}");
        json(&String::from_utf8_lossy(&output.stdout))
    };
    let value = report_of(&["pingpong", "--trips", "20"]);
    assert_eq!(
        (&value["nodes"], &value["transport"]),
        (&2.into(), &"socket".into())
    );
    let value = report_of(&["kneighbor", "--iterations", "20", "--repeat", "1"]);
    assert_eq!(value["nodes"], 2);
    assert_eq!(value["sizes"][0]["modes"][0]["mode"], "socket");
    let value = report_of(&[
        "kneighbor",
        "--iterations",
        "20",
        "--repeat",
        "1",
        "--mode",
        "shm",
    ]);
    assert_eq!(value["sizes"][0]["modes"][0]["mode"], "shm");
    let value = report_of(&[
        "kneighbor",
        "--iterations",
        "20",
        "--repeat",
        "1",
        "--mode",
        "threads",
    ]);
    assert_eq!(value["sizes"], serde_json::Value::Null, "{value}");
    let value = report_of(&["pingpong", "--overheads"]);
    assert_eq!(value["transport"], "socket");
    // Options for workers do not apply to nodes.
    let value = report_of(&["pingpong", "--trips", "20", "--workers", "2"]);
    assert_eq!(value["nodes"], serde_json::Value::Null, "{value}");
    let outcome = run(["pingpong", "--overheads"]);
    assert!(
        outcome.errors.contains("expected --nodes as well"),
        "{outcome:?}"
    );
    let output = raddle()
        .arg("kneighbor")
        .env("RADDLE_NODES", "many")
        .output()
        .expect("it starts");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        errors.contains("RADDLE_NODES: found \"many\"; expected a number from 1"),
        "{errors}"
    );
}

#[test]
fn three_nodes_on_one_cpu_complete() {
    let one = json(&run_well([
        "pingpong", "--nodes", "2", "--trips", "1", "--json",
    ]));
    let cpu = one["cpus"][0].to_string();
    let arguments = [
        "pingpong",
        "--nodes",
        "3",
        "--trips",
        "20",
        "--affinity",
        &cpu,
    ];
    let text = run_well([&arguments[..], &["--size", "16"]].concat());
    for part in [
        "3 nodes by shm, on CPUs",
        "poll ",
        "notify ",
        "thread ",
        "99.9 %",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert_eq!(run_well([&arguments[..], &["--quiet"]].concat()), "");
}

#[test]
fn steps_of_a_message_are_compared_with_those_of_the_study() {
    let arguments = ["pingpong", "--nodes", "2", "--overheads", "--trips", "60"];
    let value = json(&run_well([&arguments[..], &["--json"]].concat()));
    let found = rows(&value, "overheads");
    let send = &found[0];
    assert_eq!(send["quantity"], "send overhead");
    assert_eq!(send["simulated_s"].as_f64(), Some(26e-9));
    assert!(
        send["time_s"].as_f64().is_some_and(|time| time > 0.0),
        "{send}"
    );
    let text = run_well([&arguments[..], &["--transport", "socket"]].concat());
    for part in [
        "by socket",
        "simulated",
        "thread wake overhead",
        "round trip, notified",
    ] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn nodes_that_compute_receive_answers() {
    let arguments = ["pingpong", "--nodes", "2", "--symmetric", "--trips", "40"];
    let value = json(&run_well(
        [&arguments[..], &["--compute", "2us", "--json"]].concat(),
    ));
    let lines = rows(&value, "symmetric");
    assert_eq!(lines.len(), 3);
    for line in lines {
        expect_times(line);
        assert!(
            line["speed"].as_f64().is_some_and(|speed| speed > 0.0),
            "{line}"
        );
        let has_receiver = line["receive"] != "notify";
        assert_eq!(line["receiver_share"].is_f64(), has_receiver, "{line}");
    }
    let text = run_well([&arguments[..], &["--receive", "thread"]].concat());
    for part in ["each computes for about 10.0 µs", "receiver", "study"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn neighbours_exchange_messages_between_threads_and_between_processes() {
    let arguments = ["kneighbor", "--iterations", "30", "--repeat", "2", "--mode"];
    let all = ["all", "--size", "all", "--touch"];
    let value = json(&run_well([&arguments[..], &all, &["--json"]].concat()));
    let sizes = rows(&value, "sizes");
    let bytes: Vec<_> = sizes
        .iter()
        .filter_map(|line| line["bytes"].as_u64())
        .collect();
    assert_eq!(bytes, [16, 64, 256, 1_024, 4_096, 16_384, 65_536]);
    for line in sizes {
        let modes = rows(line, "modes");
        assert!(modes.len() >= 3 && modes[0]["mode"] == "threads", "{line}");
        for mode in modes {
            let median = mode["iteration_s"]["median"].as_f64();
            assert!(median.is_some_and(|time| time > 0.0), "{line}");
            assert!(mode["over_threads"].is_f64(), "{line}");
        }
    }
    let text = run_well([&arguments[..], &["socket", "--nodes", "3", "-k", "1"]].concat());
    for part in ["3 elements, each with 1 neighbour", "socket", "1.02 kB"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
    assert!(!text.contains("/threads"), "{text}");
}

#[test]
fn neighbours_exchange_messages_with_every_way_to_receive_them() {
    let arguments = [
        "kneighbor",
        "--mode",
        "all",
        "--progress",
        "all",
        "--nodes",
        "2",
        "--workers",
        "2",
        "--elements",
        "7",
        "--iterations",
        "20",
        "--repeat",
        "1",
        "--touch",
        "--size",
        "16,200000",
    ];
    let value = json(&run_well([&arguments[..], &["--json"]].concat()));
    assert_eq!(
        (&value["nodes"], &value["workers"], &value["elements"]),
        (&2.into(), &2.into(), &7.into())
    );
    for line in rows(&value, "sizes") {
        let modes = rows(line, "modes");
        let progress = |mode: &str| {
            let of_mode = modes.iter().filter(|row| row["mode"] == mode);
            of_mode
                .map(|row| row["progress"].as_str().unwrap_or_default().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(progress("threads"), [""]);
        for mode in ["shm", "socket"] {
            let all = ["pending", "send", "any-send", "thread"];
            assert_eq!(progress(mode), all, "{line}");
        }
    }
    let text = run_well(arguments);
    for part in ["7 elements", "shm thread", "socket send", "socket any-send"] {
        assert!(text.contains(part), "{part:?} is missing in:\n{text}");
    }
}

#[test]
fn nodes_that_need_too_much_memory_are_one_line() {
    let line = run_badly(["pingpong", "--nodes", "2", "--size", "16,1000000M"]);
    assert!(
        line.contains("--bytes") && line.contains("expected"),
        "{line}"
    );
}

#[test]
fn a_launched_program_replaces_the_command() {
    let script = "echo $RADDLE_NODES $RADDLE_TRANSPORT $RADDLE_PROGRESS $RADDLE_WORKERS \
                  $RADDLE_AFFINITY $0 $1; exit 7";
    let outcome = run([
        "launch",
        "-n",
        "3",
        "--transport",
        "socket",
        "--progress",
        "thread",
        "--workers",
        "2",
        "--affinity",
        "none",
        "sh",
        "-c",
        script,
        "a",
        "--json",
    ]);
    assert_eq!(outcome.output, "3 socket thread 2 none a --json\n");
    assert_eq!(outcome.code, Some(7));
    let nowhere = run_badly(["launch", "-n", "2", "no-such-program"]);
    assert!(
        nowhere.contains("no-such-program: cannot be started"),
        "{nowhere}"
    );
}

// Every two nodes share a socket, and the first node opens both ends of each. These are more files
// than a program may have open unless it raises the limit.
#[test]
fn nodes_may_need_more_files_than_the_soft_limit() {
    let script = "ulimit -S -n 256; exec \"$0\" kneighbor --mode shm --nodes 20 \
                  --iterations 5 --repeat 1 --json";
    let output = std::process::Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_raddle")])
        .output()
        .expect("a shell");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
