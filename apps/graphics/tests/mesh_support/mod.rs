//! Small writers of every mesh format for tests. The readers have to give back what they write.

#![allow(dead_code, reason = "each test program uses a part of this module")]

use glam::Vec3;
use raddle_graphics::file::FileError;
use raddle_graphics::mesh::{LoadOptions, Loaded, Mesh};

/// Returns `mesh` as a file in every format, with names that fit.
///
/// `mesh` has normals or none. Formats without normals leave them out.
pub(crate) fn every_format(mesh: &Mesh) -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("mesh.text.ply", ply_text(mesh)),
        ("mesh.little.ply", ply_binary(mesh, false)),
        ("mesh.big.ply", ply_binary(mesh, true)),
        ("mesh.obj", obj(mesh)),
        ("mesh.text.stl", stl_text(mesh)),
        ("mesh.binary.stl", stl_binary(mesh)),
        ("mesh.glb", glb(mesh)),
    ]
}

fn ply_header(mesh: &Mesh, encoding: &str) -> String {
    let mut header = format!("ply\nformat {encoding} 1.0\ncomment written by a test\n");
    header += &format!("element vertex {}\n", mesh.positions.len());
    header += "property float x\nproperty float y\nproperty float z\n";
    if !mesh.normals.is_empty() {
        header += "property float nx\nproperty float ny\nproperty float nz\n";
    }
    header += &format!("element face {}\n", mesh.triangles.len());
    header + "property list uchar int vertex_indices\nend_header\n"
}

/// Returns a vertex with its normal, if there is one.
fn vertex_values(mesh: &Mesh, index: usize) -> Vec<f32> {
    let normal = mesh.normals.get(index);
    let vectors = std::iter::once(&mesh.positions[index]).chain(normal);
    vectors.flat_map(|vector| vector.to_array()).collect()
}

pub(crate) fn ply_text(mesh: &Mesh) -> Vec<u8> {
    let mut text = ply_header(mesh, "ascii");
    for index in 0..mesh.positions.len() {
        for value in vertex_values(mesh, index) {
            text += &format!("{value} ");
        }
        text += "\n";
    }
    for [a, b, c] in &mesh.triangles {
        text += &format!("3 {a} {b} {c}\n");
    }
    text.into_bytes()
}

pub(crate) fn ply_binary(mesh: &Mesh, big: bool) -> Vec<u8> {
    let encoding = ["binary_little_endian", "binary_big_endian"][usize::from(big)];
    let mut bytes = ply_header(mesh, encoding).into_bytes();
    let mut put = |word: u32| {
        bytes.extend(if big {
            word.to_be_bytes()
        } else {
            word.to_le_bytes()
        });
    };
    for index in 0..mesh.positions.len() {
        for value in vertex_values(mesh, index) {
            put(value.to_bits());
        }
    }
    for triangle in &mesh.triangles {
        bytes.push(3);
        for &corner in triangle {
            bytes.extend(if big {
                corner.to_be_bytes()
            } else {
                corner.to_le_bytes()
            });
        }
    }
    bytes
}

pub(crate) fn obj(mesh: &Mesh) -> Vec<u8> {
    let mut text = String::from("# written by a test\no mesh\n");
    for Vec3 { x, y, z } in &mesh.positions {
        text += &format!("v {x} {y} {z}\n");
    }
    for Vec3 { x, y, z } in &mesh.normals {
        text += &format!("vn {x} {y} {z}\n");
    }
    for triangle in &mesh.triangles {
        text += "f";
        for corner in triangle.map(|corner| corner + 1) {
            match mesh.normals.is_empty() {
                true => text += &format!(" {corner}"),
                false => text += &format!(" {corner}//{corner}"),
            }
        }
        text += "\n";
    }
    text.into_bytes()
}

