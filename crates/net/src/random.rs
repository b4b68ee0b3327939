//! Random numbers for keys, names and secrets.

use rustix::rand::{GetRandomFlags, getrandom};

use crate::error::NetError;

/// Returns a random number that cannot be guessed.
pub(crate) fn random() -> Result<u64, NetError> {
    let mut bytes = [0; 8];
    // A request this small is answered in one piece, or the system has no source of random numbers.
    getrandom(&mut bytes, GetRandomFlags::empty()).map_err(NetError::system("random numbers"))?;
    Ok(u64::from_ne_bytes(bytes))
}
