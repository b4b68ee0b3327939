//! What an answer consists of: lines over an axis, and what is read off them.

use serde::Serialize;

/// Lines over one axis.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Chart {
    /// Which question it answers.
    pub question: &'static str,
    /// Which of the study's figures shows the same.
    pub figure: Option<u32>,
    /// What is shown.
    pub title: String,
    /// What it is over.
    pub x: Axis,
    /// What it is.
    pub y: Axis,
    /// The lines, in the order in which they are told apart.
    pub lines: Vec<Line>,
    /// What is read off them.
    pub notes: Vec<Note>,
}

/// What numbers stand for.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Axis {
    /// What they are.
    pub name: &'static str,
    /// Their unit, if they have one.
    pub unit: &'static str,
    /// Whether only their magnitude matters.
    pub is_logarithmic: bool,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Line {
    /// What tells it from the others.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// Something that is read off the lines.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Note {
    /// What.
    pub name: String,
    /// How much it is.
    pub value: f64,
    /// Its unit, if it has one.
    pub unit: &'static str,
}

impl Chart {
    pub(super) fn new(title: impl Into<String>, x: Axis, y: Axis) -> Self {
        Self {
            title: title.into(),
            x,
            y,
            ..Self::default()
        }
    }

    pub(super) fn line(&mut self, name: impl Into<String>, points: Vec<(f64, f64)>) -> &mut Self {
        self.lines.push(Line {
            name: name.into(),
            points,
        });
        self
    }

    pub(super) fn read_off(&mut self, name: impl Into<String>, value: f64, unit: &'static str) {
        self.notes.push(Note {
            name: name.into(),
            value,
            unit,
        });
    }

    /// The note of that name.
    #[must_use]
    pub fn note(&self, name: &str) -> Option<&Note> {
        self.notes.iter().find(|note| note.name == name)
    }

    /// Every place on the axis at which a line has a point, from left to right.
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

    /// Name and unit.
    #[must_use]
    pub fn label(&self) -> String {
        match self.unit {
            "" => self.name.to_owned(),
            unit => format!("{}, {unit}", self.name),
        }
    }
}

impl Line {
    /// The value at a place at which it has a point.
    #[must_use]
    pub fn at(&self, place: f64) -> Option<f64> {
        let point = self.points.iter().find(|&&(x, _)| x == place);
        point.map(|&(_, y)| y)
    }
}
