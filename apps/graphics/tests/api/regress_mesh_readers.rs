//! Regression tests with files that other programs write and read, and that our readers rejected or
//! silently misread.
//!
//! Files of each format have peculiarities: old line ends, byte-order marks, padding, separated
//! words, indices with a plus sign, names that end in a backslash, normals that are not finite,
//! unused vertices. A reader has to accept them if the meaning is clear, and to count what it
//! leaves out.

use crate::mesh_support::{ignored, read, try_read};
use glam::Vec3;
use raddle_graphics::mesh::Ignored;

const POINTS: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";
const PLY: &str = "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\n\
    property float z\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n";
const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];
const FACET: &str = concat!(
    "facet normal 0 0 1\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1 0\n",
    " endloop\nendfacet\n",
);

// Regression: a backslash at the end of a name or a comment used to swallow the next line, here a
// face or a point.
#[test]
fn backslashes_join_lines_of_numbers_only() {
    for before in [
        "usemtl wood\\\n",
        "# C:\\models\\\n",
        "g part\\\n",
        "o a\\\n",
    ] {
        let text = format!("{before}{POINTS}{before}f 1 2 3\n{before}f 1 3 4\n");
        assert_eq!(read("it.obj", text).mesh.triangles, SQUARE, "{before:?}");
    }
    for face in [
        "f 1 2 \\\n3 4",
        "f 1 2 \\ \n 3 4",
        "f 1\\\r\n2 3\\\t\r\n4",
        "f 1 2 3 4 # C:\\",
        "f 1 2 \\\n3 4 # C:\\",
    ] {
        let text = format!("{POINTS}{face}\nf 1 2 3\n");
        assert_eq!(read("it.obj", text).mesh.triangles.len(), 3, "{face:?}");
    }
}

#[test]
fn obj_files_with_a_clear_meaning_are_read() {
    for text in [
        format!("{POINTS}f +1 +2 +3 +4\n"),
        format!("ver 1\n{POINTS}f 1 2 3 4\n"),
        format!("{POINTS}f 1 2 3 4#quad\n"),
        format!("v nan nan nan\n{POINTS}f 2 3 4 5\n"),
        format!("v -1.#IND 0 0\nv 1\nv\n{POINTS}f 4 5 6 7\n"),
        format!("\u{feff}{POINTS}f 1 2 3 4\n"),
        format!("\u{feff}mtllib a.mtl\n{POINTS}f 1 2 3 4\n"),
        format!("{POINTS}f 1 2 3 4\n\u{1a}"),
        format!("{POINTS}f 1 2 3 4\n\0\0\0\0"),
        format!("# old\n{POINTS}f 1 2 3 4\n").replace('\n', "\r"),
        format!("# odd\n{POINTS}f 1 2 3 4\n").replace('\n', "\n\r"),
        format!("# twice\n{POINTS}f 1 2 3 4\n").replace('\n', "\r\r\n"),
    ] {
        let mesh = read("it.obj", &text).mesh;
        assert_eq!(mesh.triangles.len(), 2, "{text:?}");
        assert_eq!(mesh.triangle(1)[2], Vec3::Y, "{text:?}");
    }
}

#[test]
fn lines_are_counted_by_any_line_end() {
    for end in ["\n", "\r\n", "\r", "\n\r"] {
        let text = format!("# one\n\n{POINTS}f 1 2 9\n").replace('\n', end);
        let message = try_read("it.obj", text.as_bytes()).expect_err("a bad index");
        assert!(
            message.to_string().starts_with("it.obj: line 7: "),
            "{message} {end:?}"
        );
        let text = format!("solid\n\n{FACET}facet normal 0 0 x y").replace('\n', end);
        let message = try_read("it.stl", text.as_bytes()).expect_err("the file is truncated");
        assert!(
            message.to_string().starts_with("it.stl: line 10: "),
            "{message} {end:?}"
        );
    }
}

// A broken vertex that a face uses is an error at the vertex's own line, wherever the face is.
#[test]
fn broken_vertices_are_errors_only_if_they_are_used() {
    for (point, expected) in [
        ("v nan 0 0", "coordinate NaN"),
        ("v 1 x 0", "\"x\"; expected a number"),
        ("v 1 2", "\"v 1 2\"; expected three numbers"),
    ] {
        let text = format!("{POINTS}{point}\nf 1 2 3\nf 1 2 3 5\n");
        let message = try_read("it.obj", text.as_bytes()).expect_err("it is used");
        let expected = format!("it.obj: line 5: {expected}");
        assert!(message.to_string().starts_with(&expected), "{message}");
    }
    let ply = format!("{}nan 0 0\n0 0 0\n1 0 0\n1 1 0\n3 1 2 3\n1 0\n", PLY);
    let loaded = read("it.ply", ply);
    assert_eq!(loaded.mesh.triangles, [[1, 2, 3]]);
    assert_eq!(ignored(&loaded), [("faces", 1), ("vertices", 1)]);
}

