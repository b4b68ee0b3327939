//! `raddle volume` and `raddle isosurface`, with files that are made here.

use std::ffi::OsStr;
use std::path::Path;

use crate::common::{Folder, json, run, run_badly, run_well};

/// The number of voxels along each axis of [`ball`].
const EDGE: usize = 24;

/// Returns a ball: 255 in its middle, and 20 less for each voxel of distance.
pub(crate) fn ball() -> Vec<u8> {
    let voxel = |index: usize| {
        let at = [index % EDGE, index / EDGE % EDGE, index / (EDGE * EDGE)];
        let square: f64 = at.iter().map(|&at| (at as f64 - 11.5).powi(2)).sum();
        (255.0 - 20.0 * square.sqrt()).clamp(0.0, 255.0) as u8
    };
    (0..EDGE * EDGE * EDGE).map(voxel).collect()
}

fn call<'a>(command: &'a str, file: &'a Path, rest: &'a str) -> Vec<&'a OsStr> {
    let rest = rest
        .split(' ')
        .filter(|word| !word.is_empty())
        .map(OsStr::new);
    [OsStr::new(command), file.as_os_str()]
        .into_iter()
        .chain(rest)
        .collect()
}

#[test]
fn the_counts_of_a_ball_are_those_of_its_surface() {
    let folder = Folder::new("ball");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("ball.png").display().to_string();
    let text = run_well(call(
        "isosurface",
        &file,
        &format!("--iso 155 --size 64x64 --json -o {picture}"),
    ));
    let value = json(&text);
    assert_eq!(value["rays"], 64 * 64);
    // The ball has a radius of 5 voxels. A pixel is 0.59 voxels wide at its distance of 45.6.
    let hits = value["hits"].as_u64().expect("a number");
    assert!((180..280).contains(&hits), "{hits}");
    assert_eq!(value["counts"]["hits"], hits);
    assert!(value["counts"]["cubics"].as_u64() >= Some(hits));
    assert_eq!(value["input"]["size"], serde_json::json!([24, 24, 24]));
    assert!(Path::new(&picture).exists());
    // The same ball seen with parallel rays, through another opening.
    let text = run_well(call(
        "isosurface",
        &file,
        &format!("--iso 155 --size 64x64 --orthographic --shadows --json -o {picture}"),
    ));
    assert!(json(&text)["counts"]["rays_shadow"].as_u64() > Some(0));
}

#[test]
fn frames_are_files_with_their_numbers() {
    let folder = Folder::new("frames");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let turn = folder.path("turn.ppm").display().to_string();
    run_well(call(
        "volume",
        &file,
        &format!("--frames 3 --size 16x16 -o {turn}"),
    ));
    let grey = folder.path("y.pgm").display().to_string();
    run_well(call(
        "volume",
        &file,
        &format!("--study --steps 2 --frames y -o {grey}"),
    ));
    let one = folder.path("one.pgm").display().to_string();
    run_well(call(
        "volume",
        &file,
        &format!("--study --steps 2 --frame 3 -o {one}"),
    ));
    assert_eq!(
        folder.names(),
        [
            "ball_24x24x24_u8.raw",
            "one.pgm",
            "turn-000.ppm",
            "turn-001.ppm",
            "turn-002.ppm",
            "y-002.pgm",
            "y-003.pgm"
        ]
    );
    let read = |name: &str| std::fs::read(folder.path(name)).expect("a picture");
    assert_eq!(read("one.pgm"), read("y-003.pgm"));
    // 21 steps along each of the three axes.
    assert!(read("one.pgm").starts_with(b"P5\n37 37\n255\n"));
}

