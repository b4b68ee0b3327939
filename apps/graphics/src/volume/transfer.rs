//! Transfer functions: the colour and the opacity of each value.
//!
//! # File format
//! One control point per line: a value, then red, green and blue, then opacity, each from 0 to 1.
//! Colours are in sRGB, as programs show them. Opacity is that of a layer one unit thick. Between
//! two points, everything is linear; outside of them, it is constant. `#` begins a comment.
//!
//! ```text
//! # value  red green blue  opacity
//!   0      0   0     0     0
//!   800    0.8 0.4   0.3   0
//!   1200   1   0.95  0.8   0.6
//! ```

use std::ops::RangeInclusive;
use std::path::Path;

use glam::Vec4;

use super::histogram::Histogram;
use crate::file::{self, Fault, FileError, Place, Source, Stream, quoted};
use crate::picture::linear;

#[cfg(test)]
mod tests;

/// The number of entries of a table.
pub(crate) const TABLE_LEN: usize = 1 << 12;
/// The content that errors ask for.
const EXPECTED: &str = "a value, red, green, blue and opacity";
/// The maximum number of control points.
const POINTS_MAX: usize = 1 << 16;
/// The maximum number of bytes of a file.
const BYTES_MAX: u64 = 1 << 24;

/// A control point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ControlPoint {
    /// The value.
    pub value: f64,
    /// Red, green and blue in sRGB, from 0 to 1.
    pub colour: [f32; 3],
    /// The share of light that a layer of one unit stops, from 0 to 1.
    pub opacity: f32,
}

/// The colour and the opacity of each value.
#[derive(Debug, Clone, PartialEq)]
pub struct TransferFunction {
    points: Vec<ControlPoint>,
}

/// A transfer function that is relative to the range of a volume.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// A description in a few words.
    pub about: &'static str,
    /// True if the volume shines instead of reflecting light.
    pub(crate) is_on_black: bool,
    is_lit: bool,
    points: &'static [([f32; 4], f32)],
}

/// The presets. Values are shares of the range from the threshold to the largest value, or of the
/// range below it if they are negative.
pub const PRESETS: [Preset; 7] = [
    Preset {
        name: "bone",
        about: "only the densest parts, opaque and ivory",
        is_on_black: false,
        is_lit: true,
        points: &[
            ([0.9, 0.8, 0.6, 0.0], 0.25),
            ([0.95, 0.88, 0.75, 0.5], 0.5),
            ([1.0, 0.98, 0.93, 0.9], 1.0),
        ],
    },
    Preset {
        name: "skin",
        about: "the outer surface, opaque, in one colour",
        is_on_black: false,
        is_lit: true,
        points: &[
            ([0.8, 0.5, 0.4, 0.0], -0.1),
            ([0.85, 0.6, 0.5, 0.7], 0.05),
            ([0.95, 0.85, 0.8, 0.9], 1.0),
        ],
    },
    Preset {
        name: "vessels",
        about: "a red glow on bright structures",
        is_on_black: false,
        is_lit: true,
        points: &[
            ([0.6, 0.05, 0.02, 0.0], 0.0),
            ([0.8, 0.15, 0.1, 0.3], 0.3),
            ([1.0, 0.8, 0.6, 0.9], 1.0),
        ],
    },
    Preset {
        name: "fire",
        about: "from transparent dark red to opaque yellow",
        is_on_black: true,
        is_lit: true,
        points: &[
            ([0.2, 0.0, 0.0, 0.0], -0.5),
            ([0.7, 0.1, 0.0, 0.05], 0.0),
            ([1.0, 0.5, 0.0, 0.2], 0.4),
            ([1.0, 1.0, 0.6, 0.6], 1.0),
        ],
    },
    Preset {
        name: "grey",
        about: "grey and opacity that grow with the value",
        is_on_black: true,
        is_lit: true,
        points: &[([0.0, 0.0, 0.0, 0.0], -1.0), ([1.0, 1.0, 1.0, 0.4], 1.0)],
    },
    Preset {
        name: "x-ray",
        about: "white and nearly transparent, without depth",
        is_on_black: true,
        is_lit: false,
        points: &[([1.0, 1.0, 1.0, 0.0], -1.0), ([1.0, 1.0, 1.0, 0.03], 1.0)],
    },
    Preset {
        name: "maximum",
        about: "from black to white and opaque, for the largest value along each ray",
        is_on_black: true,
        is_lit: false,
        points: &[
            ([0.0, 0.0, 0.0, 0.0], -1.0),
            // The lowest value alone is transparent, so that empty regions are passed over.
            ([0.0, 0.0, 0.0, 1.0], -0.999),
            ([1.0, 1.0, 1.0, 1.0], 1.0),
        ],
    },
];

