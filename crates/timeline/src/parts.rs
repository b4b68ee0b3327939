//! Joins the parts of a timeline that several writers have made.

use std::io::{self, ErrorKind, Read, Write};

use crate::chrome::{ARRAY_BEGIN, ARRAY_END, SEPARATOR};
use crate::event::Format;

/// The number of bytes that are copied at once.
const CHUNK_BYTES: usize = 1 << 16;

/// Writes one timeline that has the events of all `parts`, which are complete outputs of
/// [`Writer`](crate::Writer)s with different [part numbers](crate::Writer::with_part). Returns
/// `out`.
///
/// A part in Perfetto's format can also be appended to a file that has others. A JSON array is not
/// continued that easily, which is why this function exists.
///
/// # Errors
/// Those of the parts and of `out`. A part that is no complete array of [`Format::Chrome`] is an
/// error of kind [`ErrorKind::InvalidData`].
pub fn concatenate<R: Read, W: Write>(
    format: Format,
    parts: impl IntoIterator<Item = R>,
    mut out: W,
) -> io::Result<W> {
    match format {
        Format::Perfetto => {
            for mut part in parts {
                io::copy(&mut part, &mut out)?;
            }
        }
        Format::Chrome => {
            out.write_all(ARRAY_BEGIN)?;
            let mut is_first = true;
            for part in parts {
                copy_elements(part, &mut is_first, &mut out)?;
            }
            out.write_all(ARRAY_END)?;
        }
    }
    out.flush()?;
    Ok(out)
}

/// Copies the elements of an array, without its brackets. `is_first` is true as long as the joined
/// array has no elements.
fn copy_elements(mut part: impl Read, is_first: &mut bool, out: &mut impl Write) -> io::Result<()> {
    let no_array = || {
        let text = "a part that is no complete JSON array; expected the output of a writer";
        io::Error::new(ErrorKind::InvalidData, text)
    };
    let mut begin = [0; ARRAY_BEGIN.len()];
    part.read_exact(&mut begin)?;
    if begin != *ARRAY_BEGIN {
        return Err(no_array());
    }
    // The last bytes stay in the buffer until it is known that they are not the closing bracket.
    let mut buffer = Vec::new();
    let mut is_begun = false;
    loop {
        let held = buffer.len();
        part.by_ref()
            .take(CHUNK_BYTES as u64)
            .read_to_end(&mut buffer)?;
        if buffer.len() == held {
            break;
        }
        let ready = buffer.len().saturating_sub(ARRAY_END.len());
        if ready > 0 {
            let is_first = std::mem::replace(is_first, false);
            if !std::mem::replace(&mut is_begun, true) && !is_first {
                out.write_all(SEPARATOR)?;
            }
            out.write_all(&buffer[..ready])?;
            buffer.drain(..ready);
        }
    }
    match buffer == ARRAY_END {
        true => Ok(()),
        false => Err(no_array()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(parts: &[&str]) -> io::Result<String> {
        let parts = parts.iter().map(|part| part.as_bytes());
        let bytes = concatenate(Format::Chrome, parts, Vec::new())?;
        Ok(String::from_utf8(bytes).expect("text"))
    }

    #[test]
    fn arrays_become_one_array() {
        assert_eq!(joined(&[]).unwrap(), "[\n\n]\n");
        assert_eq!(joined(&["[\n\n]\n"]).unwrap(), "[\n\n]\n");
        let (one, two) = ("[\n{}\n]\n", "[\n{},\n{}\n]\n");
        assert_eq!(
            joined(&[one, "[\n\n]\n", two]).unwrap(),
            "[\n{},\n{},\n{}\n]\n"
        );
        let long = format!("[\n{}{{}}\n]\n", "{},\n".repeat(CHUNK_BYTES));
        let twice = joined(&[&long, &long]).unwrap();
        assert_eq!(twice.matches("{}").count(), 2 * (CHUNK_BYTES + 1));
        assert_eq!(twice.matches(',').count(), 2 * CHUNK_BYTES + 1);
    }

    #[test]
    fn an_incomplete_part_is_an_error() {
        for part in ["", "[", "{}", "[\n{},\n{}", "[\n{}\n]"] {
            assert!(joined(&[part]).is_err(), "{part:?}");
        }
    }
}