#[test]
fn a_transfer_function_from_a_file_colours_the_picture() {
    let folder = Folder::new("transfer");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let points = folder.file("red.txt", "100 1 0 0 0\n150 1 0 0 1\n");
    let picture = folder.path("red.ppm");
    let shown = (points.display(), picture.display());
    run_well(call(
        "volume",
        &file,
        &format!(
            "--transfer {} --background black --size 33x33 -o {}",
            shown.0, shown.1
        ),
    ));
    let bytes = std::fs::read(&picture).expect("a picture");
    let pixels = &bytes[bytes.len() - 33 * 33 * 3..];
    let middle = &pixels[(16 * 33 + 16) * 3..][..3];
    assert!(middle[0] > 60 && middle[1] < middle[0] / 2, "{middle:?}");
    assert_eq!(pixels[..3], [0, 0, 0]);
    let bad = folder.file("bad.txt", "100 1 0 0\n");
    let error = run_badly(call(
        "volume",
        &file,
        &format!("--transfer {} -o {}", bad.display(), shown.1),
    ));
    assert!(
        error.contains("bad.txt: line 1: \"100 1 0 0\"; expected a value"),
        "{error}"
    );
}

#[test]
fn calls_that_cannot_be_carried_out_are_one_line() {
    let folder = Folder::new("volume-errors");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let shorts = folder.file("ball_24x24x12_i16.raw", ball());
    let picture = folder.path("a.png").display().to_string();
    for (command, file, rest, expected) in [
        (
            "isosurface",
            &file,
            "--iso nan",
            "--iso NaN: isovalue NaN; expected a finite number",
        ),
        (
            "isosurface",
            &file,
            "--iso 1 --opacity 1,1",
            "--opacity with 2 values: expected at most 1",
        ),
        (
            "isosurface",
            &file,
            "--iso 1 --eye 1,1,1 --look-at 1,1,1",
            "expected two different points",
        ),
        (
            "volume",
            &file,
            "--step 0",
            "--step 0: a step of 0; expected 0.001 to 1000 voxels",
        ),
        (
            "volume",
            &file,
            "--frames y",
            "--frames y: expected a number of pictures",
        ),
        (
            "volume",
            &file,
            "--study --frames 4",
            "--study --frames 4: expected x, y or z",
        ),
        (
            "volume",
            &file,
            "--study --frame 12",
            "--steps 4 --frame 12: expected a frame from 0 to 11",
        ),
        (
            "volume",
            &shorts,
            "--study",
            "voxels of type i16; expected u8",
        ),
    ] {
        let outcome = run(call(command, file, &format!("{rest} -o {picture}")));
        let error = outcome.errors.lines().next().unwrap_or_default();
        assert!(error.contains(expected), "{error}\n{expected}");
        // A wrong call is 2, a file with other content is 1.
        assert_eq!(
            outcome.code,
            Some(if file == &shorts { 1 } else { 2 }),
            "{error}"
        );
    }
    let outcome = run(call(
        "isosurface",
        &folder.path("none.nrrd"),
        &format!("--iso 1 -o {picture}"),
    ));
    assert_eq!(outcome.code, Some(1));
    assert!(
        outcome.errors.contains("none.nrrd: No such file"),
        "{}",
        outcome.errors
    );
    assert!(!Path::new(&picture).exists());
}

#[test]
fn values_without_a_picture_are_wrong_calls() {
    let folder = Folder::new("values");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.png").display().to_string();
    for (rest, expected) in [
        ("--opacity nan", "expected a number of at least 0"),
        ("--opacity -1", "expected a number of at least 0"),
        ("--threshold nan", "expected a finite number"),
        ("--threshold inf", "expected a finite number"),
        ("--study --size 8x8", "cannot be used with"),
        ("--study --clip 0,1,0,1,0,1", "cannot be used with"),
        ("--study --spacing 1,1,2", "cannot be used with"),
    ] {
        let outcome = run(call("volume", &file, &format!("-o {picture} {rest}")));
        assert_eq!(outcome.code, Some(2), "{rest}");
        assert!(
            outcome.errors.contains(expected),
            "{rest}: {}",
            outcome.errors
        );
    }
    assert!(!Path::new(&picture).exists());
}