impl Preset {
    /// Returns the preset with a name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    /// Returns true if light falls on gradients, as on surfaces.
    #[must_use]
    pub fn is_lit(&self) -> bool {
        self.is_lit
    }

    /// Returns true if a threshold changes the colours or opacities.
    #[must_use]
    pub fn has_threshold(&self) -> bool {
        self.points.iter().any(|(_, at)| (-0.99..1.0).contains(at))
    }
}

/// The points of the transfer function for which none is given.
const DEFAULT_POINTS: [([f32; 4], f32); 4] = [
    ([0.75, 0.45, 0.35, 0.0], -0.08),
    ([0.80, 0.55, 0.42, 0.12], 0.08),
    ([0.95, 0.80, 0.62, 0.35], 0.4),
    ([1.00, 0.97, 0.90, 0.8], 1.0),
];

impl TransferFunction {
    /// Creates a transfer function from control points, which are sorted by value.
    ///
    /// Returns `None` if there are none, or if a number is not finite or out of range.
    #[must_use]
    pub fn new(mut points: Vec<ControlPoint>) -> Option<Self> {
        let is_share = |share: &f32| (0.0..=1.0).contains(share);
        let is_sound = |point: &ControlPoint| {
            point.value.is_finite() && point.colour.iter().all(is_share) && is_share(&point.opacity)
        };
        if points.is_empty() || !points.iter().all(is_sound) {
            return None;
        }
        points.sort_by(|a, b| a.value.total_cmp(&b.value));
        Some(Self { points })
    }

    /// Returns a transfer function for a histogram: values below the threshold between background
    /// and object are transparent, and others become brighter and more opaque with their value.
    #[must_use]
    pub fn of_histogram(histogram: &Histogram) -> Self {
        Self::relative(None, histogram.range, histogram.threshold())
    }

    /// Returns a preset, or the default one, for values in a range. `threshold` is the value
    /// between background and object; one that is not finite is replaced by `low`. It does not
    /// matter to presets that [have none](Preset::has_threshold).
    #[must_use]
    pub fn relative(preset: Option<&Preset>, [low, high]: [f64; 2], threshold: f64) -> Self {
        let threshold = match preset.is_none_or(Preset::has_threshold) {
            true if threshold.is_finite() => threshold,
            true => low,
            false => low + 0.5 * (high - low),
        };
        let points = preset.map_or(&DEFAULT_POINTS[..], |preset| preset.points);
        let points = points.iter().map(|&([red, green, blue, opacity], at)| {
            // A threshold out of range has all values on one side.
            let range = if at < 0.0 {
                threshold - low
            } else {
                high - threshold
            };
            let range = range.max(0.0);
            ControlPoint {
                value: threshold + f64::from(at) * range,
                colour: [red, green, blue],
                opacity,
            }
        });
        Self {
            points: points.collect(),
        }
    }

    /// Multiplies all opacities by a factor. They are from 0 to 1 then.
    #[must_use]
    pub fn with_opacity(mut self, factor: f32) -> Self {
        // A factor that is not a number is 0.
        let factor = if factor > 0.0 { factor } else { 0.0 };
        for point in &mut self.points {
            point.opacity = (point.opacity * factor).min(1.0);
        }
        self
    }

