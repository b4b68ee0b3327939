//! Files appear whole or not at all.

use std::fs;
use std::path::PathBuf;

use super::*;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("raddle-output-{}-{name}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .expect("readable")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    names.sort();
    names
}

#[test]
fn a_written_file_has_its_content_and_no_temporary_file_remains() {
    let folder = folder("whole");
    let path = folder.join("a.txt");
    write_file(&path, "one").expect("written");
    write_file(&path, "two").expect("replaced");
    assert_eq!(fs::read_to_string(&path).expect("readable"), "two");
    assert_eq!(names(&folder), ["a.txt"]);
    fs::remove_dir_all(folder).expect("removed");
}

#[test]
fn errors_name_a_directory_and_a_missing_folder() {
    let folder = folder("bad");
    let error = write_file(&folder, "x").expect_err("a directory");
    assert!(
        matches!(error, CliError::OutputIsDirectory { .. }),
        "{error}"
    );
    let missing = folder.join("nowhere").join("a.svg");
    let error = write_file(&missing, "x").expect_err("no such folder");
    assert!(error.to_string().contains("nowhere"), "{error}");
    fs::remove_dir_all(folder).expect("removed");
}
