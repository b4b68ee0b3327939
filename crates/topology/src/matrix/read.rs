//! Reads matrices; the content tells the format, whatever the file is called.
//!
//! | it begins with | format |
//! |---|---|
//! | the bytes 1f 8b | any of the others, compressed by gzip |
//! | `%%MatrixMarket`, or with one `%` | Matrix Market |
//! | a line with one number, then a line with two | Scotch graph |
//! | anything else | CSV |

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::text::{Problem, lines};
use super::{Matrix, csv, market, scotch};
use crate::error::MatrixError;
use crate::gzip;

/// The largest text that is read, unpacked: a dense matrix of 8000 parties.
const TEXT_BYTES_MAX: u64 = 1 << 30;

impl Matrix {
    /// Reads a matrix from a file: CSV, Matrix Market or a Scotch graph, each also compressed by gzip.
    ///
    /// - CSV: a row for each party, numbers between commas, semicolons, tabs or blanks. A first line of names gives
    ///   the parties their names; a first column of names is passed over. Numbers may be quoted, have thousands
    ///   separators (`"1,024"`), and between semicolons a decimal comma. Lines that begin with `#` are comments.
    /// - CSV below a line of names such as `src,dst,bytes`: a row for each pair of parties, which are numbers from 0 or
    ///   names. The columns are found by the names source, from and sender, destination, target, to and receiver.
    /// - Matrix Market: `coordinate` and `array`, `real`, `integer`, `unsigned-integer` and `pattern`, `general`,
    ///   `symmetric` and `hermitian`; the entry of row i and column j goes from party i to party j.
    /// - Scotch graph: an edge's load goes in both directions, 1 where there are no loads. What vertices weigh is left out.
    ///
    /// # Errors
    /// [`MatrixError::Read`] when the file cannot be read, [`MatrixError::Text`] with line and column when it is no
    /// matrix.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MatrixError> {
        let path = path.as_ref();
        let bytes = File::open(path)
            .and_then(read_limited)
            .map_err(|cause| MatrixError::Read {
                path: path.to_path_buf(),
                cause,
            })?;
        Self::from_bytes(&bytes, path)
    }

    /// Makes a matrix from the content of such a file, which `name` stands for in errors.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Matrix;
    /// let matrix = Matrix::from_bytes(b"0,8\n16,0\n", "two parties")?;
    /// assert_eq!(matrix.get(1, 0), 16.0);
    /// let error = Matrix::from_bytes(b"0,8\n16\n", "ragged").unwrap_err();
    /// assert_eq!(error.to_string(), "ragged:2:1: found a row of 1 number, expected one of 2 as the rows before");
    /// # Ok::<(), raddle_topology::MatrixError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], name: impl AsRef<Path>) -> Result<Self, MatrixError> {
        let path = name.as_ref();
        let unpacked;
        let bytes = if gzip::is_packed(bytes) {
            unpacked = gzip::unpack(bytes, TEXT_BYTES_MAX).map_err(|cause| MatrixError::Read {
                path: path.to_path_buf(),
                cause,
            })?;
            &unpacked
        } else {
            bytes
        };
        parse(bytes).map_err(|problem| problem.in_file(path))
    }
}

fn parse(bytes: &[u8]) -> Result<Matrix, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if market::is_market(bytes) {
        // Old files have names in Latin-1, in comments; all else of the format is ASCII.
        return market::parse(&String::from_utf8_lossy(bytes));
    }
    match text_of(bytes)? {
        text if is_scotch(text) => scotch::parse(text),
        text => csv::parse(text),
    }
}

fn read_limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > TEXT_BYTES_MAX {
        return Err(io::Error::other("more than 1 GiB of text"));
    }
    Ok(bytes)
}

fn text_of(bytes: &[u8]) -> Result<&str, Problem> {
    std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line_start = before
            .iter()
            .rposition(|&byte| byte == b'\n')
            .map_or(0, |at| at + 1);
        Problem {
            line: before.iter().filter(|&&byte| byte == b'\n').count() + 1,
            column: before.len() - line_start + 1,
            found: format!("the byte {:#04x}", bytes[error.valid_up_to()]),
            expected: "a text in UTF-8".to_owned(),
        }
    })
}

fn is_scotch(text: &str) -> bool {
    let mut counts = lines(text, '#').map(|(_, line)| {
        let words: Vec<_> = line.split_ascii_whitespace().take(3).collect();
        let whole = words
            .iter()
            .all(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if whole { words.len() } else { 0 }
    });
    counts.next() == Some(1) && counts.next() == Some(2)
}
