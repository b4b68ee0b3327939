//! The formats of mesh files and their conventions.

use std::fmt;

use glam::Vec3;

/// The supported formats, for error messages and help texts.
pub const FORMATS: &str = "PLY, OBJ, STL or binary glTF, plain or as .gz or .zst";
/// The content that errors ask for.
pub(super) const EXPECTED: &str = "a mesh in PLY, OBJ, STL or binary glTF, plain or as .gz or .zst";

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
    /// Returns the direction that points up: by the standard of the format or, if it has none, by
    /// the convention of most programs.
    ///
    /// The glTF standard defines y as up. STL defines nothing, but its files come from and go to
    /// machines that build upwards along z, and their programs display them that way. Most programs
    /// assume y for PLY and OBJ; scans may have the orientation of the scanner.
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
