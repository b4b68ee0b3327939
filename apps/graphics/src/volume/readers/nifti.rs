//! Reads NIfTI-1 files, with the data behind the header (`.nii`) or in a file of their own (`.hdr`
//! and `.img`).
//!
//! Of a series of volumes (four dimensions or more), only one with a single volume is accepted.
//!
//! # Source
//! R. Cox et al.: A (sort of) new image data format standard: NIfTI-1. NeuroImage 22, 2004;
//! nifti1.h.

use ::nifti::{Endianness, NiftiHeader};
use glam::{DMat3, DQuat, DVec3};

use super::{Context, VolumeReader};
use crate::file::{Fault, Head, Place, Rest, Source};
use crate::volume::data::Layout;
use crate::volume::format::VolumeFormat;
use crate::volume::parsed::{Geometry, Parsed, Scalar};

const HEADER_BYTES: u64 = 348;
/// The size of a NIfTI-2 header, which is its first number.
const HEADER_2_BYTES: i32 = 540;
/// The place of the magic bytes.
const MAGIC_AT: usize = 344;
/// The places of fields in the header, for errors.
const DIM_PLACE: Place = Place::Byte(40);
const TYPE_PLACE: Place = Place::Byte(70);
const OFFSET_PLACE: Place = Place::Byte(108);

/// The reader of NIfTI files.
pub(super) const READER: VolumeReader = VolumeReader {
    extensions: &["nii", "hdr"],
    is_text: Some(false),
    recognizes,
    read,
};

fn recognizes(head: &Head<'_>) -> bool {
    let magic = head.bytes.get(MAGIC_AT..MAGIC_AT + 4);
    magic.is_some_and(|magic| matches!(magic, b"n+1\0" | b"ni1\0")) || is_second_version(head.bytes)
}

/// Returns true if the header is that of NIfTI-2.
fn is_second_version(bytes: &[u8]) -> bool {
    let size = bytes.first_chunk::<4>().copied().unwrap_or_default();
    let is_size = [i32::from_le_bytes(size), i32::from_be_bytes(size)].contains(&HEADER_2_BYTES);
    is_size
        && bytes
            .get(4..7)
            .is_some_and(|magic| matches!(magic, b"n+2" | b"ni2"))
}

fn read(source: &mut Source<'_>, files: &mut Context<'_>) -> Result<Parsed, Fault> {
    source.peek(HEADER_BYTES as usize, "a header of 348 bytes")?;
    if is_second_version(source.buffered()) {
        return Err(Fault::syntax(Place::Byte(0), "a NIfTI-2 header", "NIfTI-1"));
    }
    let header = NiftiHeader::from_reader(Rest(source))
        .map_err(|error| Fault::syntax(Place::Byte(0), error.to_string(), "a NIfTI-1 header"))?;
    // The parser may have read more or less than the header.
    let read = source.offset();
    let layout = layout(&header)?;
    let geometry = geometry(&header);
    let offset = f64::from(header.vox_offset);
    if !(0.0..1e15).contains(&offset) {
        let found = format!("voxels at byte {offset}");
        return Err(Fault::syntax(
            OFFSET_PLACE,
            found,
            "an offset behind the header",
        ));
    }
    let voxels = if header.magic == *b"ni1\0" {
        let name = data_name(files);
        files.read_beside(Place::Whole, &name, |source, file_bytes| {
            source.skip(offset as u64, "an offset")?;
            layout.read(source, file_bytes)
        })?
    } else {
        let offset = (offset as u64).max(HEADER_BYTES);
        source.skip(offset.saturating_sub(read), "voxels behind the header")?;
        layout.read(source, files.file_bytes)?
    };
    Parsed::new(VolumeFormat::Nifti, &layout, voxels, geometry, DIM_PLACE)
}

/// Returns the name of the file of data beside a header: `.img` in place of `.hdr`.
fn data_name(files: &Context<'_>) -> String {
    let name = files.name.file_name().unwrap_or_default().to_string_lossy();
    match name.rfind(".hdr") {
        Some(at) => format!("{}.img{}", &name[..at], &name[at + 4..]),
        None => format!("{name}.img"),
    }
}

fn layout(header: &NiftiHeader) -> Result<Layout, Fault> {
    let scalar = match header.datatype {
        2 => Scalar::U8,
        4 => Scalar::I16,
        8 => Scalar::I32,
        16 => Scalar::F32,
        64 => Scalar::F64,
        256 => Scalar::I8,
        512 => Scalar::U16,
        768 => Scalar::U32,
        1024 => Scalar::I64,
        1280 => Scalar::U64,
        other => {
            let found = format!("data type {other}");
            return Err(Fault::syntax(
                TYPE_PLACE,
                found,
                "integers or floats of up to 64 bits",
            ));
        }
    };
    let [count, x, y, z, rest @ ..] = header.dim;
    let further = rest.iter().take(usize::from(count).saturating_sub(3));
    if !(3..=7).contains(&count) || further.clone().any(|&len| len > 1) {
        let sizes = &header.dim[1..=usize::from(count.clamp(1, 7))];
        let found = format!("{count} dimensions of {sizes:?}");
        return Err(Fault::syntax(
            DIM_PLACE,
            found,
            "one volume of 3 dimensions",
        ));
    }
    let mut layout = Layout::new([x, y, z].map(u64::from), scalar, DIM_PLACE);
    layout.is_big_endian = header.endianness == Endianness::Big;
    // A slope of zero means that there is no scale.
    if header.scl_slope != 0.0 && header.scl_slope.is_finite() && header.scl_inter.is_finite() {
        layout.slope = f64::from(header.scl_slope);
        layout.intercept = f64::from(header.scl_inter);
    }
    Ok(layout)
}

/// Returns the place in the world: by a matrix, by a quaternion, or by the distances alone.
fn geometry(header: &NiftiHeader) -> Geometry {
    let double = |row: [f32; 4]| row.map(f64::from);
    if header.sform_code > 0 {
        let rows = [header.srow_x, header.srow_y, header.srow_z].map(double);
        let column = |at: usize| DVec3::new(rows[0][at], rows[1][at], rows[2][at]);
        let steps = DMat3::from_cols(column(0), column(1), column(2));
        return Geometry::of_steps(steps, column(3));
    }
    let [sign, x, y, z, ..] = header.pixdim.map(f64::from);
    let positive = |distance: f64| if distance == 0.0 { 1.0 } else { distance.abs() };
    let spacing = DVec3::new(positive(x), positive(y), positive(z));
    if header.qform_code <= 0 {
        return Geometry {
            spacing,
            ..Geometry::default()
        };
    }
    let vector = DVec3::new(
        f64::from(header.quatern_b),
        f64::from(header.quatern_c),
        f64::from(header.quatern_d),
    );
    // The vector of a unit quaternion; the rest of its length is the scalar.
    let scalar = (1.0 - vector.length_squared()).max(0.0).sqrt();
    let rotation = DQuat::from_xyzw(vector.x, vector.y, vector.z, scalar).normalize();
    let flip = if sign < 0.0 { -1.0 } else { 1.0 };
    Geometry {
        spacing,
        origin: DVec3::new(
            f64::from(header.quatern_x),
            f64::from(header.quatern_y),
            f64::from(header.quatern_z),
        ),
        direction: DMat3::from_quat(rotation) * DMat3::from_diagonal(DVec3::new(1.0, 1.0, flip)),
    }
}
