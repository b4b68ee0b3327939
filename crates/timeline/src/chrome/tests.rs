//! JSON as other programs write it, and as it should not be.

use crate::{EventKind, Number, Timeline, Value, read};

/// Returns the name, start and duration of each event.
fn shown(timeline: &Timeline) -> Vec<(&str, u64, u64)> {
    let events = timeline.events().iter();
    events
        .map(|event| {
            (
                timeline.text(event.name()),
                event.from_ns(),
                event.duration_ns(),
            )
        })
        .collect()
}

fn timeline(json: &str) -> Timeline {
    read(json.as_bytes()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn error(json: &str) -> String {
    let error = read(json.as_bytes()).expect_err(json);
    error.to_string()
}

#[test]
fn an_object_with_other_members_is_read() {
    let timeline = timeline(
        r#" { "displayTimeUnit": "ns", "other": {"traceEvents": [1, {}]}, "n": -1.5e3,
              "traceEvents": [
                {"ph": "X", "pid": "server", "tid": "3", "ts": "1.5", "dur": 2, "name": "a",
                 "args": {"n": null, "list": [1, "]"], "x": -3, "y": 0.5, "z": true}, "new": {}}
              ], "more": [] } "#,
    );
    assert_eq!(shown(&timeline), [("a", 1_500, 2_000)]);
    assert_eq!(timeline.cut_at(), None);
    let arguments: Vec<_> = timeline.arguments(0).collect();
    assert_eq!(
        arguments,
        [
            ("list", Value::Text(r#"[1, "]"]"#)),
            ("x", Value::Signed(-3)),
            ("y", Value::Float(0.5)),
            ("z", Value::Flag(true)),
        ]
    );
    assert_eq!(timeline.problems().ignored, 1);
}

#[test]
fn an_array_may_lack_its_end() {
    let timeline = timeline("[\n{\"ph\":\"i\",\"ts\":3,\"name\":\"a\"},\n");
    assert_eq!(shown(&timeline), [("a", 3_000, 0)]);
    assert_eq!(timeline.cut_at(), Some(32));
}

#[test]
fn inner_slices_may_come_before_outer_ones() {
    let slice = |name: &str, ts: u32, dur: u32| {
        format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"{name}","ts":{ts},"dur":{dur}}}"#)
    };
    let json = format!(
        "[{},{},{},{}]",
        slice("inner", 10, 1),
        slice("next", 14, 6),
        slice("middle", 10, 4),
        slice("outer", 10, 10),
    );
    let timeline = timeline(&json);
    let parents: Vec<_> = timeline
        .events()
        .iter()
        .map(|event| event.parent())
        .collect();
    assert_eq!(
        shown(&timeline)
            .iter()
            .map(|event| event.0)
            .collect::<Vec<_>>(),
        ["outer", "middle", "inner", "next"]
    );
    assert_eq!(parents, [None, Some(0), Some(1), Some(0)]);
}

#[test]
fn ends_may_come_in_any_order_of_the_file() {
    let timeline = timeline(
        r#"[{"ph":"E","ts":9},{"ph":"B","name":"b","ts":5},{"ph":"E","ts":7},
            {"ph":"B","name":"a","ts":2},{"ph":"E","ts":12}]"#,
    );
    assert_eq!(shown(&timeline), [("a", 2_000, 7_000), ("b", 5_000, 2_000)]);
    assert_eq!(timeline.problems().ends_without_slice, 1);
}

#[test]
fn flows_touch_the_slices_around_them() {
    let timeline = timeline(
        r#"[{"ph":"X","tid":1,"name":"send","ts":0,"dur":10},
            {"ph":"X","tid":2,"name":"receive","ts":20,"dur":10},
            {"ph":"s","tid":1,"ts":5,"id":"0x1f"},
            {"ph":"f","tid":2,"ts":25,"id":31,"bp":"e"},
            {"ph":"f","tid":2,"ts":35,"id":31}]"#,
    );
    let [arrow] = timeline.arrows()[..] else {
        panic!("{:?}", timeline.arrows());
    };
    assert_eq!((arrow.flow, arrow.from, arrow.to), (31, 0, 1));
    assert_eq!(timeline.problems().flows_without_event, 1);
}

