//! Reads voxels without a header.
//!
//! Size and type come from the options or from the name: `engine_256x256x128_u8.raw`,
//! `head-x256x256x113_i16le.raw`. A type may end in `le` or `be`; without that, the least
//! significant byte comes first. If the type is missing, voxels of one byte are `u8` and those of
//! four `f32`.

use super::{Context, VolumeReader};
use crate::file::{Fault, Place, Source};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};

/// The reader of raw files.
pub(in crate::volume) const READER: VolumeReader = VolumeReader {
    extensions: &["raw", "bin", "dat", "vol", "img", "data"],
    is_text: None,
    recognizes: |_| false,
    read,
};

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    let name = files
        .name
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_lowercase();
    let size = match files.options.raw_size.or_else(|| size_in(&name)) {
        Some(size) => size,
        None => {
            let found = "voxels without a size";
            let expected = "a name with the size, such as head_256x256x113_u8.raw, or --raw-size";
            return Err(Fault::syntax(Place::Whole, found, expected));
        }
    };
    let mut layout = Layout::new(size, Scalar::U8, Place::Whole);
    let named = match &files.options.raw_type {
        Some(name) => Some(type_of(name).ok_or_else(|| {
            let found = format!("the type {}", crate::file::quoted(name.as_bytes()));
            Fault::syntax(
                Place::Whole,
                found,
                "u8, i8, u16, i16, f32 or another type, with le or be",
            )
        })?),
        None => type_in(&name),
    };
    (layout.scalar, layout.is_big_endian) = match named {
        Some(named) => named,
        None => (guessed(source, &layout)?, false),
    };
    let bytes = layout.bytes()?;
    if let Some(length) = source.remaining()
        && length != bytes
    {
        let [x, y, z] = size;
        let found = format!("{length} bytes");
        let expected = format!(
            "{bytes} bytes for {x} × {y} × {z} voxels of {} bytes",
            bytes / layout.count()?
        );
        return Err(Fault::syntax(Place::Whole, found, expected));
    }
    let voxels = layout.read(source, files.file_bytes)?;
    let geometry = Geometry::default();
    Parsed::new(VolumeFormat::Raw, &layout, voxels, geometry, Place::Whole)
}

/// Guesses the type from the number of bytes.
fn guessed(source: &Source<'_>, layout: &Layout) -> Result<Scalar, Fault> {
    let count = layout.count()?;
    let length = source.remaining();
    match length.map(|length| (length / count, length % count)) {
        Some((1, 0)) => Ok(Scalar::U8),
        Some((4, 0)) => Ok(Scalar::F32),
        _ => {
            let found = match length {
                Some(length) => format!("{length} bytes for {count} voxels"),
                None => "compressed voxels without a type".to_owned(),
            };
            let expected = "a name with the type, such as head_256x256x113_i16.raw, or --raw-type";
            Err(Fault::syntax(Place::Whole, found, expected))
        }
    }
}

/// Finds three numbers with `x` between them in a name.
fn size_in(name: &str) -> Option<[u64; 3]> {
    name.split(|char: char| !char.is_ascii_digit() && char != 'x')
        .find_map(|word| {
            let numbers: Vec<&str> = word
                .split('x')
                .filter(|number| !number.is_empty())
                .collect();
            let [x, y, z] = numbers[..] else { return None };
            Some([x.parse().ok()?, y.parse().ok()?, z.parse().ok()?])
        })
}

/// Finds a type in a name.
fn type_in(name: &str) -> Option<(Scalar, bool)> {
    name.split(|char: char| !char.is_ascii_alphanumeric())
        .find_map(type_of)
}

/// Returns the type with a name, and true if the name ends in `be`.
fn type_of(name: &str) -> Option<(Scalar, bool)> {
    let name = name.trim().to_lowercase();
    if let Some(scalar) = Scalar::named(&name) {
        return Some((scalar, false));
    }
    let (name, order) = name.split_at_checked(name.len().checked_sub(2)?)?;
    let is_big_endian = match order {
        "le" => false,
        "be" => true,
        _ => return None,
    };
    Some((Scalar::named(name)?, is_big_endian))
}
