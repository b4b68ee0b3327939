//! Writes the initial inputs of every fuzz target: small files of each mesh format, plain and
//! compressed; a small machine as XML; user input for topologies and affinities; the measurements
//! of tuners; and timelines.
//!
//! The example is in this package because most inputs are meshes, and because it is then built
//! together with the tests.
//!
//! Run it with `cargo run -p raddle-graphics --example fuzz_seeds`. The files go to `fuzz/corpus`,
//! and the example prints their number.
#![forbid(unsafe_code)]
#![expect(clippy::print_stdout, reason = "it prints the number of files")]

#[path = "../tests/mesh_support/mod.rs"]
mod mesh_support;
#[path = "../tests/volume_support/mod.rs"]
mod volume_support;

use std::io::Write;
use std::path::Path;

use glam::Vec3;
use mesh_support::{every_format, glb_file};
use raddle_graphics::mesh::Mesh;
use raddle_timeline::{CounterTrack, Event, Format, Track, Value, Writer};

/// A PLY file with many uncommon features.
const PLY_ODD: &str = "ply\nformat ascii 1.0\ncomment odd\nobj_info odd\nelement range_grid 1\n\
    property list uchar int samples\nelement face 2\nproperty uchar tag\n\
    property list uchar uint vertex_indices\nelement vertex 5\nproperty double x\n\
    property short y\n\
    property list char float weights\nproperty float z\nelement tristrips 1\n\
    property list int int vertex_indices\nend_header\n1 7\n0 4 0 1 2 3\n0 5 0 1 4 2 3\n\
    0 0 1 1 0\n1 0 0 0\n\
    1 1 2 1 1 0\n0 1 0 0\n0.5 0 0 1e-3\n6 0 1 2 -1 3 4\n";
/// An OBJ file with many uncommon features.
const OBJ_ODD: &str = "# odd\nmtllib a.mtl\no b\nf -1 1 2\nv 0 0 0 1\nv 1 0 0 .5 .5 .5\n\
    v 1 1 0\nv .2 .1 0\n\
    vn 0 0 1\nvn 0 1 0\nvt 0 0\ng c\ns off\nf 1/1/1 2//2 3//1 \\\n4//2 # end\nf 1//1 2//1 3//1\n\
    l 1 2\n";
/// A scene of two nodes, a strip and a sparse accessor of small integers.
const GLB_ODD: &str = "{\"asset\":{\"version\":\"2.0\"},\"scenes\":[{\"nodes\":[0]}],\
    \"nodes\":[{\"children\":[1],\
    \"scale\":[-1,2,1]},{\"mesh\":0,\"rotation\":[0,0,1,0]}],\
    \"meshes\":[{\"primitives\":[{\"attributes\":\
    {\"POSITION\":0},\"mode\":5}]}],\"buffers\":[{\"byteLength\":20}],\
    \"bufferViews\":[{\"buffer\":0,\"byteLength\":16,\
    \"byteStride\":4},{\"buffer\":0,\"byteOffset\":16,\"byteLength\":4}],\
    \"accessors\":[{\"bufferView\":0,\
    \"componentType\":5120,\"count\":4,\"type\":\"VEC3\",\"normalized\":true,\
    \"sparse\":{\"count\":1,\"indices\":\
    {\"bufferView\":1,\"componentType\":5121},\"values\":{\"bufferView\":0}}}]}";

