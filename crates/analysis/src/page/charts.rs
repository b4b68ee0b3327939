//! Charts as SVG: utilisation over time, speedup, histograms and matrices.

use std::collections::{BTreeMap, HashMap};

use maud::{Markup, html};

use crate::durations::Histogram;
use crate::findings::duration;
use crate::forecast::Forecast;
use crate::states::State;
use crate::utilisation::{ThreadUtilisation, Utilisation};

/// The width of charts.
const WIDTH: f64 = 960.0;
/// The width of the names at the left.
const NAMES: f64 = 170.0;
/// The largest number of rows of a matrix, and of threads over time.
const ROWS_MAX: usize = 64;

/// Returns a coordinate with one decimal.
fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// Returns the legend of the states.
pub(super) fn legend() -> Markup {
    html! {
        p.legend {
            @for state in State::ALL {
                span { i class=(state.name()) {} (state.name()) }
            }
        }
    }
}

/// Returns a row for each thread: the time in each state, over the time of the recording.
pub(super) fn over_time(utilisation: &Utilisation) -> Markup {
    const ROW: f64 = 22.0;
    let threads = &utilisation.threads[..utilisation.threads.len().min(ROWS_MAX)];
    let height = threads.len() as f64 * ROW + 20.0;
    let left = utilisation.threads.len() - threads.len();
    html! {
        svg id="over-time" viewBox=(format!("0 0 {WIDTH} {height}")) role="img"
            aria-label="State of each thread over time" {
            @for (row, thread) in threads.iter().enumerate() {
                text x="0" y=(row as f64 * ROW + 14.0) { (thread.name) }
                (thread_over_time(thread, row as f64 * ROW, ROW - 4.0, utilisation.length_ns))
            }
            text x=(NAMES) y=(height - 4.0) { "0" }
            text x=(WIDTH) y=(height - 4.0) text-anchor="end" {
                (duration(utilisation.length_ns as f64))
            }
        }
        @if left > 0 { p.empty { "… and " (left) " more threads" } }
    }
}

fn thread_over_time(thread: &ThreadUtilisation, top: f64, height: f64, length_ns: u64) -> Markup {
    let parts = thread.over_time_ns.len().max(1) as f64;
    let width = (WIDTH - NAMES) / parts;
    let part_ns = (length_ns as f64 / parts).max(1.0);
    html! {
        @for (part, states) in thread.over_time_ns.iter().enumerate() {
            @for (state, from, to) in stacked(states, part_ns) {
                rect class=(state.name())
                    x=(format!("{:.2}", NAMES + part as f64 * width))
                    y=(px(top + (1.0 - to) * height))
                    width=(format!("{width:.2}"))
                    height=(px((to - from) * height)) {}
            }
        }
    }
}

/// Returns the states of a part of the time as parts of its height, from below, work first.
fn stacked(
    states: &[u64; State::ALL.len()],
    part_ns: f64,
) -> impl Iterator<Item = (State, f64, f64)> {
    let mut at = 0.0;
    let stacked = State::ALL.into_iter().map(move |state| {
        let from = at;
        at = (at + states[state as usize] as f64 / part_ns).min(1.0);
        (state, from, at)
    });
    // Less than a pixel is not visible.
    stacked.filter(|(state, from, to)| to - from > 0.02 && *state != State::Unknown)
}

