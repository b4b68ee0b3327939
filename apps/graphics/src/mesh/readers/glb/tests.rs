//! Tests of the scenes that binary glTF can describe, and of the errors.

use glam::Vec3;

use crate::file::FileError;
use crate::mesh::{LoadOptions, Loaded, Mesh};

/// Creates a file with the given JSON members around `binary`.
fn file(members: &str, binary: &[u8]) -> Vec<u8> {
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"buffers\":[{{\"byteLength\":{}}}],{members}}}",
        binary.len()
    );
    container(json.as_bytes(), binary)
}

fn container(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut bytes = b"glTF\x02\0\0\0".to_vec();
    bytes.extend((28 + json.len() as u32 + binary.len() as u32).to_le_bytes());
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", binary)] {
        bytes.extend((chunk.len() as u32).to_le_bytes());
        bytes.extend(kind);
        bytes.extend(chunk);
    }
    bytes
}

fn try_read(bytes: &[u8]) -> Result<Loaded, FileError> {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, "it.glb", &LoadOptions::default(), |_| ())
}

fn read(members: &str, binary: &[u8]) -> Mesh {
    try_read(&file(members, binary))
        .unwrap_or_else(|error| panic!("{error}"))
        .mesh
}

fn floats(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// Returns the corners of a square, as floats.
fn square() -> Vec<u8> {
    floats(&[0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0.])
}

/// One view on everything, and four points.
const POINTS: &str = "\"bufferViews\":[{\"buffer\":0,\"byteLength\":48}],\
    \"accessors\":[{\"bufferView\":0,\
    \"componentType\":5126,\"count\":4,\"type\":\"VEC3\"}]";

fn mesh(primitive: &str) -> String {
    format!("\"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}}{primitive}}}]}}]")
}

#[test]
fn modes_make_triangles_of_points_without_indices() {
    let cases: [(&str, &[[u32; 3]]); 3] = [
        (",\"mode\":4", &[[0, 1, 2]]),
        (",\"mode\":5", &[[0, 1, 2], [2, 1, 3]]),
        (",\"mode\":6", &[[0, 1, 2], [0, 2, 3]]),
    ];
    for (mode, expected) in cases {
        let triangles = read(&format!("{},{POINTS}", mesh(mode)), &square()).triangles;
        assert_eq!(triangles, expected, "{mode}");
    }
    let lines = format!("{},{POINTS}", mesh(",\"mode\":1"));
    let message = try_read(&file(&lines, &square()))
        .expect_err("lines only")
        .to_string();
    assert!(message.contains("without a triangle"), "{message}");
}

#[test]
fn transformations_of_nested_nodes_are_combined() {
    let nodes = "\"scene\":1,\"scenes\":[{\"nodes\":[]},{\"nodes\":[2]}],\"nodes\":[\
        {\"mesh\":0,\"translation\":[10,0,0]},\
        {\"mesh\":0,\"matrix\":[0,1,0,0,-1,0,0,0,0,0,1,0,0,0,5,1]},\
        {\"children\":[0,1],\"scale\":[2,2,2],\"rotation\":[0,0,1,0]},\
        {\"mesh\":0,\"translation\":[1000,0,0]}]";
    let all = format!("{nodes},{},{POINTS}", mesh(""));
    let mesh = read(&all, &square());
    assert_eq!(mesh.triangles, [[0, 1, 2], [4, 5, 6]]);
    let expected = [
        Vec3::new(-20., 0., 0.),
        Vec3::new(-22., 0., 0.),
        Vec3::new(-22., -2., 0.),
        Vec3::new(-20., -2., 0.),
        Vec3::new(0., 0., 10.),
        Vec3::new(0., -2., 10.),
        Vec3::new(2., -2., 10.),
        Vec3::new(2., 0., 10.),
    ];
    for (found, expected) in mesh.positions.iter().zip(expected) {
        assert!(found.abs_diff_eq(expected, 1e-5), "{found} {expected}");
    }
}

#[test]
fn a_mirror_reverses_triangles_and_turns_normals_with_the_surface() {
    let members = "\"nodes\":[{\"mesh\":0,\"scale\":[-2,1,3]}],\
        \"meshes\":[{\"primitives\":[{\"attributes\":\
        {\"POSITION\":0,\"NORMAL\":1}}]}],\
        \"bufferViews\":[{\"buffer\":0,\"byteLength\":72}],\"accessors\":[\
        {\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},\
        {\"bufferView\":0,\"byteOffset\":36,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}]";
    let slope = [0.6, 0.0, 0.8];
    let points = [0., 0., 0., 0.8, 0., -0.6, 0., 1., 0.];
    let binary = floats(&[&points[..], &slope, &slope, &slope].concat());
    let mesh = read(members, &binary);
    let [a, b, c] = mesh.triangle(0);
    let face = (b - a).cross(c - a).normalize();
    for normal in &mesh.normals {
        assert!(normal.abs_diff_eq(face, 1e-5), "{normal} {face}");
    }
    assert!(face.x < 0.0 && face.z > 0.0, "{face}");
}

#[test]
fn primitives_without_normals_get_computed_ones_beside_others_that_have_them() {
    let members = format!(
        "\"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0,\"NORMAL\":1}}}},\
         {{\"attributes\":{{\"POSITION\":0}}}}]}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":72}}],\
         \"accessors\":[{0}}},{0},\"byteOffset\":36}}]",
        "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\""
    );
    let mut values = vec![0., 0., 0., 1., 0., 0., 0., 1., 0.];
    values.extend([1., 0., 0., 1., 0., 0., 1., 0., 0.]);
    let mesh = read(&members, &floats(&values));
    let [x, z] = [Vec3::X, Vec3::Z];
    assert_eq!(mesh.normals, [x, x, x, z, z, z]);
}