#[test]
fn info_describes_meshes_volumes_and_matrices() {
    let folder = Folder::new("info");
    let volume = folder.file("ball_24x24x24_u8.raw", ball());
    let text = run_well(call("info", &volume, "--json --bins 8"));
    let value = json(&text);
    assert_eq!(value["content"], "volume");
    assert_eq!(value["input"]["size"], serde_json::json!([24, 24, 24]));
    let counts = value["histogram"]["counts"].as_array().expect("counts");
    let sum: u64 = counts.iter().filter_map(serde_json::Value::as_u64).sum();
    assert_eq!((counts.len(), sum), (8, 24 * 24 * 24));
    assert_eq!(
        value["box"],
        serde_json::json!([[0.0, 0.0, 0.0], [23.0, 23.0, 23.0]])
    );
    // The threshold is that of the default transfer function, whatever histogram is shown.
    let more = json(&run_well(call("info", &volume, "--json --bins 1000")));
    assert_eq!(more["threshold"], value["threshold"]);
    let text = run_well(call("info", &volume, ""));
    assert!(
        text.contains("24 × 24 × 24 of type u8") && text.contains('█'),
        "{text}"
    );

    let mesh = folder.file(
        "a.obj",
        "v 0 0 0\nv 2 0 0\nv 0 1 0\nv 0 0 4\nf 1 2 3\nf 1 2 4\n",
    );
    let value = json(&run_well(call("info", &mesh, "--json")));
    assert_eq!(value["content"], "mesh");
    assert_eq!(
        value["box"],
        serde_json::json!([[0.0, 0.0, 0.0], [2.0, 1.0, 4.0]])
    );
    assert_eq!(value["areas"]["range"], serde_json::json!([1.0, 4.0]));

    let value = json(&run_well(["info", "--scene", "spheres:24", "--json"]));
    assert_eq!(value["content"], "volume");
    assert_eq!(value["input"]["size"], serde_json::json!([24, 24, 24]));
    let value = json(&run_well(["info", "--scene", "knot:500", "--json"]));
    assert_eq!(value["content"], "mesh");

    let matrix = folder.file("a.csv", "0,3,1\n2,0,5\n1,1,0\n");
    let value = json(&run_well(call("info", &matrix, "--json")));
    assert_eq!(value["content"], "matrix");
    assert_eq!(
        (&value["input"]["parties"], &value["input"]["entries"]),
        (&3.into(), &6.into())
    );
    assert_eq!(value["sum"], 13.0);

    let note = folder.file("note.txt", "Dear reader,\n");
    let error = run_badly(call("info", &note, ""));
    assert!(
        error.contains("note.txt: neither a mesh nor a volume"),
        "{error}"
    );
    assert!(run_badly(call("info", &folder.path("none"), "")).contains("No such file"));
}

#[test]
fn integers_that_become_floats_are_reported() {
    let folder = Folder::new("wide");
    let bytes_of = |value: i32| [[0; 4], value.to_le_bytes()].concat().repeat(32);
    for (value, is_rounded) in [((1 << 24) - 1, false), ((1 << 24) + 1, true)] {
        let file = folder.file("labels_4x4x4_i32.raw", bytes_of(value));
        let outcome = run(call("info", &file, ""));
        assert_eq!(outcome.code, Some(0));
        let text = outcome.output.replace(' ', "");
        assert!(
            text.contains("typef32") && text.contains("typeinthefilei32"),
            "{text}"
        );
        let warning = "voxels of type i32 became f32, which rounds integers above 16777216";
        assert_eq!(outcome.errors.contains(warning), is_rounded, "{value}");
    }
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let value = json(&run_well(call("info", &file, "--json")));
    assert_eq!(value["input"]["file_type"], "u8");
    assert!(!run_well(call("info", &file, "")).contains("type in the file"));
}