/// A machine as hwloc exports it: two CPUs, two memories, a cache, a distance matrix, and optional
/// parts.
const MACHINE_XML: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x7" allowed_cpuset="0x3"
    nodeset="0x3" complete_nodeset="0x3" allowed_nodeset="0x3" gp_index="1">
    <info name="Backend" value="&lt;none&gt;"/>
    <object type="NUMANode" os_index="0" cpuset="0x3" complete_cpuset="0x3" nodeset="0x1"
      complete_nodeset="0x1" gp_index="2" local_memory="4096">
      <page_type size="4096" count="1"/>
    </object>
    <object type="NUMANode" os_index="1" cpuset="0x3" complete_cpuset="0x3" nodeset="0x2"
      complete_nodeset="0x2" gp_index="3" subtype="HBM"/>
    <object type="L2Cache" cpuset="0x3" complete_cpuset="0x3" nodeset="0x3" complete_nodeset="0x3"
      gp_index="4" cache_size="1024" depth="2" cache_linesize="64" cache_associativity="8"
      cache_type="0">
      <object type="Core" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3"
        complete_nodeset="0x3" gp_index="5">
        <object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x3"
          complete_nodeset="0x3" gp_index="6"/>
      </object>
      <object type="Core" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x3"
        complete_nodeset="0x3" gp_index="7">
        <object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" nodeset="0x3"
          complete_nodeset="0x3" gp_index="8"/>
      </object>
    </object>
    <object type="Misc" gp_index="9" name="note"/>
  </object>
  <distances2 type="NUMANode" nbobjs="2" kind="5" name="NUMALatency" indexing="os">
    <indexes length="4">0 1 </indexes>
    <u64values length="12">10 20 20 10 </u64values>
  </distances2>
</topology>
"#;
/// User input that describes a machine.
const SYNTHETIC: [&str; 13] = [
    "pu:2",
    "numa:2 core:4 pu:2",
    "package:2 l3:2 core:4 pu:2",
    "pack:1 l2:2(size=1048576) l1:1 core:1 pu:1",
    "group:2 [numa(memory=1GB)] core:2 pu:2(indexes=0,4,2,6,1,5,3,7)",
    "2 3 4",
    "die:2 l1i:1 core:0 pu:99999999999",
    "numa:1000 core:1000 pu:1000",
    "(memory=1MB)[numa]core:2(indexes=5,9)pu:2",
    "numa:2 core:2 pu:2(indexes=4*2:1*4)",
    "package:2 [numa(memory=16GiB indexes=1,0)] l3u:1 l2dcache:2 pu:2(indexes=package:l3)",
    "4 7 [numa(memory=1GB)] core:2 4",
    "socket:1 NUMANode:2(memorysidecachesize=4MB) group2:2 L1iCache:1 2(indexes=numa)",
];
/// User input that describes how workers are spread.
const AFFINITIES: [&str; 7] = [
    "none",
    "Compact",
    " scatter ",
    "0,2,4-7",
    "3-1",
    "0,0,",
    "0-65535,1",
];
/// Communication matrices in every format.
const MATRICES: [&str; 8] = [
    "0,1,2\n3,0,4\n5,6,0\n",
    ",a,\"b c\"\na,0,1e3\nb c,2.5,0\n",
    "# semicolons\n0;1;\n1;0;\n",
    "0 1\n1 0\n",
    "%%MatrixMarket matrix coordinate real general\n% a comment\n3 3 2\n1 2 1.5\n3 1 7\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n",
    "%%MatrixMarket matrix array integer general\n2 2\n0\n2\n1\n0\n",
    "0\n3 4\n1 010\n1 5 2\n2 5 1 6 3\n1 6 2\n",
];
/// Measurements of tuners, for as many workers as a small machine may have.
const GRAINS: [&str; 4] = [
    "raddle-grains 1\n",
    "raddle-grains 1\n# at night\n\n\ttree  workers=2 weight=2^0 tasks=1 ns_per_weight=1000.0\r\n\
        tree workers=2 weight=2^20 tasks=362 ns_per_weight=12.5\n\
        sum workers=2 weight=2^20 tasks=8 ns_per_weight=1e-3\n",
    "raddle-grains 1\ntree workers=1 weight=2^63 tasks=1024 ns_per_weight=5e-324\n\
        tree workers=4 weight=2^63 tasks=18446744073709551615 \
        ns_per_weight=1.7976931348623157e308\n\
        sum_2.\u{e4} workers=18446744073709551615 weight=2^7 tasks=+3 ns_per_weight=.5",
    "raddle-grains 1\nsum workers=1 weight=2^64 tasks=0 ns_per_weight=inf more\n",
];

