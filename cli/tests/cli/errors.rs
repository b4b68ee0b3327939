//! Bad input and bad output: one line that names the file and the place, exit code 1, never a
//! panic.

use std::fs::File;
use std::os::unix::fs::symlink;
use std::process::Stdio;

use raddle_messages::waits::Kind;

use crate::common::{Folder, Outcome, TETRAHEDRON, expect_one_line, raddle, run, run_badly};

/// Checks that `raddle kdtree` refuses a file with this content, and that the error line contains
/// all `parts`.
#[track_caller]
fn refuses(name: &str, content: impl AsRef<[u8]>, parts: &[&str]) {
    let folder = Folder::new(&format!("refuses-{name}"));
    let path = folder.file(name, content);
    let line = run_badly(["kdtree".as_ref(), path.as_os_str()]);
    for part in parts.iter().chain(&[name, "expected"]) {
        assert!(line.contains(part), "{part:?} is missing in: {line}");
    }
}

#[test]
fn a_truncated_text_file_is_named_with_its_line() {
    let text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n\
                property float z\nelement face 1\n\
                property list uchar int vertex_indices\nend_header\n\
                0 0 0\n1 0 0\n";
    refuses("cut.ply", text, &["line 1"]);
}

#[test]
fn a_truncated_binary_file_is_named_with_its_byte() {
    let mut bytes = b"ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty float x\n\
        property float y\nproperty float z\nelement face 1\n\
        property list uchar int vertex_indices\nend_header\n"
        .to_vec();
    bytes.extend_from_slice(&[0; 30]);
    refuses("cut-binary.ply", bytes, &["byte"]);
}

#[test]
fn an_empty_file_is_named() {
    refuses("empty.ply", "", &["empty"]);
}

#[test]
fn a_huge_index_is_named_with_its_line() {
    let text = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4000000000\n";
    refuses("huge.obj", text, &["line 4", "4000000000"]);
}

#[test]
fn a_coordinate_that_is_not_a_number_is_named_with_its_line() {
    let text = "v 0 0 0\nv 1 NaN 0\nv 0 1 0\nf 1 2 3\n";
    refuses("nan.obj", text, &["line 2"]);
}