    /// Loads a transfer function from a file.
    ///
    /// # Errors
    /// Returns a [`FileError`] with the line at fault.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        let path = path.as_ref();
        let outcome = file::open(path, EXPECTED).and_then(|(file, length)| {
            let mut stream = Stream::new(file, length, BYTES_MAX, |_| ())?;
            Self::read(&mut stream.source)
        });
        outcome.map_err(|fault| fault.at(path))
    }

    /// Reads a transfer function from the bytes of a file. Errors refer to it by `name`.
    ///
    /// # Errors
    /// As for [`load`](Self::load).
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::volume::TransferFunction;
    ///
    /// let text = b"100 0 0 0 0\n200 1 1 1 0.5\n";
    /// let transfer = TransferFunction::read_bytes(text, "ramp")?;
    /// assert_eq!(transfer.at(150.0).w, 0.25);
    /// # Ok::<(), raddle_graphics::file::FileError>(())
    /// ```
    pub fn read_bytes(bytes: &[u8], name: impl AsRef<Path>) -> Result<Self, FileError> {
        let length = Some(bytes.len() as u64);
        Stream::new(bytes, length, BYTES_MAX, |_| ())
            .and_then(|mut stream| Self::read(&mut stream.source))
            .map_err(|fault| fault.at(name.as_ref()))
    }

    fn read(source: &mut Source<'_>) -> Result<Self, Fault> {
        let mut points = Vec::new();
        while let Some((place, line)) = source.next_line()? {
            let text = line.split(|&byte| byte == b'#').next().unwrap_or_default();
            let words: Vec<&[u8]> = text
                .split(|byte| byte.is_ascii_whitespace() || *byte == b',')
                .filter(|word| !word.is_empty())
                .collect();
            if words.is_empty() {
                continue;
            }
            let number = |word: &&[u8]| std::str::from_utf8(word).ok()?.parse::<f64>().ok();
            let numbers: Option<Vec<f64>> = words.iter().map(number).collect();
            let wrong = |expected: &str| Fault::syntax(place, quoted(line), expected);
            let numbers = numbers.ok_or_else(|| wrong(EXPECTED))?;
            let [value, red, green, blue, opacity] = numbers[..] else {
                return Err(wrong(EXPECTED));
            };
            let point = ControlPoint {
                value,
                colour: [red as f32, green as f32, blue as f32],
                opacity: opacity as f32,
            };
            if Self::new(vec![point]).is_none() {
                return Err(wrong("a finite value, and colours and opacity from 0 to 1"));
            }
            if points.len() == POINTS_MAX {
                let expected = format!("at most {POINTS_MAX} lines");
                return Err(Fault::too_large(place, "one more control point", expected));
            }
            points.push(point);
        }
        Self::new(points)
            .ok_or_else(|| Fault::truncated(Place::Whole, format!("lines with {EXPECTED}")))
    }

    /// Returns the control points, by increasing values.
    #[must_use]
    pub fn points(&self) -> &[ControlPoint] {
        &self.points
    }

    /// Returns the colour, in linear light, and the opacity of a value.
    #[must_use]
    pub fn at(&self, value: f64) -> Vec4 {
        let of = |point: &ControlPoint| {
            let [red, green, blue] = point.colour.map(linear);
            Vec4::new(red, green, blue, point.opacity)
        };
        let above = self.points.partition_point(|point| point.value <= value);
        match (
            above.checked_sub(1).map(|below| &self.points[below]),
            self.points.get(above),
        ) {
            (Some(below), Some(above)) => {
                let share = (value - below.value) / (above.value - below.value);
                of(below).lerp(of(above), share as f32)
            }
            (Some(point), None) | (None, Some(point)) => of(point),
            (None, None) => Vec4::ZERO,
        }
    }

    /// Returns a table over a range of values, for layers of some thickness in units.
    ///
    /// # Source
    /// Correction of opacity: M. Levoy: Display of Surfaces from Volume Data. IEEE Computer
    /// Graphics and Applications 8(3), 1988; 1 − (1 − α)^Δ for a thickness Δ.
    pub(crate) fn table(&self, range: [f64; 2], thickness: f64) -> Table {
        let scale = TableScale::of(range);
        let mut entries = Box::new([Vec4::ZERO; TABLE_LEN]);
        for (index, entry) in entries.iter_mut().enumerate() {
            *entry = self.at(scale.value(index));
        }
        // A peak between two entries must not be lost.
        for point in &self.points {
            let peak = self.at(point.value);
            let entry = &mut entries[scale.entry(point.value as f32)];
            if (range[0]..=range[1]).contains(&point.value) && peak.w > entry.w {
                *entry = peak;
            }
        }
        for entry in entries.iter_mut() {
            entry.w = 1.0 - (1.0 - entry.w).powf(thickness as f32);
        }
        let mut visible_before = vec![0];
        let mut visible = [0; TABLE_LEN / 32];
        for (index, entry) in entries.iter().enumerate() {
            visible[index / 32] |= u32::from(entry.w > 0.0) << (index % 32);
            let before = visible_before[visible_before.len() - 1];
            visible_before.push(before + u32::from(entry.w > 0.0));
        }
        Table {
            scale,
            entries,
            visible,
            visible_before,
        }
    }
}

