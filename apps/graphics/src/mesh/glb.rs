//! Binary glTF 2.0 (`.glb`): every triangle that its scene shows, where the scene puts it.
//!
//! The crate `gltf` reads the JSON; container, accessors and scene graph are ours, because input that breaks
//! the rules has to end in an error with its place (the crate's accessors overflow and unwrap on it), and
//! because files break rules that we have no need of (such as the bounds of positions). A node may stand in the
//! graph once, as the specification demands, so that no file can grow on the way; a mesh may be shown by any
//! number of nodes. Strips, fans, sparse and quantised accessors are read. Skins, morph targets and animations
//! are not: the mesh is seen at rest. Data in other files and compressed data are refused.
//!
//! # Source
//! Khronos Group, glTF 2.0 Specification, 2021: 3.5 (scenes), 3.7.2 (meshes), 4.4 (container).

mod accessor;
mod build;

use glam::{DMat4, DQuat, DVec3};
use gltf::json::Root;
use gltf::json::scene::Node;

use self::accessor::Accessors;
use self::build::Builder;
use super::error::{Fault, Place, one_line, quoted};
use super::faces::Faces;
use super::load::Parsed;
use super::report::Format;
use super::source::Source;

#[cfg(test)]
mod tests;

/// What a file may require of its readers: extensions that have no say in the shape of triangles (all of
/// those that begin so), and the one that allows small integers as coordinates.
const EXTENSIONS_HARMLESS: [&str; 5] = [
    "KHR_materials_",
    "KHR_texture_",
    "KHR_lights_",
    "EXT_texture_",
    "KHR_mesh_quantization",
];

/// Reads a binary glTF file from its first byte.
pub(crate) fn read(source: &mut Source<'_>, faces: Faces) -> Result<Parsed, Fault> {
    let container = Container::read(source)?;
    let root: Root = gltf::json::deserialize::from_slice(&container.json)
        .map_err(|error| container.json_fault(&error))?;
    let required = root.extensions_required.iter();
    for extension in required {
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
    let accessors = Accessors::new(&root, &container);
    let mut builder = Builder::new(accessors, faces);
    walk(&root, container.json_place(), |mesh_index, transform| {
        builder.add_mesh(mesh_index, transform)
    })?;
    let (mesh, faces) = builder.finish();
    Ok(Parsed {
        mesh,
        format: Format::Glb,
        polygon_count: faces.polygon_count,
        dropped_count: faces.dropped_count,
    })
}

/// The two chunks of a file, and where they stand in it.
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
        while source.offset() < u64::from(length) {
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
                    container.json_offset = source.offset();
                    chunk(source, chunk_length, &mut container.json)?;
                }
                (0, other) => {
                    let found = format!("a first chunk {}", quoted(other));
                    return Err(Fault::syntax(place, found, "\"JSON\""));
                }
                (1, b"BIN\0") => {
                    container.binary_offset = source.offset();
                    chunk(source, chunk_length, &mut container.binary)?;
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

    /// What the JSON parser found, at the byte of the file where it found it.
    #[cold]
    fn json_fault(&self, error: &gltf::json::Error) -> Fault {
        let lines = self.json.split_inclusive(|&byte| byte == b'\n');
        let before: usize = lines
            .take(error.line().saturating_sub(1))
            .map(<[u8]>::len)
            .sum();
        let place = Place::Byte(self.json_offset + (before + error.column()) as u64);
        let found = format!(
            "JSON that does not read on: {}",
            one_line(&error.to_string())
        );
        Fault::syntax(place, found, "a scene in glTF 2.0")
    }

    /// The beginning of the JSON, where faults in what it says are reported.
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

/// Reads the content of a chunk. Makes room as bytes come, not as the file promises.
fn chunk(source: &mut Source<'_>, length: u64, bytes: &mut Vec<u8>) -> Result<(), Fault> {
    source.reserve(bytes, length, 1)?;
    source.read_into(bytes, length)?;
    if (bytes.len() as u64) < length {
        let expected = format!("a chunk of {length} bytes");
        return Err(Fault::truncated(source.byte(), expected));
    }
    Ok(())
}

/// Visits the nodes of the scene, and calls `visit` with every mesh and what places it in the world.
fn walk(
    root: &Root,
    place: Place,
    mut visit: impl FnMut(usize, DMat4) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut waiting: Vec<(usize, DMat4)> = roots(root)
        .into_iter()
        .map(|node| (node, DMat4::IDENTITY))
        .collect();
    waiting.reverse();
    if root.nodes.is_empty() {
        for mesh in 0..root.meshes.len() {
            visit(mesh, DMat4::IDENTITY)?;
        }
    }
    let mut visited = vec![false; root.nodes.len()];
    while let Some((index, parent)) = waiting.pop() {
        let Some(node) = root.nodes.get(index) else {
            let expected = format!("one below {}, the number of nodes", root.nodes.len());
            return Err(Fault::syntax(place, format!("node {index}"), expected));
        };
        if std::mem::replace(&mut visited[index], true) {
            let found = format!("node {index} in two places of the scene");
            return Err(Fault::syntax(place, found, "a tree of nodes"));
        }
        let transform = parent * local_transform(node);
        if let Some(mesh) = node.mesh {
            visit(mesh.value(), transform)?;
        }
        let children = node.children.iter().flatten().rev();
        waiting.extend(children.map(|child| (child.value(), transform)));
    }
    Ok(())
}

/// The nodes that a walk begins with: those of the scene; without one, all that are nobody's children.
fn roots(root: &Root) -> Vec<usize> {
    let scene = root.scene.map_or(0, |scene| scene.value());
    if let Some(scene) = root.scenes.get(scene) {
        return scene.nodes.iter().map(|node| node.value()).collect();
    }
    let mut is_child = vec![false; root.nodes.len()];
    for child in root
        .nodes
        .iter()
        .flat_map(|node| node.children.iter().flatten())
    {
        if let Some(is_child) = is_child.get_mut(child.value()) {
            *is_child = true;
        }
    }
    (0..root.nodes.len())
        .filter(|&node| !is_child[node])
        .collect()
}

/// What takes a point from the node's space to its parent's.
fn local_transform(node: &Node) -> DMat4 {
    if let Some(columns) = &node.matrix {
        return DMat4::from_cols_array(&columns.map(f64::from));
    }
    let vector = |value: Option<[f32; 3]>, default: DVec3| {
        value.map_or(default, |value| DVec3::from_array(value.map(f64::from)))
    };
    let rotation = node.rotation.map_or(DQuat::IDENTITY, |rotation| {
        DQuat::from_array(rotation.0.map(f64::from))
    });
    let length = rotation.length();
    let rotation = if length > 0.0 && length.is_finite() {
        rotation / length
    } else {
        DQuat::IDENTITY
    };
    DMat4::from_scale_rotation_translation(
        vector(node.scale, DVec3::ONE),
        rotation,
        vector(node.translation, DVec3::ZERO),
    )
}
