//! The description of the voxels in a file, and the voxels themselves.

use glam::{DMat3, DVec3};

use super::array::Volume;
use super::data::Layout;
use super::format::VolumeFormat;
use super::grid::VolumeError;
use super::voxels::Voxels;
use crate::file::{Fault, Place};

/// The type of the numbers in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scalar {
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
}

/// Names of types in the formats, in lower case.
const NAMES: [(&str, Scalar); 54] = [
    ("u8", Scalar::U8),
    ("uint8", Scalar::U8),
    ("uint8_t", Scalar::U8),
    ("uchar", Scalar::U8),
    ("unsigned char", Scalar::U8),
    ("met_uchar", Scalar::U8),
    ("i8", Scalar::I8),
    ("int8", Scalar::I8),
    ("int8_t", Scalar::I8),
    ("char", Scalar::I8),
    ("signed char", Scalar::I8),
    ("met_char", Scalar::I8),
    ("u16", Scalar::U16),
    ("uint16", Scalar::U16),
    ("uint16_t", Scalar::U16),
    ("ushort", Scalar::U16),
    ("unsigned short", Scalar::U16),
    ("unsigned short int", Scalar::U16),
    ("met_ushort", Scalar::U16),
    ("i16", Scalar::I16),
    ("int16", Scalar::I16),
    ("int16_t", Scalar::I16),
    ("short", Scalar::I16),
    ("short int", Scalar::I16),
    ("signed short", Scalar::I16),
    ("met_short", Scalar::I16),
    ("u32", Scalar::U32),
    ("uint32", Scalar::U32),
    ("uint32_t", Scalar::U32),
    ("uint", Scalar::U32),
    ("unsigned int", Scalar::U32),
    ("met_uint", Scalar::U32),
    ("i32", Scalar::I32),
    ("int32", Scalar::I32),
    ("int32_t", Scalar::I32),
    ("int", Scalar::I32),
    ("signed int", Scalar::I32),
    ("met_int", Scalar::I32),
    ("u64", Scalar::U64),
    ("uint64", Scalar::U64),
    ("uint64_t", Scalar::U64),
    ("met_ulong_long", Scalar::U64),
    ("i64", Scalar::I64),
    ("int64", Scalar::I64),
    ("int64_t", Scalar::I64),
    ("met_long_long", Scalar::I64),
    ("f32", Scalar::F32),
    ("float32", Scalar::F32),
    ("float", Scalar::F32),
    ("met_float", Scalar::F32),
    ("f64", Scalar::F64),
    ("float64", Scalar::F64),
    ("double", Scalar::F64),
    ("met_double", Scalar::F64),
];

impl Scalar {
    /// Returns the type with a name of any format, in lower or upper case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let found = NAMES.iter().find(|(known, _)| *known == name);
        found.map(|&(_, scalar)| scalar)
    }

    /// Returns the short name, such as `u8`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::U8 => "u8",
            Self::I8 => "i8",
            Self::U16 => "u16",
            Self::I16 => "i16",
            Self::U32 => "u32",
            Self::I32 => "i32",
            Self::U64 => "u64",
            Self::I64 => "i64",
            Self::F32 => "f32",
            Self::F64 => "f64",
        }
    }

    /// Returns the number of bytes of a number.
    pub(crate) fn bytes(self) -> u64 {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
        }
    }
}

/// The place of a volume in the world.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Geometry {
    pub(crate) spacing: DVec3,
    pub(crate) origin: DVec3,
    pub(crate) direction: DMat3,
}

impl Default for Geometry {
    fn default() -> Self {
        Self {
            spacing: DVec3::ONE,
            origin: DVec3::ZERO,
            direction: DMat3::IDENTITY,
        }
    }
}

impl Geometry {
    /// Splits the steps between voxels along x, y and z into directions and spacings.
    pub(crate) fn of_steps(steps: DMat3, origin: DVec3) -> Self {
        let lengths = [steps.x_axis, steps.y_axis, steps.z_axis].map(DVec3::length);
        let unit = |axis: DVec3, length: f64| if length > 0.0 { axis / length } else { axis };
        Self {
            spacing: DVec3::from_array(lengths),
            origin,
            direction: DMat3::from_cols(
                unit(steps.x_axis, lengths[0]),
                unit(steps.y_axis, lengths[1]),
                unit(steps.z_axis, lengths[2]),
            ),
        }
    }
}

/// A volume that a reader has made.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) volume: Volume,
    pub(crate) format: VolumeFormat,
    /// The type of the numbers in the file.
    pub(crate) scalar: Scalar,
}

impl Parsed {
    /// Makes a volume from the voxels that a reader has found. `place` is that of the geometry.
    pub(crate) fn new(
        format: VolumeFormat,
        layout: &Layout,
        voxels: Voxels,
        geometry: Geometry,
        place: Place,
    ) -> Result<Self, Fault> {
        let fault = |error: VolumeError| volume_fault(place, &error);
        let Geometry {
            spacing,
            origin,
            direction,
        } = geometry;
        let volume = Volume::new(layout.size.map(|len| len as usize), voxels)
            .and_then(|volume| volume.with_geometry(spacing, origin, direction))
            .map_err(fault)?;
        let scalar = layout.scalar;
        Ok(Self {
            volume,
            format,
            scalar,
        })
    }
}

/// Converts an error of a volume to one of a file.
pub(crate) fn volume_fault(place: Place, error: &VolumeError) -> Fault {
    let message = error.to_string();
    let (found, expected) = message.split_once("; expected ").unwrap_or((&message, ""));
    Fault::syntax(place, found, expected)
}