#[test]
fn a_surface_that_is_too_far_for_a_mesh_is_an_error() {
    let folder = Folder::new("far-surface");
    let header = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 24 24 24\nencoding: raw\n\
                  space dimension: 3\nspace directions: (1,0,0) (0,1,0) (0,0,1)\n\
                  space origin: (0,-3e15,0)\n\n";
    let file = folder.file("far.nrrd", [header.as_bytes(), &ball()].concat());
    let picture = folder.path("far.png").display().to_string();
    let rest = format!("--iso 155 --size 32x32 --json -o {picture}");
    let value = json(&run_well(call("isosurface", &file, &rest)));
    assert!(value["hits"].as_u64() > Some(20));
    let mesh = folder.path("far.ply");
    let rest = format!("--iso 155 --extract {}", mesh.display());
    let error = run_badly(call("isosurface", &file, &rest));
    assert!(
        error.contains("far.nrrd: coordinates up to 3e15; expected at most 1e12 in a mesh"),
        "{error}"
    );
    assert!(!mesh.exists());
}

#[test]
fn surfaces_are_extracted_as_a_mesh() {
    let folder = Folder::new("extract");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let mesh = folder.path("ball.ply").display().to_string();
    let rest = format!("--iso 155,55 --json --extract {mesh}");
    let value = json(&run_well(call("isosurface", &file, &rest)));
    let triangles = value["triangles"].as_u64().expect("a number");
    assert!((3000..6000).contains(&triangles), "{triangles}");
    let info = json(&run_well(["info", &mesh, "--json"]));
    assert_eq!(info["input"]["triangles"], triangles);
    assert_eq!(info["normals"], true);
    // A picture and a mesh at once; neither, or another format, is a wrong call.
    let picture = folder.path("ball.png").display().to_string();
    let rest = format!("--iso 155 --size 32x32 -o {picture} --extract {mesh}");
    run_well(call("isosurface", &file, &rest));
    assert!(Path::new(&picture).exists());
    assert_eq!(run(call("isosurface", &file, "--iso 155")).code, Some(2));
    let outcome = run(call("isosurface", &file, "--iso 155 --extract a.stl"));
    assert!(
        outcome
            .errors
            .contains("--extract a.stl: expected a name that ends in .ply")
    );
}

#[test]
fn a_clipped_volume_shows_its_inside() {
    let folder = Folder::new("clip");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.png").display().to_string();
    let hits = |command: &str, rest: &str| {
        let rest = format!("{rest} --size 48x48 --json -o {picture}");
        json(&run_well(call(command, &file, &rest)))["hits"]
            .as_u64()
            .expect("a number")
    };
    let whole = hits("isosurface", "--iso 155");
    // The nearer half is cut off; the inside of the other half is seen.
    let half = hits("isosurface", "--iso 155 --clip=-1,11.5,-1,99,-1,99");
    assert!(half > 0 && half < whole, "{half} {whole}");
    assert!(hits("volume", "--clip 0,11.5,0,99,0,99") < hits("volume", ""));
    let outcome = run(call(
        "volume",
        &file,
        &format!("--clip 1,0,0,1,0,1 -o {picture}"),
    ));
    assert!(
        outcome.errors.contains("expected six numbers"),
        "{outcome:?}"
    );
}

#[test]
fn a_generated_volume_needs_no_file() {
    let folder = Folder::new("generated");
    let picture = folder.path("a.png").display().to_string();
    for (scene, size) in [
        ("spheres:20x21x22", [20, 21, 22]),
        ("marschner-lobb:24", [24; 3]),
    ] {
        let words = [
            "volume", "--scene", scene, "--size", "32x32", "--json", "-o", &picture,
        ];
        let value = json(&run_well(words));
        assert_eq!(value["input"]["size"], serde_json::json!(size));
    }
    let words = [
        "isosurface",
        "--scene",
        "spheres:16000000",
        "--iso",
        "1",
        "-o",
        &picture,
    ];
    assert!(run_badly(words).contains("spheres:16000000x16000000x16000000: no memory for"));
    let outcome = run(["volume", "--scene", "cubes", "-o", &picture]);
    assert!(
        outcome
            .errors
            .contains("expected spheres or marschner-lobb"),
        "{outcome:?}"
    );
    assert_eq!(run(["volume", "-o", &picture]).code, Some(2));
}

