//! Reads the density maps of the SPLASH-2 volume renderer (`.den`).
//!
//! A header of 62 bytes, least significant byte first, and one byte for each voxel. The header has
//! the version (1), three times the smallest index, the largest index and the number of voxels
//! along x, y and z (of the original, of the extracted part, and of this map), the number of warps,
//! and the number of voxels.
//!
//! # Source
//! SPLASH-2, apps/volrend, map.C. J. P. Singh, W.-D. Weber, A. Gupta: SPLASH. Computer Architecture
//! News 20(1), 1992.

use super::{Context, VolumeReader};
use crate::file::{Fault, Head, Place, Source};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};

const HEADER_BYTES: usize = 62;
/// The place of the number of voxels along x, y and z of this map.
const SIZE_AT: usize = 50;
/// The place of the number of voxels.
const COUNT_AT: usize = 58;

/// The reader of density maps.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["den"],
    is_text: None,
    recognizes,
    read,
};

/// Returns true if the header has version 1 and a number of voxels that is the product of its
/// sizes.
fn recognizes(head: &Head<'_>) -> bool {
    let Some(header) = head.bytes.first_chunk::<HEADER_BYTES>() else {
        return false;
    };
    let (size, count) = size_and_count(header);
    let product = size
        .iter()
        .try_fold(1_i64, |all, &len| all.checked_mul(len));
    header[..2] == [1, 0] && size.iter().all(|&len| len > 0) && product == Some(count)
}

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    let header: [u8; HEADER_BYTES] = source.take("a header of 62 bytes")?;
    let version = i16::from_le_bytes([header[0], header[1]]);
    if version != 1 {
        let found = format!("version {version}");
        return Err(Fault::syntax(Place::Byte(0), found, "version 1"));
    }
    let (size, count) = size_and_count(&header);
    let product = size
        .iter()
        .try_fold(1_i64, |all, &len| all.checked_mul(len));
    if size.iter().any(|&len| len < 1) || product != Some(count) {
        let [x, y, z] = size;
        let found = format!("{count} voxels");
        let expected = format!("{x} × {y} × {z}, the product of the sizes");
        return Err(Fault::syntax(Place::Byte(COUNT_AT as u64), found, expected));
    }
    let place = Place::Byte(SIZE_AT as u64);
    let size = size.map(|len| len as u64);
    let layout = Layout::new(size, Scalar::U8, place);
    let voxels = layout.read(source, files.file_bytes)?;
    Parsed::new(
        VolumeFormat::Den,
        &layout,
        voxels,
        Geometry::default(),
        place,
    )
}

fn size_and_count(header: &[u8; HEADER_BYTES]) -> ([i64; 3], i64) {
    let short = |at: usize| i64::from(i16::from_le_bytes([header[at], header[at + 1]]));
    let size = [SIZE_AT, SIZE_AT + 2, SIZE_AT + 4].map(short);
    let [.., a, b, c, d] = *header;
    (size, i64::from(i32::from_le_bytes([a, b, c, d])))
}
