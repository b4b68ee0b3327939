//! The line protocol, and the errors for a peer that cannot be built.

use super::*;

#[test]
fn an_answer_has_a_time_and_a_result() {
    let sample = parse_answer("1500 42").expect("well formed");
    assert_eq!(sample.time, Duration::from_nanos(1_500));
    assert_eq!(sample.result, 42);
}

#[test]
fn a_malformed_answer_is_rejected() {
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
            "{line:?} was accepted as an answer"
        );
    }
}

#[test]
fn a_missing_library_is_reported_with_its_package() {
    let source = PeerSource {
        name: "nowhere",
        header: "no/such/header.h",
        package: "libnowhere-dev",
        ..IN_CPP
    };
    let Err(error) = check_header(source) else {
        panic!("found a header that does not exist")
    };
    let text = error.to_string();
    assert!(text.contains("nowhere"), "{text}");
    assert!(text.contains("apt-get install"), "{text}");
}
