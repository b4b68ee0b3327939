//! The report on loading a mesh file: its content, and the cost of loading it.

use std::fmt;
use std::time::Duration;

use glam::{DVec3, Vec3};

use super::format::Format;
use super::ignored::Ignored;
use super::presentation::Presentation;
use crate::file::Compression;

/// The content of a file and the cost of loading it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MeshReport {
    /// The format of the content.
    pub format: Format,
    /// The compression of the file.
    pub compression: Compression,
    /// The number of bytes read from the file.
    pub file_bytes: u64,
    /// The number of bytes after decompression, which is the number of bytes in the file if it is
    /// not compressed.
    pub expanded_bytes: u64,
    /// The content that the file has and the mesh does not.
    pub ignored: Ignored,
    /// The point of the file that is the origin of the mesh. A coordinate of the file is that of
    /// the mesh plus this offset. It is zero unless the triangles are far from the origin for their
    /// size.
    pub offset: DVec3,
    /// Facts on how the mesh is meant to be shown.
    pub presentation: Presentation,
    /// The number of vertices of the mesh, including those that no triangle uses.
    pub vertex_count: usize,
    /// The number of triangles of the mesh, including those of zero area.
    pub triangle_count: usize,
    /// The number of triangles of zero area.
    pub degenerate_count: usize,
    /// The number of faces with more than three corners, which were triangulated.
    pub polygon_count: u64,
    /// The time spent in the disk and the decompressor.
    pub input_time: Duration,
    /// The time spent on making a mesh from the bytes.
    pub parse_time: Duration,
    /// The time spent on checking the finished mesh.
    pub check_time: Duration,
}

impl MeshReport {
    /// Returns the direction that points up: that of the file, or that of its
    /// [format](Format::up).
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.presentation.up.unwrap_or_else(|| self.format.up())
    }

    /// Returns the time from opening the file to the finished mesh.
    #[must_use]
    pub fn total_time(&self) -> Duration {
        self.input_time + self.parse_time + self.check_time
    }
}

impl fmt::Display for MeshReport {
    /// Prints one line with counts, format, sizes and time. Zero counts are left out.
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
        for (count, text) in [
            (self.degenerate_count as u64, "triangles of zero area"),
            (self.polygon_count, "polygons triangulated"),
        ] {
            if count > 0 {
                write!(formatter, ", {count} {text}")?;
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
