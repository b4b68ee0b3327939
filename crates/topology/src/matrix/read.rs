//! Reading of matrices. The format is detected from the content, not from the file name.
//!
//! | start of the content | format |
//! |---|---|
//! | the bytes 1f 8b | any of the others, compressed by gzip |
//! | `%%MatrixMarket`, or with one `%` | Matrix Market |
//! | a line with one number, then a line with two | Scotch graph |
//! | anything else | CSV |
//!
//! # Limits
//! A small compressed file can contain a very long text. These limits keep the memory near the size
//! of the matrix. Each violation is an error that names the file, the position and the limit.
//!
//! | quantity | limit | time of the check |
//! |---|---|---|
//! | a line | [`LINE_BYTES_MAX`] | while the text is read or unpacked |
//! | the text | [`TEXT_BYTES_MAX`] | while the text is read or unpacked |
//! | numbers in a row of CSV | `FIELDS_MAX` | before the row is stored |
//! | parties | [`order_max`] | before rows are allocated |

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::format::MatrixFormat;
use super::text::{Problem, Word, lines};
use super::{Matrix, csv, market, scotch};
use crate::error::MatrixError;
use crate::gzip;

/// The largest size of the uncompressed text: a dense matrix of 8000 parties.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// The longest line: a Scotch vertex with three million arcs fits.
const LINE_BYTES_MAX: usize = 32 << 20;

/// The number of bytes of an uncompressed file that are read before they are checked.
const PIECE_BYTES: u64 = 256 << 10;

impl Matrix {
    /// Reads a matrix from a file: CSV, Matrix Market or a Scotch graph, each optionally compressed
    /// by gzip.
    ///
    /// - CSV: a row for each party, with numbers between commas, semicolons, tabs or blanks. A
    ///   first line of names names the parties, and a first column of names is ignored. Numbers may
    ///   be quoted and may have thousands separators (`"1,024"`); between semicolons they may have
    ///   a decimal comma. Lines that start with `#` are comments.
    /// - CSV below a line of names such as `src,dst,bytes`: a row for each pair of parties, which
    ///   are numbers from 0 or names. The columns are found by the names source, from and sender,
    ///   and destination, target, to and receiver.
    /// - Matrix Market: `coordinate` and `array`; `real`, `integer`, `unsigned-integer` and
    ///   `pattern`; `general`, `symmetric` and `hermitian`. The entry of row i and column j is sent
    ///   by party i to party j.
    /// - Scotch graph: the load of an edge counts in both directions, and is 1 if there are no
    ///   loads. The weights of vertices are ignored.
    ///
    /// A line may have 32 MiB and the text 1 GiB, after decompression.
    ///
    /// # Errors
    /// Returns [`MatrixError::Read`] if the file cannot be read, and [`MatrixError::Text`] with
    /// line and column if its content is not a matrix.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MatrixError> {
        Self::read_with_format(path).map(|(matrix, _)| matrix)
    }

    /// Reads a matrix as [`read`](Self::read) does, and returns the format of the file.
    ///
    /// # Errors
    /// Same as [`read`](Self::read).
    pub fn read_with_format(path: impl AsRef<Path>) -> Result<(Self, MatrixFormat), MatrixError> {
        let path = path.as_ref();
        File::open(path)
            .map_err(FileError::File)
            .and_then(read_limited)
            .and_then(|bytes| from_file(&bytes))
            .map_err(|trouble| trouble.in_file(path))
    }

    /// Creates a matrix from the content of such a file. Errors show `name` as the path.
    ///
    /// # Errors
    /// Same as [`read`](Self::read).
    ///
    /// # Examples
    /// ```
    /// use raddle_topology::Matrix;
    /// let matrix = Matrix::from_bytes(b"0,8\n16,0\n", "two parties")?;
    /// assert_eq!(matrix.get(1, 0), 16.0);
    /// let error = Matrix::from_bytes(b"0,8\n16\n", "ragged").unwrap_err();
    /// let expected = "found a row of 1 number, expected 2 numbers as in the rows before";
    /// assert_eq!(error.to_string(), format!("ragged:2:1: {expected}"));
    /// # Ok::<(), raddle_topology::MatrixError>(())
    /// ```
    pub fn from_bytes(bytes: &[u8], name: impl AsRef<Path>) -> Result<Self, MatrixError> {
        from_file(bytes)
            .map(|(matrix, _)| matrix)
            .map_err(|trouble| trouble.in_file(name.as_ref()))
    }
}

/// Creates a matrix from the bytes of a file, which may be compressed. Also returns the format.
fn from_file(bytes: &[u8]) -> Result<(Matrix, MatrixFormat), FileError> {
    let mut lengths = LineLengths::default();
    if gzip::is_packed(bytes) {
        let check = |piece: &[u8]| lengths.check(piece).map_err(FileError::from);
        let unpacked = gzip::unpack_checked(bytes, TEXT_BYTES_MAX, check)?;
        Ok(parse(&unpacked, order_max(unpacked.len(), bytes.len()))?)
    } else {
        lengths.check(bytes)?;
        Ok(parse(bytes, order_max(bytes.len(), bytes.len()))?)
    }
}

