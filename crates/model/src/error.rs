//! What can be wrong with parameters, and with what is asked of the model.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A quantity outside of where a formula holds.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{quantity} is {found}{unit}; expected {expected}")]
pub struct DomainError {
    /// What it is: the key of a parameter where it is one, such as `network.wire_ns`.
    pub quantity: &'static str,
    /// Its value.
    pub found: f64,
    /// The unit after the value, such as ` ns`. It is empty if the quantity's name contains it.
    pub unit: &'static str,
    /// What it may be.
    pub expected: String,
}

impl DomainError {
    pub(crate) fn new(quantity: &'static str, found: f64, expected: impl Into<String>) -> Self {
        Self {
            quantity,
            found,
            unit: "",
            expected: expected.into(),
        }
    }

    /// The same of a time in nanoseconds whose name does not say so.
    pub(crate) fn in_nanoseconds(self) -> Self {
        Self {
            unit: " ns",
            ..self
        }
    }
}

/// A finite number above 0, or what is wrong with it.
pub(crate) fn above_zero(quantity: &'static str, found: f64) -> Result<f64, DomainError> {
    if found.is_finite() && found > 0.0 {
        return Ok(found);
    }
    Err(DomainError::new(quantity, found, "a finite number above 0"))
}

/// A finite number from 0, or what is wrong with it.
pub(crate) fn from_zero(quantity: &'static str, found: f64) -> Result<f64, DomainError> {
    if found.is_finite() && found >= 0.0 {
        return Ok(found);
    }
    Err(DomainError::new(quantity, found, "a finite number from 0"))
}

/// Where a parameter was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// In the file that comes with the crate, by its name and line.
    BuiltIn(&'static str, usize),
    /// In a file, at a line.
    File(PathBuf, usize),
    /// By the caller, such as on a command line.
    Given,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn(name, line) => write!(formatter, "{name}.toml (built in): line {line}"),
            Self::File(path, line) => write!(formatter, "{}: line {line}", path.display()),
            Self::Given => formatter.write_str("as given"),
        }
    }
}

/// What is wrong with parameters.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A value outside of its range, or of where the model holds.
    #[error("{origin}: {key} is {found}; expected {expected}")]
    Value {
        /// Where it was given.
        origin: Origin,
        /// The parameter.
        key: String,
        /// Its value.
        found: String,
        /// What it may be.
        expected: String,
    },
    /// A key that is no parameter.
    #[error("{origin}: {key} is no parameter; {expected}")]
    Unknown {
        /// Where it was given.
        origin: Origin,
        /// What was given.
        key: String,
        /// Which were possible.
        expected: String,
    },
    /// What is no TOML.
    #[error("{origin}: {found}; expected TOML")]
    Syntax {
        /// Where.
        origin: Origin,
        /// What the parser says.
        found: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {source}; expected a file of parameters")]
    Read {
        /// Which.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// A quantity that is no parameter, outside of where the model holds.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A simulation that came to nothing.
    #[error(
        "the simulation ended after {milliseconds} ms, and the program had not; expected times short enough to be simulated (107 days), \
         and threads that go on"
    )]
    Unfinished {
        /// How long was simulated.
        milliseconds: f64,
    },
    /// The fixed point was not reached.
    #[error(
        "no fixed point after {steps} steps, the last one moved by {moved} ns; expected less than {tolerance} ns; the parameters \
         lie outside of where the model holds"
    )]
    NoFixedPoint {
        /// How many steps were made.
        steps: u32,
        /// How far the last one moved the time of a cycle.
        moved: f64,
        /// How far it might.
        tolerance: f64,
    },
}

impl ModelError {
    /// Whether what is wrong is what was asked, and not a file.
    #[must_use]
    pub const fn is_of_the_call(&self) -> bool {
        matches!(
            self,
            Self::Domain(_)
                | Self::Value {
                    origin: Origin::Given,
                    ..
                }
                | Self::Unknown {
                    origin: Origin::Given,
                    ..
                }
        )
    }

    pub(crate) fn read(path: &Path, source: std::io::Error) -> Self {
        Self::Read {
            path: path.to_owned(),
            source,
        }
    }
}
