//! Writes a checked document as hwloc itself would have.
//!
//! hwloc reads XML with one of two parsers, as it was built and installed: libxml, or a small one of its
//! own that knows only what hwloc writes. Comments, stray text or an unusual order of things make them
//! differ, and either may stop in the middle of the machine. What is written here holds nothing but the
//! known elements, their attributes, and text where numbers stand, so both read the same.
//!
//! # Source
//! `hwloc2.dtd`, and what `hwloc_topology_export_xml` writes.

use roxmltree::{Document, Node};

/// Which elements are kept inside which; what is missing, such as user data or the
/// maker of a part, a topology does not need.
const KEPT: [(&str, &[&str]); 5] = [
    (
        "topology",
        &["object", "distances2", "distances2hetero", "cpukind"],
    ),
    ("object", &["object"]),
    ("distances2", &["indexes", "u64values"]),
    ("distances2hetero", &["indexes", "u64values"]),
    ("cpukind", &["info"]),
];

/// The elements of which the text is kept.
const WITH_TEXT: [&str; 2] = ["indexes", "u64values"];

/// Writes the document; its objects must not stand deeper inside each other than the check allows.
pub(super) fn write(document: &Document<'_>) -> String {
    let root = document.root_element();
    let mut text = String::with_capacity(root.range().len());
    text.push_str(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n",
    );
    write_element(&mut text, root);
    text
}

fn write_element(text: &mut String, element: Node<'_, '_>) {
    let name = element.tag_name().name();
    text.push('<');
    text.push_str(name);
    for attribute in element.attributes() {
        text.push(' ');
        text.push_str(attribute.name());
        text.push_str("=\"");
        push_escaped(text, attribute.value());
        text.push('"');
    }
    if WITH_TEXT.contains(&name) {
        text.push('>');
        push_escaped(text, element.text().unwrap_or_default());
        close(text, name);
        return;
    }
    let mut children = kept_children(element).peekable();
    // The outermost element is closed by a tag of its own even when it is empty.
    if children.peek().is_none() && name != "topology" {
        text.push_str("/>\n");
        return;
    }
    text.push_str(">\n");
    for child in children {
        write_element(text, child);
    }
    close(text, name);
}

fn kept_children<'document>(
    element: Node<'document, 'document>,
) -> impl Iterator<Item = Node<'document, 'document>> {
    let name = element.tag_name().name();
    let kept = KEPT
        .iter()
        .find(|(holder, _)| *holder == name)
        .map_or(&[][..], |(_, kept)| kept);
    element
        .children()
        .filter(|child| child.is_element() && kept.contains(&child.tag_name().name()))
}

fn close(text: &mut String, name: &str) {
    text.push_str("</");
    text.push_str(name);
    text.push_str(">\n");
}

/// Escapes with those entities alone that hwloc's own parser knows.
fn push_escaped(text: &mut String, value: &str) {
    for character in value.chars() {
        match character {
            '&' => text.push_str("&amp;"),
            '<' => text.push_str("&lt;"),
            '>' => text.push_str("&gt;"),
            '"' => text.push_str("&quot;"),
            '\n' => text.push_str("&#10;"),
            '\r' => text.push_str("&#13;"),
            '\t' => text.push_str("&#9;"),
            other => text.push(other),
        }
    }
}
