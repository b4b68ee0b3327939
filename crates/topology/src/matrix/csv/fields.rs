//! Splitting of the lines of a table into fields, with separators and quotes.

use super::super::text::{Word, lines, words};
use super::marks::is_mark;

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'text> {
    /// The text between the quotes, or without surrounding blanks.
    pub(super) word: Word<'text>,
    pub(super) is_quoted: bool,
}

impl Field<'_> {
    /// Returns true if the field is a name, rather than a number or an invalid number.
    pub(super) fn is_name(&self) -> bool {
        let text = self.word.text.trim();
        let begins_as_number = text.starts_with(|mark: char| mark.is_ascii_digit() || mark == '.');
        // Digits with commas are a number in some notation. Other texts that start with a digit are
        // names.
        let is_number = text.parse::<f64>().is_ok()
            || begins_as_number
                && text
                    .chars()
                    .all(|mark| mark.is_ascii_digit() || is_mark(mark));
        !text.is_empty() && !text.starts_with('-') && !is_number
    }

    /// Returns the field as a name.
    pub(super) fn name(&self) -> String {
        if self.is_quoted {
            self.word.text.replace("\"\"", "\"")
        } else {
            self.word.text.to_owned()
        }
    }
}

/// The maximum number of fields in a line. No matrix has more columns, since a text of that many
/// rows and columns has twice the maximum size.
pub(super) const FIELDS_MAX: usize = 1 << 15;

/// The separators that are detected.
const SEPARATORS: [char; 3] = [';', '\t', ','];

/// The number of lines that are examined to find the separator.
const LOOKED_AT: usize = 8;

/// A text with a row in each line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'text> {
    text: &'text str,
    /// The separator of fields. `None` means blanks.
    separator: Option<char>,
    /// The number of a line such as `sep=;`, which tells spreadsheets the separator. 0 for none.
    marker_line: usize,
}

impl<'text> Table<'text> {
    /// Detects the separator. Returns `None` for a text without rows.
    pub(super) fn new(text: &'text str) -> Option<Self> {
        let mut rows = lines(text, '#');
        let (number, first) = rows.clone().next()?;
        let marked = first.trim().strip_prefix("sep=").and_then(|mark| {
            let mut marks = mark.chars();
            marks.next().filter(|_| marks.next().is_none())
        });
        if marked.is_some() {
            rows.next();
        }
        let table = Self {
            text,
            separator: marked.or_else(|| separator_of(rows)),
            marker_line: if marked.is_some() { number } else { 0 },
        };
        table.rows().next().is_some().then_some(table)
    }

    pub(super) const fn text(&self) -> &'text str {
        self.text
    }

    pub(super) const fn separator(&self) -> Option<char> {
        self.separator
    }

    /// Returns an iterator over the rows and the numbers of their lines, without rows that consist
    /// of separators.
    pub(super) fn numbered_rows(
        &self,
    ) -> impl Iterator<Item = (usize, Vec<Field<'text>>)> + use<'text> {
        let (separator, marker_line) = (self.separator, self.marker_line);
        lines(self.text, '#')
            .filter(move |&(number, _)| number != marker_line)
            .map(move |(number, line)| (number, fields(number, line, separator)))
            .filter(|(_, row)| !row.is_empty())
    }

    /// Returns an iterator over the rows.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<Field<'text>>> + use<'text> {
        self.numbered_rows().map(|(_, row)| row)
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows().count()
    }

    /// Returns the first row.
    pub(super) fn head(&self) -> Vec<Field<'text>> {
        self.rows().next().unwrap_or_default()
    }
}

/// Returns the separator of a table: one that is in all of the first rows, or else one that is in
/// the first row.
fn separator_of<'text>(rows: impl Iterator<Item = (usize, &'text str)> + Clone) -> Option<char> {
    let in_first = |mark: &char| {
        let first = rows.clone().next();
        first.is_some_and(|(_, line)| has_outside_quotes(line, *mark))
    };
    let in_all = |mark: &char| {
        let mut some = rows.clone().take(LOOKED_AT);
        some.all(|(_, line)| has_outside_quotes(line, *mark))
    };
    let mut found = SEPARATORS.into_iter().filter(in_first);
    found.clone().find(in_all).or_else(|| found.next_back())
}

/// Returns true if a line contains the separator outside quotes.
fn has_outside_quotes(line: &str, separator: char) -> bool {
    let mut is_outside = outside_quotes(|mark| mark == separator);
    line.chars()
        .any(|mark| is_outside(mark) && mark == separator)
}

/// Returns a function that takes the characters of a line one by one, and returns true for those
/// outside quotes. Quotes start only at the start of a field.
fn outside_quotes(separates: impl Fn(char) -> bool) -> impl FnMut(char) -> bool {
    let (mut is_first, mut is_quoted, mut is_open) = (true, false, false);
    move |mark| {
        if mark == '"' && (is_first || is_quoted) {
            (is_quoted, is_open) = (true, !is_open);
        }
        if separates(mark) && !is_open {
            (is_first, is_quoted) = (true, false);
        } else {
            is_first &= mark.is_whitespace();
        }
        !is_open
    }
}

/// Returns the fields of a line, without empty ones at its end, with which spreadsheets pad rows.
///
/// If a line has too many fields, it returns the first `FIELDS_MAX + 1`, empty or not: a field
/// takes 40 bytes, and a line of commas has one field per byte.
fn fields(number: usize, line: &str, separator: Option<char>) -> Vec<Field<'_>> {
    let Some(separator) = separator else {
        let words = words(number, line).take(FIELDS_MAX + 1);
        return words.map(without_quotes).collect();
    };
    let mut column = 1;
    let mut is_outside = outside_quotes(|mark| mark == separator);
    let mut fields: Vec<_> = line
        .split(|mark| is_outside(mark) && mark == separator)
        .map(|field| {
            let blanks = field.len() - field.trim_start().len();
            let word = Word {
                text: field.trim(),
                line: number,
                column: column + blanks,
            };
            column += field.len() + separator.len_utf8();
            without_quotes(word)
        })
        .take(FIELDS_MAX + 1)
        .collect();
    if fields.len() > FIELDS_MAX {
        return fields;
    }
    while fields
        .last()
        .is_some_and(|last| last.word.text.is_empty() && !last.is_quoted)
    {
        fields.pop();
    }
    fields
}

/// Creates a field from a word, which may be quoted.
fn without_quotes(word: Word<'_>) -> Field<'_> {
    let inner = word
        .text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    match inner {
        Some(text) => Field {
            word: Word {
                text,
                column: word.column + 1,
                ..word
            },
            is_quoted: true,
        },
        None => Field {
            word,
            is_quoted: false,
        },
    }
}
