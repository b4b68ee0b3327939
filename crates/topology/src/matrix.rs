//! Communication matrices: the bytes that every party sends to every other party.
//!
//! A party is an entity to be placed: a task, a thread, a process. Rows are sparse and sorted, so a
//! matrix takes 12 bytes for each pair that communicates and about 50 for each party, independent
//! of the number of parties. An entry of zero is not stored.
//!
//! # Source
//! Gustedt, Jeannot, Mansouri: Fully-abstracted affinity optimization for task-based models. 2016,
//! section 4.1.

mod csv;
mod format;
mod market;
mod read;
mod scotch;
mod text;
mod write;

pub use self::format::MatrixFormat;

use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use crate::error::MatrixError;

/// The largest valid entry of a matrix. It is so small that no sum over a matrix overflows.
pub const MATRIX_BYTES_MAX: f64 = 1e30;

/// The bytes that every party sends to every other party; the input of [`place`](crate::place()).
///
/// # Examples
/// ```
/// use raddle_topology::Matrix;
/// let mut matrix = Matrix::new(3);
/// matrix.add(0, 1, 4096.0);
/// matrix.add(0, 1, 4096.0);
/// matrix.add(1, 2, 64.0);
/// assert_eq!(matrix.get(0, 1), 8192.0);
/// assert_eq!((matrix.order(), matrix.entry_count()), (3, 2));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Matrix {
    rows: Vec<Row>,
    /// The names of the parties; empty if they have none.
    names: Vec<String>,
}

/// The bytes that one party sends. `to` is in rising order, and no entry is zero.
#[derive(Clone, Debug, Default, PartialEq)]
struct Row {
    to: Vec<u32>,
    bytes: Vec<f64>,
}

impl Matrix {
    /// Creates the matrix of `order` parties that send nothing.
    ///
    /// # Panics
    /// Panics if there are 2³² parties or more.
    #[must_use]
    pub fn new(order: usize) -> Self {
        assert!(
            u32::try_from(order).is_ok(),
            "a matrix has fewer than 2^32 parties, not {order}"
        );
        Self {
            rows: vec![Row::default(); order],
            names: Vec::new(),
        }
    }

    /// Creates a matrix from all its entries in row-major order: `order` × `order` numbers of
    /// bytes.
    ///
    /// # Errors
    /// Returns [`MatrixError::Shape`] if there are more or fewer numbers, and
    /// [`MatrixError::Value`] if a number is negative, not finite or larger than
    /// [`MATRIX_BYTES_MAX`].
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Matrix;
    /// let matrix = Matrix::from_dense(2, &[0.0, 8.0, 16.0, 0.0])?;
    /// assert_eq!(matrix.get(1, 0), 16.0);
    /// let error = Matrix::from_dense(2, &[0.0, f64::NAN, 16.0, 0.0]).unwrap_err();
    /// let expected = "from party 0 to party 1: found NaN, expected a number from 0 to 1e30";
    /// assert_eq!(error.to_string(), expected);
    /// # Ok::<(), raddle_topology::MatrixError>(())
    /// ```
    pub fn from_dense(order: usize, bytes: &[f64]) -> Result<Self, MatrixError> {
        if order.checked_mul(order) != Some(bytes.len()) || u32::try_from(order).is_err() {
            return Err(MatrixError::Shape {
                order,
                found: bytes.len(),
            });
        }
        let mut matrix = Self::new(order);
        for (from, (row, values)) in matrix
            .rows
            .iter_mut()
            .zip(bytes.chunks_exact(order.max(1)))
            .enumerate()
        {
            let count = values.iter().filter(|value| **value != 0.0).count();
            row.to.reserve_exact(count);
            row.bytes.reserve_exact(count);
            for (to, &value) in values.iter().enumerate() {
                if !is_valid(value) {
                    return Err(MatrixError::Value {
                        from,
                        to,
                        found: value,
                    });
                }
                if value != 0.0 {
                    row.to.push(to as u32);
                    row.bytes.push(value);
                }
            }
        }
        Ok(matrix)
    }

    /// Sets the names of the parties, for output.
    ///
    /// # Errors
    /// Returns [`MatrixError::Names`] if there are more or fewer names than parties.
    pub fn with_names(mut self, names: Vec<String>) -> Result<Self, MatrixError> {
        if names.len() != self.order() {
            return Err(MatrixError::Names {
                order: self.order(),
                found: names.len(),
            });
        }
        self.names = names;
        Ok(self)
    }

