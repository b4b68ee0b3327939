//! Numbers in the notations of spreadsheets.
//!
//! | notation | examples |
//! |---|---|
//! | decimal point | `1024`, `8.5`, `1,024.5`, `1 024`, `1'024` |
//! | decimal comma | `1024`, `8,5`, `1.024,5`, `1 024,5` |
//!
//! A table has one notation. It is the one with a decimal comma if some comma cannot separate
//! thousands, and also if semicolons separate fields: spreadsheets use them if the comma is taken.

use super::super::is_valid;
use super::super::text::Problem;
use super::fields::{Field, Table};
use super::marks::{GROUPING, is_mark};

/// The notation of the numbers in a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Notation {
    has_decimal_comma: bool,
}

/// Returns true if a text consists of characters of numbers, in any notation.
fn is_like_number(text: &str) -> bool {
    let is_part = |mark: char| {
        mark.is_ascii_digit() || is_mark(mark) || matches!(mark, 'e' | 'E' | '+' | '-')
    };
    text.starts_with(|mark: char| mark.is_ascii_digit()) && text.chars().all(is_part)
}

impl Notation {
    /// Detects the notation of a table.
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

    /// Parses the number in a field.
    pub(super) fn bytes(self, field: &Field<'_>) -> Result<f64, Problem> {
        let text = field.word.text.trim();
        let value = if self.has_decimal_comma {
            let whole = text.split(',').next().unwrap_or(text);
            // A point separates thousands here, so it must not start a fraction.
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

/// Parses a number with a decimal comma.
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

/// Parses a number with a decimal point, and with thousands separated by `grouping` or another
/// mark.
fn with_point(text: &str, grouping: char) -> Option<f64> {
    let (whole, fraction) = match text.split_once('.') {
        Some((whole, fraction)) => (whole, fraction),
        None => (text, ""),
    };
    let digits = without_groups(whole, grouping)?;
    format!("{digits}.{fraction}").parse().ok()
}

/// Joins groups of three digits, the first of which may be shorter. Returns `None` if there are no
/// such groups.
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
