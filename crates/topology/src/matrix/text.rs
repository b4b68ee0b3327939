//! Words of a text with their positions, and errors at a word.

use std::path::Path;

use super::is_valid;
use crate::error::MatrixError;

/// A word of a line.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'text> {
    /// The characters of the word.
    pub(super) text: &'text str,
    /// The line, from 1.
    pub(super) line: usize,
    /// The column in bytes, from 1.
    pub(super) column: usize,
}

/// The largest number of characters of a file that an error shows.
const SHOWN_MAX: usize = 40;

impl Word<'_> {
    /// Returns the error that something else was expected here.
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

    /// Parses the bytes that one party sends to another.
    pub(super) fn bytes(&self) -> Result<f64, Problem> {
        let value = self
            .text
            .parse::<f64>()
            .ok()
            .filter(|value| is_valid(*value));
        value.ok_or_else(|| self.wrong("a number from 0 to 1e30"))
    }

    /// Parses an integer from `first` to `last`. `what` describes it in an error.
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

/// An error in a text, and its position.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) found: String,
    pub(super) expected: String,
}

impl Problem {
    /// Returns the error that something is missing at the end of the text.
    pub(super) fn at_end(text: &str, expected: impl Into<String>) -> Self {
        let line = text.lines().count().max(1);
        Self {
            line,
            column: text.lines().last().map_or(0, str::len) + 1,
            found: "the end of the file".to_owned(),
            expected: expected.into(),
        }
    }

    /// Returns the error with the path of the file.
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

/// Returns an iterator over the lines of a text and their numbers, without empty lines and lines
/// that start with `comment`.
pub(super) fn lines(text: &str, comment: char) -> impl Iterator<Item = (usize, &str)> + Clone {
    text.lines()
        .enumerate()
        .map(|(index, line)| (index + 1, line))
        .filter(move |(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with(comment)
        })
}

/// Returns an iterator over the words of a line, which blanks separate.
pub(super) fn words(number: usize, line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_ascii_whitespace().map(move |text| Word {
        text,
        line: number,
        // `text` is a slice of `line`, so the difference of the addresses is its position.
        column: text.as_ptr() as usize - line.as_ptr() as usize + 1,
    })
}
