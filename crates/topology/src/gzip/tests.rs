//! Sequences of gzip members, with valid and invalid bytes after them.

use std::io::Write;

use super::*;

fn pack(text: &str) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer
        .write_all(text.as_bytes())
        .expect("writing to memory succeeds");
    packer.finish().expect("writing to memory succeeds")
}

#[test]
fn zeros_between_and_after_members_are_skipped() {
    let mut packed = pack("one ");
    packed.extend(pack("two "));
    packed.extend([0; 7]);
    packed.extend(pack("three"));
    packed.extend([0; 512]);
    assert_eq!(unpack(&packed, 13).expect("it is whole"), b"one two three");
    let error = unpack(&packed, 12).expect_err("one byte too many");
    assert_eq!(
        error.to_string(),
        "found more than 12 bytes after decompression"
    );
}

#[test]
fn garbage_after_a_member_is_reported_with_its_position() {
    let mut packed = pack("x");
    let length = packed.len();
    packed.extend(b"\0\0garbage");
    let error = unpack(&packed, 100).expect_err("garbage");
    let expected = format!(
        "found 0x67 at byte {}, after the compressed data",
        length + 2
    );
    assert_eq!(error.to_string(), expected);
}

#[test]
fn a_truncated_member_is_an_error() {
    let packed = pack("some text that is long enough");
    assert!(unpack(&packed[..packed.len() - 9], 100).is_err());
    assert!(unpack(&packed[..5], 100).is_err());
}
