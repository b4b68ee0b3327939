//! The contenders of the cases, and their rings.

use super::*;
use crate::harness::Request;

#[test]
fn every_case_within_a_process_begins_with_raddle_and_all_messages_arrive() {
    let shape = shape(64);
    for name in CASES.into_iter().skip(2) {
        let all = contenders(name);
        assert!(all.len() > 1, "{name}");
        assert_eq!(all[0].name, "raddle", "{name}");
        for contender in all {
            let mut contender = contender.of_shape(shape);
            let request = Request {
                case: name,
                workers: 2,
                repetitions: 20,
                file: None,
            };
            let sample = contender.measure(&request).expect("nothing is lost");
            assert_eq!(sample.result, 20 * shape.messages(), "{name}");
        }
    }
}

#[test]
fn a_help_text_explains_each_case() {
    assert_eq!(ABOUT.map(|(case, _)| case), CASES);
}

#[test]
fn long_messages_have_fewer_iterations() {
    assert_eq!(iterations(16, 100), 100);
    assert_eq!(iterations(1_000_000, 100), 16);
}
