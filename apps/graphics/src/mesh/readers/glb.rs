//! Reads binary glTF 2.0 (`.glb`): every triangle that its scene shows, in the position that the
//! scene gives it.
//!
//! Only the parts of the JSON that define a mesh are parsed, see [`json`]. Broken or unknown parts
//! beside them do not matter. A node may occur in the graph only once, as the specification
//! demands, so that no file can grow while it is read. A mesh may be shown by any number of nodes.
//! Strips, fans, sparse and quantised accessors, data URIs and `EXT_mesh_gpu_instancing` are
//! supported. The mesh is that of the rest pose: morph targets have their default weights, joints
//! position the meshes that are bound to them, and animations are not played. Data in other files
//! and compressed data are rejected.
//!
//! # Limits
//! The whole JSON is kept in memory, and a small compressed file can contain a very long one. So
//! there are limits, which are checked before the memory is allocated.
//!
//! | data | limit | additional limit for a compressed file |
//! |---|---|---|
//! | the JSON | 128 MiB | 4 MiB, and 64 bytes for each compressed byte |
//! | its objects in memory | the memory of the machine | 16 MiB, and 256 bytes for each |
//! | the binary chunk | 4 GiB, by the format | 16 MiB, and 256 bytes for each |
//!
//! The JSON of real scenes takes 30 to 300 bytes for each node, accessor or mesh, and compresses by
//! a factor of less than 30. So a million nodes of average size fit.
//!
//! # Source
//! Khronos Group, glTF 2.0 Specification, 2021: 3.5 (scenes), 3.7.2 (meshes), 4.4 (container).

mod accessor;
mod buffer;
mod build;
mod json;
mod pose;
mod scene;

use self::accessor::Accessors;
use self::buffer::Buffers;
use self::build::Builder;
use super::MeshReader;
use crate::file::{BYTE_ORDER_MARK, Fault, Place, Source, one_line, quoted};
use crate::memory;
use crate::mesh::faces::Faces;
use crate::mesh::parsed::Parsed;

#[cfg(test)]
mod tests;

/// The extensions that a file may require: those that do not affect the shape of triangles (any
/// extension that begins with one of these strings), and the one that permits small integers as
/// coordinates.
const EXTENSIONS_HARMLESS: [&str; 12] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "KHR_animation_",
    "KHR_audio_",
    "KHR_xmp",
    "EXT_texture_",
    "EXT_lights_",
    "EXT_mesh_gpu_instancing",
    "KHR_mesh_quantization",
    "KHR_node_selectability",
    "KHR_node_hoverability",
];

/// The maximum length of the JSON.
const JSON_BYTES_MAX: u64 = 128 << 20;

/// The limit for the JSON of a compressed file.
const JSON_EXPANSION: Expansion = Expansion {
    content: "JSON",
    free: 4 << 20,
    per_byte: 64,
};
/// The corresponding limit for the objects of the JSON, in memory.
const OBJECT_EXPANSION: Expansion = Expansion {
    content: "objects in JSON",
    free: 16 << 20,
    per_byte: 256,
};
/// The corresponding limit for the binary chunk.
const BINARY_EXPANSION: Expansion = Expansion {
    content: "a binary chunk",
    free: 16 << 20,
    per_byte: 256,
};

/// The number of bytes of a chunk that are read between two checks of its expansion.
const PIECE_BYTES: u64 = 1 << 20;

/// A limit on some data of a compressed file: a fixed number of bytes, and a number for each
/// compressed byte.
#[derive(Debug, Clone, Copy)]
struct Expansion {
    content: &'static str,
    free: u64,
    per_byte: u64,
}

impl Expansion {
    fn check(self, source: &Source<'_>, bytes: u64) -> Result<(), Fault> {
        source.check_expansion(source.byte(), self.content, bytes, self.free, self.per_byte)
    }
}

/// The reader of binary glTF files.
pub(super) const READER: MeshReader = MeshReader {
    extensions: &["glb"],
    is_text: None,
    recognizes: |head| head.bytes.starts_with(b"glTF"),
    read,
};

/// Reads a binary glTF file from its first byte.
fn read(source: &mut Source<'_>, faces: Faces) -> Result<Parsed, Fault> {
    let container = Container::read(source)?;
    check_objects(source, &container)?;
    let root = json::parse(&container.json).map_err(|error| container.json_fault(&error))?;
    for extension in &root.extensions_required {
        if !EXTENSIONS_HARMLESS
            .iter()
            .any(|known| extension.starts_with(known))
        {
            return Err(Fault::syntax(
                container.json_place(),
                format!("required extension {}", quoted(extension.as_bytes())),
                "a file that can be read without it",
            ));
        }
    }
    let buffers = Buffers::new(&root, &container);
    let accessors = Accessors::new(&root, &container, &buffers);
    let worlds = scene::transforms(&root);
    let mut builder = Builder::new(accessors, faces, &worlds);
    scene::walk(&root, container.json_place(), |node, transform| {
        builder.add_node(node, transform)
    })?;
    builder.finish()
}

/// The two chunks of a file and their offsets.
#[derive(Debug)]
struct Container {
    json: Vec<u8>,
    json_offset: u64,
    binary: Vec<u8>,
    binary_offset: u64,
}

