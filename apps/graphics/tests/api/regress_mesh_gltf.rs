//! Regression tests with binary glTF that other programs write and read, and that our reader
//! rejected or misread.
//!
//! The whole JSON had to follow the specification, so a broken animation made the mesh unreadable.
//! Instances, joints and the weights of morph targets were silently ignored.

use crate::mesh_support::{glb_file, ignored, read, try_read};
use glam::Vec3;

const SQUARE: [[u32; 3]; 2] = [[0, 1, 2], [0, 2, 3]];

/// Members of a glTF file that show a square of four points and six 16-bit indices.
const GLTF: &str = "\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],\
    \"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0},\"indices\":1}]}],\
    \"bufferViews\":[{\"buffer\":0,\"byteLength\":48},\
    {\"buffer\":0,\"byteOffset\":48,\"byteLength\":12}],\
    \"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":4,\"type\":\"VEC3\"},\
    {\"bufferView\":1,\"componentType\":5123,\"count\":6,\"type\":\"SCALAR\"}]";

fn square_bytes() -> Vec<u8> {
    let points = [0., 0., 0., 1., 0., 0., 1., 1., 0., 0., 1., 0_f32];
    let mut bytes: Vec<u8> = points.iter().flat_map(|it| it.to_le_bytes()).collect();
    bytes.extend(
        SQUARE
            .iter()
            .flatten()
            .flat_map(|it| (*it as u16).to_le_bytes()),
    );
    bytes
}

#[test]
fn parts_of_gltf_that_no_mesh_needs_do_not_matter() {
    let node = "\"nodes\":[{\"mesh\":0}],\"buffers\":[{\"byteLength\":60}]";
    for more in [
        "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"path\":\"translation\"}}],\
         \"samplers\":[{}]}]",
        "\"animations\":[{\"channels\":[{\"target\":\
         {\"path\":\"pointer\",\"extensions\":{\"x\":[]}}}]}]",
        "\"cameras\":[{\"type\":\"fisheye\"}],\"materials\":[{\"alphaMode\":\"SPARKLE\"}]",
        "\"images\":[{}],\"textures\":7,\"samplers\":[{\"wrapS\":-1}],\
         \"extensionsUsed\":[\"ANY_thing\"]",
        "\"extensions\":{\"KHR_lights_punctual\":{\"lights\":[{\"type\":\"laser\"}]}},\
         \"extras\":null",
        "\"extensionsRequired\":[\"KHR_animation_pointer\",\"KHR_materials_unlit\"]",
    ] {
        let file = glb_file(&format!("{{{GLTF},{node},{more}}}"), &square_bytes());
        assert_eq!(read("it.glb", file).mesh.triangles, SQUARE, "{more}");
    }
    let plain = format!("{{{GLTF},{node}}}");
    let float = plain.replace("\"count\":4", "\"count\":4.0");
    assert_eq!(
        read("it.glb", glb_file(&float, &square_bytes()))
            .mesh
            .triangles,
        SQUARE
    );
    for wrong in ["4.5", "-4", "-4.0", "1e300", "\"4\""] {
        let json = plain.replace("\"count\":4", &format!("\"count\":{wrong}"));
        let error = try_read("it.glb", &glb_file(&json, &square_bytes())).expect_err(wrong);
        assert!(error.to_string().contains("expected"), "{error}");
    }
    for json in [
        format!("\u{feff}{plain}"),
        format!("{plain}\0\0\0\0\0"),
        plain.replace(',', ",\r\n\t"),
    ] {
        assert_eq!(
            read("it.glb", glb_file(&json, &square_bytes()))
                .mesh
                .triangles,
            SQUARE
        );
    }
    // The length in the header counts bytes that the file does not have.
    let mut long = glb_file(&plain, &square_bytes());
    let length = long.len() as u32 + 4;
    long[8..12].copy_from_slice(&length.to_le_bytes());
    assert_eq!(read("it.glb", long).mesh.triangles, SQUARE);
}

