//! A picture file that cannot be written is a one-line error that names the file, and leaves no
//! file behind.

use std::fs;
use std::path::PathBuf;

use raddle_graphics::picture::{Picture, PictureProblem, check_path};

/// Creates a separate directory for a test.
fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("raddle-files-{name}-{}", std::process::id()));
    fs::create_dir_all(&path).unwrap();
    path
}

fn message(path: &PathBuf) -> String {
    let save = Picture::new(8, 8).save(path).unwrap_err().to_string();
    assert!(!save.contains('\n'), "{save}");
    save
}

#[test]
fn an_unknown_extension_is_named() {
    for (name, found) in [
        ("picture.gif", "extension .gif"),
        ("picture", "no extension"),
        ("picture.", "extension ."),
        (".png", "no extension"),
    ] {
        let path = PathBuf::from(name);
        let expected = format!("{name}: {found}; expected a name that ends in .png, .ppm or .exr");
        assert_eq!(message(&path), expected);
        assert_eq!(check_path(&path).unwrap_err().to_string(), expected);
    }
}

#[test]
fn a_directory_is_an_error() {
    let path = directory("directory").join("picture.png");
    fs::create_dir_all(&path).unwrap();
    let expected = format!(
        "{}: a directory; expected the name of a file",
        path.display()
    );
    assert_eq!(message(&path), expected);
    assert_eq!(check_path(&path).unwrap_err().to_string(), expected);
    fs::remove_dir_all(path.parent().unwrap()).unwrap();
}

#[test]
fn a_missing_directory_is_named() {
    let missing = directory("missing").join("no/such");
    let path = missing.join("picture.ppm");
    let expected = format!(
        "{}: no directory {}; expected one to write the file in",
        path.display(),
        missing.display()
    );
    assert_eq!(message(&path), expected);
    assert_eq!(check_path(&path).unwrap_err().to_string(), expected);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error() {
    let directory = directory("full");
    for name in ["full.png", "full.ppm", "full.exr"] {
        let path = directory.join(name);
        std::os::unix::fs::symlink("/dev/full", &path).unwrap();
        let error = Picture::new(64, 64).save(&path).unwrap_err();
        assert!(
            matches!(error.problem, PictureProblem::Write(..)),
            "{error}"
        );
        let text = error.to_string();
        assert!(
            text.starts_with(&format!("{}: No space left", path.display())),
            "{text}"
        );
    }
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    fs::remove_dir_all(directory).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_without_write_access_is_an_error() {
    // No user, not even an administrator, can create files there.
    let path = PathBuf::from("/proc/self/picture.png");
    let text = message(&path);
    assert!(text.starts_with("/proc/self/picture.png: "), "{text}");
    let error = check_path(&path).unwrap_err();
    assert!(matches!(error.problem, PictureProblem::Open(_)), "{error}");
}
