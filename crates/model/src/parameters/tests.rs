//! Tests the reading and writing of parameters, and the errors for invalid ones.

use proptest::prelude::*;

use super::*;

fn error_of(text: &str) -> String {
    let error = Parameters::parse(text, Path::new("node.toml")).unwrap_err();
    error.to_string()
}

#[test]
fn the_studys_node_defines_every_parameter() {
    let study = Parameters::study();
    for parameter in ALL {
        let origin = study.origin(parameter.key);
        assert!(
            matches!(origin, Origin::BuiltIn("parker-2013", _)),
            "{}: {origin}",
            parameter.key
        );
    }
    assert_eq!(study.message.send, Nanoseconds(26.0));
    assert_eq!(study.tracer.render, Nanoseconds(6.027_299e9));
    study.check().unwrap();
}

#[test]
fn every_machine_that_comes_with_the_crate_is_valid() {
    for name in Parameters::names() {
        let machine = Parameters::built_in(name).unwrap();
        assert_eq!(machine.name, name);
        machine.check().unwrap();
        let scenario = crate::Scenario::new(32, 3);
        crate::predict(&machine, &scenario).unwrap();
    }
    assert!(Parameters::built_in("no-such").is_none());
}

#[test]
fn omitted_parameters_are_those_of_the_studys_node() {
    let text = "name = \"mine\"\n[network]\nwire_ns = 5e2\nbytes_per_ns = 1_0.5\n";
    let found = Parameters::parse(text, Path::new("mine.toml")).unwrap();
    assert_eq!(found.name, "mine");
    assert_eq!(found.network.wire, Nanoseconds(500.0));
    assert_eq!(found.network.bandwidth, Bandwidth(10.5));
    assert_eq!(found.message, Parameters::study().message);
    assert_eq!(
        found.origin("network.wire_ns").to_string(),
        "mine.toml: line 3"
    );
}

#[test]
fn a_written_file_reads_back_equal() {
    let mut one = Parameters::study();
    one.set("tracer.other_requests_per_us = 0.003").unwrap();
    one.set("core.curve = \"measured\"").unwrap();
    let other = Parameters::parse(&one.to_toml(), Path::new("again.toml")).unwrap();
    for parameter in ALL {
        assert_eq!(
            parameter.written(&one),
            parameter.written(&other),
            "{}",
            parameter.key
        );
    }
}

#[test]
fn a_value_outside_its_range_is_reported_with_its_place() {
    assert_eq!(
        error_of("[network]\n\nwire_ns = -1\n"),
        "node.toml: line 3: network.wire_ns is -1; expected a number from 0 to 1000000000"
    );
    assert_eq!(
        error_of("core = { contexts = 0 }"),
        "node.toml: line 1: core.contexts is 0; expected a whole number from 2 to 1024"
    );
    assert_eq!(
        error_of("[core]\nspeeds = [1.0, \"fast\"]"),
        "node.toml: line 2: core.speeds is [1.0, \"fast\"]; expected a list of 1 to 64 numbers \
         from 0.000001 to 1000, the first of them 1"
    );
    assert!(error_of("[core]\ncontexts = 2.5").contains("a whole number"));
    assert!(error_of("[core]\ncurve = \"steep\"").contains("\"fitted\" or \"measured\""));
    assert!(error_of("[tracer]\nrender_s = nan").contains("from 0.000000001"));
    assert!(error_of("[tracer]\nrender_s = inf").contains("to 1000000000"));
    assert!(error_of("[tracer]\nimbalance = 1.0").contains("below 1"));
    assert!(error_of("tracer = 3").contains("tracer is no parameter"));
}

#[test]
fn an_unknown_key_is_reported_with_a_suggestion() {
    assert_eq!(
        error_of("[network]\nwire_n = 3"),
        "node.toml: line 2: network.wire_n is no parameter; expected perhaps network.wire_ns"
    );
    let error = error_of("[cache]\nassociativity = 3");
    assert!(
        error.contains("expected one of cache.bytes, cache.line_bytes"),
        "{error}"
    );
    let error = error_of("[graphics]\ncolour = 3");
    assert!(error.contains("sections core, message"), "{error}");
}

#[test]
fn invalid_toml_is_reported_with_its_line() {
    let error = error_of("[network]\nwire_ns = = 3");
    assert!(error.starts_with("node.toml: line 2: "), "{error}");
    let error = error_of("[network]\nwire_ns = 3\nwire_ns = 4");
    assert!(error.starts_with("node.toml: line 3: "), "{error}");
}

#[test]
fn steps_take_no_longer_than_their_call() {
    let error = error_of("[message]\nsend_ns = 10");
    assert_eq!(
        error,
        "node.toml: line 2: message.send_ns is 10; expected 25 or more, which is \
         message.send_issue_ns and interface.trip_ns"
    );
}

#[test]
fn a_line_that_is_refused_sets_nothing() {
    let mut parameters = Parameters::study();
    assert!(
        parameters
            .set("network.wire_ns = 1\nnetwork.bytes_per_ns = 0")
            .is_err()
    );
    assert_eq!(parameters.network.wire, Nanoseconds(300.0));
    parameters.set("network.wire_ns = 1").unwrap();
    assert_eq!(parameters.origin("network.wire_ns"), Origin::Given);
}

#[test]
fn a_missing_file_is_reported() {
    let error = Parameters::read(Path::new("no/such/file.toml")).unwrap_err();
    assert!(
        error.to_string().starts_with("no/such/file.toml: "),
        "{error}"
    );
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(text in "([a-z\\[\\]=.0-9\" \\n-]|[ä€𝄞]){0,80}") {
        let _either = Parameters::parse(&text, Path::new("any.toml"));
    }
}