#[test]
fn threshold_and_opacity_change_the_picture() {
    let folder = Folder::new("threshold");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = |rest: &str| {
        let path = folder.path("a.ppm");
        let rest = format!("{rest} --size 24x24 -o {}", path.display());
        run_well(call("volume", &file, &rest));
        std::fs::read(path).expect("a picture")
    };
    let plain = picture("--preset bone");
    assert_ne!(plain, picture("--preset bone --threshold 30"));
    assert_ne!(plain, picture("--preset bone --opacity 0.2"));
    assert_eq!(plain, picture("--preset bone --opacity 1"));
}

/// Returns the pixels of a PPM picture.
fn pixels(path: &Path, edge: usize) -> Vec<[u8; 3]> {
    let bytes = std::fs::read(path).expect("a picture");
    let pixels = &bytes[bytes.len() - edge * edge * 3..];
    pixels.as_chunks().0.to_vec()
}

#[test]
fn surfaces_have_colours_in_front_of_a_background() {
    let folder = Folder::new("colours");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.ppm");
    let shown = picture.display();
    let options = "--iso 100,200 --colour #00ff00,#ff0000 --opacity 0.2,1 --background #0000ff";
    run_well(call(
        "isosurface",
        &file,
        &format!("{options} --size 33x33 -o {shown}"),
    ));
    let found = pixels(&picture, 33);
    assert_eq!(found[0], [0, 0, 255]);
    // In the middle red behind a green veil, and further out only the veil in front of blue.
    let [red, green, blue] = found[16 * 33 + 16];
    assert!(red > green && green > blue, "{red} {green} {blue}");
    let veil = found[16 * 33..17 * 33]
        .iter()
        .find(|it| **it != [0, 0, 255]);
    assert!(veil.is_some_and(|[red, green, blue]| blue > green && green > red));

    run_well(call(
        "isosurface",
        &file,
        &format!("--iso 100 --frames 2 --size 16x16 -o {shown}"),
    ));
    assert!(folder.path("a-000.ppm").exists() && folder.path("a-001.ppm").exists());
    let outcome = run(call(
        "isosurface",
        &file,
        &format!("--iso 100 --colour #00ff00,black -o {shown}"),
    ));
    let expected = "--colour with 2 values: expected at most 1";
    assert!(outcome.errors.contains(expected), "{}", outcome.errors);
}

#[test]
fn a_maximum_is_on_black_unless_another_background_is_given() {
    let folder = Folder::new("on-black");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.ppm");
    for (options, is_black) in [
        ("--mip", true),
        ("--mip --preset grey", true),
        ("--preset x-ray", true),
        ("--mip --background backdrop", false),
        ("--preset bone", false),
    ] {
        let rest = format!("{options} --size 16x16 -o {}", picture.display());
        run_well(call("volume", &file, &rest));
        assert_eq!(pixels(&picture, 16)[0] == [0; 3], is_black, "{options}");
    }
}

