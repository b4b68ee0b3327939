//! Bad mesh files end in one-line errors that name the file, the place, what was found and what was
//! expected.

use std::path::{Path, PathBuf};

use crate::mesh_support::every_format;
use glam::Vec3;
use raddle_graphics::file::{FileError, FileProblem, Place};
use raddle_graphics::mesh::{LoadOptions, Mesh};

fn square() -> Mesh {
    Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    }
}

/// A folder that is deleted when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("raddle-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Self(path)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).expect("a temporary file");
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Loads a bad file and asserts that its error is one line that begins with the file's name.
fn error(path: &Path) -> FileError {
    let error = Mesh::load(path).expect_err("the file is bad");
    let message = error.to_string();
    assert!(
        message.starts_with(&format!("{}: ", path.display())),
        "{message}"
    );
    assert!(message.contains("; expected "), "{message}");
    assert!(!message.contains(char::is_control), "{message:?}");
    assert_eq!(error.path, path);
    error
}

fn read(name: &str, bytes: &[u8]) -> Result<Mesh, FileError> {
    let length = Some(bytes.len() as u64);
    let options = LoadOptions::default()
        .expanded_bytes_max(1 << 20)
        .triangle_count_max(1 << 16);
    Mesh::read(bytes, length, name, &options, |_| ()).map(|loaded| loaded.mesh)
}

#[test]
fn missing_files_directories_and_empty_files_are_distinct_errors() {
    let folder = Folder::new("mesh-errors-none");
    let missing = error(&folder.0.join("missing.ply"));
    assert!(matches!(missing.problem, FileProblem::Open(_)));
    assert!(matches!(
        error(&folder.0).problem,
        FileProblem::Directory { .. }
    ));
    for name in ["empty.ply", "empty.obj.gz", "empty"] {
        let empty = error(&folder.write(name, b""));
        assert!(matches!(empty.problem, FileProblem::Empty { .. }), "{name}");
    }
    let nothing = zstd::encode_all(&b""[..], 1).expect("writing to memory succeeds");
    let empty = error(&folder.write("empty.ply.zst", &nothing));
    assert!(matches!(empty.problem, FileProblem::Empty { .. }));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_opens_but_cannot_be_read_is_an_error_at_its_byte() {
    // The memory of a process is a file with an unreadable first page.
    let error = error(Path::new("/proc/self/mem"));
    assert!(matches!(error.problem, FileProblem::Read(_)), "{error}");
    assert_eq!(error.place, Place::Byte(0));
}

#[test]
fn the_beginning_of_an_unknown_file_is_quoted_on_one_line() {
    let folder = Folder::new("mesh-errors-format");
    for (bytes, quoted) in [
        (&b"Dear reader,\nthis is no mesh.\n"[..], "\"Dear reader,\""),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "\"\\u{fffd}PNG\""),
        (b"{\"asset\": {}}", "JSON"),
    ] {
        let error = error(&folder.write("note", bytes));
        assert!(matches!(error.problem, FileProblem::UnknownFormat { .. }));
        assert!(error.to_string().contains(quoted), "{error}");
    }
}

#[test]
fn a_name_with_a_line_break_does_not_break_the_line() {
    let folder = Folder::new("mesh-errors-name");
    let path = folder.write("two\nlines.ply", b"ply\n");
    let message = Mesh::load(&path).expect_err("the file is bad").to_string();
    assert!(
        message.contains("two\\nlines.ply: line 2: the end"),
        "{message}"
    );
}

#[test]
fn a_truncated_file_is_an_error_or_a_part_of_the_mesh() {
    for (name, bytes) in every_format(&square()) {
        for length in 0..bytes.len() {
            match read(name, &bytes[..length]) {
                // A text may lose its last line break, and OBJ its last faces, without being
                // recognisable as truncated.
                Ok(mesh) => {
                    let text =
                        name == "mesh.obj" || length + 1 == bytes.len() || name.contains("text");
                    assert!(text, "{name} cut at {length}");
                    assert!(mesh.triangles.len() <= 2, "{name} cut at {length}");
                }
                Err(error) => {
                    assert!(error.to_string().starts_with(name), "{error}");
                    if let Place::Byte(byte) = error.place {
                        assert!(byte <= length as u64, "{error}, cut at {length}");
                    }
                }
            }
        }
    }
}

#[test]
fn truncated_or_damaged_compressed_data_is_an_error() {
    let (_, bytes) = every_format(&square()).swap_remove(1);
    let zstd = zstd::encode_all(&bytes[..], 1).expect("writing to memory succeeds");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, &bytes).expect("writing to memory succeeds");
    let gzip = encoder.finish().expect("writing to memory succeeds");
    for (name, file) in [("it.ply.zst", zstd), ("it.ply.gz", gzip)] {
        assert!(read(name, &file).is_ok(), "{name}");
        for length in 5..file.len() {
            let error = read(name, &file[..length]).expect_err("the file is truncated");
            assert!(error.to_string().starts_with(name), "{error}");
        }
        // The last bytes of gzip are its checksum and its length.
        if name.ends_with("gz") {
            let mut damaged = file.clone();
            let last = damaged.len() - 6;
            damaged[last] ^= 1;
            let error = read(name, &damaged).expect_err("the checksum is wrong");
            assert!(matches!(error.problem, FileProblem::Expand(_)), "{error}");
        }
    }
}