/// Messages: a good one, one with two changes, one of arbitrary bytes, and several in a row.
const MESSAGES: [&[u8]; 4] = [
    &[1, 0, 7],
    &[2, 2, 16, 0xFF, 8, 1, 7, 7],
    &[3, 0, 1, 2, 3],
    &[1, 0, 0, 100, 8, 4, 0, 0, 0, 0, 6, 0, 1, 2, 3, 4, 5, 6],
];
/// Packets for a receiver: a message, a put message, a put part, one with a changed header, and an
/// invalid packet.
const PACKETS: [&[u8]; 5] = [
    &[1, 0, 2, 0, 7, 7],
    &[2, 0, 3, 0, 1, 2, 3],
    &[2, 0, 3, 0, 1, 2, 3, 7, 1, 1, 0, 9],
    &[3, 0, 1, 1, 5, 8, 1, 2, 1, 0, 0],
    &[
        0, 0, 30, 0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0,
    ],
];

/// Parameters of a node, valid and invalid.
const PARAMETERS: [&str; 5] = [
    "name = \"mine\"\n[core]\ncontexts = 4\nspeeds = [1.0, 0.6]\ncurve = \"measured\"\n\
     [network]\nwire_ns = 5e2\nbytes_per_ns = 12.5\n",
    "[message]\nsend_ns = 1_000\nnotify_latency_ns = 0x20\n[system]\nslice_us = 10\n\
     away = 0.25\n[cache]\nreferenced = 1\n",
    "tracer.misses = 1e6\ntracer.brick_edge = 7\ntracer.imbalance = 0.4\n\
     tracer.other_requests_per_us = 0.01\n",
    "[interface]\ntrip_ns = -1\n[core]\ncontexts = 0\nspeeds = []\n[graphics]\n",
    "[network\nwire_ns = = inf\n",
];

fn main() -> std::io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let square = Mesh {
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y],
        normals: Vec::new(),
        triangles: vec![[0, 1, 2], [0, 2, 3]],
    };
    let mut files = every_format(&square);
    files.extend(every_format(&square.with_vertex_normals()));
    files.push(("odd.ply", PLY_ODD.into()));
    files.push(("odd.obj", OBJ_ODD.into()));
    files.push(("odd.glb", glb_file(GLB_ODD, &[0; 20])));
    let mut written = 0;
    for (number, (name, bytes)) in files.iter().enumerate() {
        let kind = &name[name.len() - 3..];
        let mut put = |target: &str, suffix: &str, bytes: &[u8]| {
            written += 1;
            let folder = corpus.join(target);
            std::fs::create_dir_all(&folder)?;
            std::fs::write(
                folder.join(format!("seed-{number:02}-{name}{suffix}")),
                bytes,
            )
        };
        put(&format!("mesh_{kind}"), "", bytes)?;
        put("mesh_file", "", bytes)?;
        put("mesh_file", ".zst", &zstd::encode_all(&bytes[..], 1)?)?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(bytes)?;
        put("mesh_file", ".gz", &gzip.finish()?)?;
        if kind == "glb" {
            // The parts that the target puts into a container itself: JSON, a line break, data.
            let json_bytes = bytes[12..16]
                .try_into()
                .map(u32::from_le_bytes)
                .unwrap_or(0);
            let (json, binary) = bytes[20..].split_at(json_bytes as usize);
            put("mesh_glb", ".parts", &[json, b"\n", &binary[8..]].concat())?;
        }
    }
    let machine_again = MACHINE_XML.replace("  ", "");
    for (target, texts) in [
        (
            "topology_xml",
            &[MACHINE_XML, &machine_again, "<topology/>"][..],
        ),
        ("topology_synthetic", &SYNTHETIC[..]),
        ("topology_affinity", &AFFINITIES[..]),
        ("topology_matrix", &MATRICES[..]),
        ("grain_file", &GRAINS[..]),
        ("model_parameters", &PARAMETERS[..]),
    ] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, text) in texts.iter().enumerate() {
            written += 1;
            std::fs::write(folder.join(format!("seed-{number:02}")), text)?;
        }
    }
    for (target, seeds) in [("net_messages", &MESSAGES[..]), ("net_packets", &PACKETS)] {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        for (number, bytes) in seeds.iter().enumerate() {
            written += 1;
            std::fs::write(folder.join(format!("seed-{number:02}")), bytes)?;
        }
    }
    for (target, seed) in volume_seeds().into_iter().chain(timeline_seeds()?) {
        let folder = corpus.join(target);
        std::fs::create_dir_all(&folder)?;
        std::fs::write(folder.join(format!("seed-{written:03}")), seed)?;
        written += 1;
    }
    println!("{written} seeds in {}", corpus.display());
    assert!(written > 150, "some seeds are missing");
    Ok(())
}