#[test]
fn an_extracted_surface_is_cut_and_seen_from_outside() {
    let folder = Folder::new("extracted");
    // A thick shell: from its centre, it looks like a room.
    let shell: Vec<u8> = ball().iter().map(|&it| it.min(255 - it)).collect();
    let file = folder.file("shell_24x24x24_u8.raw", shell);
    let (mesh, picture) = (folder.path("shell.ply"), folder.path("shell.ppm"));
    let extract = |rest: &str| {
        let rest = format!("--iso 90,100 --json --extract {} {rest}", mesh.display());
        json(&run_well(call("isosurface", &file, &rest)))
    };
    let whole = extract("");
    let rest = format!("--size 33x33 --json -o {}", picture.display());
    let rendered = json(&run_well(call("render", &mesh, &rest)));
    assert_eq!(rendered["camera"]["setting"], "object");
    let hits = rendered["rays"]["hit"].as_u64().expect("a number");
    assert!((33 * 33..4 * 33 * 33).contains(&hits), "{hits}");
    // The camera is above the middle along z, which is up in a volume.
    let eye = &rendered["camera"]["eye"];
    assert!(eye[2].as_f64() > Some(12.0), "{eye}");
    let inside = json(&run_well(call(
        "render",
        &mesh,
        &format!("{rest} --from inside"),
    )));
    assert_eq!(inside["camera"]["setting"], "room");

    let half = extract("--clip 0,23,0,23,0,11.5");
    let count = |value: &serde_json::Value| value["triangles"].as_u64().expect("a number");
    assert!(count(&half) < count(&whole) * 6 / 10, "{half} {whole}");
    let value = json(&run_well(call("info", &mesh, "--json")));
    assert_eq!(value["box"][1][2], 11.5);
}

#[test]
fn empty_results_are_not_silent() {
    let folder = Folder::new("empty");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.png").display().to_string();
    let among = "no isovalue is above 0 and up to 237; see --iso, --clip and --eye";
    for (command, rest, expected) in [
        (
            "isosurface",
            "--iso 100,250",
            "--iso 250 has no surface; the values are above 0 and up to 237",
        ),
        ("isosurface", "--iso 250", among),
        (
            "isosurface",
            "--iso 100 --clip 0,1,0,1,0,1",
            "no surface is in the picture",
        ),
        (
            "volume",
            "--opacity 0",
            "no visible value is in the picture",
        ),
    ] {
        let outcome = run(call(command, &file, &format!("{rest} -o {picture}")));
        assert_eq!(outcome.code, Some(0), "{}", outcome.errors);
        assert!(outcome.errors.contains(expected), "{}", outcome.errors);
        let quiet = run(call(command, &file, &format!("{rest} -q -o {picture}")));
        assert_eq!(quiet.errors, "");
    }
    let mesh = folder.path("a.ply");
    let rest = format!("--iso 250 --extract {}", mesh.display());
    let error = run_badly(call("isosurface", &file, &rest));
    let among = "no isovalue is above 0 and up to 237; see --iso and --clip";
    assert!(error.contains(among), "{error}");
    assert!(!mesh.exists());
}

/// Returns a DICOM image of 2 × 2 pixels.
fn dicom(series: &str, kind: &str, z: u8) -> Vec<u8> {
    let mut bytes = [&[0; 128], &b"DICM"[..]].concat();
    let mut element = |tag: [u16; 2], kind: &[u8], value: &[u8]| {
        bytes.extend(tag.map(u16::to_le_bytes).concat());
        bytes.extend(kind);
        bytes.extend((value.len() as u16).to_le_bytes());
        bytes.extend(value);
    };
    element([2, 0], b"UL", &28_u32.to_le_bytes());
    element([2, 0x10], b"UI", b"1.2.840.10008.1.2.1\0");
    element([8, 8], b"CS", kind.as_bytes());
    element([0x20, 0xE], b"UI", format!("1.2.{series}\0").as_bytes());
    element([0x20, 0x11], b"IS", format!("{series} ").as_bytes());
    element([0x20, 0x32], b"DS", format!("0\\0\\{z} ").as_bytes());
    element([0x28, 0x10], b"US", &[2, 0]);
    element([0x28, 0x11], b"US", &[2, 0]);
    element([0x28, 0x30], b"DS", b"1\\1 ");
    element([0x28, 0x100], b"US", &[8, 0]);
    bytes.extend(b"\xE0\x7F\x10\0OB\0\0\x04\0\0\0");
    [bytes, vec![z; 4]].concat()
}

