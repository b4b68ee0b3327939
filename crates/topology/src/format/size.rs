//! Sizes in bytes as hwloc's tools print them: `32KB`, `1024KB`, `32MB`, `5594MB`, `744GB`.
//!
//! The unit changes only from ten of the next one on, so that two digits at least are left.

/// Writes a number of bytes, rounded to the nearest whole unit of 1024, 1024² and so on.
pub(super) fn size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    let (mut scaled, mut rest) = (bytes >> 10, bytes & 1023);
    let mut unit = 0;
    // The limit is on the value before rounding: from 10 MB on the unit is MB.
    while scaled >= 10 << 10 && unit + 1 < units.len() {
        rest = scaled & 1023;
        scaled >>= 10;
        unit += 1;
    }
    scaled += u64::from(rest >= 512);
    format!("{scaled}{}", units[unit])
}
