//! Files of grains: reading returns what was written, and every other input is an error with the
//! line of the mistake.

use proptest::prelude::*;

use std::fs;

use super::*;

const GOOD: &str = "raddle-grains 1
# Measured at night.

kd-tree workers=16 weight=2^20 tasks=362 ns_per_weight=12.5
\tstencil_2.d  workers=1 weight=2^0 tasks=1 ns_per_weight=1e-3\r
";

fn learned(name: &str, worker_count: usize, weight_log2: u32) -> Learned {
    Learned {
        shape: Shape {
            name: name.to_owned(),
            worker_count,
            weight_log2,
        },
        task_count: 8,
        ns_per_weight: 0.5,
    }
}

fn any_learned() -> impl Strategy<Value = Learned> {
    (
        "[\\-_.a-zA-Z0-9äλ]{1,12}",
        1..=usize::MAX,
        0..64_u32,
        1..=usize::MAX,
        prop_oneof![f64::MIN_POSITIVE..1e9, prop::num::f64::POSITIVE],
    )
        .prop_map(
            |(name, worker_count, weight_log2, task_count, ns)| Learned {
                task_count,
                ns_per_weight: if ns.is_finite() && ns > 0.0 { ns } else { 1.0 },
                ..learned(&name, worker_count, weight_log2)
            },
        )
}

#[test]
fn a_file_made_by_hand_is_read() {
    let all = parse(GOOD.as_bytes()).expect("a good file");
    let (tree, stencil) = (&all[0], &all[1]);
    assert_eq!(all.len(), 2);
    assert_eq!(tree.shape, learned("kd-tree", 16, 20).shape);
    assert_eq!((tree.task_count, tree.ns_per_weight), (362, 12.5));
    assert_eq!(stencil.shape, learned("stencil_2.d", 1, 0).shape);
    assert_eq!((stencil.task_count, stencil.ns_per_weight), (1, 1e-3));
}

#[test]
fn mistakes_are_reported_with_their_line() {
    let line = |line: &str| format!("raddle-grains 1\n\n{line}\n");
    let cases = [
        (String::new(), 1, "an empty file", HEADER_EXPECTED),
        (
            "\u{feff}raddle-grains 1".into(),
            1,
            "\"\\u{feff}raddle-grains 1\"",
            HEADER_EXPECTED,
        ),
        (
            "raddle-grains 2\n".into(),
            1,
            "\"raddle-grains 2\"",
            HEADER_EXPECTED,
        ),
        (
            line("kd/tree workers=1"),
            3,
            "\"kd/tree\"",
            "a name of alphanumeric characters, `-`, `_` and `.`",
        ),
        (
            line("kd-tree"),
            3,
            "the end of the line",
            "`workers=` and a number above 0",
        ),
        (
            line("kd-tree workers=0"),
            3,
            "\"workers=0\"",
            "`workers=` and a number above 0",
        ),
        (
            line("kd-tree tasks=4"),
            3,
            "\"tasks=4\"",
            "`workers=` and a number above 0",
        ),
        (
            line("t workers=4 weight=2^64"),
            3,
            "\"weight=2^64\"",
            "`weight=2^` and a number below 64",
        ),
        (
            line("t workers=4 weight=99"),
            3,
            "\"weight=99\"",
            "`weight=2^` and a number below 64",
        ),
        (
            line("t workers=4 weight=2^9 tasks=-1"),
            3,
            "\"tasks=-1\"",
            "`tasks=` and a number above 0",
        ),
        (
            line("t workers=4 weight=2^9 tasks=4 ns_per_weight=NaN"),
            3,
            "\"ns_per_weight=NaN\"",
            "`ns_per_weight=` and a number above 0",
        ),
        (
            line("t workers=4 weight=2^9 tasks=4 ns_per_weight=1 \u{1b}[2J"),
            3,
            "\"\\u{1b}[2J\"",
            "the end of the line",
        ),
        (
            format!("{GOOD}kd-tree workers=16 weight=2^20 tasks=4 ns_per_weight=1"),
            6,
            "\"kd-tree workers=16 weight=2^20 tasks=4 n\"…",
            "each shape only once",
        ),
    ];
    for (text, line, found, expected) in cases {
        let found = found.to_owned();
        assert_eq!(
            parse(text.as_bytes()),
            Err(Fault {
                line,
                found,
                expected
            })
        );
    }
}