#[test]
fn small_integers_strides_and_sparse_values_are_read() {
    // Four points of three bytes and a byte of padding. An index and a point replace the last one.
    let mut binary = vec![0, 0, 0, 9, 127, 0, 0, 9, 127, 127, 0, 9, 0, 129, 0, 9];
    binary.extend([3, 0, 0, 0, 0, 127, 0, 0]);
    let members = format!(
        "{},\"bufferViews\":[{{\"buffer\":0,\"byteLength\":16,\"byteStride\":4}},\
         {{\"buffer\":0,\"byteOffset\":16,\"byteLength\":8}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5120,\"normalized\":true,\
         \"count\":4,\"type\":\"VEC3\",\
         \"sparse\":{{\"count\":1,\"indices\":{{\"bufferView\":1,\"componentType\":5121}},\
         \"values\":{{\"bufferView\":1,\"byteOffset\":4}}}}}}]",
        mesh(",\"mode\":6")
    );
    let mesh = read(&members, &binary);
    let expected = [Vec3::ZERO, Vec3::X, Vec3::new(1., 1., 0.), Vec3::Y];
    assert_eq!(mesh.positions, expected);
    // Without a view all points are zero, except for the two that the sparse values replace.
    let without_view = members
        .replacen("\"bufferView\":0,", "", 1)
        .replace("\"sparse\":{\"count\":1", "\"sparse\":{\"count\":2")
        .replace(
            "\"byteOffset\":16,\"byteLength\":8",
            "\"byteOffset\":16,\"byteLength\":12",
        );
    let mut binary = binary[..16].to_vec();
    binary.extend([1, 2, 0, 0, 127, 0, 0, 0, 127, 0, 0, 0]);
    let mesh = read(&without_view, &binary);
    assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::ZERO]);
}

