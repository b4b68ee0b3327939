//! Serialises paths as text.

use std::path::Path;

use serde::Serializer;

/// Serialises a path as text.
///
/// Bytes that are not valid Unicode are replaced, because serde would refuse them.
pub(crate) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&path.to_string_lossy())
}
