//! Reports about loaded meshes: the elements that were left out, and coordinates of the file.

use std::fs;

use crate::common::{Folder, json, run, run_well};

const POINTS: &str = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\n";
const FACES: &str = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

#[test]
fn elements_that_a_reader_leaves_out_are_one_warning_and_counts() {
    let folder = Folder::new("ignored");
    let mesh = folder.file("a.obj", format!("{POINTS}l 1 2\np 1 2\nf 1 2\n{FACES}"));
    let outcome = run(["kdtree".as_ref(), mesh.as_os_str(), "--json".as_ref()]);
    assert_eq!(outcome.code, Some(0), "{}", outcome.errors);
    let expected = format!(
        "warning: {}: 1 face without three corners left out, 1 line left out, 2 points left out\n",
        mesh.display()
    );
    assert_eq!(outcome.errors, expected);
    let input = &json(&outcome.output)["input"];
    assert_eq!(input["ignored"]["faces"], 1);
    assert_eq!(input["ignored"]["lines"], 1);
    assert_eq!(input["ignored"]["points"], 2);
    assert_eq!(input["ignored"]["trailing_bytes"], 0);
    assert_eq!(input["offset"], serde_json::json!([0.0, 0.0, 0.0]));
    let outcome = run(["kdtree".as_ref(), mesh.as_os_str(), "--quiet".as_ref()]);
    assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""));
    let whole = folder.file("b.obj", format!("{POINTS}{FACES}"));
    let outcome = run(["kdtree".as_ref(), whole.as_os_str()]);
    assert_eq!((outcome.code, outcome.errors.as_str()), (Some(0), ""));
}

// Far from the origin, `f32` is too coarse for a small mesh, so the mesh has coordinates of its
// own. `--eye`, `--look-at` and every report use the coordinates of the file.
#[test]
fn a_mesh_far_from_the_origin_has_the_same_picture_as_at_the_origin() {
    let folder = Folder::new("far");
    let far = "v 512000 5412000 -100\nv 512001 5412000 -100\n\
               v 512000 5412001 -100\nv 512000 5412000 -99\n";
    let mut seen = Vec::new();
    for (name, points, eye, at) in [
        ("near", POINTS, "3.25,2.5,4.125", "0.25,0.25,0.25"),
        (
            "far",
            far,
            "512003.25,5412002.5,-95.875",
            "512000.25,5412000.25,-99.75",
        ),
    ] {
        let mesh = folder.file(&format!("{name}.obj"), format!("{points}{FACES}"));
        let picture = folder.path(&format!("{name}.ppm"));
        let text = run_well([
            "render".as_ref(),
            mesh.as_os_str(),
            "-o".as_ref(),
            picture.as_os_str(),
            "--size=64x48".as_ref(),
            "--json".as_ref(),
            format!("--eye={eye}").as_ref(),
            format!("--look-at={at}").as_ref(),
        ]);
        let value = json(&text);
        let found = value["camera"]["eye"].as_array().expect("three numbers");
        let found: Vec<String> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found.join(","), eye);
        seen.push((
            value["rays"]["hit"].clone(),
            fs::read(picture).expect("a picture"),
        ));

        let refused = run([
            "render".as_ref(),
            mesh.as_os_str(),
            "-o".as_ref(),
            folder.path("no.ppm").as_os_str(),
            format!("--eye={eye}").as_ref(),
            format!("--look-at={eye}").as_ref(),
        ]);
        assert_eq!(refused.code, Some(2));
        let both = format!("are both at [{}]", eye.replace(',', ", "));
        assert!(refused.errors.contains(&both), "{}", refused.errors);
    }
    assert!(seen[0].0.as_u64().is_some_and(|hits| hits > 100));
    assert!(seen[0] == seen[1], "{} and {} hits", seen[0].0, seen[1].0);
    let text = run_well(["kdtree".as_ref(), folder.path("far.obj").as_os_str()]);
    assert!(
        text.contains("512000.0000,5412000.0000,-100.0000"),
        "{text}"
    );
}
