//! Tests of the PLY features beyond plain vertices and triangles, and of the errors.

use glam::Vec3;

use crate::file::{FileError, Place};
use crate::mesh::{LoadOptions, Loaded, Mesh};

fn try_read(bytes: &[u8]) -> Result<Loaded, FileError> {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, "it.ply", &LoadOptions::default(), |_| ())
}

fn read(bytes: &[u8]) -> Loaded {
    try_read(bytes).unwrap_or_else(|error| panic!("{error}"))
}

fn message(bytes: &[u8]) -> String {
    try_read(bytes).expect_err("the file is bad").to_string()
}

const SQUARE: &str = "0 0 0\n1 0 0\n1 1 0\n0 1 0\n";

fn header(vertex: &str, face: &str) -> String {
    format!("ply\nformat ascii 1.0\n{vertex}{face}end_header\n")
}

const VERTEX: &str = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n";
const FACE: &str = "element face 1\nproperty list uchar int vertex_indices\n";

#[test]
fn foreign_elements_and_properties_are_skipped() {
    let text = "ply\nformat ascii 1.0\nobj_info made up\n\
        element range_grid 2\nproperty list uchar int samples\n\
        element vertex 4\nproperty uchar red\nproperty double x\nproperty float32 y\n\
        property list uchar float weights\nproperty int16 z\n\
        element edge 1\nproperty int a\nproperty int b\n\
        element face 2\nproperty float quality\n\
        property list uint8 uint16 vertex_index\nproperty list int char flags\n\
        end_header\n\
        2 7 8\n0\n\
        255 0 0 1 0.5 0\n255 1 0 0 0\n255 1 1 0 0\n255 0 1 2 1 1 0\n\
        0 1\n\
        0.5 3 0 1 2 0\n0.5 3 0 2 3 2 1 1\n";
    let mesh = read(text.as_bytes()).mesh;
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.positions[2], Vec3::new(1.0, 1.0, 0.0));
}

#[test]
fn polygons_of_any_size_are_triangulated_and_counted() {
    let faces = "element face 3\nproperty list uchar int vertex_indices\n";
    let text = header(VERTEX, faces) + SQUARE + "4 0 1 2 3\n2 0 1\n3 0 1 2\n";
    let loaded = read(text.as_bytes());
    assert_eq!(loaded.mesh.triangles, [[0, 1, 2], [0, 2, 3], [0, 1, 2]]);
    assert_eq!(loaded.report.polygon_count, 1);
    assert_eq!(loaded.report.ignored.faces, 1);
}

