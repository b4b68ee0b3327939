//! Regression tests with small compressed files of binary glTF that took hundreds of megabytes
//! before they were rejected.
//!
//! 390 kB of gzip with a JSON chunk of 400 MB of blanks took 430 MB, and 12 kB with four million
//! empty nodes took 2.5 GB. The JSON, its objects and the binary chunk have limits now.

mod mesh_support;

use std::io::Write;

use mesh_support::{glb_file, read, try_read};

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).expect("writing to memory succeeds");
    packer.finish().expect("writing to memory succeeds")
}

#[track_caller]
fn assert_rejected(name: &str, file: &[u8], parts: &[&str]) {
    let error = try_read(name, file).expect_err("too large").to_string();
    for part in parts {
        assert!(error.contains(part), "{part:?} is missing: {error}");
    }
}

#[test]
fn a_chunk_of_json_beyond_the_limit_is_rejected_before_it_is_read() {
    let mut file = glb_file("{}", b"");
    let length = (128_u32 << 20) + 1;
    file[8..12].copy_from_slice(&(length + 20).to_le_bytes());
    file[12..16].copy_from_slice(&length.to_le_bytes());
    let parts = [
        "a chunk of 134217729 bytes of JSON; expected at most 134217728 bytes",
        "byte 12: ",
    ];
    assert_rejected("it.glb", &file, &parts);
    assert_rejected("it.glb.gz", &packed(&file), &parts);
    // One byte less is accepted, as long as the bytes exist.
    file[8..12].copy_from_slice(&(length + 19).to_le_bytes());
    file[12..16].copy_from_slice(&(length - 1).to_le_bytes());
    assert_rejected("it.glb.gz", &packed(&file), &["the end of the file"]);
}

#[test]
fn small_compressed_files_of_gltf_take_little_memory() {
    let blanks = glb_file(&format!("{{}}{}", " ".repeat(32 << 20)), b"");
    assert_rejected(
        "it.glb.gz",
        &packed(&blanks),
        &["JSON of ", "expected at most 4194304 and 64"],
    );
    let nodes = glb_file(
        &format!("{{\"nodes\":[{}{{}}]}}", "{},".repeat(1 << 18)),
        b"",
    );
    assert_rejected(
        "it.glb.gz",
        &packed(&nodes),
        &["objects in JSON of ", "expected at most 16777216 and 256"],
    );
    let zeros = glb_file("{}", &vec![0; 64 << 20]);
    assert_rejected(
        "it.glb.gz",
        &packed(&zeros),
        &["a binary chunk of ", "expected at most 16777216 and 256"],
    );
}

// Real scenes have long names and many nodes, all of which differ a little.
#[test]
fn a_compressed_scene_of_many_nodes_is_read() {
    let count = 100_000;
    let nodes: Vec<_> = (0..count)
        .map(|index| {
            format!(
                "{{\"mesh\":0,\"translation\":[{index},0,{}]}}",
                index * 7 % 13
            )
        })
        .collect();
    let numbers: Vec<_> = (0..count).map(|index| index.to_string()).collect();
    let json = format!(
        "{{\"scenes\":[{{\"nodes\":[{}]}}],\"nodes\":[{}],\
         \"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"POSITION\":0}}}}]}}],\
         \"buffers\":[{{\"byteLength\":36}}],\
         \"bufferViews\":[{{\"buffer\":0,\"byteLength\":36}}],\
         \"accessors\":[{{\"bufferView\":0,\"componentType\":5126,\
         \"count\":3,\"type\":\"VEC3\"}}]}}",
        numbers.join(","),
        nodes.join(","),
    );
    let corners = [0., 0., 0., 1., 0., 0., 0., 1., 0_f32];
    let binary: Vec<u8> = corners.iter().flat_map(|it| it.to_le_bytes()).collect();
    let loaded = read("it.glb.gz", packed(&glb_file(&json, &binary)));
    assert_eq!(loaded.mesh.triangles.len(), count);
}
