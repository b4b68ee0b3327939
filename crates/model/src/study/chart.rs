//! Charts, the answers to questions: lines over an axis, and values read off them.

use serde::Serialize;

/// Lines over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chart {
    /// The name of the question.
    pub question: &'static str,
    /// The number of the study's figure of the same quantity, if there is one.
    pub figure: Option<u32>,
    /// The title of the chart.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines, in the order of their colours.
    pub lines: Vec<Line>,
    /// The values read off the lines.
    pub notes: Vec<Note>,
}

/// The meaning of the numbers of an axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Axis {
    /// The name of the quantity.
    pub name: &'static str,
    /// The unit, or an empty text.
    pub unit: &'static str,
    /// True if the axis is logarithmic.
    pub is_logarithmic: bool,
}

/// A line of a chart.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Line {
    /// The name of the line.
    pub name: String,
    /// The points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// A value read off the lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// The description of the value.
    pub name: String,
    /// The value that was read off.
    pub value: f64,
    /// The unit, or an empty text.
    pub unit: &'static str,
}

impl Chart {
    /// Creates a chart without lines.
    #[must_use]
    pub fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            ..Self::default()
        }
    }

    /// Adds a line.
    pub fn line(&mut self, name: impl Into<String>, points: Vec<(f64, f64)>) -> &mut Self {
        self.lines.push(Line {
            name: name.into(),
            points,
        });
        self
    }

    /// Adds a note.
    pub(super) fn read_off(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.notes.push(Note {
            name: name.into(),
            value,
            unit,
        });
    }

    /// Returns the note with this name.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.name == name)
    }

    /// Returns all places on the axis at which a line has a point, from left to right.
    #[must_use]
    pub fn places(&self) -> Vec<f64> {
        let points = self.lines.iter().flat_map(|line| &line.points);
        let mut places: Vec<f64> = points.map(|&(x, _)| x).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        places
    }
}

impl Axis {
    pub(super) const fn linear(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            is_logarithmic: false,
        }
    }

    pub(super) const fn logarithmic(name: &'static str, unit: &'static str) -> Self {
        Self {
            name,
            unit,
            is_logarithmic: true,
        }
    }

    /// Returns the name with the unit.
    #[must_use]
    pub fn label(&self) -> String {
        match self.unit {
            "" => self.name.to_owned(),
            unit => format!("{}, {unit}", self.name),
        }
    }
}

impl Line {
    /// Returns the value at a place, if the line has a point there.
    #[must_use]
    pub fn at(&self, place: f64) -> Option<f64> {
        let point = self.points.iter().find(|&&(x, _)| x == place);
        point.map(|&(_, y)| y)
    }
}
