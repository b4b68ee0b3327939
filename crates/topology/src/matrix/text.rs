//! A text as words with their places, and what is wrong with one of them.

use std::path::Path;

use super::is_valid;
use crate::error::MatrixError;

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'text> {
    pub(super) text: &'text str,
    /// Both from 1; the column counts bytes.
    pub(super) line: usize,
    pub(super) column: usize,
}

/// The longest piece of a file that an error repeats.
const SHOWN_MAX: usize = 40;

impl Word<'_> {
    /// Says that something else was expected here.
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Problem {
        let mut found: String = self.text.chars().take(SHOWN_MAX).collect();
        if found.len() < self.text.len() {
            found.push('…');
        }
        Problem {
            line: self.line,
            column: self.column,
            found: if self.text.is_empty() {
                "nothing".to_owned()
            } else {
                format!("{found:?}")
            },
            expected: expected.into(),
        }
    }

    /// Reads what two parties exchange.
    pub(super) fn bytes(&self) -> Result<f64, Problem> {
        let value = self
            .text
            .parse::<f64>()
            .ok()
            .filter(|value| is_valid(*value));
        value.ok_or_else(|| self.wrong("a number from 0 to 1e30"))
    }

    /// Reads a whole number from `first` to `last`.
    pub(super) fn index(&self, first: usize, last: usize, what: &str) -> Result<usize, Problem> {
        let index = self.text.parse::<usize>().ok();
        index
            .filter(|index| (first..=last).contains(index))
            .ok_or_else(|| match first == last {
                true => self.wrong(format!("{what} {first}")),
                false => self.wrong(format!("{what} from {first} to {last}")),
            })
    }
}

/// What is wrong with a text, and where.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Problem {
    /// Something is missing where the text ends.
    pub(super) fn at_end(text: &str, expected: impl Into<String>) -> Self {
        let line = text.lines().count().max(1);
        Self {
            line,
            column: text.lines().last().map_or(0, str::len) + 1,
            found: "the end of the file".to_owned(),
            expected: expected.into(),
        }
    }

    pub(super) fn in_file(self, path: &Path) -> MatrixError {
        MatrixError::Text {
            path: path.to_path_buf(),
            line: self.line,
            column: self.column,
            found: self.found,
            expected: self.expected,
        }
    }
}

/// Iterates over the lines of a text with their numbers; those that `is_comment` begins are left out, and empty ones.
pub(super) fn lines(text: &str, comment: char) -> impl Iterator<Item = (usize, &str)> + Clone {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(move |(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with(comment)
        })
}

/// Iterates over the words of a line, between blanks.
pub(super) fn words(number: usize, line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_ascii_whitespace().map(move |text| Word {
        text,
        line: number,
        // A piece of a line stands where it stands.
        column: text.as_ptr() as usize - line.as_ptr() as usize + 1,
    })
}
