//! What a mesh file was found to hold, and what it cost to load it.

use std::fmt;
use std::time::Duration;

use glam::DVec3;

use super::format::Format;
use super::ignored::Ignored;

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
