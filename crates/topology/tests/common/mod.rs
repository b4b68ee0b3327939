//! Where the real data lies, for every test that needs it.

use std::path::PathBuf;

/// Returns the path of a machine's XML file.
///
/// # Panics
/// When `RADDLE_DATA` is not set: a test on real data that finds none must fail, not pass unseen.
pub(crate) fn xml_file(name: &str) -> PathBuf {
    let data = std::env::var_os("RADDLE_DATA")
        .expect("RADDLE_DATA must name the folder with the real test data; see CONTRIBUTING.md");
    PathBuf::from(data)
        .join("topology/hwloc-xml")
        .join(format!("{name}.xml"))
}
