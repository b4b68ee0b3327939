//! Tests of the OBJ features beyond plain triangles, and of the errors.

use glam::Vec3;

use crate::file::FileError;
use crate::mesh::{LoadOptions, Loaded, Mesh};

fn try_read(text: &str) -> Result<Loaded, FileError> {
    let options = LoadOptions::default();
    Mesh::read(text.as_bytes(), None, "it.obj", &options, |_| ())
}

fn read(text: &str) -> Mesh {
    try_read(text)
        .unwrap_or_else(|error| panic!("{error}"))
        .mesh
}

const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

#[test]
fn corners_in_every_notation_refer_to_the_same_points() {
    for face in [
        "f 1 2 3",
        "f 1/7 2/7 3/7",
        "f 1//1 2//1 3//1",
        "f 1/7/1 2/7/1 3/7/1",
        "f -4 -3 -2",
        "f 1 \\\n2 \\\r\n3",
        "f\t1  2\t3   # a comment",
        "fo 1 2 3",
    ] {
        let mesh = read(&format!("{SQUARE}vn 0 0 1\nvt 0 0\n{face}\n"));
        assert_eq!(mesh.triangles, [[0, 1, 2]], "{face}");
    }
}

#[test]
fn lines_other_than_faces_are_skipped() {
    let text = format!(
        "# comment\nmtllib a.mtl\no thing\n{SQUARE}vt 0 0 0\nusemtl red\ns 1\ng part\nl 1 2\np 1\n\
         made_up_word 1 2\nf 1 2 3 4\n"
    );
    assert_eq!(read(&text).triangles, [[0, 1, 2], [0, 2, 3]]);
}

#[test]
fn points_may_have_weights_and_colours_and_come_after_their_faces() {
    let mesh = read("f 1 2 3\nf 1 2 3 4\nv 0 0 0 1\nv 1 0 0 0.5 0.5 0.5\nv 1 1 0\nv 0 1 0\n");
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.positions[1], Vec3::X);
}

#[test]
fn a_point_with_two_normals_becomes_two_vertices() {
    let text = format!(
        "{SQUARE}vn 0 0 2\nvn 0 3 0\nf 1//1 2//1 3//1\nf 1//1 3//2 4//-1\nf 1//2 3//2 4//2\n"
    );
    let mesh = read(&text);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 4, 3], [5, 4, 3]]);
    assert_eq!(
        mesh.normals,
        [Vec3::Z, Vec3::Z, Vec3::Z, Vec3::Y, Vec3::Y, Vec3::Y]
    );
    assert_eq!(mesh.positions[4], mesh.positions[2]);
    assert_eq!(mesh.positions[5], mesh.positions[0]);
}

#[test]
fn normals_of_deferred_polygons_stay_with_their_corners() {
    let text = format!("vn 1 0 0\nvn 0 1 0\nf 1//1 2//2 3//1 4//2\nf 1//1 2//2 3//1\n{SQUARE}");
    let mesh = read(&text);
    assert_eq!(mesh.triangles, [[0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    assert_eq!(mesh.normals, [Vec3::X, Vec3::Y, Vec3::X, Vec3::Y]);
}

#[test]
fn normals_of_only_some_corners_are_ignored() {
    let mesh = read(&format!("{SQUARE}vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n"));
    assert!(mesh.normals.is_empty());
    assert_eq!(mesh.triangles.len(), 2);
}

#[test]
fn errors_name_the_line_and_the_expected_content() {
    let cases = [
        (
            "v 0 0\nf 1 1 1\n",
            "line 1: \"v 0 0\"; expected three numbers",
        ),
        ("v 0 0 x\nf 1 1 1\n", "line 1: \"x\"; expected a number"),
        (
            "v 0 0 1e39\nf 1 1 1\n",
            "line 1: coordinate 1e39; expected a finite",
        ),
        (
            "v 0 NaN 0\nf 1 1 1\n",
            "line 1: coordinate NaN; expected a finite",
        ),
        (
            "v 0 0 0\nf 1 2 3\n",
            "line 2: vertex index 3; expected 1 to 1 or -1 to -1",
        ),
        (
            "v 0 0 0\nf 0 1 1\n",
            "line 2: vertex index 0; expected 1 to 1",
        ),
        (
            "v 0 0 0\nf -2 1 1\n",
            "line 2: vertex index -2; expected 1 to 1",
        ),
        (
            "v 0 0 0\nf 1 1 5000000000\n",
            "line 2: vertex index 5000000000; expected 1 to 1",
        ),
        (
            "v 0 0 0\nf 1 1/1/1/1 1\n",
            "line 2: \"1/1/1/1\"; expected a corner V, V/T, V//N or V/T/N",
        ),
        ("v 0 0 0\nf 1 one 1\n", "line 2: \"one\"; expected a corner"),
        (
            "v 0 0 0\nf 1 9999999999999999999 1\n",
            "line 2: \"9999999999999999999\"; expected a corner",
        ),
        (
            "# hello\n\nDear reader,\n",
            "line 3: \"Dear reader,\"; expected a line of OBJ",
        ),
        (
            "v 0 0 0\n",
            "1 vertices without a triangle; expected at least one",
        ),
        (
            "v 0 0 0\nf 1 1\n",
            "1 vertices without a triangle; expected at least one",
        ),
    ];
    for (text, expected) in cases {
        let message = try_read(text).expect_err(text).to_string();
        let expected = format!("it.obj: {expected}");
        assert!(message.starts_with(&expected), "{message}\n{expected}");
    }
}