pub(crate) fn stl_text(mesh: &Mesh) -> Vec<u8> {
    let mut text = String::from("solid written by a test\n");
    for index in 0..mesh.triangles.len() {
        text += "  facet normal 0 0 0\n    outer loop\n";
        for Vec3 { x, y, z } in mesh.triangle(index) {
            text += &format!("      vertex {x} {y} {z}\n");
        }
        text += "    endloop\n  endfacet\n";
    }
    text += "endsolid written by a test\n";
    text.into_bytes()
}

pub(crate) fn stl_binary(mesh: &Mesh) -> Vec<u8> {
    let mut bytes = vec![b' '; 80];
    bytes.extend((mesh.triangles.len() as u32).to_le_bytes());
    for index in 0..mesh.triangles.len() {
        let points = std::iter::once(Vec3::ZERO).chain(mesh.triangle(index));
        for value in points.flat_map(|point| point.to_array()) {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend([0, 0]);
    }
    bytes
}

/// Writes binary glTF with one node, and with the narrowest indices that suffice.
pub(crate) fn glb(mesh: &Mesh) -> Vec<u8> {
    let vertex_count = mesh.positions.len();
    let mut binary: Vec<u8> = Vec::new();
    let vectors = mesh.positions.iter().chain(&mesh.normals);
    binary.extend(
        vectors
            .flat_map(|it| it.to_array())
            .flat_map(f32::to_le_bytes),
    );
    let vector_bytes = binary.len();
    let (index_type, index_bytes) = match vertex_count {
        ..256 => (5121, 1),
        256..65_536 => (5123, 2),
        _ => (5125, 4),
    };
    for &corner in mesh.triangles.iter().flatten() {
        binary.extend(&corner.to_le_bytes()[..index_bytes]);
    }
    let (normal, normal_accessor) = match mesh.normals.is_empty() {
        true => (String::new(), String::new()),
        false => (
            String::from(",\"NORMAL\":2"),
            format!(
                ",{{\"bufferView\":0,\"byteOffset\":{},\"componentType\":5126,\
                 \"count\":{vertex_count},\
                 \"type\":\"VEC3\"}}",
                12 * vertex_count
            ),
        ),
    };
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"scene\":0,\"scenes\":[{{\"nodes\":[0]}}],\
         \"nodes\":[{{\"mesh\":0}}],\
         \"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0{normal}}\
         },\"indices\":1}}]}}],\
         \"buffers\":[{{\"byteLength\":{}}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":{vector_bytes}}},\
         {{\"buffer\":0,\"byteOffset\":{vector_bytes},\"byteLength\":{}}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\
         \"count\":{vertex_count},\"type\":\"VEC3\"}},\
         {{\"bufferView\":1,\"componentType\":{index_type},\"count\":{},\"type\":\"SCALAR\"}}\
         {normal_accessor}]}}",
        binary.len(),
        binary.len() - vector_bytes,
        3 * mesh.triangles.len(),
    );
    glb_file(&json, &binary)
}

/// Writes the container of binary glTF around a JSON text and a binary chunk.
pub(crate) fn glb_file(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = binary.to_vec();
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    let length = 12 + 8 + json.len() + 8 + binary.len();
    bytes.extend([2, length as u32].map(u32::to_le_bytes).concat());
    bytes.extend((json.len() as u32).to_le_bytes());
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}

/// Reads a file of known length.
pub(crate) fn try_read(name: &str, bytes: &[u8]) -> Result<Loaded, FileError> {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, name, &LoadOptions::default(), |_| ())
}

/// Reads a valid file.
#[track_caller]
pub(crate) fn read(name: &str, bytes: impl AsRef<[u8]>) -> Loaded {
    try_read(name, bytes.as_ref()).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the counts of ignored content that are not zero.
pub(crate) fn ignored(loaded: &Loaded) -> Vec<(&'static str, u64)> {
    let counts = loaded.report.ignored.counts();
    counts.into_iter().filter(|(_, count)| *count > 0).collect()
}