#[test]
fn buffers_of_gltf_may_be_data_uris() {
    let uri =
        |bytes: &str| format!("\"nodes\":[{{\"mesh\":0}}],\"buffers\":[{{\"uri\":\"{bytes}\"}}]");
    let data = "AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAACAPwAAgD8AAAAAAAAAAAAAgD8AAAAAAAABAAIAAAACAAMA";
    let file = |uri: String| glb_file(&format!("{{{GLTF},{uri}}}"), b"");
    let good = file(uri(&format!("data:application/octet-stream;base64,{data}")));
    let mesh = read("it.glb", good).mesh;
    assert_eq!(mesh.triangles, SQUARE);
    assert_eq!(mesh.positions[2], Vec3::new(1.0, 1.0, 0.0));
    for (bytes, expected) in [
        (format!("data:;base64,{}", &data[..60]), "of 45"),
        (format!("data:;base64,?{data}"), "a URI that is not base64"),
        (format!("data:,{data}"), "a URI that is not base64"),
        ("mesh.bin".to_owned(), "in another file"),
    ] {
        let error = try_read("it.glb", &file(uri(&bytes))).expect_err(&bytes);
        assert!(error.to_string().contains(expected), "{error}");
    }
}

/// Appends numbers to the binary data and describes them by a view and an accessor of type `kind`.
fn with_floats(
    json: &str,
    binary: &mut Vec<u8>,
    kind: &str,
    count: usize,
    values: &[f32],
) -> String {
    let offset = binary.len();
    binary.extend(values.iter().flat_map(|value| value.to_le_bytes()));
    let view = json.matches("\"byteLength\"").count();
    let json = json.replacen(
        "],\"accessors\"",
        &format!(
            ",{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":{}}}],\"accessors\"",
            4 * values.len()
        ),
        1,
    );
    let accessor = format!(
        ",{{\"bufferView\":{view},\"componentType\":5126,\"count\":{count},\"type\":\"{kind}\"}}]"
    );
    let end = json.rfind(']').expect("the list of accessors");
    format!("{}{accessor}{}", &json[..end], &json[end + 1..])
}

#[test]
fn instances_have_their_own_transformations() {
    let mut binary = square_bytes();
    let moves = [0., 0., 0., 3., 0., 0., 6., 0., 0.];
    let json = with_floats(GLTF, &mut binary, "VEC3", 3, &moves);
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let turns = [0., 0., 0., 1., 0., 0., half, half, 0., 0., 1., 0.];
    let json = with_floats(&json, &mut binary, "VEC4", 3, &turns);
    let json = with_floats(
        &json,
        &mut binary,
        "VEC3",
        3,
        &[1., 1., 1., 2., 2., 2., 1., 1., 1.],
    );
    for required in ["", ",\"extensionsRequired\":[\"EXT_mesh_gpu_instancing\"]"] {
        let nodes = "\"nodes\":[{\"mesh\":0,\"translation\":[0,0,9],\
            \"extensions\":{\"EXT_mesh_gpu_instancing\":\
            {\"attributes\":{\"TRANSLATION\":2,\"ROTATION\":3,\"SCALE\":4,\"_ID\":7}}}}]";
        let mesh = read(
            "it.glb",
            glb_file(&format!("{{{json},{nodes}{required}}}"), &binary),
        )
        .mesh;
        assert_eq!(mesh.triangles.len(), 6);
        let corners = [2, 4].map(|triangle| mesh.triangle(triangle)[1]);
        let expected = [Vec3::new(3.0, 2.0, 9.0), Vec3::new(5.0, 0.0, 9.0)];
        for (corner, expected) in corners.iter().zip(expected) {
            assert!(corner.abs_diff_eq(expected, 1e-5), "{corner} {expected}");
        }
    }
}

