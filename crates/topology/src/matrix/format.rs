//! The formats of matrices.

use std::fmt;

/// The format of the text of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatrixFormat {
    /// Numbers or names between separators.
    Csv,
    /// Matrix Market.
    Market,
    /// A graph of Scotch.
    Scotch,
}

impl fmt::Display for MatrixFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Csv => "CSV",
            Self::Market => "Matrix Market",
            Self::Scotch => "Scotch graph",
        })
    }
}
