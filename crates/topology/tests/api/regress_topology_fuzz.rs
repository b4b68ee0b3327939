//! Regressions in the readers of topologies that fuzz targets found.

use raddle_topology::{Topology, TopologyError};

/// Reproduces a bug that `topology_xml` and `topology_synthetic` each found within a second. The
/// message of the XML parser, and the example of expected input, repeated control characters of the
/// input unescaped. Now every message is escaped as a whole.
#[test]
fn control_characters_of_the_input_are_escaped_in_messages() {
    let xml = Topology::read_xml(b"<topology a\x01=\"\"/>", "it.xml").expect_err("no XML");
    let synthetic = Topology::synthetic("2 \x1e3z4").expect_err("no count");
    for (message, escaped) in [
        (xml.to_string(), "\\u{1}"),
        (synthetic.to_string(), "\\u{1e}"),
    ] {
        assert!(!message.contains(char::is_control), "{message:?}");
        assert!(message.contains(escaped), "{message}");
    }
}

/// Reproduces a bug that `topology_xml` found. A file of version "2.o0" was accepted as version 2.
/// hwloc cannot parse this number, and treats the file as an older one. So it groups memories by
/// their distances, although the file already contains groups. If the machine has CPUs that are not
/// present, the resulting tree is inconsistent, and hwloc's own check aborts the process.
#[test]
fn version_that_is_no_number_is_refused() {
    let xml = Topology::read_xml(b"<topology version=\"2.o0\"/>", "it.xml");
    let message = xml.expect_err("no version").to_string();
    assert!(message.contains("version \"2.o0\""), "{message}");
}

/// Reproduces a bug that `topology_synthetic` found. hwloc leaks the memories in brackets of a
/// description that it refuses, and many refused descriptions passed the check: levels with and
/// without a kind, two levels of cores, memories in two places. Now the check refuses every
/// description that hwloc would refuse.
#[test]
fn descriptions_that_hwloc_would_refuse_do_not_reach_it() {
    for description in [
        "4 7 [numa(memory=1GB)] core:2 4",
        "[numa] 4 core:2 2",
        "core:2 [numa] core:2 pu:2",
        "numa:2 [numa] core:2 4",
        "[numa(memory=1QB)] pu:2",
        "[numa] l7:2 pu:2",
        "[numa(memorysidecachesize=1)] core:2 core:2 pu:1",
    ] {
        let error = Topology::synthetic(description).expect_err(description);
        assert!(matches!(error, TopologyError::Synthetic { .. }), "{error}");
    }
}
