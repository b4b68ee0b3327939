//! Checks an XML file before hwloc reads it.
//!
//! hwloc trusts its input. It reports invalid XML only as "invalid argument", its parser writes to
//! the standard error stream, and inconsistent sets make it abort or read out of bounds. So
//! everything that hwloc relies on is checked here first. Problems are reported with line and
//! column.
//!
//! | file | contents |
//! |---|---|
//! | this one | checks the text, the XML, the outermost elements, and matrices of distances |
//! | `element` | limits the nesting of objects; keeps the parts that a topology needs |
//! | `version1` | converts the format of hwloc 1 into the format of hwloc 2 |
//! | `tree` | checks each object by itself: type, attributes, numbers, sets |
//! | `sets` | checks the objects together: the nesting of types, the consistency of sets |
//! | `canonical` | writes the checked document in the form that hwloc writes |
//!
//! # Source
//! `hwloc2.dtd`; the hwloc manual, "Importing and exporting topologies from/to XML files". The
//! rules are those that hwloc documents for `hwloc_topology_check`.

mod canonical;
mod element;
mod problem;
mod sets;
#[cfg(test)]
mod tests;
mod tree;
mod version1;

use roxmltree::{Document, ParsingOptions};

use self::element::Element;
use self::problem::Context;
pub(super) use self::problem::XmlProblem;

/// The maximum number of nodes of an XML tree.
const XML_NODES_MAX: u32 = 1 << 22;

/// The maximum number of rows of a matrix of distances.
const MATRIX_ROWS_MAX: usize = 4096;

/// The expected content of a file, for error messages.
const EXPECTED: &str = "a topology that hwloc exported as XML";

/// Decodes bytes as UTF-8.
pub(super) fn decode(bytes: &[u8]) -> Result<&str, XmlProblem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let valid = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
        let (line, column) = end_of(&valid);
        let wrong = bytes.get(error.valid_up_to()).copied().unwrap_or(0);
        XmlProblem {
            line,
            column,
            found: format!("bytes that are not text (0x{wrong:02x})"),
            expected: "an XML file in UTF-8".to_owned(),
        }
    })
}

/// Checks that `text` is an exported topology with everything that hwloc relies on. Returns the
/// rewritten document.
pub(super) fn check(text: &str) -> Result<String, XmlProblem> {
    let document = parse(text)?;
    let context = Context {
        document: &document,
    };
    let root = Element::read(context, document.root_element())?;
    if root.name != "topology" {
        return context.problem(&root, format!("the element <{}>", root.name), "<topology>");
    }
    // Convert the old format. A file without a version may have either format.
    let root = match root.attribute("version") {
        None | Some("1") => version1::upgrade(context, root)?,
        Some(version) if version.starts_with("1.") => version1::upgrade(context, root)?,
        Some(_) => root,
    };
    let version = root.attribute("version").unwrap_or_default();
    let minor = version.strip_prefix("2.").map(str::parse::<u16>);
    if !matches!(minor, Some(Ok(_))) {
        return context.problem(
            &root,
            format!("a topology of format version {version:?}"),
            "version 1 or 2, which hwloc 1 and 2 export",
        );
    }
    // Check the objects, and then the other elements that hwloc reads.
    let machine = machine_in(context, &root)?;
    let machine = tree::read(context, machine)?;
    sets::check(context, &machine)?;
    for element in &root.children {
        match element.name.as_str() {
            "distances2" | "distances2hetero" => check_distances(context, element)?,
            "cpukind" => {
                tree::read_set(context, element, "cpuset")?;
            }
            _ => {}
        }
    }
    Ok(canonical::write(&root))
}

/// Returns the only object of the outermost element.
fn machine_in<'root>(
    context: Context<'_>,
    root: &'root Element,
) -> Result<&'root Element, XmlProblem> {
    let mut objects = root.children_named("object");
    let Some(machine) = objects.next() else {
        return context.problem(
            root,
            "a topology without an object",
            "an object of type Machine",
        );
    };
    if let Some(second) = objects.next() {
        return context.problem(second, "a second object beside the machine", "only one");
    }
    Ok(machine)
}