#[test]
fn another_format_is_named() {
    refuses("picture.ply", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", &["ply"]);
    refuses("text.stl", "Dear Sir or Madam,\nno triangles here.\n", &[]);
}

#[test]
fn a_damaged_compressed_file_is_named() {
    refuses("bad.ply.gz", b"\x1f\x8b\x08\0\0\0\0\0\0\x03garbage", &[]);
    refuses("bad.ply.zst", b"\x28\xb5\x2f\xfdgarbage", &[]);
}

#[test]
fn triangles_of_zero_area_are_not_an_error() {
    let folder = Folder::new("zero-area");
    let text = format!("{TETRAHEDRON}f 1 1 2\nf 1 1 1\n");
    let mesh = folder.file("flat.obj", text);
    let outcome = run(["kdtree".as_ref(), mesh.as_os_str()]);
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(
        outcome.output.contains("zero-area triangles  2"),
        "{outcome:?}"
    );
}

#[test]
fn a_directory_and_a_missing_file_are_named() {
    let folder = Folder::new("no-file");
    let line = run_badly(["kdtree".as_ref(), folder.as_ref().as_os_str()]);
    assert!(line.contains("directory"), "{line}");
    let line = run_badly(["kdtree".as_ref(), folder.path("none.ply").as_os_str()]);
    assert!(line.contains("none.ply"), "{line}");
}

#[test]
fn a_file_name_with_a_line_break_stays_on_one_line() {
    let folder = Folder::new("line-break");
    let path = folder.file("two\nlines.ply", "");
    run_badly(["kdtree".as_ref(), path.as_os_str()]);
}

/// Renders the tetrahedron into `output`.
fn render_into(folder: &Folder, output: &str) -> Outcome {
    let mesh = folder.file("mesh.obj", TETRAHEDRON);
    let output = folder.path(output);
    run([
        "render".as_ref(),
        mesh.as_os_str(),
        "-o".as_ref(),
        output.as_os_str(),
        "--size".as_ref(),
        "16x12".as_ref(),
    ])
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let folder = Folder::new("no-output");
    std::fs::create_dir(folder.path("folder.png")).expect("a folder");
    for (output, part) in [
        ("picture.gif", ".gif"),
        ("picture", "no extension"),
        ("folder.png", "directory"),
        ("nowhere/picture.png", "nowhere"),
    ] {
        let outcome = render_into(&folder, output);
        expect_one_line(&outcome);
        assert!(outcome.errors.contains(part), "{outcome:?}");
    }
    assert_eq!(folder.names(), ["folder.png", "mesh.obj"]);
}

#[test]
fn an_output_that_cannot_be_written_is_detected_before_the_mesh_is_read() {
    let folder = Folder::new("order");
    let line = run_badly([
        "render".as_ref(),
        folder.path("missing.ply").as_os_str(),
        "-o".as_ref(),
        folder.path("picture.gif").as_os_str(),
    ]);
    assert!(
        line.contains("picture.gif") && !line.contains("missing.ply"),
        "{line}"
    );
}

#[test]
fn a_full_disk_is_one_line_and_leaves_nothing_behind() {
    let folder = Folder::new("full-disk");
    for name in ["full.png", "full.ppm", "full.exr"] {
        symlink("/dev/full", folder.path(name)).expect("a link to the full device");
        let outcome = render_into(&folder, name);
        expect_one_line(&outcome);
        assert!(outcome.errors.contains(name), "{outcome:?}");
        assert!(outcome.errors.contains("No space left"), "{outcome:?}");
    }
    assert_eq!(
        folder.names(),
        ["full.exr", "full.png", "full.ppm", "mesh.obj"]
    );
}

#[test]
fn a_full_standard_output_is_one_line() {
    for arguments in [
        &["topology"][..],
        &["topology", "--json"],
        &["kdtree", "--scene", "knot:500"],
        &["completions", "bash"],
        &["--show-binding"],
    ] {
        let full = File::options()
            .write(true)
            .open("/dev/full")
            .expect("the full device");
        let outcome: Outcome = raddle()
            .args(arguments)
            .stdout(full)
            .output()
            .expect("the program starts")
            .into();
        expect_one_line(&outcome);
        assert!(outcome.errors.contains("standard output"), "{outcome:?}");
    }
}

#[test]
fn a_topology_into_a_full_device_is_one_line() {
    let line = run_badly(["topology", "-o", "/dev/full"]);
    assert!(line.contains("/dev/full"), "{line}");
}

#[test]
fn a_reader_that_closes_the_pipe_is_not_an_error() {
    let mut child = raddle()
        .args([
            "topology",
            "--synthetic",
            "package:16 core:16 pu:4",
            "--json",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let outcome: Outcome = child.wait_with_output().expect("it ends").into();
    assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""));
}

// Regression: the command ended without its picture, and with exit code 0.
#[test]
fn a_reader_that_closes_the_pipe_does_not_stop_the_work() {
    let folder = Folder::new("no-reader");
    let picture = folder.path("picture.ppm");
    let mut child = raddle()
        .args([
            "render",
            "--scene",
            "knot:500",
            "--size",
            "16x12",
            "--show-binding",
        ])
        .arg("--output")
        .arg(&picture)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let outcome: Outcome = child.wait_with_output().expect("it ends").into();
    assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""));
    assert!(picture.exists());
}

