//! Tables and pictures from made-up records.

use super::*;

fn record(contender: &str, workers: usize, ratio: Option<f64>) -> Record {
    Record {
        suite: "pools".into(),
        case: "tiles".into(),
        contender: contender.into(),
        workers,
        unit: "ms".into(),
        median: 1.0,
        min: 1.0,
        max: 1.0,
        pairs: 5,
        ratio,
        ratio_range: None,
        machine: "a machine".into(),
        mode: "near".into(),
        commit: "0123".into(),
    }
}

/// Returns records in which, on two workers, `auto` takes half the time of `base`, and `SQ-PTH`
/// twice that of `auto`.
fn records() -> Vec<Record> {
    vec![
        record("auto", 1, None),
        record("base", 1, Some(1.0)),
        record("auto", 2, None),
        record("base", 2, Some(0.5)),
        record("SQ-PTH", 2, Some(0.5)),
    ]
}

#[test]
fn a_speedup_is_over_the_base_of_its_case() {
    let records = records();
    let chart = Chart::of_speedups(&records, BASE);
    let values: Vec<_> = chart
        .points
        .iter()
        .map(|one| (&*one.contender, one.over, one.value))
        .collect();
    assert_eq!(
        values,
        [("auto", 1, 1.0), ("auto", 2, 2.0), ("SQ-PTH", 2, 1.0)]
    );
}

#[test]
fn the_table_has_a_row_for_each_pool() {
    let table = Chart::of_speedups(&records(), BASE).table();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["speedup", "tiles/1", "tiles/2"]);
    assert_eq!(rows[1], ["auto", "1.00", "2.00"]);
    assert_eq!(rows[2], ["SQ-PTH", "1.00"]);
}

// Regression: a disturbed base led to wrong speedups that had no mark.
#[test]
fn doubtful_speedups_are_marked() {
    let mut records = records();
    records[3].mode = "far+loaded".into();
    let table = Chart::of_speedups(&records, BASE).table();
    let auto: Vec<&str> = table
        .lines()
        .nth(1)
        .expect("a row")
        .split_whitespace()
        .collect();
    assert_eq!(auto, ["auto", "1.00", "2.00?"]);
}

#[test]
fn the_plot_shows_every_case_and_pool() {
    let path = std::env::temp_dir().join(format!("raddle-speedup-{}.svg", std::process::id()));
    let records = records();
    let charts = [Chart::of_speedups(&records, BASE)];
    plot(&charts, &path).expect("the folder of temporary files can be written");
    let svg = std::fs::read_to_string(&path).expect("just written");
    std::fs::remove_file(&path).expect("just written");
    for text in ["tiles", "auto", "SQ-PTH", "workers", "speedup"] {
        assert!(svg.contains(text), "{text} is missing");
    }
    let refused = plot(&charts, Path::new("/nowhere/plot.svg")).expect_err("no such folder");
    assert!(
        refused
            .to_string()
            .starts_with("--plot cannot write /nowhere/plot.svg: "),
        "{refused}"
    );
}

#[test]
fn a_chart_of_times_has_every_contender_and_the_unit() {
    let mut records = records();
    records[4].median = 2.5;
    records[4].mode = "near+loaded".into();
    let table = Chart::of_medians(&records).table();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["ms", "tiles/1", "tiles/2"]);
    assert_eq!(rows[2], ["base", "1.00", "1.00"]);
    assert_eq!(rows[3], ["SQ-PTH", "2.50?"]);
}