impl Container {
    fn read(source: &mut Source<'_>) -> Result<Self, Fault> {
        let [_magic, version, length] = words(source, "a header of 12 bytes")?;
        if version != 2 {
            let found = format!("version {version} of binary glTF");
            return Err(Fault::syntax(Place::Byte(4), found, "version 2"));
        }
        let mut container = Self {
            json: Vec::new(),
            json_offset: 0,
            binary: Vec::new(),
            binary_offset: 0,
        };
        let mut chunk_number = 0;
        // Some writers count more bytes than they write, so the file may end after any whole chunk.
        while source.offset() < u64::from(length) && (chunk_number == 0 || source.ensure(1)?) {
            let place = source.byte();
            let [chunk_length, chunk_type] = words(source, "the head of a chunk")?;
            let chunk_length = u64::from(chunk_length);
            if source.offset() + chunk_length > u64::from(length) {
                return Err(Fault::syntax(
                    place,
                    format!("a chunk of {chunk_length} bytes"),
                    format!("an end of the chunk before {length}, the length of the file"),
                ));
            }
            match (chunk_number, &chunk_type.to_le_bytes()) {
                (0, b"JSON") => {
                    if chunk_length > JSON_BYTES_MAX {
                        return Err(Fault::too_large(
                            place,
                            format!("a chunk of {chunk_length} bytes of JSON"),
                            format!("at most {JSON_BYTES_MAX} bytes"),
                        ));
                    }
                    container.json_offset = source.offset();
                    chunk(source, chunk_length, &mut container.json, JSON_EXPANSION)?;
                    container.trim_json();
                }
                (0, other) => {
                    let found = format!("a first chunk {}", quoted(other));
                    return Err(Fault::syntax(place, found, "\"JSON\""));
                }
                (1, b"BIN\0") => {
                    container.binary_offset = source.offset();
                    chunk(
                        source,
                        chunk_length,
                        &mut container.binary,
                        BINARY_EXPANSION,
                    )?;
                }
                _ => source.skip(chunk_length, "the end of a chunk")?,
            }
            chunk_number += 1;
        }
        if chunk_number == 0 {
            return Err(Fault::truncated(source.byte(), "a chunk \"JSON\""));
        }
        Ok(container)
    }

    /// Removes a byte-order mark and the padding with zeros, which do not belong to the JSON.
    fn trim_json(&mut self) {
        let is_text = |byte: &u8| *byte != 0 && !byte.is_ascii_whitespace();
        let end = self.json.iter().rposition(is_text);
        self.json.truncate(end.map_or(0, |end| end + 1));
        if self.json.starts_with(BYTE_ORDER_MARK) {
            self.json.drain(..BYTE_ORDER_MARK.len());
            self.json_offset += BYTE_ORDER_MARK.len() as u64;
        }
    }

    /// Converts an error of the JSON parser, and computes its place in the file.
    #[cold]
    fn json_fault(&self, error: &serde_json::Error) -> Fault {
        let lines = self.json.split_inclusive(|&byte| byte == b'\n');
        let before: usize = lines
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let place = Place::Byte(self.json_offset + (before + error.column()) as u64);
        let found = format!(
            "JSON that cannot be parsed: {}",
            one_line(&error.to_string())
        );
        Fault::syntax(place, found, "a scene in glTF 2.0")
    }

    /// Returns the beginning of the JSON, where errors in its content are reported.
    fn json_place(&self) -> Place {
        Place::Byte(self.json_offset)
    }
}

/// Reads words of 32 bits.
fn words<const COUNT: usize>(
    source: &mut Source<'_>,
    expected: &str,
) -> Result<[u32; COUNT], Fault> {
    let mut words = [0; COUNT];
    for word in &mut words {
        *word = u32::from_le_bytes(source.take(expected)?);
    }
    Ok(words)
}

/// Checks that there is memory for the objects of the JSON. An object `{}` takes two bytes there,
/// but hundreds of bytes as a node in memory. Braces in strings count too, but they are rare.
fn check_objects(source: &Source<'_>, container: &Container) -> Result<(), Fault> {
    let count = memchr::memchr_iter(b'{', &container.json).count() as u64;
    let bytes = count * size_of::<json::Node>() as u64;
    OBJECT_EXPANSION.check(source, bytes)?;
    memory::ask(bytes).map_err(|none| Fault::no_memory(container.json_place(), none))
}

/// Reads the content of a chunk. Memory is allocated as bytes arrive, not by the length that the
/// file declares.
fn chunk(
    source: &mut Source<'_>,
    length: u64,
    bytes: &mut Vec<u8>,
    expansion: Expansion,
) -> Result<(), Fault> {
    source.reserve(bytes, length, 1)?;
    loop {
        let before = bytes.len() as u64;
        source.read_into(bytes, (length - before).min(PIECE_BYTES))?;
        if bytes.len() as u64 == before {
            break;
        }
        expansion.check(source, bytes.len() as u64)?;
    }
    if (bytes.len() as u64) < length {
        let expected = format!("a chunk of {length} bytes");
        return Err(Fault::truncated(source.byte(), expected));
    }
    Ok(())
}
