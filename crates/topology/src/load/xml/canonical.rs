//! Writes a checked document in the form that hwloc itself writes.
//!
//! hwloc reads XML with one of two parsers, depending on how it was built and installed: libxml, or
//! a small parser of its own that supports only what hwloc writes. Comments, stray text or an
//! unusual order make the results differ, and either parser may stop in the middle of the machine.
//! The document written here contains only the known elements, their attributes, and the texts that
//! consist of numbers. So both parsers read the same.
//!
//! # Source
//! `hwloc2.dtd`, and what `hwloc_topology_export_xml` writes.

use super::element::{Element, WITH_TEXT};

/// Writes the document with the outermost element `root`.
pub(super) fn write(root: &Element) -> String {
    let mut text =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
            .to_owned();
    write_element(&mut text, root);
    text
}

/// Appends an element and everything inside it.
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
    // Distances in objects belong to version 1, and the document has been converted to version 2.
    let mut children = element
        .children
        .iter()
        .filter(|child| child.name != "distances")
        .peekable();
    // The outermost element has a closing tag even if it is empty.
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

/// Appends a closing tag.
fn close(text: &mut String, name: &str) {
    text.push_str("</");
    text.push_str(name);
    text.push_str(">\n");
}

/// Appends a value, escaped with only those entities that hwloc's own parser supports.
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