#[test]
fn a_missing_or_broken_normal_is_replaced_by_a_computed_one() {
    let quad = "f 1//1 2//1 3//1 4//1\n";
    for normals in [
        "",
        "vn\n",
        "vn 0, 0, 1,\n",
        "vn -nan(ind) 0 0\n",
        "vn inf 0 1\n",
    ] {
        let loaded = read("it.obj", format!("{POINTS}{normals}{quad}"));
        assert_eq!(loaded.mesh.triangles, SQUARE, "{normals}");
        assert!(loaded.mesh.normals.is_empty(), "{normals}");
        assert_eq!(ignored(&loaded), [("normals", 6)], "{normals}");
    }
    // Corners without a normal share that of another corner at their point, or that of their
    // triangles.
    for broken in ["-1.#IND 0 0", "nan nan nan", "0 0"] {
        let faces = "f 1//1 2//2 3//2\nf 1//2 3//2 4//9\n";
        let loaded = read("it.obj", format!("{POINTS}vn {broken}\nvn 1 0 0\n{faces}"));
        assert_eq!(loaded.mesh.triangles, SQUARE, "{broken}");
        assert_eq!(loaded.mesh.normals, [Vec3::X, Vec3::X, Vec3::X, Vec3::Z]);
        assert_eq!(ignored(&loaded), [("normals", 2)], "{broken}");
    }
    let normals = PLY.replace(
        "element face",
        "property float nx\nproperty float ny\nproperty float nz\nelement face",
    );
    let rows = "0 0 0 -1.#IND 0 0\n1 0 0 1 0 0\n1 1 0 -nan(ind) 0 1\n0 1 0 0 1 0\n4 0 1 2 3\n0\n";
    let loaded = read("it.ply", normals + rows);
    assert_eq!(loaded.mesh.normals, [Vec3::Z, Vec3::X, Vec3::Z, Vec3::Y]);
    assert_eq!(ignored(&loaded), [("faces", 1), ("normals", 2)]);
}

// Regression: surplus values used to be taken for the next row, so that colours became faces.
#[test]
fn a_row_of_ply_is_a_record() {
    let points = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";
    for (rows, surplus) in [
        (format!("{points}3 0 1 2 255 0 0\n3 0 2 3 255 0 0\n"), 2),
        (format!("{points}3 0 1 2 0 1 1\n3 0 2 3\n"), 1),
        (
            format!("{}3 0 1 2\n3 0 2 3\n", points.replace('\n', " 1\n")),
            4,
        ),
    ] {
        let loaded = read("it.ply", format!("{PLY}{rows}"));
        assert_eq!(loaded.mesh.triangles, SQUARE, "{rows}");
        assert_eq!(ignored(&loaded), [("surplus_rows", surplus)], "{rows}");
    }
    let more = read(
        "it.ply",
        format!("{PLY}{points}3 0 1 2\n3 0 2 3\n3 0 1 3\n \n"),
    );
    assert_eq!(ignored(&more), [("trailing_bytes", 10)]);
    let short = format!("{PLY}{points}3 0 1\n2 3 0 2 3\n");
    let message = try_read("it.ply", short.as_bytes()).expect_err("a value is missing");
    let expected = "it.ply: line 14: the end of the row; expected a number";
    assert_eq!(message.to_string(), expected);
}

#[test]
fn ply_files_may_have_any_line_end_and_begin_with_a_byte_order_mark() {
    let text = format!("{PLY}0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n3 0 2 3\n");
    let mut body = Vec::new();
    // The first byte of the data could be the second half of the last line end.
    for first in [f32::from_bits(0x0d), f32::from_bits(0x0a)] {
        body.clear();
        for value in [first, 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.] {
            body.extend(value.to_le_bytes());
        }
        for corners in SQUARE {
            body.push(3);
            body.extend(corners.iter().flat_map(|corner| corner.to_le_bytes()));
        }
        for end in ["\n", "\r\n", "\r", "\n\r", "\r\r\n"] {
            for mark in ["", "\u{feff}"] {
                let loaded = read("it.ply", format!("{mark}{text}").replace('\n', end));
                assert_eq!(loaded.mesh.triangles, SQUARE, "{end:?}");
                let header = PLY
                    .replace("ascii", "binary_little_endian")
                    .replace('\n', end);
                let binary = [mark.as_bytes(), header.as_bytes(), &body].concat();
                let loaded = read("it.ply", binary);
                assert_eq!(loaded.mesh.triangles, SQUARE, "{end:?}");
                assert_eq!(loaded.mesh.positions[0].x, first, "{end:?}");
                assert!(loaded.report.ignored.is_empty(), "{end:?}");
            }
        }
    }
}

