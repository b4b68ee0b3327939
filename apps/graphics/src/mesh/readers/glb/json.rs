//! The JSON of a glTF file, as far as a mesh needs it.
//!
//! Everything else (animations, cameras, lights, materials, unknown extensions) is skipped, so that
//! an error in it does not affect the mesh. Integers may be written as floats, as programs in
//! JavaScript and Lua do.
//!
//! # Source
//! Khronos Group, glTF 2.0 Specification, 2021: chapter 5 (properties). Instances: the vendor
//! extension `EXT_mesh_gpu_instancing`, 2020.

use std::collections::BTreeMap;

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

/// The root object of a file.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Root {
    pub(super) scene: Option<Index>,
    pub(super) scenes: Vec<Scene>,
    pub(super) nodes: Vec<Node>,
    pub(super) meshes: Vec<MeshOfPrimitives>,
    pub(super) skins: Vec<Skin>,
    pub(super) accessors: Vec<Accessor>,
    pub(super) buffer_views: Vec<View>,
    pub(super) buffers: Vec<Buffer>,
    pub(super) extensions_required: Vec<String>,
}

/// A selection of nodes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Scene {
    pub(super) nodes: Vec<Index>,
}

/// A position in the scene, and the mesh that is shown there.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub(super) mesh: Option<Index>,
    pub(super) skin: Option<Index>,
    pub(super) children: Vec<Index>,
    pub(super) matrix: Option<[f64; 16]>,
    pub(super) translation: Option<[f64; 3]>,
    pub(super) rotation: Option<[f64; 4]>,
    pub(super) scale: Option<[f64; 3]>,
    /// The weights of morph targets, which override those of the mesh.
    pub(super) weights: Option<Vec<f64>>,
    pub(super) extensions: NodeExtensions,
}

/// The supported extensions of a node.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct NodeExtensions {
    #[serde(rename = "EXT_mesh_gpu_instancing")]
    pub(super) instancing: Option<Instancing>,
}

/// The instances of a node's mesh: accessors by the names of their attributes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Instancing {
    pub(super) attributes: BTreeMap<String, Index>,
}

/// A mesh: primitives, and the weights of their morph targets at rest.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MeshOfPrimitives {
    pub(super) primitives: Vec<Primitive>,
    pub(super) weights: Vec<f64>,
}

/// Accessors that define points, lines or triangles.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    pub(super) attributes: BTreeMap<String, Index>,
    pub(super) indices: Option<Index>,
    pub(super) mode: Option<Number>,
    pub(super) targets: Vec<BTreeMap<String, Index>>,
}

/// The joints of a skinned mesh.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Skin {
    pub(super) joints: Vec<Index>,
    pub(super) inverse_bind_matrices: Option<Index>,
}

/// A typed array.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Accessor {
    pub(super) buffer_view: Option<Index>,
    pub(super) byte_offset: Number,
    pub(super) component_type: Number,
    pub(super) normalized: bool,
    pub(super) count: Number,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) sparse: Option<Sparse>,
}

/// Items that replace others.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sparse {
    pub(super) count: Number,
    pub(super) indices: SparsePart,
    pub(super) values: SparsePart,
}

/// The location of the indices or the values of sparse items.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct SparsePart {
    pub(super) buffer_view: Index,
    pub(super) byte_offset: Number,
    pub(super) component_type: Number,
}

/// A part of a buffer.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct View {
    pub(super) buffer: Index,
    pub(super) byte_offset: Number,
    pub(super) byte_length: Number,
    pub(super) byte_stride: Number,
}

/// Bytes: the binary chunk of the file, or those of a URI.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Buffer {
    pub(super) uri: Option<String>,
}

/// A position in one of the lists of the file.
pub(super) type Index = Number;

/// A non-negative integer, which may be written as a float.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Number(pub(super) u64);

impl Number {
    /// Returns the number as a position in a list. If it is too large, the result is a position
    /// that no list has.
    pub(super) fn index(self) -> usize {
        usize::try_from(self.0).unwrap_or(usize::MAX)
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

/// Accepts non-negative integers in any notation.
struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("a whole number from zero")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Number, E> {
        // Beyond 2^53 a float no longer distinguishes all integers.
        if value.fract() == 0.0 && (0.0..=9.0e15).contains(&value) {
            Ok(Number(value as u64))
        } else {
            Err(E::custom(format!(
                "{value}; expected a whole number from zero"
            )))
        }
    }
}

/// Parses a file. Errors contain the line and the column.
pub(super) fn parse(text: &[u8]) -> Result<Root, serde_json::Error> {
    serde_json::from_slice(text)
}