/// Returns the seeds of the reader of timelines, with their target.
fn timeline_seeds() -> std::io::Result<Vec<(&'static str, Vec<u8>)>> {
    let mut seeds = Vec::new();
    for format in [Format::Perfetto, Format::Chrome] {
        let mut writer = Writer::new(format, Vec::new())?;
        writer.process(1, "node")?;
        let track = Track {
            id: 1,
            process: 1,
            thread: 2,
            name: "worker",
            rank: 3,
        };
        writer.track(&track)?;
        let counter = CounterTrack {
            id: 2,
            process: 1,
            name: "queue",
            unit: "tasks",
        };
        writer.counter_track(&counter)?;
        let event = Event {
            category: "run",
            arguments: &[("text", Value::Text("x")), ("number", Value::Signed(-1))],
            flows: &[5],
            flows_ended: &[6],
            ..Event::named("task")
        };
        writer.begin(1, 1_000, &event)?;
        writer.slice(1, 2_000, 3_000, &Event::named("inner"))?;
        writer.instant(1, 4_000, &event)?;
        writer.end(1, 5_000)?;
        writer.count(2, 6_000, 7)?;
        let bytes = writer.finish()?;
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(&bytes)?;
        seeds.extend([("timeline", gzip.finish()?), ("timeline", bytes)]);
    }
    // An event with a name of its own, not in a batch.
    let packet = b"\x0a\x10\x40\x05\x50\x01\x5a\x0a\x48\x01\x58\x07\xba\x01\x03abc";
    seeds.push(("timeline", packet.to_vec()));
    let object = br#"{"traceEvents":[{"ph":"X","ts":1.5,"dur":2,"pid":"a","tid":"b","args":{}}]}"#;
    seeds.push(("timeline", object.to_vec()));
    Ok(seeds)
}

/// Returns the seeds of the readers of volumes, with their targets.
fn volume_seeds() -> Vec<(&'static str, Vec<u8>)> {
    let mut seeds: Vec<(&str, Vec<u8>)> = Vec::new();
    let mut files = volume_support::every_format();
    files.push(("a.den", volume_support::den([4, 3, 2], &[7; 24])));
    let frames = volume_support::Slice {
        frames: 2,
        ..volume_support::SLICE
    };
    files.push(("a.dcm", frames.bytes()));
    files.push((
        "b.dcm",
        volume_support::enhanced(&frames_at([5.0, 0.0, 2.5])),
    ));
    for (name, bytes) in files {
        let target = match name.rsplit('.').next() {
            Some("nrrd") => "volume_nrrd",
            Some("mha") => "volume_metaimage",
            Some("nii") => "volume_nifti",
            Some("vti") => "volume_vti",
            Some("den") => "volume_den",
            Some("dcm") => "volume_dicom",
            _ => "volume_file",
        };
        if target != "volume_file" {
            seeds.push(("volume_file", bytes.clone()));
        }
        seeds.push((target, bytes));
    }
    seeds.extend(series_seeds().map(|seed| ("volume_series", seed)));
    seeds.extend(detached_seeds().map(|seed| ("volume_detached", seed)));
    seeds.push(("volume_raw", vec![0, 1, 2, 3, 4, 5, 6, 7, 8]));
    seeds.push((
        "volume_raw",
        [vec![2], [1.5_f32; 8].map(f32::to_le_bytes).concat()].concat(),
    ));
    seeds.push((
        "volume_transfer",
        b"# red\n1 1 0 0 0.5\n2.5e3, 0, 0, 1, 1\n".to_vec(),
    ));
    seeds
}