#[test]
fn ascii_stl_is_read_as_programs_write_it() {
    let two = format!("{FACET}{FACET}");
    let apart = two
        .replace("endloop", "end loop")
        .replace("endfacet", "END FACET");
    for text in [
        format!("solid a\n{two}endsolid a\n"),
        format!("solid a\n{two}end solid a\n"),
        format!("solid a\n{apart}endsolid a\n"),
        format!("solid O\nsolid O\n{two}endsolid O\nendsolid O\n"),
        format!("solid a\ncolor 0.5 0.5 0.5\n{two}endsolid a\n"),
        format!("\u{feff}solid a\n{two}endsolid a\n"),
        format!("solid a\n{two}endsolid a\n\u{1a}"),
        format!("solid a\n{two}endsolid a\n\0\0\0\0\0\0\0\0"),
        format!("solid a\n{two}endsolid a\n").replace('\n', "\r"),
        format!("solid a\n{two}endsolid a\n").replace('\n', "\n\r"),
    ] {
        let loaded = read("it.stl", &text);
        assert_eq!(loaded.mesh.triangles, [[0, 1, 2]; 2], "{text:?}");
        assert!(loaded.report.ignored.is_empty(), "{text:?}");
    }
    let loaded = read("it.stl", format!("solid a\n{two}"));
    assert_eq!(loaded.mesh.triangles.len(), 2);
    assert_eq!(ignored(&loaded), [("missing_ends", 1)]);
}

#[test]
fn content_without_a_place_in_a_mesh_is_counted() {
    let text = format!("{POINTS}l 1 2\nl 2 3 4\np 1 2 3\nsurf 0 1 0 1\nf 1\nf\nf 1 2\nf 1 2 3\n");
    let loaded = read("it.obj", text);
    let expected = [("faces", 3), ("lines", 2), ("points", 3), ("curves", 1)];
    assert_eq!(ignored(&loaded), expected);
    assert_eq!(
        loaded.report.ignored.to_string(),
        "3 faces without three corners left out, 2 lines left out, 3 points left out, \
         1 curve or surface left out"
    );
    assert_eq!(Ignored::default().to_string(), "");

    let mut stl = vec![0; 84];
    stl[80] = 1;
    for value in [0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 1., 0_f32] {
        stl.extend(value.to_le_bytes());
    }
    stl.extend([0; 2 + 50]);
    assert_eq!(ignored(&read("it.stl", stl)), [("trailing_bytes", 50)]);

    let edges = PLY.replace(
        "element face",
        "element edge 2\nproperty int a\nproperty int b\nelement face",
    );
    let rows = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 1\n1 2\n3 0 1 2\n3 0 2 3\n";
    assert_eq!(ignored(&read("it.ply", edges + rows)), [("lines", 2)]);
}

#[test]
fn gzip_may_be_padded_with_zeros_and_zstd_may_have_a_long_window() {
    use std::io::Write;

    let text = format!("{POINTS}f 1 2 3 4\n");
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder
        .write_all(text.as_bytes())
        .expect("writing to memory succeeds");
    let gzip = encoder.finish().expect("writing to memory succeeds");
    for padding in [1, 7, 512, 100_000] {
        let mut padded = gzip.clone();
        padded.resize(gzip.len() + padding, 0);
        assert_eq!(read("it.obj.gz", &padded).mesh.triangles, SQUARE);
        // A member after the padding counts too.
        padded.extend(&gzip);
        assert_eq!(read("it.obj.gz", &padded).mesh.triangles.len(), 4);
        padded.push(b'x');
        try_read("it.obj.gz", &padded).expect_err("the rest is not gzip");
    }
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).expect("an encoder");
    encoder.window_log(28).expect("a window of 256 MiB");
    encoder
        .write_all(text.as_bytes())
        .expect("writing to memory succeeds");
    let zstd = encoder.finish().expect("writing to memory succeeds");
    assert_eq!(zstd[4] & 0x20, 0, "the frame header contains the window");
    assert_eq!(read("it.obj.zst", zstd).mesh.triangles, SQUARE);
}

// Regression: 60 KB of zeros in zstd used to become 1.8 GB of vertices.
#[test]
fn small_compressed_files_take_little_memory() {
    let header = PLY
        .replace("ascii", "binary_little_endian")
        .replace("vertex 4", "vertex 140000000");
    let mut zeros = header.into_bytes();
    zeros.resize(64 << 20, 0);
    let bomb = zstd::encode_all(&zeros[..], 1).expect("writing to memory succeeds");
    assert!(bomb.len() < 16 << 10, "{}", bomb.len());
    let message = try_read("bomb.ply.zst", &bomb)
        .expect_err("too many vertices")
        .to_string();
    assert!(
        message.contains("compressed bytes; expected at most 4194304 and 256"),
        "{message}"
    );
    let text = "v 0 0 0\n".repeat(1 << 20);
    let bomb = zstd::encode_all(text.as_bytes(), 1).expect("writing to memory succeeds");
    let message = try_read("bomb.obj.zst", &bomb)
        .expect_err("too many vertices")
        .to_string();
    assert!(
        message.contains("compressed bytes; expected at most"),
        "{message}"
    );
    // Equal faces are a valid mesh although they compress well.
    let faces = format!("{POINTS}{}", "f 1 2 3\n".repeat(1 << 18));
    let small = zstd::encode_all(faces.as_bytes(), 1).expect("writing to memory succeeds");
    assert_eq!(read("it.obj.zst", small).mesh.triangles.len(), 1 << 18);
}