/// Returns the expected speedup over the number of workers, both on logarithmic axes.
pub(super) fn speedup(forecast: &Forecast) -> Markup {
    const SIZE: (f64, f64) = (560.0, 300.0);
    const MARGIN: f64 = 40.0;
    let most = forecast
        .points
        .last()
        .map_or(2, |point| point.run.workers.max(2));
    let scale = |value: f64, size: f64| value.max(1.0).log2() / (most as f64).log2() * size;
    let at = |workers: f64, speedup: f64| {
        let x = MARGIN + scale(workers, SIZE.0 - 2.0 * MARGIN);
        let y = SIZE.1 - MARGIN - scale(speedup, SIZE.1 - 2.0 * MARGIN);
        (x, y)
    };
    let points: Vec<((f64, f64), String)> = forecast
        .points
        .iter()
        .map(|point| {
            let about = format!(
                "{} workers: {:.2} times as fast, limited by {}",
                point.run.workers, point.speedup, point.limit
            );
            (at(point.run.workers as f64, point.speedup), about)
        })
        .collect();
    let line = points.iter().map(|((x, y), _)| format!("{x:.1},{y:.1}"));
    let line: Vec<String> = line.collect();
    let ((x0, y0), (x1, y1)) = (at(1.0, 1.0), at(most as f64, most as f64));
    html! {
        svg id="speedup" viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) width=(SIZE.0) role="img"
            aria-label="Expected speedup over the number of workers" {
            path.axis d=(format!("M{x0} {y1} V{y0} H{x1}")) {}
            path.ideal d=(format!("M{x0} {y0} L{x1} {y1}")) {}
            polyline.curve points=(line.join(" ")) {}
            @for ((x, y), about) in &points {
                circle.bar cx=(px(*x)) cy=(px(*y)) r="4" { title { (about) } }
            }
            @for point in &forecast.points {
                @let (x, y) = at(point.run.workers as f64, 1.0);
                text x=(px(x)) y=(y + 16.0) text-anchor="middle" { (point.run.workers) }
                @let (x, y) = at(1.0, point.run.workers as f64);
                text x=(px(x - 6.0)) y=(px(y + 4.0)) text-anchor="end" { (point.run.workers) }
            }
            text x=(SIZE.0 / 2.0) y=(SIZE.1 - 6.0) text-anchor="middle" { "workers" }
            text x="4" y="14" { "speedup" }
        }
    }
}

/// Returns a histogram over powers of two, with a line at the grain that pays.
pub(super) fn histogram(histogram: &Histogram, pays_ns: f64) -> Markup {
    const SIZE: (f64, f64) = (320.0, 120.0);
    const BASE: f64 = 100.0;
    let power = |ns: f64| ns.max(1.0).log2();
    let pays = power(pays_ns);
    let keys = || histogram.powers.keys().copied();
    let first = keys().min().unwrap_or(0).min(pays as u32);
    let last = keys().max().unwrap_or(0).max(pays as u32) + 1;
    let width = SIZE.0 / f64::from(last - first);
    let most = histogram.powers.values().max().copied().unwrap_or(1) as f64;
    let x_of = |power: f64| (power - f64::from(first)) * width;
    html! {
        svg viewBox=(format!("0 0 {} {}", SIZE.0, SIZE.1)) role="img"
            aria-label=(format!("Durations of {}", histogram.name)) {
            @for (power, count) in &histogram.powers {
                @let height = (*count as f64 / most * (BASE - 8.0)).max(1.0);
                @let x = x_of(f64::from(*power)) + 1.0;
                rect.bar x=(px(x)) width=(px(width - 2.0))
                    y=(px(BASE - height)) height=(px(height)) {
                    title {
                        (count) " from " (duration(2_f64.powi(*power as i32)))
                        " to " (duration(2_f64.powi(*power as i32 + 1)))
                    }
                }
            }
            path.axis d=(format!("M0 {BASE} H{}", SIZE.0)) {}
            line.pays x1=(px(x_of(pays))) x2=(px(x_of(pays))) y1="0" y2=(BASE) {
                title { "A grain pays from " (duration(pays_ns)) " on" }
            }
            text x="0" y=(SIZE.1 - 4.0) { (duration(2_f64.powi(first as i32))) }
            text x=(SIZE.0) y=(SIZE.1 - 4.0) text-anchor="end" {
                (duration(2_f64.powi(last as i32)))
            }
        }
    }
}

/// Returns the picture of a matrix of values between parties: row, column, value. Nothing if there
/// are no values.
pub(super) fn heat(
    values: impl Iterator<Item = (String, String, f64)>,
    unit: &'static str,
    caption: &str,
) -> Markup {
    Heat::of(values, unit).picture(caption)
}

