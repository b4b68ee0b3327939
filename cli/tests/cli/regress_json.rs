//! The JSON of every command.
//!
//! `lk23 --json --stats` had a key with a comma (`stalled_cycles,_front_end`), `predict` had the
//! symbols of a study as keys (`t_r_ns`, `p_c`), and no object named the version of its keys. Now
//! each object is one line with the number of its schema, and keys are plain words.

use crate::common::{Folder, check_object, json, run_well};
use serde_json::Value;

/// A short call of every command that prints JSON, in each of its forms.
const CALLS: [&str; 40] = [
    "--show-binding --workers 2 --json",
    "render --scene knot:500 --size 8x8 --samples 1 -o PICTURE --json --stats --show-binding",
    "volume VOLUME --size 8x8 -o PICTURE --json --stats --show-binding",
    "volume VOLUME --study --adaptive --frames y -o GREY --json",
    "info VOLUME --bins 4 --json",
    "info TRAFFIC --json",
    "isosurface VOLUME --iso 100,200 --size 8x8 -o PICTURE --json --stats --show-binding",
    "dirt VOLUME --iso 100,200 --size 8x8 -o PICTURE --json --stats --show-binding",
    "bricks VOLUME -o PICTURE --brick 5 --json --stats --show-binding",
    "kdtree --scene knot:500 --json --stats --show-binding",
    "kdtree --scene knot:500 --builder messages --check --json --stats",
    "kdtree --scene knot:500 --builder sequential --repeat 2 --json",
    "sort 1e4 --repeat 1 --json --stats --show-binding",
    "sort 1e4 --repeat 1 --tasks --pool auto --json --stats",
    "lk23 --size 64 --turns 2 --check --json --stats --show-binding",
    "lk23 --size 64 --turns 2 --threads --json --stats",
    "matmul --size 64 --check --json --stats --show-binding",
    "kneighbor --iterations 10 --repeat 1 --json --stats --show-binding",
    "kneighbor --mode shm --iterations 10 --repeat 1 --json --stats",
    "kneighbor --mode all --progress all --iterations 5 --repeat 1 --size 16,1K --json",
    "pingpong --trips 10 --workers 2 --json --stats --show-binding",
    "pingpong --wait all --trips 5 --late 10us --json --show-binding",
    "pingpong --nodes 2 --trips 5 --json --show-binding",
    "pingpong --nodes 2 --overheads --trips 20 --json",
    "pingpong --nodes 2 --symmetric --trips 5 --receive thread --json",
    "predict --json",
    "predict --slower wire=1us --brick 7 --answers bold --queues links --json",
    "predict --figure all --json",
    "predict --show-parameters --json",
    "simulate pingpong --trips 10 --json",
    "simulate symmetric --rounds 10 --json",
    "simulate tracer --nodes 2 --renderers 1 --json",
    "simulate tracer --nodes 2 --renderers 1 --steady --slower sleep=20us --json",
    "report TRACE --json",
    "topology --json",
    "topology --synthetic numa:2(indexes=1,0)|core:4|pu:2 --json",
    "place TRAFFIC --topology numa:2|core:2|pu:2 --json --control",
    "place --program lk23 --topology numa:2|core:2|pu:2 --size 64 --tasks 4 --json",
    "place --program pipeline --topology numa:2|core:2|pu:2 --turns 3 --json",
    "pools --json",
];

#[test]
fn each_object_is_one_line_with_a_schema_and_keys_of_plain_words() {
    let folder = Folder::new("all-json");
    let traffic = folder.file("traffic.csv", "a,b\n0,9\n9,0\n");
    let picture = folder.path("picture.ppm");
    let voxels: Vec<u8> = (0..6 * 7 * 8)
        .map(|index| (index * 37 % 256) as u8)
        .collect();
    let volume = folder.file("noise_6x7x8_u8.raw", voxels);
    let trace = folder.path("sort.pftrace");
    run_well([
        "sort",
        "1e4",
        "--trace",
        &trace.display().to_string(),
        "--quiet",
    ]);
    for call in CALLS {
        let words = call.split(' ').map(|word| match word {
            "TRAFFIC" => traffic.display().to_string(),
            "TRACE" => trace.display().to_string(),
            "PICTURE" => picture.display().to_string(),
            "GREY" => folder.path("picture.pgm").display().to_string(),
            "VOLUME" => volume.display().to_string(),
            // A `|` is a space within a description.
            _ => word.replace('|', " "),
        });
        // Checks the line, its schema and its keys.
        let value = json(&run_well(words));
        assert!(value["command"].is_string(), "{call}: {value}");
    }
}

#[test]
fn every_command_that_has_json_is_among_those_calls() {
    let help = run_well(["--help"]);
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let commands = commands.take_while(|line| !line.is_empty());
    // The other lines of a description are indented further.
    let names: Vec<_> = commands
        .filter_map(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 10, "{names:?}");
    for name in names {
        let has_json = run_well([name, "--help"]).contains("--json");
        let is_called = CALLS
            .iter()
            .any(|call| call.split(' ').next() == Some(name));
        // A view runs until it is ended, and the programs of top run meanwhile: `view.rs` and
        // `top.rs` check their lines.
        let is_called = is_called || ["view", "top"].contains(&name);
        assert_eq!(has_json, is_called, "{name}");
    }
}

#[test]
fn the_check_finds_wrong_schemas_and_keys() {
    let wrong = |text: &str| check_object(&serde_json::from_str::<Value>(text).expect("JSON"));
    assert_eq!(
        wrong("{\"schema\":1,\"two_words\":[{\"p99_9_s\":null}]}"),
        Ok(())
    );
    for text in [
        "{\"a\":1}",
        "{\"schema\":\"1\"}",
        "{\"schema\":1,\"cycles,_front_end\":2}",
        "{\"schema\":1,\"x\":[{\"B\":2}]}",
        "{\"schema\":1,\"x\":{\"two__words\":2}}",
        "{\"schema\":1,\"t_r_ns\":2}",
        "[1]",
    ] {
        assert!(wrong(text).is_err(), "{text}");
    }
}

#[test]
fn counters_that_the_processor_lacks_have_plain_keys() {
    let call = "lk23 --size 64 --turns 2 --json --stats";
    let value = json(&run_well(call.split(' ')));
    let system = value["system"].as_object().expect("an object");
    for key in ["cache_misses", "stalled_cycles_front_end"] {
        assert!(system.contains_key(key), "{key} is missing in {value}");
    }
}
