//! Binary glTF files: whole files, and valid containers around any JSON and any data.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    raddle_fuzz::read_mesh(bytes, "it.glb");
    // A mutated file would have a wrong length and be refused at once, so a line break separates
    // the JSON from the data instead.
    if let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
        let (json, binary) = (&bytes[..end], &bytes[end + 1..]);
        let length = (28 + json.len() + binary.len()) as u32;
        let chunk = |kind: &[u8; 4], content: &[u8]| {
            [&(content.len() as u32).to_le_bytes(), &kind[..], content].concat()
        };
        let mut file = [&b"glTF\x02\0\0\0"[..], &length.to_le_bytes()].concat();
        file.extend(chunk(b"JSON", json));
        file.extend(chunk(b"BIN\0", binary));
        raddle_fuzz::read_mesh(&file, "it.glb");
    }
});