    /// Reverses the order of the rows, but not of the columns.
    ///
    /// Some tools write matrices like a plot, with the first party in the last line.
    #[must_use]
    pub fn with_rows_reversed(mut self) -> Self {
        self.rows.reverse();
        self
    }

    /// Adds `bytes` to the entry from party `from` to party `to`.
    ///
    /// If a row is filled from left to right, this takes constant time. Otherwise it may take as
    /// many steps as the row has entries.
    ///
    /// # Panics
    /// Panics if a party does not exist, or if `bytes` is negative, not finite or larger than
    /// [`MATRIX_BYTES_MAX`].
    pub fn add(&mut self, from: usize, to: usize, bytes: f64) {
        let order = self.order();
        assert!(
            from < order && to < order,
            "from party {from} to party {to} in a matrix of {order}"
        );
        assert!(
            is_valid(bytes),
            "{bytes} bytes from party {from} to party {to}"
        );
        if bytes == 0.0 {
            return;
        }
        let row = &mut self.rows[from];
        let to = to as u32;
        match row.to.last() {
            Some(&last) if last >= to => match row.to.binary_search(&to) {
                Ok(at) => row.bytes[at] = (row.bytes[at] + bytes).min(MATRIX_BYTES_MAX),
                Err(at) => {
                    row.to.insert(at, to);
                    row.bytes.insert(at, bytes);
                }
            },
            _ => {
                row.to.push(to);
                row.bytes.push(bytes);
            }
        }
    }

    /// Returns the number of parties.
    #[must_use]
    pub const fn order(&self) -> usize {
        self.rows.len()
    }

    /// Returns the number of entries that are not zero.
    #[must_use]
    pub fn entry_count(&self) -> usize {
        self.rows.iter().map(|row| row.to.len()).sum()
    }

    /// Returns the bytes that one party sends to another, or 0 if a party does not exist.
    #[must_use]
    pub fn get(&self, from: usize, to: usize) -> f64 {
        let Some((row, to)) = self.rows.get(from).zip(u32::try_from(to).ok()) else {
            return 0.0;
        };
        row.to
            .binary_search(&to)
            .map_or(0.0, |index| row.bytes[index])
    }

    /// Returns an iterator over the entries `(to, bytes)` of a sender, in rising order. It is empty
    /// if the party does not exist.
    pub fn row(&self, from: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let (to, bytes) = self.row_parts(from);
        to.iter()
            .zip(bytes)
            .map(|(&to, &bytes)| (to as usize, bytes))
    }

    /// Returns an iterator over all entries `(from, to, bytes)` that are not zero, row by row.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        (0..self.order()).flat_map(|from| self.row(from).map(move |(to, bytes)| (from, to, bytes)))
    }

    /// Returns the names of the parties, or an empty slice if they have none.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Returns the name of a party, if it has one.
    #[must_use]
    pub fn name(&self, party: usize) -> Option<&str> {
        self.names.get(party).map(String::as_str)
    }

    /// Creates a matrix of `(from, to, bytes)` in any order. Several entries of the same pair are
    /// added up.
    fn from_entries(order: usize, mut entries: Vec<(u32, u32, f64)>) -> Self {
        // In this order rows are filled from left to right.
        entries.sort_by_key(|&(from, to, _)| (from, to));
        let mut matrix = Self::new(order);
        for (from, to, bytes) in entries {
            matrix.add(from as usize, to as usize, bytes);
        }
        matrix
    }

    /// Returns the receivers and the bytes of a row.
    pub(crate) fn row_parts(&self, from: usize) -> (&[u32], &[f64]) {
        self.rows
            .get(from)
            .map_or((&[], &[]), |row| (&row.to, &row.bytes))
    }
}

impl Serialize for Matrix {
    /// Writes `order`, `names` and `entries`, triples of from, to and bytes.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = serializer.serialize_struct("Matrix", 3)?;
        view.serialize_field("order", &self.order())?;
        view.serialize_field("names", &self.names)?;
        view.serialize_field("entries", &self.entries().collect::<Vec<_>>())?;
        view.end()
    }
}

/// Returns true if a number is a valid entry.
fn is_valid(bytes: f64) -> bool {
    (0.0..=MATRIX_BYTES_MAX).contains(&bytes)
}
