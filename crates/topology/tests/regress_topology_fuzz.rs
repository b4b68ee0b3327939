//! What the fuzz targets found in the readers of topologies, each with its story.

use raddle_topology::{Topology, TopologyError};

/// `topology_xml` and `topology_synthetic`, each within a second: the XML parser's message, and the example of what
/// was expected, repeated control characters of the input as they were. Every message is escaped as a whole now.
#[test]
fn control_characters_of_the_input_do_not_get_into_messages_raw() {
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

/// `topology_xml`: a file of version "2.o0" was taken for one of version 2. hwloc cannot read such a number, goes on as if the
/// file were an older one, and groups memories by their distances although the file has its groups already; where the machine
/// has CPUs that are not there, the tree that comes out contradicts itself, and hwloc's own check of it ends the process.
#[test]
fn version_that_is_no_number_is_refused() {
    let xml = Topology::read_xml(b"<topology version=\"2.o0\"/>", "it.xml");
    let message = xml.expect_err("no version").to_string();
    assert!(message.contains("version \"2.o0\""), "{message}");
}

/// `topology_synthetic`: hwloc loses the memories in brackets of a description that it refuses, and the check let many pass
/// that it refuses: levels with a kind beside ones without, two levels of cores, memories in two places. No description
/// gets to it now that it does not take.
#[test]
fn nothing_is_left_for_hwloc_to_refuse() {
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
