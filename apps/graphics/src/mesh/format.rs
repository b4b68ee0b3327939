//! The formats of mesh files.

use std::fmt;

use glam::Vec3;

/// The formats as an error message names them.
pub(super) const FORMATS: &str = "a mesh in PLY, OBJ, STL or binary glTF, plain or as .gz or .zst";

/// The format of a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Stanford polygon file, ASCII.
    PlyText,
    /// Stanford polygon file, binary, least significant byte first.
    PlyLittleEndian,
    /// Stanford polygon file, binary, most significant byte first.
    PlyBigEndian,
    /// Wavefront OBJ.
    Obj,
    /// Stereolithography file, ASCII.
    StlText,
    /// Stereolithography file, binary.
    StlBinary,
    /// Binary glTF 2.
    Glb,
}

impl Format {
    /// Which way is up, by the standard of the format or, where it has none, by what most programs take it for.
    ///
    /// In glTF y is up by its standard. STL says nothing, but comes from and goes to machines that build upwards along z,
    /// and their programs show it so. Of PLY and OBJ most programs take y; scans may lie as the scanner did.
    #[must_use]
    pub fn up(self) -> Vec3 {
        match self {
            Self::StlText | Self::StlBinary => Vec3::Z,
            Self::PlyText | Self::PlyLittleEndian | Self::PlyBigEndian | Self::Obj | Self::Glb => {
                Vec3::Y
            }
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::PlyText => "PLY (ASCII)",
            Self::PlyLittleEndian => "PLY (binary, little endian)",
            Self::PlyBigEndian => "PLY (binary, big endian)",
            Self::Obj => "OBJ",
            Self::StlText => "STL (ASCII)",
            Self::StlBinary => "STL (binary)",
            Self::Glb => "binary glTF",
        })
    }
}