#[test]
fn bytes_that_are_not_text_are_reported_with_their_line() {
    let fault = parse(b"raddle-grains 1\n\n\xff").expect_err("no UTF-8");
    assert_eq!((fault.line, fault.found.as_str()), (3, "the byte 0xff"));
    let fault = parse(&vec![b'#'; BYTES_MAX as usize + 1]).expect_err("too long");
    assert_eq!(
        (fault.line, fault.found.as_str()),
        (1, "more than 1048576 bytes")
    );
}

/// Times were written with all their digits. A file with the greatest times became seven times as
/// long, and was then refused because of its length.
#[test]
fn a_file_that_was_read_and_written_can_be_read_again() {
    let all: Vec<_> = (1..=7_000)
        .map(|worker_count| Learned {
            ns_per_weight: if worker_count % 2 == 0 {
                f64::MAX
            } else {
                f64::MIN_POSITIVE
            },
            ..learned("extreme", worker_count, 0)
        })
        .collect();
    let text = format(&all);
    assert!(text.len() as u64 <= BYTES_MAX);
    assert_eq!(parse(text.as_bytes()), Ok(all));
}

// Regression: the file was written, and could then not be read because of its length.
#[test]
fn a_file_that_is_full_is_not_changed() {
    let line = |worker_count| learned("full", worker_count, 0);
    let header_bytes = format(&[]).len();
    let line_bytes = format(&[line(100_000)]).len() - header_bytes;
    let count = (BYTES_MAX as usize - header_bytes) / line_bytes;
    let text = format(&(100_000..100_000 + count).map(line).collect::<Vec<_>>());
    let path = std::env::temp_dir().join(format!("raddle-grains-full-{}", std::process::id()));
    fs::write(&path, &text).expect("a temporary file can be written");
    let written = write(&path, vec![line(1), line(2)]);
    let found = fs::read_to_string(&path).expect("the file exists");
    fs::remove_file(&path).expect("the file exists");
    let error = written.expect_err("the file is full");
    assert!(error.to_string().contains("file too large"), "{error}");
    assert!(found == text);
}

#[test]
fn a_name_fits_into_a_line() {
    assert!(["kd-tree", "a", "2", "Zelle_7.ä"].into_iter().all(is_name));
    assert!(
        ["", "kd tree", "#1", "a/b", "a\n"]
            .into_iter()
            .all(|name| !is_name(name))
    );
}

proptest! {
    #[test]
    fn reading_returns_the_results_that_were_written(
        mut all in proptest::collection::vec(any_learned(), 0..20),
    ) {
        all.sort_by(|a, b| a.shape.cmp(&b.shape));
        all.dedup_by(|a, b| a.shape == b.shape);
        prop_assert_eq!(parse(format(&all).as_bytes()), Ok(all));
    }

    #[test]
    fn no_input_makes_the_parser_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
        at in any::<prop::sample::Index>(),
        has_header in any::<bool>(),
    ) {
        let text = if has_header {
            let mut text = GOOD.as_bytes().to_vec();
            text.splice(at.index(text.len()).., bytes);
            text
        } else {
            bytes
        };
        if let Err(fault) = parse(&text) {
            let lines = 1 + text.iter().filter(|&&byte| byte == b'\n').count();
            prop_assert!((1..=lines).contains(&fault.line));
            prop_assert!(!fault.found.contains(char::is_control));
        }
    }
}
