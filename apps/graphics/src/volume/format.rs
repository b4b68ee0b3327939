//! The formats of volume files.

use std::fmt;

/// The supported formats, for error messages and help texts.
pub const FORMATS: &str = "NRRD, MetaImage, NIfTI, DICOM, VTK image, SPLASH .den, Raddle .bricks \
    or raw, plain or as .gz or .zst";
/// The content that errors ask for.
pub(super) const EXPECTED: &str = "a volume in NRRD, MetaImage, NIfTI, DICOM, VTK image, \
    SPLASH .den, Raddle .bricks or raw (named with its size, or with --raw-size), plain or as .gz \
    or .zst";

/// The format of a volume file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum VolumeFormat {
    /// Voxels without a header; size and type are in the name or given.
    Raw,
    /// The density maps of the SPLASH-2 volume renderer.
    Den,
    /// Nearly raw raster data.
    Nrrd,
    /// The format of ITK.
    MetaImage,
    /// The format of neuroimaging.
    Nifti,
    /// A series of DICOM images, or one image with several frames.
    Dicom,
    /// VTK image data as XML.
    Vti,
    /// Compressed bricks, each of which can be read by itself.
    Bricks,
}

impl fmt::Display for VolumeFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Raw => "raw",
            Self::Den => "SPLASH density map",
            Self::Nrrd => "NRRD",
            Self::MetaImage => "MetaImage",
            Self::Nifti => "NIfTI",
            Self::Dicom => "DICOM",
            Self::Vti => "VTK image data",
            Self::Bricks => "bricks",
        })
    }
}