#[test]
fn joints_position_a_skinned_mesh_and_its_node_does_not() {
    let mut binary = square_bytes();
    // All points are bound to the second joint, except for the last one, which is bound to both
    // joints.
    let joints = [1., 0., 0., 0.].repeat(4);
    let bytes: Vec<u8> = joints.iter().map(|joint| *joint as u8).collect();
    let offset = binary.len();
    binary.extend([bytes, vec![0; 4]].concat());
    let view =
        format!(",{{\"buffer\":0,\"byteOffset\":{offset},\"byteLength\":16}}],\"accessors\"");
    let json = GLTF.replacen("],\"accessors\"", &view, 1);
    let end = json.rfind(']').expect("the accessors");
    let json = format!(
        "{},{{\"bufferView\":2,\"componentType\":5121,\"count\":4,\"type\":\"VEC4\"}}]",
        &json[..end]
    );
    let weights = [
        1., 0., 0., 0., 1., 0., 0., 0., 1., 0., 0., 0., 0.5, 0.5, 0., 0.,
    ];
    let json = with_floats(&json, &mut binary, "VEC4", 4, &weights);
    // The second joint was at x = 10 when the mesh was bound to it.
    let mut inverse = [[0.0; 16]; 2];
    for (matrix, x) in inverse.iter_mut().zip([0.0, -10.0]) {
        for axis in [0, 5, 10, 15] {
            matrix[axis] = 1.0;
        }
        matrix[12] = x;
    }
    let json = with_floats(&json, &mut binary, "MAT4", 2, inverse.as_flattened());
    let json = json.replace(
        "\"POSITION\":0",
        "\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":3",
    );
    let nodes = "\"nodes\":[{\"mesh\":0,\"skin\":0,\"translation\":[2,2,2]},\
        {\"translation\":[0,0,4],\"children\":[2]},{\"translation\":[10,2,0]}],\
        \"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":4}]";
    let mesh = read("it.glb", glb_file(&format!("{{{json},{nodes}}}"), &binary)).mesh;
    assert_eq!(mesh.triangles, SQUARE);
    let expected = [[0., 2., 4.], [1., 2., 4.], [1., 3., 4.], [0., 2., 4.]];
    assert_eq!(mesh.positions, expected.map(Vec3::from_array));
    // A joint that is not a node is an error, and a primitive without joints follows its node.
    let bad = nodes.replace("[1,2]", "[1,5]");
    let error = try_read("it.glb", &glb_file(&format!("{{{json},{bad}}}"), &binary));
    assert!(
        error
            .expect_err("no such node")
            .to_string()
            .contains("joint at node 5")
    );
    let rigid = json.replace(",\"JOINTS_0\":2", "");
    let mesh = read("it.glb", glb_file(&format!("{{{rigid},{nodes}}}"), &binary)).mesh;
    assert_eq!(mesh.positions[0], Vec3::splat(2.0));
}

#[test]
fn default_weights_of_morph_targets_are_the_rest_pose() {
    let mut binary = square_bytes();
    let up = [0., 0., 4.].repeat(4);
    let json = with_floats(GLTF, &mut binary, "VEC3", 4, &up);
    let json = with_floats(&json, &mut binary, "VEC3", 4, &[3., 0., 0.].repeat(4));
    let json = json.replace(
        "\"indices\":1}]",
        "\"indices\":1,\"targets\":[{\"POSITION\":2},{\"POSITION\":3}]}],\"weights\":[0.5,0]",
    );
    let nodes = |more: &str| format!("{{{json},\"nodes\":[{{\"mesh\":0{more}}}]}}");
    let first = |more: &str| {
        read("it.glb", glb_file(&nodes(more), &binary))
            .mesh
            .positions[0]
    };
    assert_eq!(first(""), Vec3::new(0.0, 0.0, 2.0));
    assert_eq!(first(",\"weights\":[0,1]"), Vec3::new(3.0, 0.0, 0.0));
    assert_eq!(first(",\"weights\":[]"), Vec3::ZERO);
}

#[test]
fn points_lines_and_broken_vertices_of_gltf_are_counted() {
    let json = GLTF.replace(
        "\"primitives\":[",
        "\"primitives\":[{\"attributes\":{\"POSITION\":0},\"mode\":0},\
         {\"attributes\":{\"POSITION\":0},\"mode\":3},",
    );
    let json = format!("{{{json},\"nodes\":[{{\"mesh\":0}}]}}");
    let loaded = read("it.glb", glb_file(&json, &square_bytes()));
    assert_eq!(ignored(&loaded), [("lines", 1), ("points", 1)]);
    // A fifth point, which no index refers to, is NaN.
    let mut binary = square_bytes();
    let points = [&binary[..48], &[0xff; 12]].concat();
    binary.splice(..48, points);
    let json = GLTF
        .replace("\"byteOffset\":48", "\"byteOffset\":60")
        .replace("\"byteLength\":48", "\"byteLength\":60")
        .replace("\"count\":4", "\"count\":5");
    let loaded = read(
        "it.glb",
        glb_file(&format!("{{{json},\"nodes\":[{{\"mesh\":0}}]}}"), &binary),
    );
    assert_eq!(ignored(&loaded), [("vertices", 1)]);
    assert_eq!(loaded.mesh.triangles, SQUARE);
}