#[test]
fn bad_topologies_are_named() {
    let folder = Folder::new("bad-topologies");
    let garbage = folder.file("garbage.xml", [0xff_u8, 0, 3, 7].repeat(100));
    let empty = folder.file("empty.xml", "");
    let cut = folder.file(
        "cut.xml",
        "<?xml version=\"1.0\"?>\n<topology><object type=\"Machine\"",
    );
    for path in [
        garbage,
        empty,
        cut,
        folder.path("missing.xml"),
        folder.as_ref().to_owned(),
    ] {
        let line = run_badly(["topology".as_ref(), "--xml".as_ref(), path.as_os_str()]);
        let name = path.file_name().expect("a name").to_string_lossy();
        assert!(line.contains(&*name), "{line}");
    }
    let line = run_badly(["topology", "--synthetic", "numa:two"]);
    assert!(line.contains("numa:two"), "{line}");
}

#[test]
fn a_bad_variable_is_named_with_its_choices() {
    for (name, value, part) in [
        ("RADDLE_WORKERS", "0", "number"),
        ("RADDLE_WORKERS", "many", "many"),
        ("RADDLE_POOL", "lake", "deque"),
        ("RADDLE_IDLE", "never", "adaptive"),
        ("RADDLE_AFFINITY", "here", "compact"),
        ("RADDLE_SEED", "-1", "whole number"),
    ] {
        let outcome: Outcome = raddle()
            .env(name, value)
            .args(["kdtree", "--scene", "knot:500"])
            .output()
            .expect("the program starts")
            .into();
        // The exit code is that of the option with the same value.
        assert_eq!(
            (outcome.code, outcome.output.as_str()),
            (Some(2), ""),
            "{outcome:?}"
        );
        assert_eq!(outcome.errors.lines().count(), 1, "{outcome:?}");
        assert!(outcome.errors.starts_with("error: "), "{outcome:?}");
        assert!(
            outcome.errors.contains(name) && outcome.errors.contains(part),
            "{outcome:?}"
        );
    }
}

#[test]
fn an_option_wins_over_its_variable_even_over_a_bad_one() {
    let outcome: Outcome = raddle()
        .env("RADDLE_WORKERS", "many")
        .args(["kdtree", "--scene", "knot:500", "--workers", "1", "--json"])
        .output()
        .expect("the program starts")
        .into();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    assert!(outcome.output.contains("\"workers\":1"), "{outcome:?}");
}

/// Options that no machine or mesh can follow were blamed on the mesh, or reported as failures.
#[test]
fn options_that_cannot_be_followed_are_a_wrong_call_that_names_them() {
    let folder = Folder::new("wrong-call");
    let picture = folder.path("none.png");
    let picture = picture.to_str().expect("a plain name");
    let render = ["render", "--scene", "knot:500", "-o", picture, "--eye"];
    let two_level = [
        "kdtree",
        "--scene=knot:500",
        "--builder=messages",
        "--sync=two-level",
    ];
    let cases: [(&[&str], &[&str]); 8] = [
        (
            &two_level,
            &["--sync two-level", "auto", "--worker-tasks static"],
        ),
        (
            &[&two_level[..], &["--worker-tasks=dynamic"]].concat(),
            &["--sync two-level", "auto", "--worker-tasks static"],
        ),
        (
            &["kdtree", "--scene", "knot:500", "--affinity", "65535"],
            &["--affinity 65535", "this process may use"],
        ),
        (
            &["--show-binding", "--affinity", "65535"],
            &["--affinity 65535", "this process may use"],
        ),
        (&["--workers", "0"], &["--workers", "1 to 4096"]),
        (&["--workers", "5000"], &["--workers", "1 to 4096"]),
        (
            &[&render[..], &["1,2,3", "--look-at", "1,2,3"]].concat(),
            &["--eye=1,2,3 --look-at=1,2,3", "different points"],
        ),
        (
            &[
                &render[..],
                &["0,0,9", "--look-at", "0,0,0", "--up", "0,0,1"],
            ]
            .concat(),
            &["--eye=0,0,9 --look-at=0,0,0 --up=0,0,1", "up direction"],
        ),
    ];
    for (call, parts) in cases {
        let outcome = run(call);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert_eq!(outcome.output, "", "{outcome:?}");
        for part in parts {
            assert!(
                outcome.errors.contains(part),
                "{part:?} is missing: {outcome:?}"
            );
        }
        assert!(!outcome.errors.contains("knot"), "{outcome:?}");
    }
    assert!(folder.names().is_empty());
}