/// Parses a text, after detecting its format.
fn parse(bytes: &[u8], order_max: usize) -> Result<(Matrix, MatrixFormat), Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if market::is_market(bytes) {
        // Old files contain names in Latin-1 in comments. The rest of the format is ASCII.
        let matrix = market::parse(&String::from_utf8_lossy(bytes), order_max)?;
        return Ok((matrix, MatrixFormat::Market));
    }
    match text_of(bytes)? {
        text if is_scotch(text) => Ok((scotch::parse(text, order_max)?, MatrixFormat::Scotch)),
        text => Ok((csv::parse(text, order_max)?, MatrixFormat::Csv)),
    }
}

/// Returns the largest number of parties that a file may have. Each party takes memory, even if the
/// file says nothing about it.
///
/// Up to a million parties are allowed for any file. Above that a party has seven digits, and a
/// line that names two parties takes about 16 bytes of text. A compressor needs some bits for each
/// party.
fn order_max(text_bytes: usize, file_bytes: usize) -> usize {
    const ORDER_FREE: usize = 1 << 20;
    const TEXT_BYTES_PER_PARTY: usize = 8;
    const PARTIES_PER_FILE_BYTE: usize = 4;
    (text_bytes / TEXT_BYTES_PER_PARTY)
        .min(file_bytes.saturating_mul(PARTIES_PER_FILE_BYTE))
        .clamp(ORDER_FREE, u32::MAX as usize)
}

/// Reads a whole file, but stops as soon as a line is too long.
fn read_limited(mut reader: impl Read) -> Result<Vec<u8>, FileError> {
    let mut bytes = Vec::new();
    let mut lengths = LineLengths::default();
    loop {
        let before = bytes.len();
        if reader.by_ref().take(PIECE_BYTES).read_to_end(&mut bytes)? == 0 {
            return Ok(bytes);
        }
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            return Err(io::Error::other("more than 1 GiB of text").into());
        }
        // Compressed bytes have no lines; the lines of the text are checked during decompression.
        if !gzip::is_packed(&bytes) {
            lengths.check(&bytes[before..])?;
        }
    }
}

/// Measures the lines of a text that arrives in pieces.
#[derive(Debug, Default)]
struct LineLengths {
    /// The number of lines that have ended.
    lines_done: usize,
    /// The length of the last line so far.
    line_bytes: usize,
    /// The start of the last line.
    start: Vec<u8>,
}

impl LineLengths {
    /// Measures the next piece of the text.
    ///
    /// # Errors
    /// Returns an error for the first line that is longer than [`LINE_BYTES_MAX`].
    fn check(&mut self, piece: &[u8]) -> Result<(), Problem> {
        /// The number of bytes from the start of a line that are enough for an error message.
        const START_BYTES: usize = 256;
        for (index, part) in piece.split(|&byte| byte == b'\n').enumerate() {
            // Each part but the first follows a line feed.
            if index > 0 {
                self.lines_done += 1;
                self.line_bytes = 0;
                self.start.clear();
            }
            self.line_bytes += part.len();
            let missing = START_BYTES - self.start.len();
            self.start
                .extend_from_slice(&part[..part.len().min(missing)]);
            if self.line_bytes > LINE_BYTES_MAX {
                return Err(self.too_long());
            }
        }
        Ok(())
    }

    /// Returns the error of a line that is too long.
    #[cold]
    fn too_long(&self) -> Problem {
        let start = Word {
            text: &String::from_utf8_lossy(&self.start),
            line: self.lines_done + 1,
            column: 1,
        };
        let problem = start.wrong(format!("lines of at most {LINE_BYTES_MAX} bytes"));
        Problem {
            found: format!("a longer line that begins with {}", problem.found),
            ..problem
        }
    }
}

/// The error of a file that cannot be read or is not a matrix.
#[derive(Debug)]
enum FileError {
    File(io::Error),
    Text(Problem),
}

impl FileError {
    fn in_file(self, path: &Path) -> MatrixError {
        match self {
            Self::File(cause) => MatrixError::Read {
                path: path.to_path_buf(),
                cause,
            },
            Self::Text(problem) => problem.in_file(path),
        }
    }
}

impl From<io::Error> for FileError {
    fn from(cause: io::Error) -> Self {
        Self::File(cause)
    }
}

impl From<Problem> for FileError {
    fn from(problem: Problem) -> Self {
        Self::Text(problem)
    }
}

/// Returns the bytes as a text if they are UTF-8.
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

/// Returns true if the first two lines are those of a Scotch graph.
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
