//! Output of charts as SVG pictures.

use plotters::coord::Shift;
use plotters::prelude::*;
use thiserror::Error;

use super::chart::{Axis, Chart};

/// The size of a picture in pixels.
const SIZE: (u32, u32) = (760, 440);
/// The width of the names beside the plot.
const NAMES_WIDTH: u32 = 230;

type Area<'svg> = DrawingArea<SVGBackend<'svg>, Shift>;
type Failure<'svg> = DrawingAreaErrorKind<<SVGBackend<'svg> as DrawingBackend>::ErrorType>;

/// The error of a picture that could not be drawn.
#[derive(Debug, Error)]
#[error("the picture of {question:?} could not be drawn: {report}")]
pub struct PictureError {
    question: &'static str,
    report: String,
}

impl Chart {
    /// Returns the chart as an SVG document.
    ///
    /// # Errors
    /// Returns [`PictureError`] if the drawing library fails.
    pub fn svg(&self) -> Result<String, PictureError> {
        let mut svg = String::new();
        let drawn = self.draw(&SVGBackend::with_string(&mut svg, SIZE).into_drawing_area());
        drawn.map_err(|error| PictureError {
            question: self.question,
            report: error.to_string(),
        })?;
        Ok(svg)
    }

    /// Draws the chart: the plot on the left, the names of the lines on the right.
    fn draw<'svg>(&self, root: &Area<'svg>) -> Result<(), Failure<'svg>> {
        root.fill(&WHITE)?;
        let (plot, names) = root.split_horizontally(SIZE.0 - NAMES_WIDTH);
        let xs = || {
            self.lines
                .iter()
                .flat_map(|line| &line.points)
                .map(|&(x, _)| x)
        };
        let ys = || {
            self.lines
                .iter()
                .flat_map(|line| &line.points)
                .map(|&(_, y)| y)
        };
        let across = self.x.extent(xs(), 0.0);
        let up = self.y.extent(ys(), 0.06);
        let mut chart = ChartBuilder::on(&plot)
            .caption(&self.title, ("sans-serif", 14))
            .margin(10)
            .x_label_area_size(36)
            .y_label_area_size(58)
            .build_cartesian_2d(across.0..across.1, up.0..up.1)?;
        chart
            .configure_mesh()
            .x_desc(self.x.label())
            .y_desc(self.y.label())
            .x_label_formatter(&|&place| self.x.tick_label(place))
            .y_label_formatter(&|&place| self.y.tick_label(place))
            .light_line_style(WHITE)
            .draw()?;
        for (index, line) in self.lines.iter().enumerate() {
            let style = style_of(index, self.lines.len());
            let points: Vec<_> = line
                .points
                .iter()
                .map(|&(x, y)| (self.x.place(x), self.y.place(y)))
                .collect();
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            if points.len() <= 20 {
                let dots = points
                    .iter()
                    .map(|&point| Circle::new(point, 2, style.filled()));
                chart.draw_series(dots)?;
            }
            let y = 40 + 20 * index as i32;
            names.draw(&PathElement::new(vec![(4, y + 6), (24, y + 6)], style))?;
            names.draw(&Text::new(line.name.as_str(), (30, y), ("sans-serif", 12)))?;
        }
        root.present()
    }
}

impl Axis {
    /// Returns the position of a number on the axis.
    fn place(&self, number: f64) -> f64 {
        if self.is_logarithmic {
            number.log2()
        } else {
            number
        }
    }

    /// Returns the label of a position on the axis.
    fn tick_label(&self, place: f64) -> String {
        let number = if self.is_logarithmic {
            place.exp2()
        } else {
            place
        };
        match number.abs() {
            100.0.. => format!("{number:.0}"),
            10.0..100.0 => format!("{}", (number * 10.0).round() / 10.0),
            _ => format!("{}", (number * 100.0).round() / 100.0),
        }
    }

    /// Returns the range of positions of some numbers, extended by a margin relative to the range.
    fn extent(&self, numbers: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
        let (low, high) = numbers
            .map(|number| self.place(number))
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), place| {
                (low.min(place), high.max(place))
            });
        // A level line or a single point gets a fixed margin.
        let margin = match high - low {
            width if width > 1e-9 => margin * width,
            _ => 0.5,
        };
        (low - margin, high + margin)
    }
}

/// Returns one of `count` colours around the colour circle, dark enough to be read.
fn style_of(index: usize, count: usize) -> ShapeStyle {
    let hue = index as f64 / count.max(1) as f64;
    HSLColor(hue, 0.85, 0.38).stroke_width(2)
}
