//! Decompresses gzip.
//!
//! A file is a sequence of members. Zeros may follow a member: tapes and block devices pad their
//! last block with zeros, and `gzip` ignores them too.
//!
//! # Source
//! RFC 1952; the manual of `gzip`, section "Using gzip on tapes".

#[cfg(test)]
mod tests;

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// The maximum number of bytes that are decompressed before they are checked.
const PIECE_BYTES: u64 = 256 << 10;

/// Returns true if the bytes start with the signature of gzip.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

#[cfg(feature = "hwloc")]
/// Decompresses all members of a file, up to `bytes_max` bytes.
///
/// # Errors
/// Returns the error of the decoder, or an error if the file has more than `bytes_max` decompressed
/// bytes, or if a member is followed by something other than a member or zeros.
pub(crate) fn unpack(packed: &[u8], bytes_max: u64) -> io::Result<Vec<u8>> {
    unpack_checked(packed, bytes_max, |_| Ok(()))
}

/// Decompresses like [`unpack`], and passes each piece of the output to `check` as it arrives.
///
/// An error of `check` ends the decompression, so invalid content takes little memory.
///
/// # Errors
/// Returns the errors of [`unpack`] and of `check`.
pub(crate) fn unpack_checked<E: From<io::Error>>(
    packed: &[u8],
    bytes_max: u64,
    mut check: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut unpacked = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        // Decompress one member piece by piece. Ask for one byte beyond the limit, to detect that
        // there is more.
        let mut member = GzDecoder::new(rest);
        loop {
            let before = unpacked.len();
            let left = bytes_max + 1 - before as u64;
            let mut piece = member.by_ref().take(left.min(PIECE_BYTES));
            if piece.read_to_end(&mut unpacked)? == 0 {
                break;
            }
            if unpacked.len() as u64 > bytes_max {
                let found = format!("found more than {bytes_max} bytes after decompression");
                return Err(io::Error::other(found).into());
            }
            check(&unpacked[before..])?;
        }
        // Skip zeros after the member. Anything else must be another member.
        let following = member.into_inner();
        rest = match following.iter().position(|&byte| byte != 0) {
            Some(zeros) if is_packed(&following[zeros..]) => &following[zeros..],
            Some(zeros) => {
                let at = packed.len() - following.len() + zeros;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "found {:#04x} at byte {at}, after the compressed data",
                        following[zeros]
                    ),
                )
                .into());
            }
            None => &[],
        };
    }
    Ok(unpacked)
}