/// Runs the program with a limit of its address space.
#[cfg(target_os = "linux")]
fn run_with_memory(kibibytes: u32, arguments: &[&str]) -> Outcome {
    std::process::Command::new("sh")
        .args(["-c", &format!("ulimit -v {kibibytes} && exec \"$@\""), "sh"])
        .arg(env!("CARGO_BIN_EXE_raddle"))
        .args(["--workers", "2"])
        .args(arguments)
        .output()
        .expect("a shell")
        .into()
}

// Regression: a picture that was too large for the memory ended the process (signal 6).
#[test]
#[cfg(target_os = "linux")]
fn a_picture_without_memory_for_it_is_one_line() {
    let folder = Folder::new("no-memory");
    let picture = folder.path("large.png");
    let picture = picture.to_str().expect("a name in UTF-8");
    let size = ["--size", "32768x32768", "--samples", "1", "-o", picture];
    let arguments = [&["render", "--scene", "knot:500"][..], &size].concat();
    let outcome = run_with_memory(4_000_000, &arguments);
    expect_one_line(&outcome);
    assert!(outcome.errors.contains("12884901888 bytes"), "{outcome:?}");
    assert!(folder.names().is_empty());
}

// Regression: a surface in noise takes many times the memory of the volume, and ended the process.
#[test]
#[cfg(target_os = "linux")]
fn a_surface_without_memory_for_its_triangles_is_one_line() {
    let folder = Folder::new("no-memory-for-surface");
    let noise = |index: u32| (index.wrapping_mul(2_654_435_761) >> 13) as u8;
    let voxels: Vec<u8> = (0..160 * 160 * 160).map(noise).collect();
    let file = folder.file("noise_160x160x160_u8.raw", voxels);
    let mesh = folder.path("noise.ply");
    let [file, path] = [&file, &mesh].map(|path| path.to_str().expect("a name in UTF-8"));
    let arguments = ["isosurface", file, "--iso", "128", "--extract", path];
    // Less than the first estimate, and a little less than all lists.
    for kibibytes in [400_000, 650_000] {
        let outcome = run_with_memory(kibibytes, &arguments);
        expect_one_line(&outcome);
        assert!(outcome.errors.contains("bytes of triangles"), "{outcome:?}");
        assert!(!mesh.exists());
    }
}

// Regression: this was reported as damage of the file.
#[test]
#[cfg(target_os = "linux")]
fn a_window_of_zstd_without_memory_for_it_is_one_line() {
    let folder = Folder::new("no-memory-for-window");
    // A frame with a window of 2 GiB, and a last block with four bytes as they are.
    let frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 21 << 3, 4 << 3 | 1, 0, 0];
    let file = folder.file("large.nrrd.zst", [&frame[..], b"NRRD"].concat());
    let outcome = run_with_memory(800_000, &["info", file.to_str().expect("UTF-8")]);
    expect_one_line(&outcome);
    let expected = "no memory for the window of zstd; expected ";
    assert!(outcome.errors.contains(expected), "{outcome:?}");
}

