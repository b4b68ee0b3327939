//! Charts of the records of a suite, as tables and as SVG pictures.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use plotters::prelude::*;
use raddle_trace::whole_file;

use crate::error::BenchError;
use crate::record::Record;

/// The contender that is the base of every speedup of the suite `pools`.
pub(crate) const BASE: &str = "base";

/// A number for each contender in each case, over the number of workers or over a size.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart<'records> {
    /// The name or the unit of the numbers.
    quantity: &'records str,
    /// The quantity on the horizontal axis.
    over: Over,
    /// True if there is only one case. Then the table shows its name once, beside the quantity,
    /// instead of in each column.
    is_of_one_case: bool,
    points: Vec<Point<'records>>,
}

/// The records of a case that form the lines of a curve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lines {
    /// The records with the largest number of workers. A value that was not measured while the
    /// workers were near each other has a question mark.
    OfMostWorkers,
    /// A line for each number of workers, which is part of the line's name. A value that other
    /// processes disturbed has a question mark.
    OfEachWorkers,
}

/// The position of a record in a chart of ratios.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Place<Name> {
    /// The panel.
    pub(crate) panel: Name,
    /// The line within the panel.
    pub(crate) line: Name,
    /// The value of the line at the record's number of workers.
    pub(crate) value: f64,
}

/// The quantity on the horizontal axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Over {
    /// Numbers of workers. The ideal value is the number of workers itself.
    WorkersIdeally,
    /// Numbers of workers.
    Workers,
    /// A size with this name. Both axes are logarithmic.
    Size(&'static str),
}

#[derive(Debug, Clone, PartialEq)]
struct Point<'records> {
    case: Cow<'records, str>,
    over: usize,
    contender: Cow<'records, str>,
    value: f64,
    /// True if other processes used the machine throughout.
    is_doubtful: bool,
}

