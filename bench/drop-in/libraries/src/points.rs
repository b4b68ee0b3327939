//! Reads points: three coordinates each, as 32-bit numbers with the lowest byte first.

use std::fs;
use std::io;
use std::path::Path;

/// Reads all points of a file.
pub(crate) fn read(file: &Path) -> io::Result<Vec<[f32; 3]>> {
    let bytes = fs::read(file)?;
    let (numbers, _) = bytes.as_chunks();
    let numbers: Vec<f32> = numbers.iter().copied().map(f32::from_le_bytes).collect();
    let (points, _) = numbers.as_chunks();
    Ok(points.to_vec())
}
