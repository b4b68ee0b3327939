//! Loads a mesh from a path or from any stream of bytes.
//!
//! All formats take the same steps: open the file, undo the compression, detect the format, let the
//! reader of that format read, read to the end (only then has the decompressor verified its
//! checksum), and check the mesh. A reader sees a stream and a limit on the size of the mesh; it
//! knows neither files nor names.

use std::cell::Cell;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;
use std::rc::Rc;
use std::time::Instant;

use super::error::{Fault, MeshError, MeshProblem, Place};
use super::faces::Faces;
use super::report::{Compression, MeshReport, Progress};
use super::source::Source;
use super::{Mesh, detect};

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
    /// Returns a [`MeshError`] if the file cannot be read, is truncated or violates its format, if
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
    pub fn load(path: impl AsRef<Path>) -> Result<Self, MeshError> {
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
    ) -> Result<Loaded, MeshError> {
        let path = path.as_ref();
        let (file, length) = open(path).map_err(|fault| fault.at(path))?;
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
    /// # Ok::<(), raddle_graphics::mesh::MeshError>(())
    /// ```
    pub fn read(
        input: impl Read,
        length: Option<u64>,
        name: impl AsRef<Path>,
        options: &LoadOptions,
        mut progress: impl FnMut(Progress),
    ) -> Result<Loaded, MeshError> {
        let name = name.as_ref();
        read_stream(input, length, name, options, &mut progress).map_err(|fault| fault.at(name))
    }
}

/// Opens a file for reading. Also returns its length if it is a regular file.
fn open(path: &Path) -> Result<(File, Option<u64>), Fault> {
    let fault = |error| Fault::new(Place::Whole, MeshProblem::Open(error));
    let file = File::open(path).map_err(fault)?;
    let metadata = file.metadata().map_err(fault)?;
    if metadata.is_dir() {
        return Err(Fault::new(Place::Whole, MeshProblem::Directory));
    }
    // The files of /proc are regular and report length zero, whatever they deliver.
    let length = Some(metadata.len()).filter(|&length| metadata.is_file() && length > 0);
    Ok((file, length))
}

fn read_stream(
    input: impl Read,
    length: Option<u64>,
    name: &Path,
    options: &LoadOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Loaded, Fault> {
    let begun = Instant::now();
    let unreadable = |error| Fault::new(Place::Byte(0), MeshProblem::Read(error));
    let bytes_read = Rc::new(Cell::new(0));
    let counted = Counted {
        input,
        bytes_read: Rc::clone(&bytes_read),
    };
    // Detect the compression. The length of the expanded data is known only without compression.
    let (compression, input) = detect::compression(counted).map_err(unreadable)?;
    let (length_expanded, bytes_max) = match compression {
        Compression::None => (length, u64::MAX),
        Compression::Gzip | Compression::Zstd => (None, options.expanded_bytes_max),
    };
    let mut source = Source::new(
        detect::expand(compression, input).map_err(unreadable)?,
        length_expanded,
        bytes_max,
        Box::new(|| {
            progress(Progress {
                bytes_read: bytes_read.get(),
                bytes_total: length,
            });
        }),
    );
    if compression != Compression::None {
        source.bound_by(Rc::clone(&bytes_read));
    }
    // Detect the format and let its reader make the mesh.
    let faces = Faces::new(options.triangle_count_max);
    let reader = detect::reader(&mut source, name)?;
    let mut parsed = (reader.read)(&mut source, faces)?;
    // Read to the end, so that the decompressor verifies its checksum.
    parsed.ignored.trailing_bytes = source.drain()?;
    let (input_time, expanded_bytes) = (source.input_time(), source.offset());
    drop(source);
    let parse_time = begun.elapsed().saturating_sub(input_time);

    let begun = Instant::now();
    let degenerate_count = finish(&mut parsed.mesh)?;
    Ok(Loaded {
        report: MeshReport {
            format: parsed.format,
            compression,
            file_bytes: bytes_read.get(),
            expanded_bytes,
            vertex_count: parsed.mesh.positions.len(),
            triangle_count: parsed.mesh.triangles.len(),
            degenerate_count,
            polygon_count: parsed.polygon_count,
            ignored: parsed.ignored,
            offset: parsed.offset,
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
        let vertex_count = mesh.positions.len();
        let problem = MeshProblem::NoTriangles { vertex_count };
        return Err(Fault::new(Place::Whole, problem));
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
        let problem = MeshProblem::NoArea { triangle_count };
        return Err(Fault::new(Place::Whole, problem));
    }
    Ok(degenerate_count)
}

/// Counts the bytes that are read from the file, below the decompressor.
struct Counted<R> {
    input: R,
    bytes_read: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = loop {
            match self.input.read(buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                outcome => break outcome?,
            }
        };
        self.bytes_read.set(self.bytes_read.get() + read as u64);
        Ok(read)
    }
}
