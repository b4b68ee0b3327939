//! The errors of parameters and of requests to the model.

use std::fmt;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A quantity outside the range in which a formula holds.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{quantity} is {found}{unit}; expected {expected}")]
pub struct DomainError {
    /// The name of the quantity: the key of a parameter if it is one, such as `network.wire_ns`.
    pub quantity: &'static str,
    /// The value that was found.
    pub found: f64,
    /// The unit after the value, such as ` ns`. It is empty if the quantity's name contains it.
    pub unit: &'static str,
    /// The permitted values.
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

    /// Adds the unit, for a time in nanoseconds if its name does not contain the unit.
    pub(crate) fn in_nanoseconds(self) -> Self {
        Self {
            unit: " ns",
            ..self
        }
    }
}

/// Returns `found` if it is finite and above 0, and otherwise an error that names `quantity`.
pub(crate) fn above_zero(quantity: &'static str, found: f64) -> Result<f64, DomainError> {
    if found.is_finite() && found > 0.0 {
        return Ok(found);
    }
    Err(DomainError::new(quantity, found, "a finite number above 0"))
}

/// Returns `found` if it is finite and at least 0, and otherwise an error that names `quantity`.
pub(crate) fn from_zero(quantity: &'static str, found: f64) -> Result<f64, DomainError> {
    if found.is_finite() && found >= 0.0 {
        return Ok(found);
    }
    Err(DomainError::new(quantity, found, "a finite number from 0"))
}

/// The place where a parameter was given.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Origin {
    /// A line of a file that comes with the crate, by name.
    BuiltIn(&'static str, usize),
    /// A line of a file.
    File(PathBuf, usize),
    /// The caller, such as a command line.
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

/// An error in parameters, or in a request to the model.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A value outside its range, or outside the range in which the model holds.
    #[error("{origin}: {key} is {found}; expected {expected}")]
    Value {
        /// The place where the parameter was given.
        origin: Origin,
        /// The key of the parameter.
        key: String,
        /// The value that was found.
        found: String,
        /// The permitted values.
        expected: String,
    },
    /// A key that does not name a parameter.
    #[error("{origin}: {key} is no parameter; {expected}")]
    Unknown {
        /// The place where the parameter was given.
        origin: Origin,
        /// The key that names no parameter.
        key: String,
        /// The permitted keys.
        expected: String,
    },
    /// A text that is not TOML.
    #[error("{origin}: {found}; expected TOML")]
    Syntax {
        /// The place of the error.
        origin: Origin,
        /// The parser's message.
        found: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {source}; expected a file of parameters")]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A quantity that is not a parameter, outside the range in which the model holds.
    #[error(transparent)]
    Domain(#[from] DomainError),
    /// A simulation that ended before its program did.
    #[error(
        "the simulation ended after {milliseconds} ms, and the program had not; expected times \
         short enough to be simulated (107 days), and threads that go on"
    )]
    Unfinished {
        /// The simulated time.
        milliseconds: f64,
    },
    /// An iteration that did not reach its fixed point.
    #[error(
        "no fixed point after {steps} steps, the last one moved by {moved} ns; expected less than \
         {tolerance} ns; the parameters lie outside of where the model holds"
    )]
    NoFixedPoint {
        /// The number of steps.
        steps: u32,
        /// The change of the cycle in the last step, in nanoseconds.
        moved: f64,
        /// The permitted change, in nanoseconds.
        tolerance: f64,
    },
}

impl ModelError {
    /// Returns whether the caller's request is at fault, and not a file.
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
