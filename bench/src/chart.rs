//! What a suite found about every contender at every number of workers, as a table and as a picture.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::path::Path;

use plotters::prelude::*;

use crate::error::BenchError;
use crate::record::Record;

/// Who every speedup is over.
pub(crate) const BASE: &str = "base";

/// A number for each contender in each case at each number of workers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart<'records> {
    /// What the numbers are.
    quantity: &'records str,
    /// Whether they should be as the numbers of workers.
    has_ideal: bool,
    points: Vec<Point<'records>>,
}

#[derive(Debug, Clone, PartialEq)]
struct Point<'records> {
    case: &'records str,
    workers: usize,
    who: &'records str,
    value: f64,
    /// Others used the machine all the while.
    is_doubtful: bool,
}

impl<'records> Chart<'records> {
    /// Every contender's speedup over `base`, in the order of the records; none for cases that have no `base`.
    ///
    /// Ratios to the contender that was measured in turn with both, not medians of times taken minutes apart.
    pub(crate) fn of_speedups(records: &'records [Record]) -> Self {
        let base_of = |record: &Record| {
            records
                .iter()
                .find(|base| {
                    base.who == BASE && base.case == record.case && base.workers == record.workers
                })
                .and_then(|base| Some((base.ratio?, base.is_loaded())))
        };
        let point_of = |record: &'records Record| {
            let (base, is_base_loaded) = base_of(record)?;
            let value = record.ratio.unwrap_or(1.0) / base;
            Some(Point::of(record, value, is_base_loaded))
        };
        let others = records.iter().filter(|record| record.who != BASE);
        Self {
            quantity: "speedup",
            has_ideal: true,
            points: others.filter_map(point_of).collect(),
        }
    }

    /// Every contender's median, in the order of the records, which have one unit.
    pub(crate) fn of_medians(records: &'records [Record]) -> Self {
        let points = records
            .iter()
            .map(|record| Point::of(record, record.median, false));
        Self {
            quantity: records.first().map_or("", |record| &record.unit),
            has_ideal: false,
            points: points.collect(),
        }
    }

    /// A row for each contender, a column for each case and number of workers, as in table 1 of Hoffmann's study. What was measured on
    /// a machine that others used bears a question mark.
    pub(crate) fn table(&self) -> String {
        let columns = in_order(self.points.iter().map(|point| (point.case, point.workers)));
        let mut text = format!("{:<16}", self.quantity);
        // Writing to a string cannot fail, here and below.
        for (case, workers) in &columns {
            let _infallible = write!(text, " {:>12}", format!("{case}/{workers}"));
        }
        for who in in_order(self.points.iter().map(|point| point.who)) {
            let _infallible = write!(text, "\n{who:<16}");
            for &(case, workers) in &columns {
                let found = self
                    .points
                    .iter()
                    .find(|point| (point.case, point.workers, point.who) == (case, workers, who));
                let value = found.map_or_else(String::new, |found| {
                    format!(
                        "{:.2}{}",
                        found.value,
                        if found.is_doubtful { "?" } else { " " }
                    )
                });
                let _infallible = write!(text, " {value:>12}");
            }
        }
        text
    }

    /// Draws the numbers over those of workers, a panel for each case and a line for each contender, into an SVG file.
    ///
    /// # Errors
    /// [`BenchError::Plot`] where the file cannot be written.
    pub(crate) fn plot(&self, path: &Path) -> Result<(), BenchError> {
        self.draw(path).map_err(|message| BenchError::Plot {
            path: path.to_owned(),
            message,
        })
    }

    fn draw(&self, path: &Path) -> Result<(), String> {
        let cases = in_order(self.points.iter().map(|point| point.case));
        let names = in_order(self.points.iter().map(|point| point.who));
        // The last panel holds the names.
        let columns = PANELS_PER_ROW.min(cases.len() + 1);
        let rows = (cases.len() + 1).div_ceil(columns);
        let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
            root.fill(&WHITE).map_err(|error| error.to_string())?;
            let panels = root.split_evenly((rows, columns));
            for (case, panel) in cases.iter().zip(&panels) {
                self.draw_case(case, &names, panel)
                    .map_err(|error| error.to_string())?;
            }
            draw_names(&names, &panels[cases.len()]).map_err(|error| error.to_string())?;
            root.present().map_err(|error| error.to_string())?;
        }
        std::fs::write(path, svg).map_err(|error| error.to_string())
    }

    fn draw_case<'svg>(&self, case: &str, names: &[&str], panel: &Area<'svg>) -> Drawn<'svg> {
        let points = || self.points.iter().filter(|point| point.case == case);
        let workers_max = points().map(|point| point.workers).max().unwrap_or(1);
        let value_max = points().map(|point| point.value).fold(1.0, f64::max);
        let mut chart = ChartBuilder::on(panel)
            .caption(case, ("sans-serif", 16))
            .margin(10)
            .x_label_area_size(34)
            .y_label_area_size(56)
            .build_cartesian_2d(0.5..workers_max as f64 + 0.5, 0.0..value_max * 1.1)?;
        chart
            .configure_mesh()
            .x_desc("workers")
            .y_desc(self.quantity)
            .x_label_formatter(&|workers| format!("{workers:.0}"))
            .x_labels(workers_max.min(8) + 1)
            .light_line_style(WHITE)
            .draw()?;
        if self.has_ideal {
            let ideal = [(1.0, 1.0), (workers_max as f64, workers_max as f64)];
            chart.draw_series(DashedLineSeries::new(ideal, 4, 4, BLACK.mix(0.4).into()))?;
        }
        for name in names {
            let line: Vec<(f64, f64)> = points()
                .filter(|point| point.who == *name)
                .map(|point| (point.workers as f64, point.value))
                .collect();
            let style = style_of(name);
            chart.draw_series(LineSeries::new(line.iter().copied(), style))?;
            chart.draw_series(line.iter().map(|&at| Circle::new(at, 2, style.filled())))?;
        }
        Ok(())
    }
}

