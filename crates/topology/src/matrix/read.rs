//! Reads matrices; the content tells the format, whatever the file is called.
//!
//! | it begins with | format |
//! |---|---|
//! | the bytes 1f 8b | any of the others, compressed by gzip |
//! | `%%MatrixMarket`, or with one `%` | Matrix Market |
//! | a line with one number, then a line with two | Scotch graph |
//! | anything else | CSV |
//!
//! # Limits
//! A small compressed file can hold a very long text. These limits keep the memory near what a
//! matrix needs; each is an error that names the file, the place and the limit.
//!
//! | what | limit | checked |
//! |---|---|---|
//! | a line | [`LINE_BYTES_MAX`] | while the text is read or unpacked |
//! | the text | [`TEXT_BYTES_MAX`] | while the text is read or unpacked |
//! | numbers in a row of CSV | `FIELDS_MAX` | before the row is stored |
//! | parties | [`order_max`] | before rows are made for them |

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::text::{Problem, Word, lines};
use super::{Matrix, csv, market, scotch};
use crate::error::MatrixError;
use crate::gzip;

/// The largest text that is read, unpacked: a dense matrix of 8000 parties.
const TEXT_BYTES_MAX: u64 = 1 << 30;

/// The longest line that is read: that of a Scotch vertex with three million arcs fits.
const LINE_BYTES_MAX: usize = 32 << 20;

/// How many bytes of a plain file are read before they are checked.
const PIECE_BYTES: u64 = 256 << 10;

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
    /// A line may have 32 MiB, the text 1 GiB, also after it is unpacked.
    ///
    /// # Errors
    /// [`MatrixError::Read`] when the file cannot be read, [`MatrixError::Text`] with line and column when it is no
    /// matrix.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, MatrixError> {
        let path = path.as_ref();
        File::open(path)
            .map_err(Trouble::File)
            .and_then(read_limited)
            .and_then(|bytes| from_file(&bytes))
            .map_err(|trouble| trouble.in_file(path))
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
        from_file(bytes).map_err(|trouble| trouble.in_file(name.as_ref()))
    }
}

/// Makes a matrix from the bytes of a file, which may be packed.
fn from_file(bytes: &[u8]) -> Result<Matrix, Trouble> {
    let mut lengths = LineLengths::default();
    if gzip::is_packed(bytes) {
        let check = |piece: &[u8]| lengths.check(piece).map_err(Trouble::from);
        let unpacked = gzip::unpack_checked(bytes, TEXT_BYTES_MAX, check)?;
        Ok(parse(&unpacked, order_max(unpacked.len(), bytes.len()))?)
    } else {
        lengths.check(bytes)?;
        Ok(parse(bytes, order_max(bytes.len(), bytes.len()))?)
    }
}

fn parse(bytes: &[u8], order_max: usize) -> Result<Matrix, Problem> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if market::is_market(bytes) {
        // Old files have names in Latin-1, in comments; all else of the format is ASCII.
        return market::parse(&String::from_utf8_lossy(bytes), order_max);
    }
    match text_of(bytes)? {
        text if is_scotch(text) => scotch::parse(text, order_max),
        text => csv::parse(text, order_max),
    }
}

/// Returns the most parties that a file may have: a party takes memory even if nothing else is
/// said of it.
///
/// A million is fine for any file. Above that a party has seven digits, and a line that names two
/// parties takes about 16 bytes of text. A compressor needs some bits for each party.
fn order_max(text_bytes: usize, file_bytes: usize) -> usize {
    const ORDER_FREE: usize = 1 << 20;
    const TEXT_BYTES_PER_PARTY: usize = 8;
    const PARTIES_PER_FILE_BYTE: usize = 4;
    (text_bytes / TEXT_BYTES_PER_PARTY)
        .min(file_bytes.saturating_mul(PARTIES_PER_FILE_BYTE))
        .clamp(ORDER_FREE, u32::MAX as usize)
}

/// Reads a file whole, and gives up as soon as a line of it is too long.
fn read_limited(mut reader: impl Read) -> Result<Vec<u8>, Trouble> {
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
        // Packed bytes have no lines; those of the text are checked while it is unpacked.
        if !gzip::is_packed(&bytes) {
            lengths.check(&bytes[before..])?;
        }
    }
}

/// Measures the lines of a text that comes in pieces.
#[derive(Debug, Default)]
struct LineLengths {
    /// The number of lines that have ended.
    lines_done: usize,
    /// The length of the last line so far.
    line_bytes: usize,
    /// How the last line begins.
    start: Vec<u8>,
}

impl LineLengths {
    /// Takes the next piece of the text.
    ///
    /// # Errors
    /// The first line that is longer than [`LINE_BYTES_MAX`].
    fn check(&mut self, piece: &[u8]) -> Result<(), Problem> {
        /// As many bytes are enough for the beginning of a line that an error repeats.
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

    #[cold]
    fn too_long(&self) -> Problem {
        let start = Word {
            text: &String::from_utf8_lossy(&self.start),
            line: self.lines_done + 1,
            column: 1,
        };
        let problem = start.wrong(format!("lines of at most {LINE_BYTES_MAX} bytes"));
        Problem {
            found: format!("a longer line, which begins {}", problem.found),
            ..problem
        }
    }
}

/// What is wrong with a file: the system does not give its bytes, or they are no matrix.
#[derive(Debug)]
enum Trouble {
    File(io::Error),
    Text(Problem),
}

impl Trouble {
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

impl From<io::Error> for Trouble {
    fn from(cause: io::Error) -> Self {
        Self::File(cause)
    }
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Text(problem)
    }
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
