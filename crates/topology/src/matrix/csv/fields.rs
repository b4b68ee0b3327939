//! Lines of a table as fields, between separators and within quotes.

use super::super::text::{Word, lines, words};

/// A field of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field<'text> {
    /// The text between the quotes, or without blanks around it.
    pub(super) word: Word<'text>,
    pub(super) is_quoted: bool,
}

impl Field<'_> {
    /// Tells whether the field is a name, and no number, not even a wrong one.
    pub(super) fn is_name(&self) -> bool {
        let text = self.word.text.trim();
        let begins_as_number = text.starts_with(|mark: char| mark.is_ascii_digit() || mark == '.');
        // Digits between commas are a number in some notation; other texts that begin with a digit
        // are names.
        let is_number = text.parse::<f64>().is_ok()
            || begins_as_number
                && text
                    .chars()
                    .all(|mark| mark.is_ascii_digit() || super::number::is_mark(mark));
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

/// The most fields of a line. As many rows of as many numbers take twice the largest text that is
/// read, so no matrix has more columns.
pub(super) const FIELDS_MAX: usize = 1 << 15;

const SEPARATORS: [char; 3] = [';', '\t', ','];

/// How many lines are looked at for a separator.
const LOOKED_AT: usize = 8;

/// A text whose lines are rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table<'text> {
    text: &'text str,
    /// None where blanks separate fields.
    separator: Option<char>,
    /// The number of a line that only names the separator, as spreadsheets understand; 0 for none.
    marker_line: usize,
}

impl<'text> Table<'text> {
    /// Looks for the separator; `None` for a text without rows.
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

    /// Iterates over the rows with the numbers of their lines, without those that consist of
    /// separators.
    pub(super) fn numbered_rows(
        &self,
    ) -> impl Iterator<Item = (usize, Vec<Field<'text>>)> + use<'text> {
        let (separator, marker_line) = (self.separator, self.marker_line);
        lines(self.text, '#')
            .filter(move |&(number, _)| number != marker_line)
            .map(move |(number, line)| (number, fields(number, line, separator)))
            .filter(|(_, row)| !row.is_empty())
    }

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

/// Returns the separator of a table: one that all of the first rows have, or else one that the
/// first row has.
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

fn has_outside_quotes(line: &str, separator: char) -> bool {
    let mut is_outside = outside_quotes(|mark| mark == separator);
    line.chars()
        .any(|mark| is_outside(mark) && mark == separator)
}

/// Tells of one character of a line after the other whether it stands outside of quotes, which
/// begin where a field does.
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

/// Returns the fields of a line, without empty ones at its end: spreadsheets pad rows with them.
///
/// Of a line with too many fields it returns the first `FIELDS_MAX + 1`, whatever is in them: a
/// field takes 40 bytes, and a line of commas has one for each byte.
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
