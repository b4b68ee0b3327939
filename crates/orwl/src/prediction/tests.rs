//! Running programs do not depend on predictions.

use std::fs;
use std::path::{Path, PathBuf};

/// The module, and the items that the crate root exports from it.
const NAMES: [&str; 6] = [
    "prediction",
    "LocationIndex",
    "MachineSpeed",
    "Mapping",
    "Simulated",
    "Sketch",
];

#[test]
fn no_other_module_imports_predictions() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let may_import = |path: &Path| {
        let path = path.strip_prefix(&source).expect("a path in the folder");
        // The crate root exports the public items.
        path.starts_with("prediction")
            || [Path::new("prediction.rs"), Path::new("lib.rs")].contains(&path)
    };
    let mut importing = Vec::new();
    let mut file_count = 0;
    for path in files_under(&source) {
        file_count += 1;
        let text = fs::read_to_string(&path).expect("a source file");
        let has_import = text.lines().any(|line| {
            let code = line.split("//").next().unwrap_or_default();
            NAMES.iter().any(|name| code.contains(name))
        });
        if has_import && !may_import(&path) {
            importing.push(path);
        }
    }
    assert!(
        file_count > 10,
        "{file_count} files in {}",
        source.display()
    );
    assert!(importing.is_empty(), "{importing:?}");
}

/// Returns the files in a folder and its subfolders.
fn files_under(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder of source files");
    let paths = entries.map(|entry| entry.expect("an entry of the folder").path());
    let (folders, mut files): (Vec<_>, Vec<_>) = paths.partition(|path| path.is_dir());
    files.extend(folders.iter().flat_map(|folder| files_under(folder)));
    files
}