/// The bytes between the files of an input that has several.
const BETWEEN_FILES: &[u8] = b"\n----\n";

fn frames_at(heights: [f64; 3]) -> [volume_support::Frame; 3] {
    heights.map(|z| volume_support::Frame {
        z,
        ..volume_support::FRAME
    })
}

/// Returns folders of DICOM images, without the beginning that the target adds.
fn series_seeds() -> impl Iterator<Item = Vec<u8>> {
    use volume_support::{SLICE, Slice, enhanced};
    let [a, b, c] = [0.0, 2.5, 5.0].map(|z| Slice { z, ..SLICE }.bytes());
    let steep = Slice {
        slope: "2.5",
        z: 2.5,
        ..SLICE
    };
    let localizer = Slice {
        series: "1.2.4",
        kind: "ORIGINAL\\PRIMARY\\LOCALIZER",
        ..SLICE
    };
    let [low, high] = [[0.0, 2.5, 5.0], [12.5, 10.0, 7.5]].map(frames_at);
    let folders = [
        vec![a.clone(), c.clone(), b.clone()],
        vec![a.clone(), steep.bytes()],
        vec![a.clone(), b, localizer.bytes()],
        vec![a, c.clone(), c, localizer.bytes()],
        vec![enhanced(&low), enhanced(&high)],
    ];
    folders.into_iter().map(|files| {
        let files: Vec<_> = files.iter().map(|file| &file[132..]).collect();
        files.join(BETWEEN_FILES)
    })
}

/// Returns headers with the voxels that they name.
fn detached_seeds() -> impl Iterator<Item = Vec<u8>> {
    use volume_support::{gzip, little, metaimage, nrrd, zlib};
    let slices: Vec<Vec<u8>> = little().chunks(40).map(<[u8]>::to_vec).collect();
    let packed = |pack: fn(&[u8]) -> Vec<u8>| slices.iter().map(|slice| pack(slice)).collect();
    let meta = |fields: &str, data_file: &str| {
        let header = String::from_utf8_lossy(&metaimage(fields, b"")).into_owned();
        header.replace("LOCAL", data_file).into_bytes()
    };
    let nearly = |encoding: &str, data_file: &str| {
        let fields = format!("endian: little\nencoding: {encoding}\ndata file: {data_file}");
        let mut header = nrrd(&fields, b"");
        // A list of names follows the field at once.
        header.pop();
        header
    };
    let inputs = [
        (meta("", "LIST\n0\n1\n2"), slices.clone()),
        (meta("CompressedData = True\n", "%d 0 2 1"), packed(zlib)),
        (meta("HeaderSize = -1\n", "0"), vec![little()]),
        (nearly("raw", "LIST 2\n0\n1\n2\n"), slices.clone()),
        (nearly("raw", "%d 0 2 1 2\n"), slices.clone()),
        (nearly("gzip", "%01d 0 2 1\n"), packed(gzip)),
        (nearly("raw", "LIST 3\n0\n"), vec![little()]),
    ];
    inputs.into_iter().map(|(header, files)| {
        let all: Vec<_> = std::iter::once(header).chain(files).collect();
        all.join(BETWEEN_FILES)
    })
}