impl<'records> Point<'records> {
    fn of(record: &'records Record, value: f64, is_doubtful: bool) -> Self {
        Self {
            case: &record.case,
            workers: record.workers,
            who: &record.who,
            value,
            is_doubtful: is_doubtful || record.is_loaded(),
        }
    }
}

/// The different items, each where it comes first.
fn in_order<T: Ord + Copy>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.filter(|&item| seen.insert(item)).collect()
}

/// Finds out before anything is measured whether the picture can be written.
///
/// # Errors
/// [`BenchError::Plot`] where it cannot.
pub(crate) fn check(path: &Path) -> Result<(), BenchError> {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    opened.map(drop).map_err(|error| BenchError::Plot {
        path: path.to_owned(),
        message: error.to_string(),
    })
}

const PANEL: (u32, u32) = (420, 320);
const PANELS_PER_ROW: usize = 3;

type Area<'svg> = DrawingArea<SVGBackend<'svg>, plotters::coord::Shift>;
type Drawn<'svg> =
    Result<(), DrawingAreaErrorKind<<SVGBackend<'svg> as DrawingBackend>::ErrorType>>;

fn draw_names<'svg>(names: &[&str], panel: &Area<'svg>) -> Drawn<'svg> {
    const LINES: usize = 14;
    for (index, name) in names.iter().enumerate() {
        let x = 20 + 190 * (index / LINES) as i32;
        let y = 24 + 20 * (index % LINES) as i32;
        let line = vec![(x, y + 6), (x + 22, y + 6)];
        panel.draw(&PathElement::new(line, style_of(name)))?;
        panel.draw(&Text::new(*name, (x + 28, y), ("sans-serif", 13)))?;
    }
    Ok(())
}

/// A colour for each family of pools, in as many shades as it has members, and for each other name; what Raddle does by default stands
/// out.
fn style_of(name: &str) -> ShapeStyle {
    let shade = name
        .bytes()
        .fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    let lightness = 0.3 + f64::from(shade % 8) / 20.0;
    let hue = match name {
        "auto" | "raddle" => return BLACK.stroke_width(3),
        "deque" => return MAGENTA.stroke_width(2),
        _ if name.starts_with("SQ-") => 0.0,
        _ if name.starts_with("DQ-BL-") => 0.6,
        _ if name.starts_with("DQ-") => 0.33,
        _ => f64::from(shade % 11) / 11.0,
    };
    HSLColor(hue, 0.8, lightness).stroke_width(1)
}

#[cfg(test)]
mod tests;