/// A matrix of values between parties, as squares of which the darkest is the largest value.
struct Heat {
    /// The names of the rows, which are also those of the columns.
    names: Vec<String>,
    values: HashMap<(usize, usize), f64>,
    unit: &'static str,
    left_out: usize,
}

impl Heat {
    /// Sums the values between each pair of parties: row, column, value. Only the parties with the
    /// largest sums have a row or column.
    fn of(values: impl Iterator<Item = (String, String, f64)>, unit: &'static str) -> Self {
        let mut sums: BTreeMap<(String, String), f64> = BTreeMap::new();
        for (row, column, value) in values {
            *sums.entry((row, column)).or_default() += value;
        }
        let mut totals: BTreeMap<&str, f64> = BTreeMap::new();
        for ((row, column), value) in &sums {
            *totals.entry(row).or_default() += value;
            *totals.entry(column).or_default() += value;
        }
        let mut parties: Vec<(&str, f64)> = totals.into_iter().collect();
        let left_out = parties.len().saturating_sub(ROWS_MAX);
        parties.sort_by(|one, other| other.1.total_cmp(&one.1).then_with(|| one.0.cmp(other.0)));
        parties.truncate(ROWS_MAX);
        // Shorter names first, so that worker 10 comes after worker 9.
        parties.sort_by_key(|(name, _)| (name.len(), *name));
        let place = |name: &str| parties.iter().position(|(party, _)| *party == name);
        let cells = sums
            .iter()
            .filter_map(|((row, column), value)| Some(((place(row)?, place(column)?), *value)));
        let values: HashMap<(usize, usize), f64> = cells.collect();
        let names: Vec<String> = parties.iter().map(|(name, _)| (*name).to_owned()).collect();
        Self {
            names,
            values,
            unit,
            left_out,
        }
    }

    /// Returns the picture with a caption; nothing if there are no values.
    fn picture(&self, caption: &str) -> Markup {
        if self.values.is_empty() {
            return html! {};
        }
        let size = ((WIDTH - 2.0 * NAMES) / self.names.len() as f64).clamp(9.0, 28.0);
        let left = NAMES * 1.6;
        let edge = self.names.len() as f64 * size;
        let box_of_view = format!("0 0 {:.0} {:.0}", left + edge, edge + 4.0);
        let most = self
            .values
            .values()
            .copied()
            .fold(f64::MIN_POSITIVE, f64::max);
        let mut cells: Vec<(&(usize, usize), &f64)> = self.values.iter().collect();
        cells.sort_by_key(|(place, _)| **place);
        let at = |index: usize| px(index as f64 * size);
        let about = |row: usize, column: usize, value: f64| {
            let [from, to] = [row, column].map(|index| &self.names[index]);
            format!("{from} → {to}: {}", self.text(value))
        };
        html! {
            figure {
                figcaption {
                    (caption)
                    @if self.left_out > 0 {
                        "; " (self.left_out) " parties with less are left out"
                    }
                }
                svg.matrix viewBox=(box_of_view) width=(px(left + edge)) role="img"
                    aria-label=(caption) {
                    @for (row, name) in self.names.iter().enumerate() {
                        @let y = (row as f64 + 0.5) * size + 4.0;
                        text x=(left - 6.0) y=(px(y)) text-anchor="end" { (name) }
                    }
                    rect.axis x=(left) y="0" width=(edge) height=(edge) {}
                    @for (&(row, column), value) in cells {
                        rect.heat x=(px(left + column as f64 * size)) y=(at(row))
                            width=(px(size - 1.0)) height=(px(size - 1.0))
                            fill-opacity=(format!("{:.2}", 0.08 + 0.92 * value / most)) {
                            title { (about(row, column, *value)) }
                        }
                    }
                }
            }
        }
    }

    fn text(&self, value: f64) -> String {
        match value.fract() == 0.0 {
            true => format!("{value:.0} {}", self.unit),
            false => format!("{value:.3} {}", self.unit),
        }
    }
}
