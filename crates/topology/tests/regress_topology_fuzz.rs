//! What the fuzz targets found in the readers of topologies, each with its story.

use raddle_topology::Topology;

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
