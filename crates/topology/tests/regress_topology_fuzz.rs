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
