//! Tests of the variants of STL files, and of the errors.

use crate::file::FileError;
use crate::mesh::{LoadOptions, Loaded, Mesh};

fn try_read(bytes: &[u8]) -> Result<Loaded, FileError> {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, "it.stl", &LoadOptions::default(), |_| ())
}

const FACET: &str = "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 0\n";

#[test]
fn text_may_contain_several_solids_polygons_capitals_and_wrong_normals() {
    let text = format!(
        "solid a b c\n{FACET}endloop\nendfacet\nendsolid a b c\nSOLID\nFACET NORMAL nan x 1e999\n\
         OUTER LOOP VERTEX 0 0 0 VERTEX 1 0 0 VERTEX 1 1 0 VERTEX -0 1e0 0 \
         ENDLOOP ENDFACET\nENDSOLID\n"
    );
    let loaded = try_read(text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(loaded.mesh.triangles, [[0, 1, 2], [0, 1, 2], [0, 2, 3]]);
    assert_eq!(loaded.mesh.positions.len(), 4);
    assert!(loaded.mesh.normals.is_empty());
}

#[test]
fn errors_in_text_name_the_line_and_the_expected_content() {
    let cases = [
        (
            "solid\n".to_owned(),
            "0 vertices without a triangle; expected at least one",
        ),
        (
            "solid\nfact\n".to_owned(),
            "line 2: \"fact\"; expected \"facet\" or \"endsolid\"",
        ),
        (
            "solid\nend facet\n".to_owned(),
            "line 2: \"facet\"; expected \"solid\"",
        ),
        (
            "solid\nendsolid\n".to_owned(),
            "0 vertices without a triangle; expected at least one",
        ),
        (
            "solid\nfacet abnormal\n".to_owned(),
            "line 2: \"abnormal\"; expected \"normal\"",
        ),
        (
            format!("solid\n{FACET}"),
            "line 6: the end of the file; expected \"vertex\" or \"endloop\"",
        ),
        (
            format!("solid\n{FACET}vertex 1 2"),
            "line 7: the end of the file; expected a coordinate",
        ),
        (
            format!("solid\n{FACET}vertex 1 2 three"),
            "line 7: \"three\"; expected a coordinate",
        ),
        (
            format!("solid\n{FACET}vertex 1 inf 3"),
            "line 7: coordinate inf; expected a finite",
        ),
        (
            format!("solid\n{FACET}endfacet"),
            "line 7: \"endfacet\"; expected \"vertex\" or \"endloop\"",
        ),
        (
            format!("solid\n{FACET}endloop\nfacet"),
            "line 8: \"facet\"; expected \"endfacet\"",
        ),
        (
            format!("solid\n{FACET}end loop\nend solid"),
            "line 8: \"solid\"; expected \"facet\"",
        ),
    ];
    for (text, expected) in cases {
        let message = try_read(text.as_bytes()).expect_err(&text).to_string();
        let expected = format!("it.stl: {expected}");
        assert!(message.starts_with(&expected), "{message}\n{expected}");
    }
}

fn binary(count: u32, values: &[f32]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend(count.to_le_bytes());
    for triangle in values.chunks(9) {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flat_map(|value| value.to_le_bytes()));
        bytes.extend([7, 7]);
    }
    bytes
}

#[test]
fn errors_in_binary_name_the_byte_and_the_expected_content() {
    let sound = [0., 0., 0., 1., 0., 0., 0., 1., 0.];
    let bad = [0., 0., 0., 1., 0., 0., 0., f32::NEG_INFINITY, 0.];
    let cases = [
        (
            binary(1, &sound)[..60].to_vec(),
            "byte 60: the end of the file; expected a header of 80 bytes",
        ),
        (
            binary(1, &sound)[..82].to_vec(),
            "byte 82: the end of the file; expected the number of triangles",
        ),
        (
            binary(1, &sound)[..133].to_vec(),
            "byte 133: the end of the file; expected 1 triangles of 50",
        ),
        (
            binary(u32::MAX, &sound),
            "byte 134: the end of the file; expected 4294967295 triangles",
        ),
        (
            binary(2, &[sound, bad].concat()),
            "byte 134: coordinate -inf; expected a finite number",
        ),
        (
            binary(0, &[]),
            "0 vertices without a triangle; expected at least one triangle",
        ),
    ];
    for (bytes, expected) in cases {
        let message = try_read(&bytes).expect_err(expected).to_string();
        let expected = format!("it.stl: {expected}");
        assert!(message.starts_with(&expected), "{message}\n{expected}");
    }
}