#[test]
fn one_series_of_a_folder_is_chosen_and_others_are_counted() {
    let folder = Folder::new("series");
    for (name, series, kind) in [("a", "3", "AXIAL "), ("b", "2", "LOCALIZER ")] {
        for z in [1, 2] {
            folder.file(&format!("{name}{z}"), dicom(series, kind, z));
        }
    }
    let info = |rest: &str| run(call("info", folder.as_ref(), rest));
    let value = json(&info("--json").output);
    assert_eq!(value["input"]["images_left_out"], 2);
    assert!(
        info("")
            .output
            .contains("images left out  2, of other series")
    );
    folder.file("c", dicom("4", "AXIAL ", 1));
    let unclear = info("");
    assert_eq!(unclear.code, Some(1), "{unclear:?}");
    let expected =
        "3 series: 2 (2 images), 3 (2 images), 4 (1 image); expected one series; --series";
    assert!(unclear.errors.contains(expected), "{unclear:?}");
    let value = json(&info("--series 3 --json").output);
    assert_eq!(value["input"]["images_left_out"], 3);
    // A file has nothing to choose from.
    for command in ["info", "isosurface"] {
        let rest = "--series 3 --iso 1 -o a.png";
        let rest = if command == "info" {
            "--series 3"
        } else {
            rest
        };
        let outcome = run(call(command, &folder.path("a1"), rest));
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        assert!(outcome.errors.contains("--series 3: "), "{outcome:?}");
    }
}

#[test]
fn distances_and_sizes_that_are_no_volume_are_wrong_calls() {
    let folder = Folder::new("wrong-sizes");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    for (option, expected) in [
        ("--spacing 0,1,1", "three distances greater than 0"),
        ("--spacing=-1,1,1", "three distances greater than 0"),
        ("--spacing 1,1", "three distances greater than 0"),
        ("--raw-size 1x24x24", "each from 2 to 16777216"),
    ] {
        let outcome = run(call("info", &file, option));
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let name = option.split([' ', '=']).next().expect("a name");
        assert!(outcome.errors.contains(name), "{outcome:?}");
        assert!(outcome.errors.contains(expected), "{outcome:?}");
    }
    for scene in ["spheres:1", "spheres:5x1x5", "marschner-lobb:99999999"] {
        for command in ["info", "isosurface"] {
            let outcome = run([command, "--scene", scene]);
            assert_eq!(outcome.code, Some(2), "{outcome:?}");
            assert!(outcome.errors.contains("--scene"), "{outcome:?}");
            assert!(
                outcome.errors.contains("each from 2 to 16777216"),
                "{outcome:?}"
            );
        }
    }
}

#[test]
fn the_array_of_a_file_with_several_is_reported() {
    let folder = Folder::new("arrays");
    let array = |name: &str| {
        format!(
            "<DataArray type=\"UInt8\" Name=\"{name}\" format=\"ascii\">1 2 3 4 5 6 7 8</DataArray>"
        )
    };
    let text = format!(
        "<VTKFile type=\"ImageData\"><ImageData WholeExtent=\"0 1 0 1 0 1\"><Piece>\
         <PointData>{}{}</PointData></Piece></ImageData></VTKFile>",
        array("density"),
        array("speed")
    );
    let file = folder.file("a.vti", text);
    let value = json(&run_well(call("info", &file, "--json")));
    assert_eq!(value["input"]["array"], "density");
    assert_eq!(
        value["input"]["arrays_left_out"],
        serde_json::json!(["speed"])
    );
    let text = run_well(call("info", &file, ""));
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| {
            line.split("  ")
                .map(str::trim)
                .filter(|it| !it.is_empty())
                .collect()
        })
        .collect();
    assert!(rows.contains(&vec!["array", "\"density\""]), "{text}");
    assert!(
        rows.contains(&vec!["arrays left out", "\"speed\""]),
        "{text}"
    );
}

