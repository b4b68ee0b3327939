//! Loads a mesh from a path or from any stream of bytes.
//!
//! All formats take the same steps: open the file, undo the compression, detect the format, let the
//! reader of that format read, read to the end (only then has the decompressor verified its
//! checksum), and check the mesh. A reader sees a stream and a limit on the size of the mesh; it
//! knows neither files nor names.

use std::io::Read;
use std::path::Path;
use std::time::Instant;

use super::Mesh;
use super::faces::Faces;
use super::format::EXPECTED;
use super::readers::READERS;
use super::report::MeshReport;
use crate::file::{self, Fault, FileError, Progress, Stream};

/// Limits on the resources that a file may use.
///
/// # Examples
/// ```
/// use raddle_graphics::mesh::LoadOptions;
///
/// let options = LoadOptions::default().expanded_bytes_max(1 << 20);
/// assert!(format!("{options:?}").contains("1048576"));
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct LoadOptions {
    /// The maximum number of bytes that a compressed file may expand to. The default is 8 GiB.
    pub expanded_bytes_max: u64,
    /// The maximum number of triangles. The default is 2^28, which take 3 GiB.
    pub triangle_count_max: usize,
}

impl Default for LoadOptions {
    fn default() -> Self {
        Self {
            expanded_bytes_max: 8 << 30,
            triangle_count_max: 1 << 28,
        }
    }
}

impl LoadOptions {
    /// Sets the maximum number of bytes that a compressed file may expand to.
    #[must_use]
    pub fn expanded_bytes_max(mut self, bytes: u64) -> Self {
        self.expanded_bytes_max = bytes;
        self
    }

    /// Sets the maximum number of triangles of a mesh.
    #[must_use]
    pub fn triangle_count_max(mut self, count: usize) -> Self {
        self.triangle_count_max = count;
        self
    }
}

/// A mesh and a report on the file that it was loaded from.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The mesh. Its normals are those of the file, or there are none. Its coordinates are those of
    /// the file minus [`MeshReport::offset`].
    pub mesh: Mesh,
    /// The content of the file and the cost of loading it.
    pub report: MeshReport,
}

impl Mesh {
    /// Loads a mesh from a file in one of the [formats](crate::mesh::FORMATS).
    ///
    /// The format and the compression are detected from the content; the extension is used only if
    /// the content is not conclusive. The file is read as a stream, so little memory is used apart
    /// from the mesh. Only binary glTF needs random access, so its whole content is kept in memory.
    /// Takes time linear in the size of the file.
    ///
    /// The coordinates are those of the file, unless the triangles are far from the origin for
    /// their size. In that case an offset is subtracted, which only [`load_with`](Self::load_with)
    /// reports.
    ///
    /// # Errors
    /// Returns a [`FileError`] if the file cannot be read, is truncated or violates its format, if
    /// a coordinate is not a finite number, if the index of a vertex does not exist, or if the mesh
    /// has no triangles. The error names the file, the place in it, what was found there and what
    /// was expected. Triangles of zero area are an error only if there are no others, because such
    /// a mesh is invisible.
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::mesh::Mesh;
    ///
    /// let path = std::env::temp_dir().join(format!("raddle-doc-{}.obj", std::process::id()));
    /// std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")?;
    /// assert_eq!(Mesh::load(&path)?.triangles, [[0, 1, 2]]);
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn load(path: impl AsRef<Path>) -> Result<Self, FileError> {
        Self::load_with(path, &LoadOptions::default(), |_| ()).map(|loaded| loaded.mesh)
    }

    /// Loads a mesh as [`load`](Self::load) does, within limits, and reports the progress.
    ///
    /// `progress` is called about once per 256 KiB of expanded data.
    ///
    /// # Errors
    /// As for [`load`](Self::load). It is also an error if the file exceeds the limits of
    /// `options`.
    pub fn load_with(
        path: impl AsRef<Path>,
        options: &LoadOptions,
        progress: impl FnMut(Progress),
    ) -> Result<Loaded, FileError> {
        let path = path.as_ref();
        let (file, length) = file::open(path, EXPECTED).map_err(|fault| fault.at(path))?;
        Self::read(file, length, path, options, progress)
    }

