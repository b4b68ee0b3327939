//! Tests of the record of a sort: its tree, its groups by size, and its charts.

use super::*;

fn task(len: usize, us: u64) -> Task {
    Task {
        len,
        time: Duration::from_micros(us),
        first_child: None,
    }
}

#[test]
fn the_record_is_a_tree_of_all_parts() {
    let mut items = parts::random(20_000);
    let tasks = record(&mut items);
    assert!(items.is_sorted());
    assert_eq!(tasks[0].len, 20_000);
    let mut is_child = vec![false; tasks.len()];
    for task in &tasks {
        let Some(first) = task.first_child else {
            continue;
        };
        let [left, right] = [tasks[first].len, tasks[first + 1].len];
        assert!(left + right < task.len, "a split puts the pivot in place");
        for child in [first, first + 1] {
            assert!(!is_child[child], "{child} has two parents");
            is_child[child] = true;
        }
    }
    assert_eq!(is_child.iter().filter(|&&is_child| !is_child).count(), 1);
    assert!(!is_child[0], "the whole is no part of a part");
}

#[test]
fn sizes_are_powers_of_ten_that_occur() {
    let tasks = [
        task(0, 1),
        task(9, 2),
        task(10, 4),
        task(99, 8),
        task(1_000, 16),
    ];
    let size = |least, count, us| Size {
        least,
        count,
        time: Duration::from_micros(us),
    };
    assert_eq!(
        by_size(&tasks),
        [size(1, 2, 3), size(10, 2, 12), size(1_000, 1, 16)]
    );
    assert_eq!(total(&tasks), Duration::from_micros(31));
}

#[test]
fn the_charts_show_sizes_and_speedups() {
    let environment = Environment {
        machine: "a machine".into(),
        commit: "0123".into(),
    };
    let tasks = [
        Task {
            first_child: Some(1),
            ..task(1_000, 2)
        },
        task(400, 3),
        task(500, 3),
    ];
    let mut records = of_sizes("parts", &tasks, &environment);
    records.extend(of_speedups("simulated9", &tasks, &environment));
    let tables: Vec<String> = charts(&records).iter().map(Chart::table).collect();
    let rows = |table: &str| -> Vec<Vec<String>> {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        table.lines().map(words).collect()
    };
    assert_eq!(tables.len(), 4, "three curves over the size, and speedups");
    assert_eq!(rows(&tables[0])[1], ["tasks", "2.00", "1.00"]);
    assert_eq!(rows(&tables[1])[1], ["mean", "time", "3.00", "2.00"]);
    assert_eq!(
        rows(&tables[2])[1],
        ["share", "of", "time", "75.00", "25.00"]
    );
    let speedups = rows(&tables[3]);
    assert_eq!(
        speedups[0][..5],
        ["fig.", "9,", "simulated,", "9,", "speedup"]
    );
    let line = |name: &str| {
        let row = speedups.iter().find(|row| row[0] == name);
        row.expect("a line for each pool")[1..4].to_vec()
    };
    // 8 µs of work, and a critical path of 5.
    assert_eq!(line("central"), ["1.00", "1.60", "1.60"]);
    assert_eq!(line("blocks"), ["1.00", "1.60", "1.60"]);
    assert_eq!(line("blocks,")[0], "study");
}
