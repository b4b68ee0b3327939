//! The line protocol, and what is said about a peer that cannot be built.

use super::*;

#[test]
fn an_answer_has_a_time_and_a_result() {
    let sample = parse_answer("1500 42").expect("well formed");
    assert_eq!(sample.time, Duration::from_nanos(1_500));
    assert_eq!(sample.result, 42);
}

#[test]
fn anything_else_is_no_answer() {
    for line in [
        "",
        "12",
        "x 1",
        "1 y",
        "error no such case",
        "1 2 3",
        "-1 2",
    ] {
        assert!(
            parse_answer(line).is_none(),
            "{line:?} passed for an answer"
        );
    }
}

#[test]
fn a_missing_library_is_named_with_its_package() {
    let source = PeerSource {
        name: "nowhere",
        header: "no/such/header.h",
        package: "libnowhere-dev",
        ..IN_CPP
    };
    let Err(error) = check_header(source) else {
        panic!("a header that does not exist was found");
    };
    let text = error.to_string();
    assert!(text.contains("nowhere"), "{text}");
    assert!(text.contains("apt-get install"), "{text}");
}
