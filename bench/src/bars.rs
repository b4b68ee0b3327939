//! Bars of ratios to a peer, as an SVG picture: one row for each case, one bar for each number of
//! workers.

use std::path::Path;

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use raddle_trace::whole_file;

use crate::error::BenchError;
use crate::record::Record;

/// The height of a bar, and the space between two rows.
const BAR: i32 = 11;
const GAP: i32 = 10;
/// The space for the names of the cases, for the bars, and for the numbers behind them.
const NAMES: i32 = 170;
const BARS: i32 = 420;
const NUMBERS: i32 = 60;
/// The space for the title and the legend.
const TOP: i32 = 64;

/// Draws the ratios of the records that have one. `title` says what the ratio is.
///
/// # Errors
/// [`BenchError::Plot`] if the file cannot be written.
pub(crate) fn plot(records: &[Record], title: &str, path: &Path) -> Result<(), BenchError> {
    draw(records, title)
        .and_then(|svg| {
            let written = whole_file::write(path, svg.as_bytes());
            written.map_err(|error| error.to_string())
        })
        .map_err(|message| BenchError::Plot {
            path: path.to_owned(),
            message,
        })
}

/// The records of one case that have a ratio.
struct Row<'records> {
    case: &'records str,
    bars: Vec<(usize, f64)>,
}

fn rows(records: &[Record]) -> Vec<Row<'_>> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for record in records {
        let Some(ratio) = record.ratio else { continue };
        let bar = (record.workers, ratio);
        match rows.iter_mut().find(|row| row.case == record.case) {
            Some(row) => row.bars.push(bar),
            None => rows.push(Row {
                case: &record.case,
                bars: vec![bar],
            }),
        }
    }
    rows
}

fn draw(records: &[Record], title: &str) -> Result<String, String> {
    let rows = rows(records);
    let mut workers: Vec<usize> = rows
        .iter()
        .flat_map(|row| row.bars.iter().map(|&(workers, _)| workers))
        .collect();
    workers.sort_unstable();
    workers.dedup();
    let highest = rows
        .iter()
        .flat_map(|row| row.bars.iter().map(|&(_, ratio)| ratio))
        .fold(1.0, f64::max);
    let x = |ratio: f64| NAMES + (ratio / highest * f64::from(BARS)) as i32;
    let row_height = BAR * workers.len() as i32 + GAP;
    let height = TOP + row_height * rows.len() as i32 + GAP;
    let size = ((NAMES + BARS + NUMBERS) as u32, height as u32);
    let mut svg = String::new();
    let failure = |error: &dyn std::fmt::Display| error.to_string();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(|error| failure(&error))?;
        let text = |size: i32, at: HPos| {
            let font = ("sans-serif", size).into_text_style(&root);
            font.pos(Pos::new(at, VPos::Center))
        };
        let colour = |index: usize| HSLColor(0.58, 0.7, 0.75 - 0.3 * index as f64);
        let write = |words: String, at: (i32, i32), style: TextStyle<'_>| {
            root.draw(&Text::new(words, at, style))
                .map_err(|error| failure(&error))
        };
        write(title.to_owned(), (GAP, 18), text(15, HPos::Left))?;
        for (index, count) in workers.iter().enumerate() {
            let left = NAMES + 110 * index as i32;
            let legend =
                Rectangle::new([(left, 38), (left + 22, 38 + BAR)], colour(index).filled());
            root.draw(&legend).map_err(|error| failure(&error))?;
            let unit = if *count == 1 { "thread" } else { "threads" };
            let middle = (left + 28, 38 + BAR / 2);
            write(format!("{count} {unit}"), middle, text(12, HPos::Left))?;
        }
        for (index, row) in rows.iter().enumerate() {
            let top = TOP + row_height * index as i32;
            let middle = (NAMES - 8, top + (row_height - GAP) / 2);
            write(row.case.to_owned(), middle, text(12, HPos::Right))?;
            for &(count, ratio) in &row.bars {
                let place = workers
                    .iter()
                    .position(|&other| other == count)
                    .unwrap_or(0);
                let top = top + BAR * place as i32;
                let bar = [(NAMES, top), (x(ratio), top + BAR - 1)];
                root.draw(&Rectangle::new(bar, colour(place).filled()))
                    .map_err(|error| failure(&error))?;
                let behind = (x(ratio).max(x(1.0)) + 5, top + BAR / 2);
                write(format!("{ratio:.2}"), behind, text(11, HPos::Left))?;
            }
        }
        // The line of equal times.
        let line = vec![(x(1.0), TOP - 6), (x(1.0), height - GAP)];
        root.draw(&PathElement::new(line, BLACK.stroke_width(1)))
            .map_err(|error| failure(&error))?;
        root.present().map_err(|error| failure(&error))?;
    }
    Ok(svg)
}
