//! Formats are detected by their first bytes, and by names only if necessary.

use std::path::Path;

use super::*;
use crate::file::{Source, reader};

/// The extension of a reader, and whether it reads text only or binary data only.
type ReaderKey = (&'static str, Option<bool>);

const PLY: Option<ReaderKey> = Some(("ply", None));
const OBJ: Option<ReaderKey> = Some(("obj", None));
const STL_TEXT: Option<ReaderKey> = Some(("stl", Some(true)));
const STL_BINARY: Option<ReaderKey> = Some(("stl", Some(false)));
const GLB: Option<ReaderKey> = Some(("glb", None));

fn kind(bytes: &[u8], name: &str) -> Option<ReaderKey> {
    let length = Some(bytes.len() as u64);
    let mut source = Source::new(Box::new(bytes), length, u64::MAX, Box::new(|| ()));
    let reader = reader(&READERS, &mut source, Path::new(name), "").ok()?;
    Some((reader.extensions[0], reader.is_text))
}

#[test]
fn content_takes_precedence_over_the_name() {
    assert_eq!(kind(b"ply\nformat ascii 1.0\n", "a.obj"), PLY);
    assert_eq!(kind(b"ply\r\nformat ascii 1.0\n", "a"), PLY);
    assert_eq!(kind(b"glTF\x02\0\0\0", "a.stl"), GLB);
    assert_eq!(kind(b"# by hand\n\nv 0 0 0\n", "a.stl"), OBJ);
    assert_eq!(kind(b"  solid cube\n", "a.obj"), STL_TEXT);
    assert_eq!(kind(b"SOLID cube\n", "a.obj"), STL_TEXT);
}

#[test]
fn a_binary_stl_file_is_detected_by_its_length_even_if_it_begins_with_solid() {
    let mut bytes = b"solid, or so it says".to_vec();
    bytes.resize(80, b' ');
    bytes.extend(1_u32.to_le_bytes());
    bytes.resize(134, b' ');
    assert_eq!(kind(&bytes, "a"), STL_BINARY);
    bytes.push(0);
    assert_eq!(kind(&bytes, "a"), STL_BINARY, "it has zero bytes");
}

#[test]
fn the_name_decides_if_the_content_does_not() {
    assert_eq!(kind(b"# nothing else\n", "a.obj"), OBJ);
    assert_eq!(kind(b"# nothing else\n", "a.OBJ.gz"), OBJ);
    assert_eq!(kind(b"\0\x01\x02", "a.stl.zst"), STL_BINARY);
    assert_eq!(kind(b"\0\x01\x02", "a.ply"), PLY);
    assert_eq!(kind(b"\0\x01\x02", "a.glb"), GLB);
    assert_eq!(kind(b"\0\x01\x02", "a.dat"), None);
    assert_eq!(kind(b"Dear reader,\n", "note.txt"), None);
    assert_eq!(kind(b"", "a.ply"), None);
}