    /// Reads a mesh from any stream. Errors refer to it by `name`, and the extension of `name` is a
    /// hint at the format.
    ///
    /// `length` is the number of bytes that `input` delivers, if that is certain. It lets the
    /// reader detect false counts in the file before it acts on them.
    ///
    /// # Errors
    /// As for [`load_with`](Self::load_with).
    ///
    /// # Examples
    /// ```
    /// use raddle_graphics::mesh::{Format, LoadOptions, Mesh};
    ///
    /// let text = b"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    /// let loaded = Mesh::read(&text[..], None, "a square", &LoadOptions::default(), |_| ())?;
    /// assert_eq!(loaded.report.format, Format::Obj);
    /// assert_eq!(loaded.mesh.triangles.len(), 2);
    /// # Ok::<(), raddle_graphics::file::FileError>(())
    /// ```
    pub fn read(
        input: impl Read,
        length: Option<u64>,
        name: impl AsRef<Path>,
        options: &LoadOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Loaded, FileError> {
        let name = name.as_ref();
        read_stream(input, length, name, options, &mut progress).map_err(|fault| fault.at(name))
    }
}

fn read_stream(
    input: impl Read,
    length: Option<u64>,
    name: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let begun = Instant::now();
    let mut stream = Stream::new(input, length, options.expanded_bytes_max, progress)?;
    let source = &mut stream.source;
    source.ask_for_lists();
    // Detect the format and let its reader make the mesh.
    let faces = Faces::new(options.triangle_count_max);
    let reader = file::reader(&READERS, source, name, EXPECTED)?;
    let mut parsed = (reader.read)(source, faces)?;
    // Read to the end, so that the decompressor verifies its checksum.
    parsed.ignored.trailing_bytes = source.drain()?;
    let (input_time, expanded_bytes) = (source.input_time(), source.offset());
    let (compression, file_bytes) = (stream.compression, stream.bytes_read());
    drop(stream);
    let parse_time = begun.elapsed().saturating_sub(input_time);

    let begun = Instant::now();
    let degenerate_count = finish(&mut parsed.mesh)?;
    Ok(Loaded {
        report: MeshReport {
            format: parsed.format,
            compression,
            file_bytes,
            expanded_bytes,
            vertex_count: parsed.mesh.positions.len(),
            triangle_count: parsed.mesh.triangles.len(),
            degenerate_count,
            polygon_count: parsed.polygon_count,
            ignored: parsed.ignored,
            offset: parsed.offset,
            presentation: parsed.presentation,
            input_time,
            parse_time,
            check_time: begun.elapsed(),
        },
        mesh: parsed.mesh,
    })
}

/// Checks the mesh that a reader has made, and returns the number of triangles of zero area.
fn finish(mesh: &mut Mesh) -> Result<usize, Fault> {
    if mesh.triangles.is_empty() {
        let found = format!("{} vertices without a triangle", mesh.positions.len());
        return Err(Fault::useless(found, "at least one triangle"));
    }
    debug_assert!(
        mesh.triangles
            .iter()
            .flatten()
            .all(|&vertex| (vertex as usize) < mesh.positions.len())
    );
    debug_assert!(mesh.normals.is_empty() || mesh.normals.len() == mesh.positions.len());
    for normal in &mut mesh.normals {
        *normal = normal.as_dvec3().normalize_or_zero().as_vec3();
    }
    mesh.positions.shrink_to_fit();
    mesh.triangles.shrink_to_fit();
    let (triangle_count, degenerate_count) = (mesh.triangles.len(), mesh.degenerate_count());
    if degenerate_count == triangle_count {
        let found = format!("{triangle_count} triangles, all of zero area");
        return Err(Fault::useless(found, "at least one triangle with an area"));
    }
    Ok(degenerate_count)
}