#[test]
fn a_curve_has_a_column_for_each_size() {
    let mut records = Vec::new();
    for (case, unit, mode) in [
        ("send/16", "ns", "near"),
        ("send/65536", "ns", "far"),
        ("section/4", "us", "near"),
        ("fib24", "us", "near"),
    ] {
        let mut one = record("raddle", 2, None);
        (one.case, one.unit, one.mode) = (case.into(), unit.into(), mode.into());
        records.push(one);
    }
    let mut alone = records[0].clone();
    alone.workers = 1;
    records.push(alone);
    let charts = Chart::of_curves(&records, Lines::OfMostWorkers, |case, _| {
        Some(if case == "send" { "bytes" } else { "members" })
    });
    let tables: Vec<_> = charts.iter().map(Chart::table).collect();
    let words = |table: &str| {
        table
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(charts.len(), 2);
    assert_eq!(
        words(&tables[0]),
        ["send,", "ns", "16", "65536", "raddle", "1.00", "1.00?"]
    );
    assert_eq!(words(&tables[1]), ["section,", "us", "4", "raddle", "1.00"]);
    let over = Over::Size("bytes");
    assert_eq!(over.label_of_place(over.place(65_536)), "65536");
    assert_eq!(over.label_of_height(over.height(150.0)), "150");
    let path = std::env::temp_dir().join(format!("raddle-curves-{}.svg", std::process::id()));
    plot(&charts, &path).expect("the folder of temporary files can be written");
    let svg = std::fs::read_to_string(&path).expect("just written");
    std::fs::remove_file(&path).expect("just written");
    for text in ["send", "section", "bytes", "members", "ns", "us"] {
        assert!(svg.contains(text), "{text} is missing");
    }
}

#[test]
fn a_curve_can_have_a_line_for_each_number_of_workers() {
    let mut records = Vec::new();
    for (case, workers, mode) in [
        ("grain-d8/4", 2, "far"),
        ("grain-d8/8", 2, "far+loaded"),
        ("grain-d8/4", 4, "near"),
        ("other/4", 2, "near"),
    ] {
        let mut one = record("static", workers, None);
        (one.case, one.mode) = (case.into(), mode.into());
        records.push(one);
    }
    records.push(Record {
        case: "grain-d8/4".into(),
        ..record("raddle", 2, None)
    });
    let charts = Chart::of_curves(&records, Lines::OfEachWorkers, |case, contender| {
        (case.starts_with("grain") && contender == "static").then_some("tasks")
    });
    let tables: Vec<_> = charts.iter().map(Chart::table).collect();
    assert_eq!(tables.len(), 1, "a case without a size makes no chart");
    let rows: Vec<Vec<&str>> = tables[0]
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["grain-d8,", "ms", "4", "8"]);
    assert_eq!(rows[1], ["static,", "2", "workers", "1.00", "1.00?"]);
    assert_eq!(rows[2], ["static,", "4", "workers", "1.00"]);
    assert_eq!(rows.len(), 3, "a contender without a size has no line");
    let titled = charts[0].clone().titled("a grain", "milliseconds").table();
    assert!(titled.starts_with("a grain, milliseconds "), "{titled}");
}

#[test]
fn ratios_make_a_chart_for_each_panel() {
    let records = records();
    let charts = Chart::of_ratios(&records, "gain", |record| {
        let value = record.ratio?;
        Some(Place {
            panel: record.contender.as_str(),
            line: "tiles",
            value,
        })
    });
    let tables: Vec<_> = charts.iter().map(Chart::table).collect();
    let words = |table: &str| {
        table
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(tables.len(), 2, "a record without a ratio has no panel");
    assert_eq!(
        words(&tables[0]),
        ["base,", "gain", "1", "2", "tiles", "1.00", "0.50"]
    );
    assert_eq!(words(&tables[1]), ["SQ-PTH,", "gain", "2", "tiles", "0.50"]);
}

#[test]
fn by_case_splits_a_chart_into_one_per_case() {
    let mut records = records();
    for mut more in self::records() {
        more.case = "bunny".into();
        records.push(more);
    }
    let charts = Chart::of_speedups(&records, BASE).by_case();
    let cases: Vec<_> = charts.iter().flat_map(Chart::cases).collect();
    assert_eq!(cases, ["tiles", "bunny"]);
    let table = charts[1].table();
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split_whitespace().collect())
        .collect();
    assert_eq!(rows[0], ["bunny,", "speedup", "1", "2"]);
    assert_eq!(rows[1], ["auto", "1.00", "2.00"]);
}

// Regression: the check left an empty picture, which remained if the program was then killed.
#[test]
fn the_check_for_a_writable_picture_creates_no_file() {
    let path = std::env::temp_dir().join(format!("raddle-checked-{}.svg", std::process::id()));
    check(&path).expect("the folder of temporary files can be written");
    assert!(!path.exists());
    std::fs::write(&path, "old").expect("it can be written");
    check(&path).expect("it can be written again");
    let old = std::fs::read_to_string(&path).expect("it is there");
    std::fs::remove_file(&path).expect("it is there");
    assert_eq!(old, "old");
    check(Path::new("/nowhere/plot.svg")).expect_err("no such folder");
}
