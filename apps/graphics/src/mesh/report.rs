//! What a mesh file was found to hold, and what it cost to load it.

use std::fmt;
use std::time::Duration;

use glam::{DVec3, Vec3};

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

/// The compression around a mesh file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// The file is as the format says.
    None,
    /// gzip, one member or several.
    Gzip,
    /// zstd, one frame or several.
    Zstd,
}

impl fmt::Display for Compression {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        })
    }
}

/// What a file holds and a mesh does not: counts of what was left out or ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ignored {
    /// Faces with one or two corners or none.
    pub faces: u64,
    /// Lines: elements `l` of OBJ, `edge` of PLY, and primitives of lines in glTF.
    pub lines: u64,
    /// Points that are elements of their own: `p` of OBJ, and primitives of points in glTF.
    pub points: u64,
    /// Free-form curves and surfaces.
    pub curves: u64,
    /// Normals that are missing or no numbers; the mesh has computed ones in their place.
    pub normals: u64,
    /// Vertices that no triangle uses and whose coordinates are no finite numbers.
    pub vertices: u64,
    /// Rows of text with more values than the file declares for them.
    pub surplus_rows: u64,
    /// Bytes after the end of the mesh.
    pub trailing_bytes: u64,
    /// Missing ends: 1 for ASCII STL without a last `endsolid`, which may have been cut short.
    pub missing_ends: u64,
}

impl Ignored {
    /// Returns every count with its name, in the order of the fields.
    #[must_use]
    pub fn counts(&self) -> [(&'static str, u64); 9] {
        [
            ("faces", self.faces),
            ("lines", self.lines),
            ("points", self.points),
            ("curves", self.curves),
            ("normals", self.normals),
            ("vertices", self.vertices),
            ("surplus_rows", self.surplus_rows),
            ("trailing_bytes", self.trailing_bytes),
            ("missing_ends", self.missing_ends),
        ]
    }

    /// Tells whether the mesh is all that the file holds.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Ignored {
    /// Prints what is not zero, on one line; nothing if all is zero.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for (count, one, many) in [
            (
                self.faces,
                "face without three corners left out",
                "faces without three corners left out",
            ),
            (self.lines, "line left out", "lines left out"),
            (self.points, "point left out", "points left out"),
            (
                self.curves,
                "curve or surface left out",
                "curves or surfaces left out",
            ),
            (
                self.normals,
                "missing or broken normal computed",
                "missing or broken normals computed",
            ),
            (
                self.vertices,
                "unused broken vertex ignored",
                "unused broken vertices ignored",
            ),
            (
                self.surplus_rows,
                "row with surplus values, which were ignored",
                "rows with surplus values, which were ignored",
            ),
            (
                self.trailing_bytes,
                "byte after the end ignored",
                "bytes after the end ignored",
            ),
            (
                self.missing_ends,
                "missing end: the file may have been cut short",
                "missing ends: the file may have been cut short",
            ),
        ] {
            if count > 0 {
                let what = if count == 1 { one } else { many };
                write!(formatter, "{separator}{count} {what}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}

/// What a file held and what loading it took.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeshReport {
    /// The format of the content.
    pub format: Format,
    /// The compression around it.
    pub compression: Compression,
    /// Bytes read from the file.
    pub file_bytes: u64,
    /// Bytes after decompression; as many as in the file if it is not compressed.
    pub expanded_bytes: u64,
    /// What the file holds and the mesh does not.
    pub ignored: Ignored,
    /// The point of the file that is the origin of the mesh: a coordinate of the file is that of
    /// the mesh plus this. Zero unless the triangles are far from the origin for their size.
    pub offset: DVec3,
    /// Vertices of the mesh, with those that no triangle uses.
    pub vertex_count: usize,
    /// Triangles of the mesh, with those of zero area.
    pub triangle_count: usize,
    /// Triangles of zero area.
    pub degenerate_count: usize,
    /// Faces with more than three corners, which have become triangles.
    pub polygon_count: u64,
    /// Time that the disk and the decompressor took.
    pub input_time: Duration,
    /// Time that making a mesh of the bytes took.
    pub parse_time: Duration,
    /// Time that the last look at the finished mesh took.
    pub check_time: Duration,
}

impl MeshReport {
    /// The time from opening the file to the finished mesh.
    #[must_use]
    pub fn total_time(&self) -> Duration {
        self.input_time + self.parse_time + self.check_time
    }
}

impl fmt::Display for MeshReport {
    /// Prints one line: counts, format, sizes, time; what is zero and need not be said is left out.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} triangles, {} vertices, {}",
            self.triangle_count, self.vertex_count, self.format
        )?;
        if self.compression == Compression::None {
            write!(formatter, ", {} bytes", self.file_bytes)?;
        } else {
            let (file, expanded) = (self.file_bytes, self.expanded_bytes);
            write!(
                formatter,
                ", {file} bytes of {} for {expanded}",
                self.compression
            )?;
        }
        for (count, what) in [
            (self.degenerate_count as u64, "triangles of zero area"),
            (self.polygon_count, "polygons cut up"),
        ] {
            if count > 0 {
                write!(formatter, ", {count} {what}")?;
            }
        }
        if !self.ignored.is_empty() {
            write!(formatter, ", {}", self.ignored)?;
        }
        if self.offset != DVec3::ZERO {
            write!(formatter, ", offset {}", self.offset)?;
        }
        write!(formatter, ", {:.3} s", self.total_time().as_secs_f64())
    }
}

/// How far loading has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Progress {
    /// Bytes of the file that have been read.
    pub bytes_read: u64,
    /// Bytes of the whole file; unknown for a pipe.
    pub bytes_total: Option<u64>,
}
