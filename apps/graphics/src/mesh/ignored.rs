//! Counts of the content of a file that is not part of the mesh.

use std::fmt;

/// Counts of the content that a file has and the mesh does not, because it was left out or ignored.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ignored {
    /// Faces with fewer than three corners.
    pub faces: u64,
    /// Lines: elements `l` of OBJ, `edge` of PLY, and line primitives of glTF.
    pub lines: u64,
    /// Points that are elements of their own: `p` of OBJ, and point primitives of glTF.
    pub points: u64,
    /// Free-form curves and surfaces.
    pub curves: u64,
    /// Normals that are missing or not finite; the mesh has computed ones instead.
    pub normals: u64,
    /// Vertices with non-finite coordinates that no triangle uses.
    pub vertices: u64,
    /// Rows of text with more values than the file declares for them.
    pub surplus_rows: u64,
    /// Bytes after the end of the mesh.
    pub trailing_bytes: u64,
    /// Missing ends: 1 for ASCII STL without a last `endsolid`, which may be truncated.
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

    /// Returns true if the file contains nothing besides the mesh.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl fmt::Display for Ignored {
    /// Prints the counts that are not zero, on one line; nothing if all are zero.
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
                let text = if count == 1 { one } else { many };
                write!(formatter, "{separator}{count} {text}")?;
                separator = ", ";
            }
        }
        Ok(())
    }
}