#[test]
fn a_picture_takes_the_memory_of_the_volume_and_a_quarter() {
    let folder = Folder::new("volume-memory");
    // Spheres in a volume of 33 MB, and the same in one that takes little memory.
    let [large, small] = [320_usize, 64].map(|edge| {
        let voxel = |index: usize| {
            let at = [index % edge, index / edge % edge, index / (edge * edge)];
            let square: usize = at.iter().map(|&at| (at % 64).abs_diff(32).pow(2)).sum();
            (255 - square.min(255)) as u8
        };
        let voxels: Vec<u8> = (0..edge.pow(3)).map(voxel).collect();
        folder.file(&format!("spheres_{edge}x{edge}x{edge}_u8.raw"), voxels)
    });
    let picture = folder.path("a.png").display().to_string();
    for (command, rest) in [
        ("volume", ""),
        ("volume", "--mip"),
        ("isosurface", "--iso 100"),
        ("isosurface", "--iso 100,200 --opacity 0.5,1 --shadows"),
    ] {
        let peak = |file: &Path| {
            let rest = format!("{rest} --size 64x64 --json -o {picture}");
            let value = json(&run_well(call(command, file, &rest)));
            value["memory_peak_bytes"].as_u64().expect("a number")
        };
        let (volume, taken) = (320_u64.pow(3), peak(&large) - peak(&small));
        // Besides the quarter, the memory of a process varies by some megabytes.
        let most = volume + volume / 4 + (4 << 20);
        assert!(taken <= most, "{command} {rest}: {taken} of {most}");
    }
}

#[test]
fn a_maximum_is_grey_and_an_x_ray_has_no_light() {
    let folder = Folder::new("grey");
    let file = folder.file("ball_24x24x24_u8.raw", ball());
    let picture = folder.path("a.ppm");
    for options in ["--mip", "--preset x-ray --opacity 20"] {
        let rest = format!("{options} --size 17x17 -o {}", picture.display());
        run_well(call("volume", &file, &rest));
        let found = pixels(&picture, 17);
        assert!(found[8 * 17 + 8][0] > 200, "{options}: {found:?}");
        // The last digit is dithered.
        let is_grey =
            |[red, green, blue]: &[u8; 3]| red.abs_diff(*green) <= 1 && green.abs_diff(*blue) <= 1;
        assert!(found.iter().all(is_grey), "{options}");
    }
    let outcome = run(call(
        "volume",
        &file,
        &format!("--preset grey --threshold 9 -o {}", picture.display()),
    ));
    assert!(outcome.errors.contains("this preset has no threshold"));
    let rest = format!("--mip --threshold 9 -o {}", picture.display());
    let outcome = run(call("volume", &file, &rest));
    assert!(
        outcome
            .errors
            .contains("--threshold 9 --mip: this preset has no threshold")
    );
}

#[test]
fn a_volume_without_a_surface_is_one_line() {
    let folder = Folder::new("constant");
    let file = folder.file("constant_8x8x8_u8.raw", [7; 512]);
    let [picture, mesh] = ["a.png", "a.ply"].map(|name| folder.path(name).display().to_string());
    let rest = format!("--iso 3 -o {picture} --extract {mesh}");
    let error = run_badly(call("isosurface", &file, &rest));
    assert!(
        error.contains("all voxels are 7, so that there is no surface"),
        "{error}"
    );
    let outcome = run(call("isosurface", &file, "--iso 3"));
    assert!(
        outcome.errors.contains("--extract <MESH>"),
        "{}",
        outcome.errors
    );
}

#[test]
fn the_input_is_not_overwritten() {
    let folder = Folder::new("overwritten");
    let file = folder.file("ball_24x24x24.png", ball());
    let bytes = std::fs::read(&file).expect("the volume");
    let rest = format!("--raw-size 24x24x24 -o {}", file.display());
    for (command, more) in [("volume", ""), ("isosurface", "--iso 100 ")] {
        let error = run_badly(call(command, &file, &format!("{more}{rest}")));
        assert!(
            error.contains("found the input; expected another file"),
            "{error}"
        );
    }
    assert_eq!(std::fs::read(&file).expect("the volume"), bytes);
}