/// Parses the text as XML.
fn parse(text: &str) -> Result<Document<'_>, XmlProblem> {
    let at_end = |found: &str| {
        let (line, column) = end_of(text);
        Err(XmlProblem {
            line,
            column,
            found: found.to_owned(),
            expected: EXPECTED.to_owned(),
        })
    };
    if text.trim().is_empty() {
        return at_end("an empty file");
    }
    let options = ParsingOptions {
        allow_dtd: true,
        nodes_limit: XML_NODES_MAX,
        ..ParsingOptions::default()
    };
    match Document::parse_with_options(text, options) {
        Ok(document) => Ok(document),
        Err(roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode) => {
            at_end("the end of the file while elements are open")
        }
        Err(error) => {
            let position = error.pos();
            Err(XmlProblem {
                line: position.row,
                column: position.col,
                found: format!("malformed XML ({})", without_position(&error.to_string())),
                expected: EXPECTED.to_owned(),
            })
        }
    }
}

/// Checks that a matrix has one index per row and one value per cell.
fn check_distances(context: Context<'_>, element: &Element) -> Result<(), XmlProblem> {
    let row_count = check_distances_head(context, element)?;
    let words = |name| {
        element
            .children_named(name)
            .flat_map(|child| child.text.split_ascii_whitespace())
    };
    let is_index = |word: &str| word.rsplit(':').next().is_some_and(is_number);
    if let Some(word) = words("indexes").find(|word| !is_index(word)) {
        let found = format!("{word:?} as the index of an object");
        return context.problem(element, found, "a whole number");
    }
    if let Some(word) = words("u64values").find(|word| !is_number(word)) {
        return context.problem(element, format!("{word:?} as a distance"), "a whole number");
    }
    for (name, expected) in [("indexes", row_count), ("u64values", row_count * row_count)] {
        let count = words(name).count();
        if count != expected {
            return context.problem(
                element,
                format!("{count} numbers as {name} of {row_count} objects"),
                expected.to_string(),
            );
        }
    }
    check_lengths(context, element)
}

/// Checks the attributes of a matrix and returns its number of rows.
fn check_distances_head(context: Context<'_>, element: &Element) -> Result<usize, XmlProblem> {
    let text = element.attribute("nbobjs").unwrap_or_default();
    let row_count = text.parse().unwrap_or(0);
    if !(1..=MATRIX_ROWS_MAX).contains(&row_count) {
        return context.problem(
            element,
            format!("{text:?} as the number of objects of a matrix"),
            format!("\"nbobjs\" from 1 to {MATRIX_ROWS_MAX}"),
        );
    }
    let kind = element.attribute("kind").unwrap_or_default();
    if !kind.parse().is_ok_and(is_distance_kind) {
        return context.problem(
            element,
            format!("{kind:?} as the kind of a matrix"),
            "\"kind\", such as \"5\" for latencies that the operating system reports",
        );
    }
    if element.name == "distances2hetero" {
        return Ok(row_count);
    }
    if !element.attribute("type").is_some_and(tree::is_known_kind) {
        let found = "distances between objects of no known type";
        return context.problem(element, found, "the attribute \"type\"");
    }
    let indexing = element.attribute("indexing").unwrap_or_default();
    if !matches!(indexing, "os" | "gp") {
        return context.problem(
            element,
            format!("{indexing:?} as the indexing of a matrix"),
            "\"indexing\", either \"os\" or \"gp\"",
        );
    }
    Ok(row_count)
}

/// Checks that each text has the length that its attribute declares, because hwloc reads that many
/// bytes.
fn check_lengths(context: Context<'_>, element: &Element) -> Result<(), XmlProblem> {
    for child in &element.children {
        let length = child.attribute("length").unwrap_or_default();
        let text = &child.text;
        if length.parse() != Ok(text.len()) {
            return context.problem(
                child,
                format!("the length {length:?} of a text of {} bytes", text.len()),
                format!("\"{}\"", text.len()),
            );
        }
    }
    Ok(())
}

/// Returns true if exactly one source (bits 0 and 1) and one meaning (bits 2 and 3) are set. Bit 4
/// is optional.
fn is_distance_kind(kind: u32) -> bool {
    (kind & 3).is_power_of_two() && (kind >> 2 & 3).is_power_of_two() && kind < 1 << 5
}

fn is_number(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_digit()) && word.parse::<u64>().is_ok()
}

/// Returns the line and column after the last character, from 1.
fn end_of(text: &str) -> (u32, u32) {
    let line = text.matches('\n').count() + 1;
    let column = text.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
    let limited = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    (limited(line), limited(column))
}

/// Removes " at 3:5" from the end of a parser's message, because the error already has the
/// position.
fn without_position(message: &str) -> &str {
    let is_position = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == ':');
    match message.rsplit_once(" at ") {
        Some((before, position)) if is_position(position) => before,
        _ => message,
    }
}
