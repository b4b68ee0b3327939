//! Reads a timeline of any format, which it detects by the first byte.

use std::io::{BufReader, Read};

use flate2::bufread::MultiGzDecoder;

#[cfg(feature = "json")]
use crate::chrome;
use crate::error::{Place, ReadError};
use crate::expansion::{Allowance, Counted, Limited};
use crate::input::Input;
use crate::perfetto;
use crate::timeline::Timeline;

/// The number of bytes that are read at once.
const BUFFER_BYTES: usize = 1 << 18;
/// The first byte of a Perfetto trace: a packet.
const PACKET: u8 = 0x0a;
/// The first byte of a file that is compressed by gzip.
const GZIP: u8 = 0x1f;

/// Reads a timeline: a Perfetto trace or Chrome JSON (with the feature `json`), also one that is
/// compressed by gzip.
///
/// Traces of other programs are read as far as they consist of track events. Packets of other kinds
/// are left out. Of events, asynchronous ones (in Chrome JSON), arguments at the end of a slice and
/// nested arguments are left out.
///
/// A file that is cut off gives the events before the cut, see [`Timeline::cut_at`]. An empty file
/// gives an empty timeline.
///
/// Memory is at most proportional to the size of the file. Compressed data may expand by a factor
/// of 256. A timeline of 10 million slices takes about 500 MB.
///
/// # Errors
/// [`ReadError`]: a failure of `input`, or content that is no timeline.
pub fn read(input: impl Read) -> Result<Timeline, ReadError> {
    let allowance = Allowance::default();
    let counted = Counted {
        input,
        allowance: &allowance,
    };
    let mut input = Input::new(BufReader::with_capacity(BUFFER_BYTES, counted));
    if input.peek()? != Some(GZIP) {
        return read_expanded(input, &allowance);
    }
    let limited = Limited {
        input: MultiGzDecoder::new(input.into_inner()),
        allowance: &allowance,
    };
    let input = Input::new(BufReader::with_capacity(BUFFER_BYTES, limited));
    read_expanded(input, &allowance)
}

fn read_expanded(
    mut input: Input<impl std::io::BufRead>,
    allowance: &Allowance,
) -> Result<Timeline, ReadError> {
    match input.peek()? {
        None | Some(PACKET) => perfetto::read(input, allowance),
        #[cfg(feature = "json")]
        Some(b'[' | b'{' | b' ' | b'\t' | b'\r' | chrome::BYTE_ORDER_MARK) => chrome::read(input),
        Some(byte) => Err(ReadError::Malformed {
            place: Place { byte: 0, item: 0 },
            found: format!("a file that begins with byte {byte:#04x}"),
            expected: match cfg!(feature = "json") {
                true => "a Perfetto trace (0x0a) or Chrome JSON ('[' or '{')",
                false => "a Perfetto trace (0x0a): this build reads no JSON",
            },
        }),
    }
}
