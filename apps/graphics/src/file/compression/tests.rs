//! Compressions are detected by their first bytes.

use super::*;

#[test]
fn compressions_are_detected_by_their_magic_bytes_and_the_input_stays_whole() {
    let cases: [(&[u8], Compression); 6] = [
        (&[0x1f, 0x8b, 8, 0, 1], Compression::Gzip),
        (&[0x1f, 0x8b], Compression::Gzip),
        (&[0x28, 0xb5, 0x2f, 0xfd, 1], Compression::Zstd),
        (&[0x53, 0x2a, 0x4d, 0x18, 1], Compression::Zstd),
        (b"ply\n", Compression::None),
        (b"", Compression::None),
    ];
    for (bytes, expected) in cases {
        let (found, mut input) = detect(bytes).expect("slices do not fail");
        assert_eq!(found, expected, "{bytes:?}");
        let mut back = Vec::new();
        input.read_to_end(&mut back).expect("slices do not fail");
        assert_eq!(back, bytes);
    }
}
