//! Formatting of sizes in bytes, like hwloc's tools: `32KB`, `1024KB`, `32MB`, `5594MB`, `744GB`.
//!
//! A unit is used only from ten of it on, so that at least two digits remain.

/// Formats a number of bytes, rounded to the nearest whole unit of 1024, 1024² and so on.
pub(super) fn size(bytes: u64) -> String {
    let units = ["KB", "MB", "GB", "TB"];
    let (mut scaled, mut rest) = (bytes >> 10, bytes & 1023);
    let mut unit = 0;
    // The limit applies to the value before rounding: from 10 MB on the unit is MB.
    while scaled >= 10 << 10 && unit + 1 < units.len() {
        rest = scaled & 1023;
        scaled >>= 10;
        unit += 1;
    }
    scaled += u64::from(rest >= 512);
    format!("{scaled}{}", units[unit])
}