/// The colours and opacities of values in a range.
#[derive(Debug)]
pub(crate) struct Table {
    scale: TableScale,
    entries: Box<[Vec4; TABLE_LEN]>,
    /// A bit for each entry that is not transparent: few enough for the first-level cache.
    visible: [u32; TABLE_LEN / 32],
    /// For each entry, the number of entries before it that are not transparent.
    visible_before: Vec<u32>,
}

/// The map from values to entries of a table.
#[derive(Debug, Clone, Copy)]
struct TableScale {
    low: f32,
    entries_per_value: f32,
}

impl TableScale {
    fn of([low, high]: [f64; 2]) -> Self {
        let width = (high - low).max(f64::MIN_POSITIVE);
        Self {
            low: low as f32,
            entries_per_value: ((TABLE_LEN - 1) as f64 / width).min(f64::from(f32::MAX)) as f32,
        }
    }

    fn value(self, entry: usize) -> f64 {
        f64::from(self.low) + entry as f64 / f64::from(self.entries_per_value)
    }

    /// Returns the entry of a value: the first or the last one for values out of range.
    #[inline(always)]
    fn entry(self, value: f32) -> usize {
        Self::nearest((value - self.low) * self.entries_per_value)
    }

    /// Returns the entries of all interpolated values between two voxels.
    ///
    /// A value may be outside of them by rounding errors: of the interpolation, which is exact
    /// between equal voxels, and of the place in the table.
    fn entries(self, [low, high]: [f64; 2]) -> RangeInclusive<usize> {
        const PLACE_ERROR: f32 = 1.0 / 1024.0;
        let (low, high) = (low as f32, high as f32);
        let error = match low < high {
            true => 4.0 * f32::EPSILON * low.abs().max(high.abs()),
            false => 0.0,
        };
        let place = |value: f32| (value - self.low) * self.entries_per_value;
        Self::nearest(place(low - error) - PLACE_ERROR)
            ..=Self::nearest(place(high + error) + PLACE_ERROR)
    }

    /// Returns the entry that is nearest to a place between entries.
    #[inline(always)]
    fn nearest(place: f32) -> usize {
        const LAST: f32 = (TABLE_LEN - 1) as f32;
        let place = if place > 0.0 { place } else { 0.0 };
        let place = if place < LAST { place } else { LAST };
        // The sum with 2²³ is rounded to an integer, which is in its lowest bits.
        (place + 8_388_608.0).to_bits() as usize % TABLE_LEN
    }
}

impl Table {
    /// Returns the place of a value in the table.
    #[inline(always)]
    pub(crate) fn place(&self, value: f32) -> u32 {
        self.scale.entry(value) as u32
    }

    /// Returns 1 if the entry at a place is not transparent, and 0 if it is.
    #[inline(always)]
    pub(crate) fn visible(&self, place: u32) -> u32 {
        let place = place as usize % TABLE_LEN;
        self.visible[place / 32] >> (place % 32) & 1
    }

    /// Returns the colour and the opacity at a place.
    #[inline(always)]
    pub(crate) fn entry(&self, place: u32) -> Vec4 {
        self.entries[place as usize % TABLE_LEN]
    }

    /// Returns true if an interpolated value between two voxels is not transparent.
    pub(crate) fn is_visible(&self, range: [f64; 2]) -> bool {
        let entries = self.scale.entries(range);
        self.visible_before[entries.end() + 1] > self.visible_before[*entries.start()]
    }
}