impl<'records> Chart<'records> {
    /// Returns every contender's speedup over the one named `base`, in the order of the records.
    ///
    /// Cases without such a contender are omitted. A speedup is computed from ratios to Raddle,
    /// with which both were measured alternately, and not from medians of times taken minutes
    /// apart.
    pub(crate) fn of_speedups(records: &'records [Record], base: &str) -> Self {
        let base_of = |record: &Record| {
            records
                .iter()
                .find(|other| {
                    other.contender == base
                        && other.case == record.case
                        && other.workers == record.workers
                })
                .and_then(|base| Some((base.ratio?, base.is_loaded())))
        };
        let point_of = |record: &'records Record| {
            let (base, is_base_loaded) = base_of(record)?;
            let value = record.ratio.unwrap_or(1.0) / base;
            Some(Point::of(record, value, is_base_loaded))
        };
        let others = records.iter().filter(|record| record.contender != base);
        Self {
            quantity: "speedup",
            over: Over::WorkersIdeally,
            is_of_one_case: false,
            points: others.filter_map(point_of).collect(),
        }
    }

    /// Returns every contender's median, in the order of the records, which have the same unit.
    pub(crate) fn of_medians(records: &'records [Record]) -> Self {
        let points = records
            .iter()
            .map(|record| Point::of(record, record.median, false));
        Self {
            quantity: records.first().map_or("", |record| &record.unit),
            over: Over::Workers,
            is_of_one_case: false,
            points: points.collect(),
        }
    }

    /// Returns a chart over the number of workers for each panel that `place` assigns records to.
    pub(crate) fn of_ratios<Name: Into<Cow<'records, str>>>(
        records: &'records [Record],
        quantity: &'records str,
        place: impl Fn(&'records Record) -> Option<Place<Name>>,
    ) -> Vec<Self> {
        let point = |record: &'records Record| {
            let place = place(record)?;
            Some(Point {
                case: place.panel.into(),
                over: record.workers,
                contender: place.line.into(),
                value: place.value,
                is_doubtful: record.is_loaded(),
            })
        };
        let all = Self {
            quantity,
            over: Over::Workers,
            is_of_one_case: false,
            points: records.iter().filter_map(point).collect(),
        };
        all.by_case()
    }

    /// Splits the chart into one chart per case.
    pub(crate) fn by_case(self) -> Vec<Self> {
        let of_case = |case: &str| Self {
            is_of_one_case: true,
            points: self
                .points
                .iter()
                .filter(|point| point.case == case)
                .cloned()
                .collect(),
            ..self
        };
        self.cases().into_iter().map(of_case).collect()
    }

    /// Returns the chart of one case with another title and another name for its numbers.
    pub(crate) fn titled(mut self, title: &str, quantity: &'records str) -> Self {
        for point in &mut self.points {
            point.case = Cow::Owned(title.to_owned());
        }
        Self { quantity, ..self }
    }

    /// Returns the name or the unit of the numbers.
    pub(crate) fn quantity(&self) -> &'records str {
        self.quantity
    }

    /// Returns a chart for each case that has a curve.
    ///
    /// The records of a curve have names that end in a number: `send/16`, `send/64`. `over`
    /// receives the case and the contender and returns the meaning of that number, or `None` to
    /// leave the record out.
    pub(crate) fn of_curves(
        records: &'records [Record],
        lines: Lines,
        over: impl Fn(&str, &str) -> Option<&'static str>,
    ) -> Vec<Self> {
        let is_of_most = |record: &Record| {
            let same = records.iter().filter(|other| other.case == record.case);
            same.map(|other| other.workers).max() == Some(record.workers)
        };
        let point = |record: &'records Record| {
            let (case, size) = record.case.split_once('/')?;
            let (contender, is_doubtful) = match lines {
                Lines::OfMostWorkers if !is_of_most(record) => return None,
                Lines::OfMostWorkers => (
                    Cow::Borrowed(record.contender.as_str()),
                    !record.counts_when_near(),
                ),
                Lines::OfEachWorkers => {
                    let contender = format!("{}, {} workers", record.contender, record.workers);
                    (Cow::Owned(contender), record.is_loaded())
                }
            };
            let chart = Self {
                quantity: &record.unit,
                over: Over::Size(over(case, &record.contender)?),
                is_of_one_case: true,
                points: Vec::new(),
            };
            let point = Point {
                case: Cow::Borrowed(case),
                over: size.parse().ok()?,
                contender,
                value: record.median,
                is_doubtful,
            };
            Some((chart, point))
        };
        let mut charts: Vec<Self> = Vec::new();
        for (empty, point) in records.iter().filter_map(point) {
            let is_same = |chart: &&mut Self| {
                chart.quantity == empty.quantity && chart.cases() == [&*point.case]
            };
            match charts.iter_mut().find(is_same) {
                Some(chart) => chart.points.push(point),
                None => charts.push(Self {
                    points: vec![point],
                    ..empty
                }),
            }
        }
        charts
    }

    /// Formats the chart as a table with a row for each contender and a column for each case and
    /// number of workers, as in table 1 of Hoffmann's study.
    ///
    /// A value that was measured while other processes used the machine has a question mark.
    pub(crate) fn table(&self) -> String {
        let columns = in_order(self.points.iter().map(|point| (&*point.case, point.over)));
        let (what, width) = match columns.first() {
            Some((case, _)) if self.is_of_one_case => (format!("{case}, {}", self.quantity), 22),
            _ => (self.quantity.to_owned(), 16),
        };
        let width = width.max(what.len());
        let mut text = format!("{what:<width$}");
        // Writing to a string cannot fail, here and below.
        for (case, over) in &columns {
            let column = if self.is_of_one_case {
                format!("{over} ")
            } else {
                format!("{case}/{over}")
            };
            let _infallible = write!(text, " {column:>12}");
        }
        for contender in in_order(self.points.iter().map(|point| &*point.contender)) {
            let _infallible = write!(text, "\n{contender:<width$}");
            for &(case, over) in &columns {
                let found = self.points.iter().find(|point| {
                    (&*point.case, point.over, &*point.contender) == (case, over, contender)
                });
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

    /// Returns the distinct cases.
    pub(crate) fn cases(&self) -> Vec<&str> {
        in_order(self.points.iter().map(|point| &*point.case))
    }

    fn draw_case<'svg>(&self, case: &str, names: &[&str], panel: &Area<'svg>) -> Drawn<'svg> {
        let points = || self.points.iter().filter(|point| point.case == case);
        let least = points().map(|point| point.over).min().unwrap_or(1);
        let most = points().map(|point| point.over).max().unwrap_or(1);
        let values = || points().map(|point| point.value);
        let highest = self.over.height(values().fold(1.0, f64::max));
        let lowest = match self.over {
            Over::Size(_) => self.over.height(values().fold(f64::INFINITY, f64::min)) - 0.1,
            _ => 0.0,
        };
        let mut chart = ChartBuilder::on(panel)
            .caption(case, ("sans-serif", 14))
            .margin(10)
            .x_label_area_size(34)
            .y_label_area_size(56)
            .build_cartesian_2d(
                self.over.place(least) - 0.5..self.over.place(most) + 0.5,
                lowest..highest + 0.1 * (highest - lowest),
            )?;
        chart
            .configure_mesh()
            .x_desc(self.over.name())
            .y_desc(self.quantity)
            .x_label_formatter(&|&place| self.over.label_of_place(place))
            .y_label_formatter(&|&height| self.over.label_of_height(height))
            .x_labels(most.min(8) + 1)
            .light_line_style(WHITE)
            .draw()?;
        if self.over == Over::WorkersIdeally {
            let ideal = [(1.0, 1.0), (most as f64, most as f64)];
            chart.draw_series(DashedLineSeries::new(ideal, 4, 4, BLACK.mix(0.4).into()))?;
        }
        for name in names {
            let line: Vec<(f64, f64)> = points()
                .filter(|point| point.contender == *name)
                .map(|point| (self.over.place(point.over), self.over.height(point.value)))
                .collect();
            let style = style_of(name, names);
            chart.draw_series(LineSeries::new(line.iter().copied(), style))?;
            chart.draw_series(line.iter().map(|&at| Circle::new(at, 2, style.filled())))?;
        }
        Ok(())
    }
}

