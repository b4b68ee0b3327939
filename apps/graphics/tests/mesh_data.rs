//! The real meshes under `RADDLE_DATA` load with the counts in their list.

use std::path::PathBuf;

use raddle_graphics::file::Compression;
use raddle_graphics::mesh::{Format, LoadOptions, Loaded, Mesh};

/// Returns the folder of real data.
fn data() -> PathBuf {
    let folder = std::env::var_os("RADDLE_DATA").expect(
        "RADDLE_DATA must name the folder with the real test data: \
         this test loads mesh/*.ply.zst from it",
    );
    PathBuf::from(folder)
}

fn load(name: &str) -> Loaded {
    let path = data().join("mesh").join(name);
    Mesh::load_with(&path, &LoadOptions::default(), |_| ())
        .unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_mesh_has_the_counts_of_the_list() {
    let expected = [
        ("stanford_bunny_69k.ply.zst", 69_451, 35_947, 0),
        ("stanford_dragon_871k.ply.zst", 871_414, 437_645, 108),
        ("stanford_dragon_res2.ply.zst", 202_520, 100_250, 0),
        ("sponza_atrium_66k.ply.zst", 66_450, 60_848, 6),
        ("cyberware_horse.ply.zst", 96_966, 48_485, 0),
        ("splash2_car.ply.zst", 46_648, 48_854, 0),
    ];
    for (name, triangles, vertices, degenerate) in expected {
        let Loaded { mesh, report, .. } = load(name);
        assert_eq!(report.triangle_count, triangles, "{name}");
        assert_eq!(report.vertex_count, vertices, "{name}");
        assert_eq!(report.degenerate_count, degenerate, "{name}");
        assert_eq!(report.format, Format::PlyLittleEndian, "{name}");
        assert_eq!(report.compression, Compression::Zstd, "{name}");
        assert_eq!(mesh.triangles.len(), triangles, "{name}");
        assert_eq!(mesh.positions.len(), vertices, "{name}");
        assert!(
            report.ignored.is_empty() && report.polygon_count == 0,
            "{name}"
        );
        assert!(!mesh.bounds().is_empty(), "{name}");
    }
}

#[test]
fn progress_ends_at_the_size_of_the_file() {
    let path = data().join("mesh/stanford_bunny_69k.ply.zst");
    let bytes = std::fs::metadata(&path)
        .expect("the bunny has a size")
        .len();
    let mut calls = Vec::new();
    let loaded = Mesh::load_with(&path, &LoadOptions::default(), |now| calls.push(now));
    let report = loaded.unwrap_or_else(|error| panic!("{error}")).report;
    assert_eq!(report.file_bytes, bytes);
    assert!(calls.is_sorted_by_key(|now| now.bytes_read));
    assert!(calls.iter().all(|now| now.bytes_total == Some(bytes)));
    assert_eq!(calls.last().expect("there are calls").bytes_read, bytes);
}
