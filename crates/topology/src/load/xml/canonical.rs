//! Writes a checked document as hwloc itself would have.
//!
//! hwloc reads XML with one of two parsers, as it was built and installed: libxml, or a small one of its
//! own that knows only what hwloc writes. Comments, stray text or an unusual order of things make them
//! differ, and either may stop in the middle of the machine. What is written here holds nothing but the
//! known elements, their attributes, and text where numbers stand, so both read the same.
//!
//! # Source
//! `hwloc2.dtd`, and what `hwloc_topology_export_xml` writes.

use super::element::{Element, WITH_TEXT};

/// Writes the document whose outermost element this is.
pub(super) fn write(root: &Element) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
            .to_owned();
    write_element(&mut text, root);
    text
}

fn write_element(text: &mut String, element: &Element) {
    let name = element.name.as_str();
    text.push('<');
    text.push_str(name);
    for (attribute, value) in &element.attributes {
        text.push(' ');
        text.push_str(attribute);
        text.push_str("=\"");
        push_escaped(text, value);
        text.push('"');
    }
    if WITH_TEXT.contains(&name) {
        text.push('>');
        push_escaped(text, &element.text);
        close(text, name);
        return;
    }
    // Only version 1 has these, which it no longer is.
    let mut children = element
        .children
        .iter()
        .filter(|child| child.name != "distances")
        .peekable();
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
