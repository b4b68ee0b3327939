//! Comments, texts and documents are plain English: lines have at most 100 columns, summaries say
//! what an item is or does, and words of a private vocabulary do not come back.
//!
//! The rule finds what a machine can find. `CONTRIBUTING.md` says what readers expect besides.

use crate::tree::{Finding, SourceFile, Tree};

/// The largest number of characters of a line.
pub const WIDTH_MAX: usize = 100;

/// Words that make a person of a thread, a request or a message.
const PERSONS: [&str; 12] = [
    "who",
    "whom",
    "whose",
    "whoever",
    "nobody",
    "somebody",
    "anybody",
    "everybody",
    "he",
    "him",
    "his",
    "himself",
];

/// Words that only this project used in their sense, with the usual term for each.
const PRIVATE: [(&str, &str); 27] = [
    ("agenda", "run queue"),
    ("agendas", "run queues"),
    ("bequeath", "hand over"),
    ("carrier", "transport"),
    ("carriers", "transports"),
    ("crowded", "oversubscribed"),
    ("desk", "what it is"),
    ("door", "handler"),
    ("doors", "handlers"),
    ("errand", "request"),
    ("errands", "requests"),
    ("hear", "receive"),
    ("heard", "received"),
    ("hears", "receives"),
    ("heir", "successor"),
    ("heirs", "successors"),
    ("husk", "tombstone"),
    ("journey", "migration"),
    ("legacy", "what is left"),
    ("letter", "wire message, or character"),
    ("letters", "wire messages, or characters"),
    ("sow", "create"),
    ("sprout", "instantiate"),
    ("substitute", "compensating thread"),
    ("tallies", "counts"),
    ("tally", "count"),
    ("told", "notified"),
];

/// Beginnings of a summary that says neither what an item is nor what it does.
const NO_SUMMARY: [&str; 15] = [
    "How ",
    "Of it",
    "Of the",
    "Of those ",
    "So many ",
    "So much ",
    "That ",
    "The same",
    "Those ",
    "What ",
    "Whatever ",
    "Where ",
    "Whether ",
    "Which ",
    "Who ",
];

/// Words that end like a verb in the third person, and begin no summary of a function.
const NO_VERBS: [&str; 6] = ["Always", "Elements", "Its", "Less", "Messages", "This"];

/// This rule and its tests, which name the words.
const EXEMPT: [&str; 2] = ["tidy/src/rules/text.rs", "tidy/src/rules/text/tests.rs"];

/// Checks every Rust file and every document.
#[must_use]
pub fn check(tree: &Tree) -> Vec<Finding> {
    tree.files().iter().flat_map(check_file).collect()
}

fn check_file(file: &SourceFile) -> Vec<Finding> {
    if EXEMPT.contains(&&*file.path) {
        return Vec::new();
    }
    if file.is_rust() {
        check_rust(file)
    } else if file.path.ends_with(".md") {
        check_document(file)
    } else {
        Vec::new()
    }
}

fn check_rust(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_after_summary = false;
    let codes: Vec<&str> = file.code.lines().collect();
    let lines = file.text.lines().zip(file.code.lines());
    for (number, (line, code)) in (1..).zip(lines) {
        let mut add = |what| findings.push(Finding::new(&file.path, number, what));
        let width = line.chars().count();
        if width > WIDTH_MAX {
            add(format!("{width} columns; expected at most {WIDTH_MAX}"));
        }
        let documentation = ["//!", "///"]
            .into_iter()
            .find_map(|mark| line.trim_start().strip_prefix(mark));
        if let Some(text) = documentation {
            let text = text.trim_start();
            let start = NO_SUMMARY.into_iter().find(|start| text.starts_with(start));
            if let Some(start) = start.filter(|_| !is_after_summary) {
                add(format!(
                    "a summary begins with {:?}; expected what the item is or does",
                    start.trim_end()
                ));
            }
            // The code of a comment is empty, so the item is the first code below it.
            let is_of_function = || item_below(&codes[number..]).is_some_and(is_function);
            if !is_after_summary && line.trim_start().starts_with("///") {
                let word = text.split_whitespace().next().unwrap_or_default();
                if !begins_with_verb(word) && is_of_function() {
                    add(format!(
                        "the summary of a function begins with {word:?}; expected a verb in the \
                         third person, such as \"Returns\""
                    ));
                }
            }
        }
        is_after_summary = documentation.is_some();
        // Names may have any word but those of the vocabulary; comments and literals neither.
        let is_literal = |(at, _): &(usize, &str)| code.as_bytes().get(*at) == Some(&b' ');
        let texts = words(line).filter(is_literal);
        for (_, word) in texts {
            if let Some(person) = PERSONS
                .into_iter()
                .find(|person| word.eq_ignore_ascii_case(person))
            {
                add(format!("{person:?}; expected \"it\", or what it is"));
            }
        }
        for part in words(line).flat_map(|(_, word)| parts_of_name(word)) {
            if let Some((word, usual)) = PRIVATE.into_iter().find(|(word, _)| part == *word) {
                add(format!("{word:?}; expected {usual:?}"));
            }
        }
    }
    findings
}

