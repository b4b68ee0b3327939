//! The report as text for a terminal.

use std::fmt::Write as _;

use crate::page::work_and_span;
use crate::states::State;
use crate::summary::Summary;
use crate::table::{Table, one_line};
use crate::utilisation::ThreadUtilisation;

/// The number of characters for the time of the recording.
const COLUMNS: usize = 60;
/// The width of sentences.
const WIDTH: usize = 96;

/// Returns the report about a recording as text, with at most `rows` rows of each table.
#[must_use]
pub fn render(summary: &Summary, rows: usize) -> String {
    let mut text = String::new();
    for finding in &summary.findings {
        let lost = match finding.loss {
            0.0 => "    -".to_owned(),
            loss => format!("{:3.0} %", loss * 100.0),
        };
        let sentence = wrap(&one_line(&finding.text), WIDTH);
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{lost}  {}", sentence.replace('\n', "\n       "));
    }
    text += "\nWork over time\n";
    text += &over_time(summary, rows);
    for table in summary.tables() {
        if table.key == "findings" {
            continue;
        }
        if table.key == "forecast"
            && let Some(forecast) = &summary.forecast
        {
            let _infallible = writeln!(text, "\n{}", work_and_span(forecast));
        }
        text += &titled(&table, rows);
    }
    if let Some(reason) = &summary.no_forecast {
        let sentence = wrap(&format!("There is no forecast: {reason}."), WIDTH);
        let _infallible = writeln!(text, "\n{sentence}");
    }
    text
}

fn titled(table: &Table, rows: usize) -> String {
    match table.rows.is_empty() {
        true => String::new(),
        false => format!("\n{}\n{}", table.title, table.to_text(rows)),
    }
}

/// Returns a line for each thread: the part of each time in which it worked, as a bar.
fn over_time(summary: &Summary, rows: usize) -> String {
    let threads = &summary.utilisation.threads;
    let shown = &threads[..threads.len().min(rows.max(8))];
    let names: Vec<String> = shown.iter().map(|thread| one_line(&thread.name)).collect();
    let lengths = names.iter().map(|name| name.chars().count());
    let width = lengths.max().unwrap_or(0);
    let mut text = String::new();
    for (thread, name) in shown.iter().zip(names) {
        let bars = bars(thread, summary.length_ns);
        let _infallible = writeln!(text, "{name:<width$}  {bars}");
    }
    text
}

fn bars(thread: &ThreadUtilisation, length_ns: u64) -> String {
    const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let parts = thread.over_time_ns.len().max(1);
    let of_column = |column: usize| {
        let range = column * parts / COLUMNS..(column + 1) * parts / COLUMNS;
        let states = thread.over_time_ns.get(range).unwrap_or_default();
        let works: u64 = states.iter().map(|part| part[State::Works as usize]).sum();
        let share = works as f64 * COLUMNS as f64 / length_ns.max(1) as f64;
        BARS[(share * 8.0).round().clamp(0.0, 8.0) as usize]
    };
    (0..COLUMNS).map(of_column).collect()
}

/// Breaks a sentence into lines of at most `width` characters.
fn wrap(sentence: &str, width: usize) -> String {
    let mut lines: Vec<String> = vec![String::new()];
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_wrapped_at_spaces() {
        assert_eq!(wrap("one two three", 7), "one two\nthree");
        assert_eq!(wrap("incomprehensible", 7), "incomprehensible");
    }
}