#[test]
fn faces_may_come_before_their_vertices() {
    let text = format!("ply\nformat ascii 1.0\n{FACE}{VERTEX}end_header\n4 0 1 2 3\n{SQUARE}");
    assert_eq!(read(text.as_bytes()).mesh.triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn strips_reverse_every_other_triangle_and_restart_after_minus_one() {
    let strips = "element tristrips 1\nproperty list int int vertex_indices\n";
    let text = header(VERTEX, strips) + SQUARE + "9 0 1 3 2 -1 0 0 1 2\n";
    let triangles = read(text.as_bytes()).mesh.triangles;
    assert_eq!(triangles, [[0, 1, 3], [3, 1, 2], [1, 0, 2]]);
}

#[test]
fn every_type_of_number_reads_alike_in_both_byte_orders() {
    type Write = fn(i8) -> Vec<u8>;
    let types: [(&str, Write); 10] = [
        ("char", |value| value.to_be_bytes().to_vec()),
        ("uchar", |value| (value as u8).to_be_bytes().to_vec()),
        ("short", |value| i16::from(value).to_be_bytes().to_vec()),
        ("ushort", |value| (value as u16).to_be_bytes().to_vec()),
        ("int", |value| i32::from(value).to_be_bytes().to_vec()),
        ("uint", |value| (value as u32).to_be_bytes().to_vec()),
        ("int64", |value| i64::from(value).to_be_bytes().to_vec()),
        ("uint64", |value| (value as u64).to_be_bytes().to_vec()),
        ("float", |value| f32::from(value).to_be_bytes().to_vec()),
        ("double", |value| f64::from(value).to_be_bytes().to_vec()),
    ];
    for (name, write) in types {
        for big in [false, true] {
            let write = |value: i8| {
                let mut bytes = write(value);
                if !big {
                    bytes.reverse();
                }
                bytes
            };
            let encoding = ["little", "big"][usize::from(big)];
            let mut bytes = format!(
                "ply\nformat binary_{encoding}_endian 1.0\nelement vertex 3\nproperty {name} x\n\
                 property {name} y\nproperty {name} z\nelement face 1\n\
                 property list {name} {name} vertex_indices\nend_header\n"
            )
            .into_bytes();
            for value in [0, 0, 0, 1, 0, 0, 0, 100, 0, 3, 0, 1, 2] {
                bytes.extend(write(value));
            }
            let mesh = read(&bytes).mesh;
            assert_eq!(mesh.triangles, [[0, 1, 2]], "{name} {encoding}");
            assert_eq!(
                mesh.positions[2],
                Vec3::new(0.0, 100.0, 0.0),
                "{name} {encoding}"
            );
        }
    }
}

#[test]
fn quads_among_triangles_leave_the_fast_path_and_return_to_it() {
    let mut bytes = format!(
        "ply\nformat binary_little_endian 1.0\n{VERTEX}element face 5\nproperty uchar tag\n\
         property list uchar int vertex_indices\nproperty uchar tag2\nend_header\n"
    )
    .into_bytes();
    for value in [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.0_f32] {
        bytes.extend(value.to_le_bytes());
    }
    let faces: [&[i32]; 5] = [&[0, 1, 2], &[0, 1, 2, 3], &[1, 2, 3], &[], &[2, 3, 0]];
    for face in faces {
        bytes.extend([9, face.len() as u8]);
        bytes.extend(face.iter().flat_map(|corner| corner.to_le_bytes()));
        bytes.push(9);
    }
    let expected = [[0, 1, 2], [0, 1, 2], [0, 2, 3], [1, 2, 3], [2, 3, 0]];
    let loaded = read(&bytes);
    assert_eq!(loaded.mesh.triangles, expected);
    assert_eq!(
        (loaded.report.polygon_count, loaded.report.ignored.faces),
        (1, 1)
    );
}

#[test]
fn normals_are_used_only_if_they_have_all_three_components() {
    let vertex = "element vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
        property float nx\nproperty float ny\n";
    let text = header(vertex, FACE) + "0 0 0 5 5\n1 0 0 5 5\n1 1 0 5 5\n0 1 0 5 5\n3 0 1 2\n";
    assert!(read(text.as_bytes()).mesh.normals.is_empty());
    let vertex = vertex.to_owned() + "property float nz\n";
    let text =
        header(&vertex, FACE) + "0 0 0 0 0 5\n1 0 0 nan 0 0\n1 1 0 0 0 0\n0 1 0 3 0 4\n3 0 1 2\n";
    let Loaded { mesh, report, .. } = read(text.as_bytes());
    // The normal that is not a number is replaced by the computed normal of its vertex.
    assert_eq!(
        mesh.normals,
        [Vec3::Z, Vec3::Z, Vec3::ZERO, Vec3::new(0.6, 0.0, 0.8)]
    );
    assert_eq!(report.ignored.normals, 1);
}

#[test]
fn errors_name_the_line_and_the_expected_content() {
    let cases = [
        (
            header("element vertices\n", ""),
            "it.ply: line 3: \"element vertices\"; expected \"format\", \"element NAME COUNT\"",
        ),
        (
            header("element vertex many\n", ""),
            "it.ply: line 3: \"many\"; expected the number of elements",
        ),
        (
            header("property float x\n", ""),
            "it.ply: line 3: a property before all elements; expected \"element NAME COUNT\" first",
        ),
        (
            header("element vertex 1\nproperty quad x\n", ""),
            "it.ply: line 4: \"property quad x\"; expected \"property TYPE NAME\"",
        ),
        (
            "ply\nformat utf8 1.0\nend_header\n".to_owned(),
            "it.ply: line 2: \"utf8\"; expected \"format\" with ascii",
        ),
        (
            "ply\nend_header\n".to_owned(),
            "it.ply: line 3: the end of a header without an encoding; expected \"format\"",
        ),
        (
            "ply\nformat ascii 1.0\nelement vertex 3\n".to_owned(),
            "it.ply: line 4: the end of the file; expected a line end_header",
        ),
        (
            header(
                "element vertex 1\nproperty float x\nproperty float y\n",
                FACE,
            ),
            "it.ply: line 3: an element vertex without a number z; expected x, y and z",
        ),
        (
            header(VERTEX, "element face 1\nproperty int vertex_indices\n") + SQUARE,
            "it.ply: line 7: an element face without a list vertex_indices; expected the corners",
        ),
        (
            header(VERTEX, FACE) + "0 0 zero\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n",
            "it.ply: line 10: \"zero\"; expected a number",
        ),
        (
            header(VERTEX, FACE) + "0 0 0\n0 inf 0\n1 0 0\n0 1 0\n3 0 1 2\n",
            "it.ply: line 11: coordinate inf; expected a finite number of magnitude at most 1e12",
        ),
        (
            header(VERTEX, FACE) + "0 0 0\n0 0 NaN\n1 0 0\n0 1 0\n3 0 1 2\n",
            "it.ply: line 11: coordinate NaN; expected a finite number",
        ),
        (
            header(VERTEX, FACE) + "0 0 0\n0 0 -1.1e12\n1 0 0\n0 1 0\n3 0 1 2\n",
            "it.ply: line 11: coordinate -1100000000000; expected a finite number",
        ),
        (
            header(VERTEX, FACE) + SQUARE + "3 0 1 4\n",
            "it.ply: line 14: vertex index 4; expected one below 4, the number of vertices",
        ),
        (
            header(VERTEX, FACE) + SQUARE + "3 0 1 -2\n",
            "it.ply: line 14: vertex index -2; expected one below 4, the number of vertices",
        ),
        (
            header(VERTEX, FACE) + SQUARE + "-3 0 1 2\n",
            "it.ply: line 14: a list of length -3; expected a length of zero or more",
        ),
        (
            header(VERTEX, FACE) + SQUARE + "3 0 1\n",
            "it.ply: line 14: the end of the row; expected a number",
        ),
        (
            header(VERTEX, FACE) + "0 0 0\n0 0\n0 1 0\n",
            "it.ply: line 11: the end of the row; expected a number",
        ),
        (
            header(VERTEX, ""),
            "it.ply: line 8: the end of the file; expected a number",
        ),
        (
            header(VERTEX, "") + SQUARE,
            "it.ply: 4 vertices without a triangle; expected at least one triangle",
        ),
    ];
    for (text, expected) in cases {
        let message = message(text.as_bytes());
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
}

#[test]
fn a_truncated_binary_file_is_an_error_at_its_end() {
    let mut bytes = header(VERTEX, FACE)
        .replace("ascii", "binary_little_endian")
        .into_bytes();
    let start = bytes.len();
    for coordinate in [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0_f32] {
        bytes.extend(coordinate.to_le_bytes());
    }
    bytes.push(3);
    for corner in 0..3_i32 {
        bytes.extend(corner.to_le_bytes());
    }
    assert!(try_read(&bytes).is_ok());
    for length in start..bytes.len() {
        let error = try_read(&bytes[..length]).expect_err("the file is truncated");
        let place = error.place;
        assert!(
            matches!(place, Place::Byte(byte) if byte <= length as u64 && byte >= start as u64),
            "{error}"
        );
        assert!(
            error.to_string().contains("the end of the file; expected"),
            "{error}"
        );
    }
}

#[test]
fn a_header_that_promises_too_much_costs_no_memory() {
    for encoding in ["ascii", "binary_little_endian", "binary_big_endian"] {
        for count in ["4000000000", "1000000000000", "18446744073709551615"] {
            let vertex = VERTEX.replace("vertex 4", &format!("vertex {count}"));
            let face = FACE.replace("face 1", &format!("face {count}"));
            let text = header(&vertex, &face).replace("ascii", encoding) + "0 0 0 0";
            // Without a length, as for a compressed file, only the data shows that the counts are
            // wrong.
            for length in [None, Some(text.len() as u64)] {
                let options = LoadOptions::default();
                let outcome = Mesh::read(text.as_bytes(), length, "it.ply", &options, |_| ());
                outcome.expect_err("the file is truncated");
            }
        }
    }
    let empty = header(VERTEX, "element nothing 18446744073709551615\n") + SQUARE;
    assert!(message(empty.as_bytes()).contains("4 vertices without a triangle"));
    let list = header(VERTEX, FACE).replace("uchar", "uint") + SQUARE + "4294967295 0 1 2";
    assert!(message(list.as_bytes()).contains("expected at most"));
}

#[test]
fn the_limits_of_the_caller_are_enforced() {
    let text = header(VERTEX, FACE) + SQUARE + "4 0 1 2 3\n";
    let options = LoadOptions::default().triangle_count_max(1);
    let outcome = Mesh::read(text.as_bytes(), None, "it.ply", &options, |_| ());
    let message = outcome.expect_err("there are two triangles").to_string();
    let expected = "it.ply: line 14: 2 more triangles after 0; expected at most 1 in all";
    assert_eq!(message, expected);
}