/// Returns true for a verb in the third person at the beginning of a sentence, and for "Like"
/// another function; also for headings and programs, which are no sentences.
fn begins_with_verb(word: &str) -> bool {
    let word = word.trim_end_matches([',', '.', ':']);
    let is_verb = word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.ends_with('s')
        && !NO_VERBS.contains(&word);
    is_verb || word == "Like" || word.is_empty() || word.starts_with(['#', '`'])
}

/// Returns the line of code with the item that a comment describes: the first one that belongs to
/// no attribute.
fn item_below<'code>(codes: &[&'code str]) -> Option<&'code str> {
    let mut depth = 0;
    codes.iter().map(|code| code.trim()).find(|code| {
        let is_attribute = depth > 0 || code.starts_with("#[");
        if is_attribute {
            let count = |bracket| code.matches(bracket).count();
            depth = depth + count('[') - count(']');
        }
        !is_attribute && !code.is_empty()
    })
}

/// Returns true if a line of code begins a function.
fn is_function(code: &str) -> bool {
    const QUALIFIERS: [&str; 6] = ["async", "const", "default", "extern", "pub", "unsafe"];
    let is_qualifier = |word: &&str| {
        let name = word.split('(').next().unwrap_or_default();
        QUALIFIERS.contains(&name)
    };
    code.split_whitespace().find(|word| !is_qualifier(word)) == Some("fn")
}

/// Checks a document. Its tables, links and programs may be wide.
fn check_document(file: &SourceFile) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut is_program = false;
    for (number, line) in (1..).zip(file.text.lines()) {
        if line.trim_start().starts_with("```") {
            is_program = !is_program;
            continue;
        }
        if is_program {
            continue;
        }
        let mut add = |what| findings.push(Finding::new(&file.path, number, what));
        let width = line.chars().count();
        let may_be_wide = line.trim_start().starts_with('|') || line.contains("](");
        if width > WIDTH_MAX && !may_be_wide {
            add(format!("{width} columns; expected at most {WIDTH_MAX}"));
        }
        for (_, word) in words(line) {
            if let Some(person) = PERSONS
                .into_iter()
                .find(|person| word.eq_ignore_ascii_case(person))
            {
                add(format!("{person:?}; expected \"it\", or what it is"));
            }
            for part in parts_of_name(word) {
                if let Some((word, usual)) = PRIVATE.into_iter().find(|(word, _)| part == *word) {
                    add(format!("{word:?}; expected {usual:?}"));
                }
            }
        }
    }
    findings
}

/// Returns the words of a line, including names, each with the byte at which it begins.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + line[at..].find(is_part)?;
        let end = line[start..]
            .find(|c| !is_part(c))
            .map_or(line.len(), |len| start + len);
        at = end;
        Some((start, &line[start..end]))
    })
}

/// Splits a name into its words, in lower case: `spin_ns` and `SpinNs` have two.
fn parts_of_name(name: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut was_small = false;
    for character in name.chars() {
        if character == '_' || (character.is_uppercase() && was_small) {
            parts.push(String::new());
        }
        was_small = character.is_lowercase();
        if let Some(part) = parts.last_mut()
            && character != '_'
        {
            part.extend(character.to_lowercase());
        }
    }
    parts
}

#[cfg(test)]
mod tests;
