//! The location of the real test data, for every test that needs it.

use std::path::PathBuf;

/// Returns the path of a machine's XML file.
///
/// # Panics
/// Panics if `RADDLE_DATA` is not set. A test without its data must fail, not pass silently.
pub(crate) fn xml_file(name: &str) -> PathBuf {
    let data = std::env::var_os("RADDLE_DATA")
        .expect("RADDLE_DATA must name the folder with the real test data; see CONTRIBUTING.md");
    PathBuf::from(data)
        .join("topology/hwloc-xml")
        .join(format!("{name}.xml"))
}
