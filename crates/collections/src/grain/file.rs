//! The file that keeps what tuners have learned: a line a shape, for people to read.
//!
//! ```text
//! raddle-grains 1
//! kd-tree workers=16 weight=2^20 tasks=362 ns_per_weight=12.5
//! ```
//! In this order: the tuner's name, the number of workers, the total weight rounded down to a power of two, the number of tasks that
//! turned out best, and what a run with it took. Empty lines and lines that begin with `#` are passed over, and not kept.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::{FromStr, SplitAsciiWhitespace};

use raddle_trace::whole_file;
use thiserror::Error;

const HEADER: &str = "raddle-grains 1";
const HEADER_EXPECTED: &str = "\"raddle-grains 1\", with which a file of grains begins";
/// Far more than any program learns. A file that is longer is another one, given by mistake.
const BYTES_MAX: u64 = 1 << 20;
/// Characters of the input that a message repeats.
const QUOTED_CHARS_MAX: usize = 40;

/// A file of grains could not be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GrainFileError {
    /// It is there, and cannot be read.
    #[error("{}: {source}; expected a file of grains that can be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It cannot be written. What stood there before still does.
    #[error("{}: {source}; expected a place where a file of grains can be written", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// It is no file of grains, or somebody has broken it. It is left as it is.
    #[error("{}: line {line}: found {found}; expected {expected}", .path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What stands there.
        found: String,
        /// What should stand there.
        expected: &'static str,
    },
}

/// The shape of some work: what is learned of one says nothing about another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Shape {
    pub(super) name: String,
    pub(super) worker_count: usize,
    /// The total weight, rounded down to a power of two.
    pub(super) weight_log2: u32,
}

/// What a tuner has learned of a shape.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Learned {
    pub(super) shape: Shape,
    pub(super) task_count: usize,
    pub(super) ns_per_weight: f64,
}

/// What is wrong with a text, and where.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    line: usize,
    found: String,
    expected: &'static str,
}

/// True when a shape may bear this name: it can stand in a line, and in the name of a file.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_alphanumeric() || "-_.".contains(char))
}

/// Reads all that a file keeps; nothing if there is none.
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

/// Writes what one tuner has learned into the file, beside what it keeps for others: all of it or nothing.
///
/// Somebody who writes at the same moment may undo it; what is lost then is learned once more. A file that would be too long to be read
/// again is not written.
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
        // As `Debug` has it, 1e300 is no 301 digits: a file does not grow by being written again.
        writeln!(
            text,
            "{name} workers={worker_count} weight=2^{weight_log2} tasks={task_count} ns_per_weight={ns:?}"
        )
        .expect("a String takes all");
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
            return Err(fault(index + 1, quoted(line), "no shape twice"));
        }
        all.push(learned);
    }
    Ok(all)
}

/// What was found in a line, and what was expected there.
type LineFault = (String, &'static str);

fn parse_line(line: &str) -> Result<Learned, LineFault> {
    let mut words = line.split_ascii_whitespace();
    let name = words.next().unwrap_or_default();
    if !is_name(name) {
        return Err((quoted(name), "a name of letters, digits, `-`, `_` and `.`"));
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

/// A piece of the input as a message repeats it: escaped and shortened.
fn quoted(text: &str) -> String {
    let mut chars = text.chars();
    let start: String = chars.by_ref().take(QUOTED_CHARS_MAX).collect();
    let more = if chars.next().is_some() { "…" } else { "" };
    format!("{start:?}{more}")
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