#[test]
fn a_decompression_bomb_stops_at_the_limit() {
    let header =
        b"ply\nformat binary_little_endian 1.0\nelement vertex 4000000000\nproperty float x\n\
        property float y\nproperty float z\nend_header\n";
    let mut bomb = header.to_vec();
    bomb.resize(64 << 20, 0);
    let bomb = zstd::encode_all(&bomb[..], 1).expect("writing to memory succeeds");
    assert!(bomb.len() < 1 << 16, "the bomb is small");
    let error = read("bomb.ply.zst", &bomb).expect_err("it expands beyond the limit");
    assert!(
        matches!(error.problem, FileProblem::TooLarge { .. }),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("expected at most 1048576 bytes after decompression"),
        "{error}"
    );
}

// Regression: such meshes used to load, and `raddle render` reported success for an empty picture.
#[test]
fn a_mesh_without_any_area_is_an_error() {
    let in_a_point = vec![Vec3::ONE; 4];
    let in_a_line = (0..4).map(|x| Vec3::X * x as f32).collect();
    for positions in [in_a_point, in_a_line] {
        let mut flat = square();
        flat.positions = positions;
        for (name, bytes) in every_format(&flat) {
            let error = read(name, &bytes).expect_err("the mesh is invisible");
            assert_eq!(
                error.to_string(),
                format!(
                    "{name}: 2 triangles, all of zero area; \
                     expected at least one triangle with an area"
                )
            );
            assert!(
                matches!(error.problem, FileProblem::Useless { .. }),
                "{error:?}"
            );
        }
    }
}

#[test]
fn triangles_of_zero_area_are_kept_and_counted_if_there_are_others() {
    let mut flat = square();
    flat.triangles.extend([[0, 0, 0], [1, 2, 1]]);
    for (name, bytes) in every_format(&flat) {
        let options = LoadOptions::default();
        let length = Some(bytes.len() as u64);
        let loaded = Mesh::read(&bytes[..], length, name, &options, |_| ());
        let report = loaded.unwrap_or_else(|error| panic!("{error}")).report;
        assert_eq!(report.degenerate_count, 2, "{name}");
        assert!(
            report.to_string().contains("2 triangles of zero area"),
            "{report}"
        );
    }
}

// Regression: the beginning of `/dev/zero` used to be quoted as forty times `\u{0}`.
#[test]
fn a_quoted_beginning_stays_short_when_escaped() {
    let error = read("zeros", &[0; 4096]).expect_err("zeros are no mesh");
    let message = error.to_string();
    let (found, _) = message.split_once("; expected ").expect("two halves");
    assert_eq!(
        found,
        format!("zeros: a file that begins with \"{}…\"", "\\u{0}".repeat(8))
    );
}

// Regression: such a face used to become slivers that a kd-tree takes half a minute for.
#[test]
fn a_face_too_complex_to_triangulate_is_an_error_at_its_line() {
    use std::fmt::Write;

    let count = 60_000;
    let (mut points, mut face) = (String::new(), "f".to_owned());
    for index in 0..count {
        let angle = f64::from(index) * (std::f64::consts::TAU / f64::from(count));
        let radius = 1.0 + 0.5 * (1.7 * f64::from(index)).sin();
        let (x, y) = (radius * angle.cos(), radius * angle.sin());
        writeln!(points, "v {x} {y} 0").expect("writing to a string succeeds");
        write!(face, " {}", index + 1).expect("writing to a string succeeds");
    }
    // The face comes after its points, or before them, where it has to be deferred.
    for (text, line) in [
        (format!("{points}{face}\n"), count + 1),
        (format!("# first\n{face}\n{points}"), 2),
    ] {
        let error = read("zigzag.obj", text.as_bytes()).expect_err("it would take too long");
        let message = error.to_string();
        let beginning = format!("zigzag.obj: line {line}: a face of 60000 corners, ");
        assert!(message.starts_with(&beginning), "{message}");
        assert!(
            message.contains("; expected a product of both numbers of at most "),
            "{message}"
        );
    }
}

#[test]
fn no_change_of_one_byte_ends_in_a_panic() {
    for mesh in [square(), square().with_vertex_normals()] {
        for (name, bytes) in every_format(&mesh) {
            for at in 0..bytes.len() {
                for change in [1, 0x80, 0xff, bytes[at], b'9' ^ bytes[at], b'-' ^ bytes[at]] {
                    let mut changed = bytes.clone();
                    changed[at] ^= change;
                    match read(name, &changed) {
                        Ok(mesh) => assert_is_sound(&mesh),
                        Err(error) => assert!(error.to_string().lines().count() == 1, "{error}"),
                    }
                }
            }
        }
    }
}

fn assert_is_sound(mesh: &Mesh) {
    let count = mesh.positions.len();
    assert!(
        mesh.triangles
            .iter()
            .flatten()
            .all(|&corner| (corner as usize) < count)
    );
    assert!(
        mesh.positions
            .iter()
            .all(|position| position.abs().max_element() <= 1e12)
    );
    assert!(mesh.normals.is_empty() || mesh.normals.len() == count);
}
