//! Numbers in the headers of text formats.

use std::str::FromStr;

use glam::DVec3;

use crate::file::{Fault, Place, quoted};

/// The value of a field in a header, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) place: Place,
    pub(super) text: String,
}

impl Field {
    /// Creates a field. Bytes that are not UTF-8 are replaced.
    pub(super) fn new(place: Place, text: &[u8]) -> Self {
        Self {
            place,
            text: String::from_utf8_lossy(text).trim().to_owned(),
        }
    }

    /// Returns the fault of a value that is not the expected one.
    #[cold]
    pub(super) fn wrong(&self, expected: impl Into<String>) -> Fault {
        Fault::syntax(self.place, quoted(self.text.as_bytes()), expected)
    }

    /// Returns the value in lower case.
    pub(super) fn lower(&self) -> String {
        self.text.to_ascii_lowercase()
    }

    /// Parses a value.
    pub(super) fn parse<T: FromStr>(&self, expected: &str) -> Result<T, Fault> {
        self.text.parse().map_err(|_| self.wrong(expected))
    }

    /// Parses values with white space between them.
    pub(super) fn list<T: FromStr, const COUNT: usize>(
        &self,
        expected: &str,
    ) -> Result<[T; COUNT], Fault> {
        let values = self.values(expected)?.try_into();
        values.map_err(|_| self.wrong(expected))
    }

    /// Parses any number of values with white space between them.
    pub(super) fn values<T: FromStr>(&self, expected: &str) -> Result<Vec<T>, Fault> {
        let words = self.text.split_ascii_whitespace();
        let values: Option<Vec<T>> = words.map(|word| word.parse().ok()).collect();
        values.ok_or_else(|| self.wrong(expected))
    }

    /// Parses three coordinates with white space between them.
    pub(super) fn vector(&self, expected: &str) -> Result<DVec3, Fault> {
        let values: [f64; 3] = self.list(expected)?;
        Ok(DVec3::from_array(values))
    }
}
