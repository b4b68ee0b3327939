//! Tests of the whole suite on a small scene with checked trees, and of the names of meshes and
//! cases.

use std::path::PathBuf;
use std::time::Duration;

use raddle_graphics::kdtree::KdTree;
use raddle_graphics::scene::{self, Scene};

use super::builders::Peer;
use super::subject::Name;
use super::*;
use crate::record::Environment;

/// Returns a made-up record. Only peers have a ratio.
pub(super) fn record(case: &str, contender: &str, workers: usize, ratio: Option<f64>) -> Record {
    Record {
        suite: "kdtree".into(),
        case: case.into(),
        contender: contender.into(),
        workers,
        unit: "ms".into(),
        median: 10.0,
        min: 9.0,
        max: 11.0,
        pairs: 5,
        ratio,
        ratio_range: None,
        machine: "a machine".into(),
        mode: "near".into(),
        commit: "0123".into(),
    }
}

/// Returns the words of each line.
pub(super) fn words(table: &str) -> Vec<Vec<&str>> {
    table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect()
}

fn flake(triangles: usize) -> Input {
    Input::new("flake", scene::generate(Scene::Flake, triangles)).expect("a scene is a mesh")
}

/// Measures with one pair per comparison. Returns the records and the warnings.
fn measured(
    workers: &[usize],
    measure: impl FnOnce(&mut Measurement<'_>) -> Result<(), BenchError>,
) -> (Vec<Record>, Vec<String>) {
    let mut warnings = Vec::new();
    let mut measurement = Measurement {
        case: None,
        pairs: 1,
        workers: workers.to_vec(),
        are_workers_asked: true,
        meshes: Vec::new(),
        pools: Vec::new(),
        only_near: false,
        environment: Environment {
            machine: "a machine".into(),
            commit: "0123".into(),
        },
        records: Vec::new(),
        emit: &mut |_| Ok(()),
        warn: &mut |warning| warnings.push(warning),
    };
    measure(&mut measurement).expect("all trees are correct");
    (measurement.records, warnings)
}

/// Returns true if oneTBB is installed. No other peer may be missing.
fn has_onetbb(warnings: &[String]) -> bool {
    let left_out: Vec<&String> = warnings
        .iter()
        .filter(|warning| warning.contains("left out"))
        .collect();
    let is_missing = |warning: &&String| warning.contains("apt-get install libtbb-dev");
    assert!(left_out.iter().all(is_missing), "{left_out:?}");
    left_out.is_empty()
}

#[test]
fn the_help_has_every_case() {
    assert_eq!(ABOUT.map(|(case, _)| case), CASES);
}

#[test]
fn a_small_scene_yields_every_figure() {
    let input = flake(500);
    let (records, warnings) = measured(&[2], |measurement| figures(measurement, &input));
    let has_onetbb = has_onetbb(&warnings);
    let has = |case: &str, contender: &str| {
        let found = records
            .iter()
            .find(|record| record.case == case && record.contender == contender);
        assert!(found.is_some(), "no record of {contender} in {case}");
    };
    for depth in DEPTHS {
        let most = if depth == 8 { 512 } else { 4096 };
        for case in [1, most].map(|count| format!("grain-flake-d{depth}/{count}")) {
            has(&case, "raddle");
            has(&case, "static");
        }
        for (figure, variants) in [
            ("balance", &["static", "again", "dynamic"][..]),
            (
                "sync",
                &["two-level", "again", "point-to-point", "binomial", "auto"],
            ),
            (
                "scans",
                &["recursive-doubling", "again", "prescan-push", "by-depth"],
            ),
            ("arrays", &["plain", "again", "chunked"]),
            (
                "speedup",
                &["raddle", "serial", "tasks", "rayon", "rayon-tasks"],
            ),
        ] {
            let case = format!("{figure}-flake-d{depth}");
            variants.iter().for_each(|variant| has(&case, variant));
            if figure == "speedup" && has_onetbb {
                has(&case, "onetbb");
            }
            let first = records.iter().find(|record| record.case == case);
            let first = first.expect("there are several");
            assert_eq!((first.contender.as_str(), first.ratio), (variants[0], None));
        }
    }
    let tuned = |record: &&Record| record.case.starts_with("tuned-flake-d15/");
    assert_eq!(records.iter().filter(tuned).count(), 2);

    let text = summary(&records).expect("three tables");
    for title in ["table I:", "tuned, after 8 builds", "table II:"] {
        assert!(text.contains(title), "{title} is missing");
    }
    let panels: Vec<String> = charts(&records)
        .iter()
        .flat_map(|chart| {
            chart
                .cases()
                .into_iter()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    for panel in [
        "fig. 1: flake, depth 8",
        "fig. 2: static over dynamic, depth 8",
        "fig. 4: two-level over binomial, depth 15",
        "fig. 5: recursive-doubling over by-depth, depth 8",
        "fig. 8: plain over chunked, depth 15",
        "fig. 9: flake, depth 15",
        "table II: tasks over raddle, depth 8",
    ] {
        assert!(panels.iter().any(|found| found == panel), "{panels:?}");
    }
}

#[test]
fn a_small_scene_yields_both_cases_with_bounds() {
    let input = flake(2_000);
    let subject = Subject::new(&input, 15).expect("a scene has a tree");
    let (records, warnings) = measured(&[1, 2], |measurement| {
        bounds::dragon(measurement, &subject)?;
        bounds::bunny(measurement, &subject)
    });
    let has_onetbb = has_onetbb(&warnings);
    let found: Vec<_> = records
        .iter()
        .map(|record| {
            (
                record.case.as_str(),
                record.contender.as_str(),
                record.workers,
            )
        })
        .collect();
    let mut expected = Vec::new();
    for workers in [1, 2] {
        expected.push(("dragon-d15", "raddle", workers));
        let peers = Peer::ALL
            .into_iter()
            .filter(|&peer| has_onetbb || peer != Peer::OneTbb);
        expected.extend(peers.map(|peer| ("dragon-d15", peer.name(), workers)));
    }
    expected.extend([("bunny-d15", "serial", 1), ("bunny-d15", "bvh", 1)]);
    assert_eq!(found, expected);
    assert!(
        charts(&records).is_empty(),
        "cases with bounds are not drawn"
    );
}

#[test]
fn a_different_tree_has_no_result() {
    let (input, other) = (flake(500), flake(900));
    let subject = Subject::new(&input, 8).expect("a scene has a tree");
    let other = Subject::new(&other, 8).expect("a scene has a tree");
    let built = |of: &Subject<'_>| {
        KdTree::from_prepared_sequential(of.prepared(), &of.parameters, |_| ()).expect("a tree")
    };
    let right = built(&subject);
    let sample = subject.sample("peer", Duration::ZERO, |reference| right == *reference);
    let triangles = input.mesh.triangles.len() as u64;
    assert_eq!(sample.expect("the same tree").result, triangles);
    let wrong = built(&other);
    let refused = subject.sample("peer", Duration::ZERO, |reference| wrong == *reference);
    let message = refused.expect_err("another tree").to_string();
    assert_eq!(
        message,
        "peer: its tree of flake down to depth 8 is not the sequential one"
    );
}

#[test]
fn meshes_have_short_and_distinct_names() {
    let paths = [
        "data/stanford_dragon_871k.ply.zst",
        "a/hall.obj",
        "b/hall.ply",
        "b/hall.stl.gz",
    ];
    let sources = Source::all(&paths.map(PathBuf::from), true);
    let names: Vec<_> = sources.iter().map(|source| source.name.as_str()).collect();
    assert_eq!(names, ["dragon", "hall", "hall-2", "hall-3"]);
}

#[test]
fn the_name_of_a_case_contains_figure_mesh_and_depth() {
    let name = |figure, mesh, depth| Name {
        figure,
        mesh,
        depth,
    };
    assert_eq!(
        Name::parse("grain-dragon-res2-d15/64"),
        Some(name("grain", "dragon-res2", 15))
    );
    assert_eq!(
        Name::parse("sync-a-d8-b-d8"),
        Some(name("sync", "a-d8-b", 8))
    );
    assert_eq!(Name::parse("dragon-d15"), None);
    assert_eq!(Name::parse("grain-dragon"), None);
}

#[test]
fn the_table_of_bounds_has_a_verdict_only_for_figures_that_count() {
    let mut records = vec![
        record("dragon-d15", "raddle", 2, None),
        record("dragon-d15", "serial", 2, Some(0.55)),
        record("dragon-d15", "tasks", 2, Some(1.01)),
        record("dragon-d15", "onetbb", 2, Some(0.5)),
        record("dragon-d15", "rayon", 2, Some(0.6)),
        record("bunny-d15", "serial", 1, None),
        record("bunny-d15", "bvh", 1, Some(4.5)),
        record("speedup-dragon-d15", "raddle", 2, None),
        record("speedup-dragon-d15", "serial", 2, Some(0.5)),
    ];
    records[4].mode = "near+loaded".into();
    let table = bounds::table(&records).expect("five rows");
    let rows = words(&table);
    let ends: Vec<_> = rows[1..]
        .iter()
        .map(|row| (row[3], row[5], row[6], row.get(7).copied()))
        .collect();
    assert_eq!(
        ends,
        [
            ("serial", "0.550", "0.56", Some("yes")),
            ("tasks", "1.010", "1", Some("no")),
            ("onetbb", "0.500", "-", None),
            ("rayon", "0.600", "0.67", Some("near+loaded")),
            ("bvh", "4.500", "4.5", Some("yes")),
        ]
    );
    assert_eq!(bounds::table(&records[7..]), None);
}