#[test]
fn counters_may_have_several_series() {
    let timeline = timeline(
        r#"[{"ph":"C","name":"memory","ts":1,"args":{"used":5,"free":2.5}},
            {"ph":"C","name":"load","ts":1,"id":7,"args":{"value":-1}},
            {"ph":"C","name":"size","ts":1,"args":{"bytes":18446744073709551615,"x":"text"}}]"#,
    );
    let found: Vec<_> = timeline
        .samples()
        .iter()
        .map(|sample| {
            let track = &timeline.tracks()[sample.track()];
            (timeline.text(track.name), sample.value())
        })
        .collect();
    assert_eq!(
        found,
        [
            ("memory used", Number::Whole(5)),
            ("memory free", Number::Float(2.5)),
            ("load 7", Number::Whole(-1)),
            ("size bytes", Number::Float(18446744073709551615.0)),
        ]
    );
}

#[test]
fn names_and_ranks_of_processes_and_threads_are_read() {
    let timeline = timeline(
        r#"[{"ph":"M","pid":2,"name":"process_name","args":{"name":"two"}},
            {"ph":"M","pid":2,"tid":8,"name":"thread_name","args":{"name":"eight"}},
            {"ph":"M","pid":2,"tid":8,"name":"thread_sort_index","args":{"sort_index":-1}},
            {"ph":"M","pid":2,"tid":8,"name":"something_else","args":[]},
            {"ph":"b","pid":2,"tid":8,"name":"asynchronous","ts":1,"id":1},
            {"ph":"B","pid":2,"tid":7,"name":"open","ts":1}]"#,
    );
    let names: Vec<_> = timeline
        .tracks()
        .iter()
        .map(|track| (track.thread, timeline.text(track.name), track.rank))
        .collect();
    assert_eq!(names, [(Some(8), "eight", -1), (Some(7), "", 0)]);
    assert_eq!(timeline.text(timeline.processes()[0].name), "two");
    assert_eq!(timeline.events()[0].kind(), EventKind::Unfinished);
    assert_eq!(timeline.problems().ignored, 1);
}

#[test]
fn times_are_exact() {
    let times = |text: &str| {
        let timeline = timeline(&format!(r#"[{{"ph":"i","ts":{text}}}]"#));
        timeline.events()[0].from_ns()
    };
    assert_eq!(times("18446744073709551.615"), u64::MAX);
    assert_eq!(times("1e3"), 1_000_000);
    assert_eq!(times("0.0019"), 1);
    assert_eq!(times("-5"), 0);
    assert_eq!(times("\"12\""), 12_000);
}

#[test]
fn errors_name_the_byte_and_the_event() {
    assert_eq!(
        error("[{\"ph\":\"i\",\"ts\":1}, 7]"),
        "byte 20, packet or event 1: '7'; expected an event, which is a JSON object, or ']'"
    );
    assert_eq!(
        error("[{\"ph\":\"i\"}]"),
        "byte 1, packet or event 1: an event without \"ts\"; expected a time in microseconds as \
         \"ts\" and \"dur\""
    );
    assert!(error("[{\"ts\":1}]").contains("without a phase"));
    assert!(error("[{\"ph\":1}]").contains("invalid type"));
    assert!(error("[{\"ph\":\"B\",\"ts\":\"soon\"}]").contains("soon"));
    assert!(error("[{\"ph\":}]").contains("expected value"));
    assert!(error("{\"traceEvents\":7}").contains("'[' before events"));
    assert!(error("{\"a\" 7}").contains("':'"));
    assert!(error("[] []").contains("the end of the file"));
    assert!(error(&format!("[{{\"a\":{}", "[".repeat(200))).contains("at most 128"));
    assert!(error(" 7").contains("'7'"));
    assert!(error("[{\"ph\":\"i\",\"ts\":1,\"name\":\"\u{1}\"}]").contains("control character"));
}

#[test]
fn an_empty_file_of_either_kind_is_an_empty_timeline() {
    for json in ["", "[]", "{}", "\u{feff}[\r\n]", " {\"traceEvents\":[]}"] {
        let timeline = timeline(json);
        assert!(timeline.events().is_empty());
        assert_eq!((timeline.span_ns(), timeline.cut_at()), ((0, 0), None));
    }
}
