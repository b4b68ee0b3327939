//! Output of charts as tables: a row for each place on the axis, a column for each line, and the
//! notes below.

use std::fmt::Write as _;

use super::chart::Chart;

impl Chart {
    /// Returns the chart as a table with a heading.
    #[must_use]
    pub fn table(&self) -> String {
        let figure = self
            .figure
            .map_or_else(String::new, |number| format!(" (figure {number})"));
        // Writing to a string cannot fail, here and below.
        let mut text = format!("{}{figure}: {}\n\n", self.title, self.y.label());
        let widths: Vec<usize> = self
            .lines
            .iter()
            .map(|line| line.name.chars().count().max(10))
            .collect();
        let first = self.x.label();
        let first_width = first.chars().count().max(8);
        let _infallible = write!(text, "{first:<first_width$}");
        for (line, &width) in self.lines.iter().zip(&widths) {
            let _infallible = write!(text, "  {:>width$}", line.name);
        }
        text.push('\n');
        for place in self.places() {
            let _infallible = write!(text, "{:<first_width$}", short(place));
            for (line, &width) in self.lines.iter().zip(&widths) {
                let value = line.at(place).map_or_else(|| "-".to_owned(), short);
                let _infallible = write!(text, "  {value:>width$}");
            }
            text.push('\n');
        }
        if !self.notes.is_empty() {
            text.push('\n');
        }
        for note in &self.notes {
            let line = format!("{} {} {}", note.name, short(note.value), note.unit);
            let _infallible = writeln!(text, "{}", line.trim_end());
        }
        text
    }
}

/// Formats a number with five significant digits, without trailing zeros.
fn short(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let before = number.abs().log10().floor() as i32 + 1;
    let digits = (5 - before).clamp(0, 9) as usize;
    let text = format!("{number:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_five_digits_that_count() {
        let known = [
            (13.908_843, "13.909"),
            (0.003_456_789, "0.0034568"),
            (512.0, "512"),
            (24_726.236, "24726"),
            (1.5, "1.5"),
            (0.0, "0"),
            (-2.25, "-2.25"),
        ];
        for (number, expected) in known {
            assert_eq!(short(number), expected);
        }
    }
}
