//! Results for people: two columns, and numbers with units that a person would choose.

use std::fmt::Write as _;
use std::time::Duration;

/// Rows of a name and a value.
#[derive(Debug, Clone, Default)]
pub(crate) struct Table {
    rows: Vec<(String, String)>,
}

impl Table {
    /// Adds a row.
    pub(crate) fn row(&mut self, name: &str, value: impl Into<String>) -> &mut Self {
        self.rows.push((name.to_owned(), value.into()));
        self
    }

    /// The rows below each other, values in one column.
    pub(crate) fn text(&self) -> String {
        let width = self
            .rows
            .iter()
            .map(|(name, _)| name.chars().count())
            .max()
            .unwrap_or_default();
        let mut text = String::new();
        for (name, value) in &self.rows {
            // Writing to a string cannot fail.
            let _infallible = writeln!(text, "{name:<width$}  {value}");
        }
        text
    }
}

/// A whole number in groups of three: `871,414`.
pub(crate) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The word as it stands after that number: `1 worker`, `2 workers`.
pub(crate) fn plural(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{word}{ending}")
}

/// A time with three digits that count: `1.23 s`, `45.6 ms`, `789 µs`, `512 ns`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{} s", three_digits(seconds))
    } else if seconds >= 1e-3 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else if seconds >= 1e-6 {
        format!("{} µs", three_digits(seconds * 1e6))
    } else {
        format!("{} ns", time.as_nanos())
    }
}

/// A large number in words: `12.3 million`, `4.56 thousand`.
pub(crate) fn large(number: f64) -> String {
    let (factor, word) = match number {
        ..1e3 => (1.0, ""),
        1e3..1e6 => (1e-3, " thousand"),
        1e6..1e9 => (1e-6, " million"),
        _ => (1e-9, " billion"),
    };
    format!("{}{word}", three_digits(number * factor))
}

/// A size in the unit that fits: `761 kB`, `1.20 GB` (powers of ten).
pub(crate) fn bytes(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", three_digits(number / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", three_digits(number / 1e6)),
        _ => format!("{} GB", three_digits(number / 1e9)),
    }
}

fn three_digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests;
