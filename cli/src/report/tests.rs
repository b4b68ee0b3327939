//! One report is printed as text and as JSON.

use serde_json::Value;

use super::*;

fn report() -> Report {
    let mut report = Report::new();
    report
        .quantity("a", "a", &Plain(1))
        .row("long label", "two")
        .field("b_s", 2.5)
        .field("only_in_json", "x");
    report.requested("requested\n").closing("closing\n");
    report
}

fn options(json: bool, quiet: bool) -> Options {
    Options {
        json,
        quiet,
        ..Options::default()
    }
}

#[test]
fn values_are_aligned_in_one_column() {
    let text = report().whole_text(&options(false, false));
    let expected = "a           1\nlong label  two\nrequested\nclosing\n";
    assert_eq!(text, expected);
}

#[test]
fn quiet_leaves_only_what_was_requested() {
    assert_eq!(report().whole_text(&options(false, true)), "requested\n");
}

#[test]
fn json_has_the_fields_the_command_and_the_schema_on_one_line() {
    let text = report().whole_json("sort", &options(true, false));
    let expected =
        r#"{"a":1,"b_s":2.5,"command":"sort","only_in_json":"x","schema":1}"#.to_owned() + "\n";
    assert_eq!(text, expected);
    let mut report = report();
    let indented = report
        .indented(true)
        .whole_json("sort", &options(true, false));
    assert!(indented.lines().count() > 5, "{indented}");
    let values = [text, indented].map(|text| serde_json::from_str::<Value>(&text).expect("JSON"));
    assert_eq!(values[0], values[1]);
}

#[test]
fn a_section_has_rows_and_an_object() {
    let mut facts = Facts::new();
    facts.row("file", "a.ply").field("file", "a.ply");
    let mut report = Report::new();
    report.row("format", "PLY").section("input", &facts);
    assert_eq!(report.as_text(), "format  PLY\nfile    a.ply\n");
    let json = report.whole_json("kdtree", &options(true, false));
    assert!(json.contains(r#""input":{"file":"a.ply"}"#), "{json}");
}

#[test]
fn cells_are_aligned_below_their_headings() {
    let columns = || [Column::left("name", 6), Column::right("time", 8)];
    let mut row = Row::new();
    row.cell("sort").field("name", "sort");
    row.cell("1.5 µs").field("time_s", 1.5e-6);
    let mut short = Row::new();
    short.cell("none");
    let mut table = Columns::new(columns());
    table.push(row.clone());
    table.push(short);
    assert_eq!(table.text(), "name       time\nsort     1.5 µs\nnone  \n");
    let mut report = Report::new();
    let json = report
        .list("rows", &table)
        .whole_json("x", &options(true, false));
    let expected = r#""rows":[{"name":"sort","time_s":1.5e-6},{}]"#;
    assert!(json.contains(expected), "{json}");
    let mut table = Columns::ruled(columns());
    table.push(row);
    assert_eq!(
        table.text(),
        "name   |     time\n-------+---------\nsort   |   1.5 µs\n"
    );
}