// Regression: a scene, a file or a tree that was too large for the memory ended the process, too.
#[test]
#[cfg(target_os = "linux")]
fn triangles_without_memory_for_them_are_one_line() {
    const TRIANGLES: u32 = 20_000_000;
    let folder = Folder::new("no-memory-for-triangles");
    let path = folder.file(
        "large.stl",
        [&[b' '; 80][..], &TRIANGLES.to_le_bytes()].concat(),
    );
    let file = File::options().write(true).open(&path).expect("the file");
    // A sparse file with the length that its header announces.
    file.set_len(84 + 50 * u64::from(TRIANGLES))
        .expect("a long file");
    let path = path.to_str().expect("a name in UTF-8");
    let cases = [
        (
            1_000_000,
            ["--scene", "flake:50000000"],
            "flake:50000000: no memory for 1800000000 bytes",
        ),
        (
            700_000,
            ["--scene", "flake:3000000"],
            "to build the tree in",
        ),
        (
            230_000,
            ["--depth=auto", path],
            "large.stl: byte 84: no memory for 240000000 more bytes",
        ),
    ];
    for (kibibytes, input, expected) in cases {
        let outcome = run_with_memory(kibibytes, &[&["kdtree"][..], &input].concat());
        expect_one_line(&outcome);
        assert!(outcome.errors.contains(expected), "{outcome:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn more_numbers_than_fit_in_memory_are_one_line() {
    for count in ["1e13", "4611686018427387904", "18446744073709551615"] {
        let line = run_badly(["sort", count, "--workers", "1"]);
        assert!(line.contains("numbers: no memory for"), "{line}");
        assert!(line.contains("expected"), "{line}");
    }
    let outcome = run_with_memory(4_000_000, &["sort", "1e9"]);
    expect_one_line(&outcome);
    assert!(outcome.errors.contains("4000000000 bytes"), "{outcome:?}");
}

#[test]
fn messages_larger_than_memory_are_one_line() {
    for (arguments, part) in [
        (
            &["kneighbor", "--bytes", "1000000M"][..],
            "--bytes 1048576000000: no memory",
        ),
        (
            &["kneighbor", "--elements", "1000000", "-k", "100000"],
            "--elements 1000000 -k 100000",
        ),
        (&["pingpong", "--bytes", "16,1000000M"], "--bytes"),
    ] {
        let line = run_badly([arguments, &["--workers", "1"]].concat());
        assert!(line.contains(part), "{line}");
        assert!(line.contains("expected"), "{line}");
    }
    let outcome = run_with_memory(4_000_000, &["kneighbor", "--bytes", "1000M"]);
    expect_one_line(&outcome);
    assert!(outcome.errors.contains("bytes of messages"), "{outcome:?}");
}

#[test]
fn a_single_wait_that_the_processor_lacks_is_one_line() {
    let Some(reason) = Kind::Monitor.missing() else {
        // The processor has it, so it is measured.
        let text = run(["pingpong", "--wait", "monitor", "--trips", "5"]);
        assert_eq!(text.code, Some(0), "{text:?}");
        return;
    };
    let line = run_badly(["pingpong", "--wait", "monitor"]);
    assert!(
        line.contains("not on this processor") && line.contains(reason),
        "{line}"
    );
    assert!(line.contains("expected"), "{line}");
}

// Regression: only the named file was safe, and not the other files that the command reads.
#[test]
fn no_file_of_the_input_is_overwritten() {
    let folder = Folder::new("overwritten");
    let voxels = folder.file("voxels.png", [7; 24]);
    let header = "NRRD0004\ntype: uchar\ndimension: 3\nsizes: 2 3 4\nencoding: raw\n\
                  data file: voxels.png\n\n";
    let header = folder.file("it.nhdr", header);
    let transfer = folder.file("transfer.png", "0 0 0 0 0\n255 1 1 1 1\n");
    let study = folder.file("study_16x16x16_u8.pgm", [90; 16 * 16 * 16]);
    let [header, voxels, transfer, study] =
        [&header, &voxels, &transfer, &study].map(|path| path.to_str().expect("a name in UTF-8"));
    let names = folder.names();
    for arguments in [
        &["volume", header, "-o", voxels][..],
        &["volume", header, "--transfer", transfer, "-o", transfer],
        &["isosurface", header, "--iso", "7", "-o", voxels],
        &[
            "volume",
            study,
            "--raw-size",
            "16x16x16",
            "--raw-type",
            "u8",
            "--study",
            "-o",
            study,
        ],
    ] {
        let outcome = run(arguments);
        expect_one_line(&outcome);
        assert!(outcome.errors.contains("found the input"), "{outcome:?}");
    }
    assert_eq!(std::fs::read(voxels).expect("the voxels"), [7; 24]);
    assert_eq!(folder.names(), names);
}