impl Over {
    fn name(self) -> &'static str {
        match self {
            Self::WorkersIdeally | Self::Workers => "workers",
            Self::Size(name) => name,
        }
    }

    /// Returns the coordinate on the horizontal axis.
    fn place(self, over: usize) -> f64 {
        match self {
            Self::WorkersIdeally | Self::Workers => over as f64,
            Self::Size(_) => (over.max(1) as f64).log2(),
        }
    }

    fn label_of_place(self, place: f64) -> String {
        match self {
            Self::WorkersIdeally | Self::Workers => format!("{place:.0}"),
            Self::Size(_) => format!("{:.0}", place.exp2()),
        }
    }

    /// Returns the coordinate of a number on the vertical axis.
    fn height(self, value: f64) -> f64 {
        match self {
            Self::WorkersIdeally | Self::Workers => value,
            Self::Size(_) => value.max(f64::MIN_POSITIVE).log10(),
        }
    }

    fn label_of_height(self, height: f64) -> String {
        match self {
            Self::WorkersIdeally | Self::Workers => format!("{height:.1}"),
            Self::Size(_) => {
                let value = 10_f64.powf(height);
                let digits = if value < 10.0 { 1 } else { 0 };
                format!("{value:.digits$}")
            }
        }
    }
}

impl<'records> Point<'records> {
    fn of(record: &'records Record, value: f64, is_doubtful: bool) -> Self {
        Self {
            case: Cow::Borrowed(&record.case),
            over: record.workers,
            contender: Cow::Borrowed(&record.contender),
            value,
            is_doubtful: is_doubtful || record.is_loaded(),
        }
    }
}

/// Draws charts into an SVG file, a panel for each case and a line for each contender.
///
/// # Errors
/// [`BenchError::Plot`] if the file cannot be written.
pub(crate) fn plot(charts: &[Chart<'_>], path: &Path) -> Result<(), BenchError> {
    draw(charts, path).map_err(|message| BenchError::Plot {
        path: path.to_owned(),
        message,
    })
}

fn draw(charts: &[Chart<'_>], path: &Path) -> Result<(), String> {
    let points = || charts.iter().flat_map(|chart| &chart.points);
    let names = in_order(points().map(|point| &*point.contender));
    let cases: Vec<_> = charts
        .iter()
        .flat_map(|chart| chart.cases().into_iter().map(move |case| (chart, case)))
        .collect();
    // The last panel contains the names.
    let columns = PANELS_PER_ROW.min(cases.len() + 1);
    let rows = (cases.len() + 1).div_ceil(columns);
    let size = (PANEL.0 * columns as u32, PANEL.1 * rows as u32);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, size).into_drawing_area();
        root.fill(&WHITE).map_err(|error| error.to_string())?;
        let panels = root.split_evenly((rows, columns));
        for ((chart, case), panel) in cases.iter().zip(&panels) {
            chart
                .draw_case(case, &names, panel)
                .map_err(|error| error.to_string())?;
        }
        draw_names(&names, &panels[cases.len()]).map_err(|error| error.to_string())?;
        root.present().map_err(|error| error.to_string())?;
    }
    whole_file::write(path, svg.as_bytes()).map_err(|error| error.to_string())
}

/// Returns the distinct items, in the order of their first occurrences.
fn in_order<T: Ord + Copy>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = BTreeSet::new();
    items.filter(|&item| seen.insert(item)).collect()
}

/// Checks, before anything is measured, that the picture can be written. Creates no file.
///
/// # Errors
/// [`BenchError::Plot`] if it cannot.
pub(crate) fn check(path: &Path) -> Result<(), BenchError> {
    whole_file::check(path).map_err(|error| BenchError::Plot {
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
        panel.draw(&PathElement::new(line, style_of(name, names)))?;
        panel.draw(&Text::new(*name, (x + 28, y), ("sans-serif", 13)))?;
    }
    Ok(())
}

/// Returns the style of a line.
///
/// Each family of pools has a colour, and each of its members a shade. Every other name has a
/// colour of its own. Raddle's default stands out.
fn style_of(name: &str, names: &[&str]) -> ShapeStyle {
    let shade = name
        .bytes()
        .fold(0_u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
    let lightness = 0.3 + f64::from(shade % 8) / 20.0;
    let family = match name {
        "auto" | "raddle" => return BLACK.stroke_width(3),
        "deque" => return MAGENTA.stroke_width(2),
        _ if name.starts_with("SQ-") => Some(0.0),
        _ if name.starts_with("DQ-BL-") => Some(0.6),
        _ if name.starts_with("DQ-") => Some(0.33),
        _ => None,
    };
    let colour = family.map_or_else(
        || {
            // A multiple of the golden ratio is far from all previous hues, however many there are.
            const GOLDEN: f64 = 0.618_034;
            let place = names.iter().position(|other| *other == name).unwrap_or(0);
            HSLColor((place as f64 * GOLDEN).fract(), 0.8, 0.4)
        },
        |hue| HSLColor(hue, 0.8, lightness),
    );
    colour.stroke_width(1)
}

#[cfg(test)]
mod tests;