#[test]
fn errors_name_the_byte_and_the_expected_content() {
    let good = format!("{},{POINTS}", mesh(""));
    assert!(try_read(&file(&good, &square())).is_ok());
    let nodes = "\"nodes\":[{\"mesh\":0,\"children\":[0]}],\"scenes\":[{\"nodes\":[0]}],";
    let cases = [
        (
            good.replace("\"count\":4", "\"count\":5"),
            "accessor 0: 5 items of 12 bytes from byte 0 of a view of 48",
        ),
        (
            good.replace("\"count\":4", "\"count\":18446744073709551615"),
            "18446744073709551615 more vertices after 0; expected at most",
        ),
        (
            good.replace("th\":48}]", "th\":49}]"),
            "accessor 0: a view of 49 bytes from byte 0 of 48",
        ),
        (
            good.replace("\"bufferView\":0,", "\"bufferView\":7,"),
            "accessor 0: view 7 of 1",
        ),
        (
            good.replace("\"bufferView\":0,", ""),
            "all of zero area; expected at least one triangle",
        ),
        (
            good.replace("\"count\":4", "\"count\":9999")
                .replace("\"bufferView\":0,", ""),
            "9999 items that are not in the file",
        ),
        (
            good.replace("\"POSITION\":0", "\"POSITION\":3"),
            "accessor 3; expected one below 1",
        ),
        (
            good.replace("VEC3", "VEC4"),
            "accessor 0 of another type; expected VEC3",
        ),
        (
            good.replace("5126", "5124"),
            "accessor 0 of another type; expected VEC3",
        ),
        (
            good.replace("\"buffer\":0", "\"buffer\":1"),
            "data of buffer 1, which is in another file",
        ),
        (
            format!("{nodes}{good}"),
            "node 0 in two places of the scene; expected a tree of nodes",
        ),
        (
            format!(
                "{}{good}",
                nodes.replace("\"children\":[0]", "\"children\":[4]")
            ),
            "node 4; expected one below 1",
        ),
        (
            format!(
                "{}{good}",
                nodes.replace("\"mesh\":0,\"children\":[0]", "\"mesh\":8")
            ),
            "mesh 8; expected one below 1",
        ),
        (
            good.replace("}}]}]", "},\"mode\":9}]}]"),
            "a primitive of an unknown mode; expected a mode from 0 to 6",
        ),
        (
            format!("\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],{good}"),
            "required extension \"KHR_draco",
        ),
        (
            good.replace(":48", ":forty"),
            "JSON that cannot be parsed: expected ident at line 1 column",
        ),
    ];
    for (members, expected) in cases {
        // Vertices without a view are legal. They are all zero, so the mesh has no area.
        let outcome = try_read(&file(&members, &square()));
        let message = match outcome {
            Ok(loaded) => format!("{} vertices", loaded.report.vertex_count),
            Err(error) => error.to_string(),
        };
        assert!(message.contains(expected), "{message}\n{expected}");
    }
}

/// Asserts that reading fails at byte `offset` of the binary chunk with a message that begins with
/// `problem`.
#[track_caller]
fn assert_error_at(members: &str, binary: &[u8], offset: usize, problem: &str) {
    let bytes = file(members, binary);
    let place = bytes.len() - binary.len() + offset;
    let message = try_read(&bytes).expect_err("bad data").to_string();
    let expected = format!("it.glb: byte {place}: {problem}");
    assert!(message.starts_with(&expected), "{message}\n{expected}");
}

#[test]
fn bad_coordinates_and_indices_are_found_in_the_binary_chunk() {
    let good = format!("{},{POINTS}", mesh(""));
    let mut binary = square();
    binary[20..24].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_error_at(&good, &binary, 12, "coordinate NaN; expected");

    let indexed = good
        .replace("},\"mode", "},\"indices\":1,\"mode")
        .replace(
            "\"VEC3\"}]",
            "\"VEC3\"},{\"bufferView\":0,\"byteOffset\":36,\"componentType\":5123,\
             \"count\":3,\"type\":\"SCALAR\"}]",
        )
        .replace("\"POSITION\":0}", "\"POSITION\":0},\"indices\":1");
    let mut binary = square();
    binary[38..40].copy_from_slice(&4_u16.to_le_bytes());
    assert_error_at(
        &indexed,
        &binary,
        38,
        "vertex index 4; expected one below 4",
    );
}

#[test]
fn broken_containers_are_errors() {
    let whole = file(&format!("{},{POINTS}", mesh("")), &square());
    for length in 4..whole.len() {
        try_read(&whole[..length]).expect_err("the file is truncated");
    }
    let mut later = whole.clone();
    later[4] = 3;
    let message = try_read(&later).expect_err("a later version").to_string();
    assert_eq!(
        message,
        "it.glb: byte 4: version 3 of binary glTF; expected version 2"
    );
    let mut longer = whole.clone();
    longer[12..16].copy_from_slice(&u32::MAX.to_le_bytes());
    let message = try_read(&longer)
        .expect_err("a chunk is too long")
        .to_string();
    assert!(
        message.starts_with("it.glb: byte 12: a chunk of 4294967295 bytes; expected"),
        "{message}"
    );
    let mut other = whole;
    other[16..20].copy_from_slice(b"NOPE");
    let message = try_read(&other)
        .expect_err("the first chunk is not JSON")
        .to_string();
    assert!(
        message.starts_with("it.glb: byte 12: a first chunk \"NOPE\"; expected \"JSON\""),
        "{message}"
    );
}
