//! Every format, with every compression, gives back the triangles that a test wrote into it.

use std::io::Write;

use crate::mesh_support::every_format;
use glam::{DVec3, Vec3};
use proptest::prelude::*;
use raddle_graphics::file::Compression;
use raddle_graphics::mesh::{LoadOptions, Loaded, Mesh};

/// Returns a box of twelve triangles over eight shared corners.
fn cube() -> Mesh {
    let positions = (0..8_u8).map(|bits| {
        let side = |bit: u8| if bits & bit == 0 { -1.5 } else { 0.25 };
        Vec3::new(side(1), side(2), side(4))
    });
    Mesh {
        positions: positions.collect(),
        normals: Vec::new(),
        triangles: vec![
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ],
    }
}

fn read(name: &str, bytes: &[u8]) -> Loaded {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, name, &LoadOptions::default(), |_| ())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the corners of all triangles, which do not depend on the numbering of vertices.
fn corners(mesh: &Mesh) -> Vec<[Vec3; 3]> {
    (0..mesh.triangles.len())
        .map(|index| mesh.triangle(index))
        .collect()
}

fn compressed(bytes: &[u8], compression: Compression) -> Vec<u8> {
    match compression {
        Compression::Gzip => {
            let mut encoder =
                flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder
                .write_all(bytes)
                .expect("writing to memory succeeds");
            encoder.finish().expect("writing to memory succeeds")
        }
        Compression::Zstd => zstd::encode_all(bytes, 1).expect("writing to memory succeeds"),
        _ => bytes.to_vec(),
    }
}

#[test]
fn every_format_in_every_compression_gives_the_same_triangles() {
    let mesh = cube();
    for (name, bytes) in every_format(&mesh) {
        for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
            let extension = ["", ".gz", ".zst"][compression as usize];
            let file = compressed(&bytes, compression);
            let loaded = read(&format!("{name}{extension}"), &file);
            assert_eq!(corners(&loaded.mesh), corners(&mesh), "{name}{extension}");
            assert_eq!(loaded.mesh.positions.len(), 8, "{name}{extension}");
            assert_eq!(loaded.report.compression, compression, "{name}{extension}");
            assert_eq!(
                loaded.report.file_bytes,
                file.len() as u64,
                "{name}{extension}"
            );
            assert_eq!(
                loaded.report.expanded_bytes,
                bytes.len() as u64,
                "{name}{extension}"
            );
            assert_eq!(loaded.report.ignored.trailing_bytes, 0, "{name}{extension}");
        }
    }
}

#[test]
fn formats_are_detected_without_a_name_and_with_a_wrong_one() {
    let mesh = cube();
    for (name, bytes) in every_format(&mesh) {
        let format = read(name, &bytes).report.format;
        for other in ["-", "mesh.obj", "mesh.stl", "mesh.ply", "mesh.glb"] {
            assert_eq!(
                read(other, &bytes).report.format,
                format,
                "{name} as {other}"
            );
        }
    }
}

#[test]
fn normals_are_read_if_the_format_has_them() {
    let mesh = cube().with_vertex_normals();
    for (name, bytes) in every_format(&mesh) {
        let back = read(name, &bytes).mesh;
        assert_eq!(corners(&back), corners(&mesh), "{name}");
        if name.ends_with("stl") {
            assert!(back.normals.is_empty(), "{name}");
            continue;
        }
        assert_eq!(back.normals.len(), mesh.normals.len(), "{name}");
        for (ours, theirs) in mesh.normals.iter().zip(&back.normals) {
            assert!(ours.abs_diff_eq(*theirs, 1e-6), "{name}: {ours} {theirs}");
        }
    }
}

#[test]
fn two_consecutive_compressed_parts_are_one_file() {
    let (_, bytes) = every_format(&cube()).swap_remove(1);
    let (front, back) = bytes.split_at(bytes.len() / 2);
    for compression in [Compression::Gzip, Compression::Zstd] {
        let mut file = compressed(front, compression);
        file.extend(compressed(back, compression));
        assert_eq!(read("mesh.ply", &file).mesh, cube());
    }
}

#[test]
fn bytes_after_the_end_are_counted_and_ignored() {
    for (name, mut bytes) in every_format(&cube()) {
        if name.ends_with("ply") || name.ends_with("binary.stl") || name.ends_with("glb") {
            bytes.extend([b'x'; 7]);
            let loaded = read(name, &bytes);
            assert_eq!(loaded.report.ignored.trailing_bytes, 7, "{name}");
            assert_eq!(corners(&loaded.mesh), corners(&cube()), "{name}");
        }
    }
}

#[test]
fn files_are_found_on_disk_and_a_pipe_needs_no_length() {
    let folder = std::env::temp_dir().join(format!("raddle-mesh-formats-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for (name, bytes) in every_format(&cube()) {
        let path = folder.join(name);
        std::fs::write(&path, &bytes).expect("a temporary file");
        let mesh = Mesh::load(&path).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(corners(&mesh), corners(&cube()), "{name}");
        let piped = Mesh::read(&bytes[..], None, name, &LoadOptions::default(), |_| ());
        let piped = piped.unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(piped.mesh, mesh, "{name}");
    }
    std::fs::remove_dir_all(&folder).expect("the folder is ours");
}

/// Generates meshes that a file can contain: some vertices, and some triangles over them, not all
/// without area.
fn meshes() -> impl Strategy<Value = Mesh> {
    let number = prop_oneof![
        -1e3_f32..1e3,
        Just(0.0),
        Just(1e-30),
        Just(-1e12),
        prop::num::f32::NORMAL.prop_filter("in range", |value| value.abs() <= 1e12),
    ];
    let position = [number.clone(), number.clone(), number].prop_map(Vec3::from_array);
    prop::collection::vec(position, 1..400)
        .prop_flat_map(|positions| {
            let corner = 0..positions.len() as u32;
            let triangle = [corner.clone(), corner.clone(), corner];
            prop::collection::vec(triangle, 1..100).prop_map(move |triangles| Mesh {
                positions: positions.clone(),
                normals: Vec::new(),
                triangles,
            })
        })
        .prop_filter("some area", |mesh| {
            mesh.degenerate_count() < mesh.triangles.len()
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_mesh_comes_back_from_every_format(mesh in meshes()) {
        for (name, bytes) in every_format(&mesh) {
            let loaded = read(name, &bytes);
            let offset = loaded.report.offset;
            if offset == DVec3::ZERO {
                prop_assert_eq!(corners(&loaded.mesh), corners(&mesh), "{}", name);
                let degenerate_count = loaded.report.degenerate_count;
                prop_assert_eq!(degenerate_count, mesh.degenerate_count(), "{}", name);
                continue;
            }
            // The mesh is far from the origin for its size. Only narrowing the coordinates after
            // subtracting the offset rounds.
            let close = 1e-6 * f64::from(mesh.bounds().extent().max_element());
            for (found, expected) in corners(&loaded.mesh).iter().zip(corners(&mesh)) {
                for (found, expected) in found.iter().zip(expected) {
                    let found = found.as_dvec3() + offset;
                    prop_assert!((found - expected.as_dvec3()).abs().max_element() <= close);
                }
            }
        }
    }
}
