//! Regression tests for the errors that the fuzz targets found in the mesh readers.

use raddle_graphics::file::FileError;
use raddle_graphics::mesh::{LoadOptions, Mesh};

fn error(bytes: &[u8], name: &str) -> FileError {
    let length = Some(bytes.len() as u64);
    Mesh::read(bytes, length, name, &LoadOptions::default(), |_| ()).expect_err("the file is bad")
}

// Found by the fuzz target `mesh_ply` after 40 seconds: an element with an unknown name, which is
// skipped, ended too early. The message repeated the name as in the header, here with zero bytes in
// it. A terminal would have obeyed other control characters. Names are quoted now, and every
// message is escaped as a whole.
#[test]
fn names_of_elements_are_escaped_in_messages() {
    let file = b"ply\nformat binary_little_endian 1.0\nelement vert\0\x1b[2Jex 8\n\
        property float x\nend_header\n";
    let message = error(file, "it.ply").to_string();
    assert!(!message.contains(char::is_control), "{message:?}");
    assert!(message.contains("\\u{0}\\u{1b}[2J"), "{message}");
}
