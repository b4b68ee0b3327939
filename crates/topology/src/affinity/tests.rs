//! Affinities survive a round trip through text, and errors name the wrong part.

use proptest::prelude::*;

use super::*;

fn error_of(text: &str) -> String {
    text.parse::<Affinity>().expect_err(text).to_string()
}

#[test]
fn names_parse_in_any_case() {
    assert_eq!("Auto".parse(), Ok(Affinity::default()));
    assert_eq!("none".parse(), Ok(Affinity::None));
    assert_eq!(" Compact ".parse(), Ok(Affinity::Compact));
    assert_eq!("SCATTER".parse(), Ok(Affinity::Scatter));
}

#[test]
fn lists_keep_order_and_repetition() {
    let list: Affinity = "3, 1-2 ,1".parse().expect("a list");
    assert_eq!(list, Affinity::Explicit([3, 1, 2, 1].map(CpuId).to_vec()));
    assert_eq!(list.to_string(), "3,1-2,1");
}

#[test]
fn the_error_names_the_part_and_the_choices() {
    let choices = "expected \"auto\", \"none\", \"compact\", \"scatter\" \
                   or a list of CPUs such as \"0,2,4-7\"";
    assert_eq!(error_of("tight"), format!("found \"tight\", {choices}"));
    assert_eq!(
        error_of("0,x,2"),
        format!("found \"x\" in \"0,x,2\", {choices}")
    );
    assert_eq!(error_of(""), format!("found \"\", {choices}"));
    for text in [
        "0,",
        ",0",
        "-1",
        "1-",
        "2-1",
        "1-2-3",
        "+1",
        "0x1",
        "65536",
        "0-65536",
        "99999999999",
        "0 1",
    ] {
        assert!(error_of(text).contains(choices), "{text}");
    }
    let long = ["0-65535"; 2].join(",");
    assert!(error_of(&long).starts_with("found more than 65536 CPUs"));
}

proptest! {
    #[test]
    fn written_lists_parse_to_the_same_list(
        numbers in prop::collection::vec(0..CPU_NUMBER_LIMIT, 1..20),
        step in 0_usize..4,
    ) {
        // Random numbers are rarely consecutive, so runs are constructed.
        let end = |first: u32| (first + 1 + step as u32).min(CPU_NUMBER_LIMIT);
        let runs = numbers.iter().flat_map(|&first| first..end(first));
        let list = Affinity::Explicit(runs.map(CpuId).collect());
        prop_assert_eq!(list.to_string().parse(), Ok(list));
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in ".{0,40}") {
        if let Ok(affinity) = text.parse::<Affinity>() {
            prop_assert_eq!(affinity.to_string().parse(), Ok(affinity));
        }
    }
}
