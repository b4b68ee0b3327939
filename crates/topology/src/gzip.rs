//! Unpacks gzip.
//!
//! A file is a sequence of members. Zeros may follow the last one: tapes and block devices fill
//! their last block with them, and `gzip` passes over them as well.
//!
//! # Source
//! RFC 1952; the manual of `gzip`, section "Using gzip on tapes".

#[cfg(test)]
mod tests;

use std::io::{self, Read};

use flate2::bufread::GzDecoder;

/// How many bytes are unpacked before they are checked.
const PIECE_BYTES: u64 = 256 << 10;

/// Tells whether bytes begin as gzip does.
pub(crate) fn is_packed(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b])
}

/// Unpacks all members of a file, `bytes_max` bytes at most.
///
/// # Errors
/// The decoder's, or that there is more than `bytes_max`, or that something other than a member or
/// zeros follows a member.
pub(crate) fn unpack(packed: &[u8], bytes_max: u64) -> io::Result<Vec<u8>> {
    unpack_checked(packed, bytes_max, |_| Ok(()))
}

/// Unpacks as [`unpack`] does, and gives `check` the bytes in pieces as they come.
///
/// An error of `check` ends the work, so that bytes which make no sense take little memory.
///
/// # Errors
/// As [`unpack`], and those of `check`.
pub(crate) fn unpack_checked<E: From<io::Error>>(
    packed: &[u8],
    bytes_max: u64,
    mut check: impl FnMut(&[u8]) -> Result<(), E>,
) -> Result<Vec<u8>, E> {
    let mut unpacked = Vec::new();
    let mut rest = packed;
    while !rest.is_empty() {
        let mut member = GzDecoder::new(rest);
        loop {
            let before = unpacked.len();
            let left = bytes_max + 1 - before as u64;
            let mut piece = member.by_ref().take(left.min(PIECE_BYTES));
            if piece.read_to_end(&mut unpacked)? == 0 {
                break;
            }
            if unpacked.len() as u64 > bytes_max {
                let found = format!("found more than {bytes_max} bytes once unpacked");
                return Err(io::Error::other(found).into());
            }
            check(&unpacked[before..])?;
        }
        let behind = member.into_inner();
        rest = match behind.iter().position(|&byte| byte != 0) {
            Some(zeros) if is_packed(&behind[zeros..]) => &behind[zeros..],
            Some(zeros) => {
                let at = packed.len() - behind.len() + zeros;
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "found {:#04x} at byte {at}, behind the packed data",
                        behind[zeros]
                    ),
                )
                .into());
            }
            None => &[],
        };
    }
    Ok(unpacked)
}
