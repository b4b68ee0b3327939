//! The file that stores the results of tuners, with one line for each shape of work.
//!
//! ```text
//! raddle-grains 1
//! kd-tree workers=16 weight=2^20 tasks=362 ns_per_weight=12.5
//! ```
//! A line contains, in this order: the name of the tuner, the number of workers, the total weight
//! rounded down to a power of two, the best number of tasks, and the time of a run with that
//! number. Empty lines and lines that begin with `#` are ignored. They are lost when the file is
//! written.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::{FromStr, SplitAsciiWhitespace};

use raddle_trace::whole_file;
use thiserror::Error;

const HEADER: &str = "raddle-grains 1";
const HEADER_EXPECTED: &str = "\"raddle-grains 1\", the first line of a file of grains";
/// The greatest size of a file: far more than any program learns.
///
/// A longer file is not a file of grains.
const BYTES_MAX: u64 = 1 << 20;
/// The number of characters of the input that a message repeats.
const QUOTED_CHARS_MAX: usize = 40;

/// The error of reading or writing a file of grains.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GrainFileError {
    /// The file exists but cannot be read.
    #[error("{}: {source}; expected a file of grains that can be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file cannot be written. Its previous contents are unchanged.
    #[error("{}: {source}; expected a path where a file of grains can be written", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file is not a valid file of grains. It is not changed.
    #[error("{}: line {line}: found {found}; expected {expected}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The text that was found.
        found: String,
        /// The text that was expected.
        expected: &'static str,
    },
}

/// The shape of some work. The results for one shape do not apply to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) worker_count: usize,
    /// The total weight, rounded down to a power of two.
    pub(super) weight_log2: u32,
}

/// The result of a tuner for a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Learned {
    pub(super) shape: Shape,
    pub(super) task_count: usize,
    pub(super) ns_per_weight: f64,
}

/// A syntax error of a text, and its line.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    line: usize,
    found: String,
    expected: &'static str,
}

/// Returns true if a shape may have this name, which must fit into a line and into a file name.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_alphanumeric() || "-_.".contains(char))
}

/// Reads the contents of a file. Returns an empty vector if there is no file.
pub(super) fn read(path: &Path) -> Result<Vec<Learned>, GrainFileError> {
    let bytes = match read_bytes(path) {
        Ok(bytes) => bytes,
        Err(source) if source.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => {
            return Err(GrainFileError::Read {
                path: path.to_owned(),
                source,
            });
        }
    };
    parse(&bytes).map_err(|fault| GrainFileError::Malformed {
        path: path.to_owned(),
        line: fault.line,
        found: fault.found,
        expected: fault.expected,
    })
}

/// Writes the results of one tuner into the file, and keeps those of other tuners.
///
/// The file is replaced as a whole. If another process writes it at the same time, the results of
/// one of the two may be lost. They are then learned again. A file that would be too long to be
/// read is not written.
pub(super) fn write(path: &Path, news: Vec<Learned>) -> Result<(), GrainFileError> {
    let mut all = read(path)?;
    all.retain(|old| news.iter().all(|new| new.shape != old.shape));
    all.extend(news);
    all.sort_by(|a, b| a.shape.cmp(&b.shape));
    let text = format(&all);
    let written = if text.len() as u64 > BYTES_MAX {
        Err(io::ErrorKind::FileTooLarge.into())
    } else {
        whole_file::write(path, text.as_bytes())
    };
    written.map_err(|source| GrainFileError::Write {
        path: path.to_owned(),
        source,
    })
}

fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(BYTES_MAX + 1)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn format(all: &[Learned]) -> String {
    let mut text = format!("{HEADER}\n");
    for learned in all {
        let Shape {
            name,
            worker_count,
            weight_log2,
        } = &learned.shape;
        let (task_count, ns) = (learned.task_count, learned.ns_per_weight);
        // `Debug` writes 1e300 with an exponent and not with 301 digits, so that a file does not
        // grow when it is written again.
        writeln!(
            text,
            "{name} workers={worker_count} weight=2^{weight_log2} tasks={task_count} \
             ns_per_weight={ns:?}"
        )
        .expect("writing to a String does not fail");
    }
    text
}

fn parse(bytes: &[u8]) -> Result<Vec<Learned>, Fault> {
    let fault = |line, found, expected| Fault {
        line,
        found,
        expected,
    };
    if bytes.len() as u64 > BYTES_MAX {
        let found = format!("more than {BYTES_MAX} bytes");
        return Err(fault(1, found, "a file of grains"));
    }
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let before = &bytes[..error.valid_up_to()];
            let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
            let found = format!("the byte 0x{:02x}", bytes[before.len()]);
            return Err(fault(line, found, "text in UTF-8"));
        }
    };
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, HEADER)) => {}
        Some((_, line)) => return Err(fault(1, quoted(line), HEADER_EXPECTED)),
        None => return Err(fault(1, "an empty file".to_owned(), HEADER_EXPECTED)),
    }
    let mut all = Vec::new();
    let mut shapes = BTreeSet::new();
    for (index, line) in lines {
        if line.trim_ascii().is_empty() || line.starts_with('#') {
            continue;
        }
        let learned =
            parse_line(line).map_err(|(found, expected)| fault(index + 1, found, expected))?;
        if !shapes.insert(learned.shape.clone()) {
            return Err(fault(index + 1, quoted(line), "each shape only once"));
        }
        all.push(learned);
    }
    Ok(all)
}

/// The text that was found in a line, and the text that was expected.
type LineFault = (String, &'static str);

fn parse_line(line: &str) -> Result<Learned, LineFault> {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    if !is_name(name) {
        let expected = "a name of alphanumeric characters, `-`, `_` and `.`";
        return Err((quoted(name), expected));
    }
    let worker_count = field(
        &mut words,
        "workers=",
        "`workers=` and a number above 0",
        |n| *n > 0,
    )?;
    let weight_log2 = field(
        &mut words,
        "weight=2^",
        "`weight=2^` and a number below 64",
        |n| *n < 64,
    )?;
    let task_count = field(&mut words, "tasks=", "`tasks=` and a number above 0", |n| {
        *n > 0
    })?;
    let ns_per_weight = field(
        &mut words,
        "ns_per_weight=",
        "`ns_per_weight=` and a number above 0",
        |n: &f64| n.is_finite() && *n > 0.0,
    )?;
    match words.next() {
        None => Ok(Learned {
            shape: Shape {
                name: name.to_owned(),
                worker_count,
                weight_log2,
            },
            task_count,
            ns_per_weight,
        }),
        Some(more) => Err((quoted(more), "the end of the line")),
    }
}

fn field<N: FromStr>(
    words: &mut SplitAsciiWhitespace<'_>,
    key: &str,
    expected: &'static str,
    is_valid: impl Fn(&N) -> bool,
) -> Result<N, LineFault> {
    let Some(word) = words.next() else {
        return Err(("the end of the line".to_owned(), expected));
    };
    word.strip_prefix(key)
        .and_then(|number| number.parse().ok())
        .filter(is_valid)
        .ok_or_else(|| (quoted(word), expected))
}

/// Returns a part of the input for a message, escaped and shortened.
fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(QUOTED_CHARS_MAX).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    format!("{start:?}{more}")
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
