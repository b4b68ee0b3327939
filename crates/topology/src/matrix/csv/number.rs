//! Numbers in the notations in which spreadsheets write them.
//!
//! | notation | examples |
//! |---|---|
//! | decimal point | `1024`, `8.5`, `1,024.5`, `1 024`, `1'024` |
//! | decimal comma | `1024`, `8,5`, `1.024,5`, `1 024,5` |
//!
//! A table has one notation. It is that with a decimal comma where a comma cannot separate
//! thousands, and between semicolons: spreadsheets separate by semicolons where the comma is taken.

use super::super::is_valid;
use super::super::text::Problem;
use super::fields::{Field, Table};

/// Separators of thousands, in addition to the comma or point that the notation leaves free.
const GROUPING: [char; 5] = [' ', '\u{a0}', '\u{202f}', '\'', '\u{2019}'];

/// How a table writes numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notation {
    has_decimal_comma: bool,
}

/// Tells whether a character other than a digit may stand inside of a number.
pub(super) fn is_mark(mark: char) -> bool {
    matches!(mark, ',' | '.') || GROUPING.contains(&mark)
}

/// Tells whether a text consists of what numbers consist of, in any notation.
fn is_like_number(text: &str) -> bool {
    let is_part = |mark: char| {
        mark.is_ascii_digit() || is_mark(mark) || matches!(mark, 'e' | 'E' | '+' | '-')
    };
    text.starts_with(|mark: char| mark.is_ascii_digit()) && text.chars().all(is_part)
}

impl Notation {
    /// Looks how the fields of a table write numbers.
    pub(super) fn of(table: &Table<'_>) -> Self {
        let separator = table.separator();
        if separator == Some(',') && !table.text().contains('"') {
            return Self {
                has_decimal_comma: false,
            };
        }
        let mut has_comma = false;
        let mut has_point_behind_comma = false;
        for row in table.rows() {
            for text in row.iter().map(|field| field.word.text.trim()) {
                let Some((_, behind)) = text.split_once(',') else {
                    continue;
                };
                if !is_like_number(text) {
                    continue;
                }
                has_comma = true;
                has_point_behind_comma |= behind.contains('.');
                if with_point(text, ',').is_none() {
                    return Self {
                        has_decimal_comma: true,
                    };
                }
            }
        }
        Self {
            has_decimal_comma: has_comma && separator == Some(';') && !has_point_behind_comma,
        }
    }

    /// Reads the number of a field.
    pub(super) fn bytes(self, field: &Field<'_>) -> Result<f64, Problem> {
        let text = field.word.text.trim();
        let value = if self.has_decimal_comma {
            let whole = text.split(',').next().unwrap_or(text);
            // A point separates thousands here, so it may not stand for a fraction.
            if whole.contains('.') && without_groups(whole, '.').is_none() {
                None
            } else {
                with_comma(text)
            }
        } else {
            text.parse().ok().or_else(|| with_point(text, ','))
        };
        value
            .filter(|value| is_valid(*value))
            .ok_or_else(|| field.word.wrong("a number from 0 to 1e30"))
    }
}

/// Reads a number whose fraction follows a comma.
fn with_comma(text: &str) -> Option<f64> {
    let (whole, fraction) = match text.split_once(',') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits = without_groups(whole, '.').unwrap_or_else(|| whole.to_owned());
    if fraction.is_empty() {
        digits.parse().ok()
    } else {
        format!("{digits}.{fraction}").parse().ok()
    }
}

/// Reads a number whose fraction follows a point, and whose thousands `grouping` or another mark
/// separates.
fn with_point(text: &str, grouping: char) -> Option<f64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits = without_groups(whole, grouping)?;
    format!("{digits}.{fraction}").parse().ok()
}

/// Joins groups of three digits; the first may be shorter. `None` where there are no such groups.
fn without_groups(text: &str, grouping: char) -> Option<String> {
    let separator = text
        .chars()
        .find(|&mark| mark == grouping || GROUPING.contains(&mark))?;
    let mut groups = text.split(separator);
    let first = groups.next()?;
    let is_group =
        |group: &str| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit());
    let is_start = matches!(first.len(), 1..=3) && first.bytes().all(|byte| byte.is_ascii_digit());
    (is_start && groups.all(is_group)).then(|| text.replace(separator, ""))
}
