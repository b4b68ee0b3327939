//! The nodes of a glTF file: their transformations to the world, and the walk over those that the
//! scene shows.
//!
//! # Source
//! glTF 2.0 Specification, 3.5 (scenes, nodes, transformations).

use glam::{DMat4, DQuat, DVec3};

use super::json::{Node, Number, Root};
use crate::file::{Fault, Place};

/// Calls `visit` with each node of the scene that has a mesh, and with its transformation to the
/// world. If the file has no nodes, visits one node for every mesh.
pub(super) fn walk(
    root: &Root,
    place: Place,
    mut visit: impl FnMut(&Node, DMat4) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut pending: Vec<(usize, DMat4)> = roots(root)
        .into_iter()
        .map(|node| (node, DMat4::IDENTITY))
        .collect();
    pending.reverse();
    if root.nodes.is_empty() {
        for mesh in 0..root.meshes.len() {
            let node = Node {
                mesh: Some(Number(mesh as u64)),
                ..Node::default()
            };
            visit(&node, DMat4::IDENTITY)?;
        }
    }
    let mut visited = vec![false; root.nodes.len()];
    while let Some((index, parent)) = pending.pop() {
        let Some(node) = root.nodes.get(index) else {
            let expected = format!("one below {}, the number of nodes", root.nodes.len());
            return Err(Fault::syntax(place, format!("node {index}"), expected));
        };
        if std::mem::replace(&mut visited[index], true) {
            let found = format!("node {index} in two places of the scene");
            return Err(Fault::syntax(place, found, "a tree of nodes"));
        }
        let transform = parent * local_transform(node);
        if node.mesh.is_some() {
            visit(node, transform)?;
        }
        let children = node.children.iter().rev();
        pending.extend(children.map(|child| (child.index(), transform)));
    }
    Ok(())
}

/// Returns the nodes that a walk begins with: those of the scene or, without a scene, all that are
/// not children.
fn roots(root: &Root) -> Vec<usize> {
    let scene = root.scene.map_or(0, Number::index);
    if let Some(scene) = root.scenes.get(scene) {
        return scene.nodes.iter().map(|node| node.index()).collect();
    }
    ancestors(root)
}

/// Returns the nodes that are not children of others.
fn ancestors(root: &Root) -> Vec<usize> {
    let mut is_child = vec![false; root.nodes.len()];
    for child in root.nodes.iter().flat_map(|node| &node.children) {
        if let Some(is_child) = is_child.get_mut(child.index()) {
            *is_child = true;
        }
    }
    (0..root.nodes.len())
        .filter(|&node| !is_child[node])
        .collect()
}

/// Returns the transformation of each node to the world. This includes nodes outside of the scene,
/// since joints need not be part of it.
///
/// A node in a cycle, which the specification forbids, has its own transformation only.
pub(super) fn transforms(root: &Root) -> Vec<DMat4> {
    let mut transforms: Vec<DMat4> = root.nodes.iter().map(local_transform).collect();
    let mut is_done = vec![false; root.nodes.len()];
    let mut pending = ancestors(root);
    while let Some(index) = pending.pop() {
        is_done[index] = true;
        for child in root.nodes[index].children.iter().map(|child| child.index()) {
            if child < root.nodes.len() && !is_done[child] {
                is_done[child] = true;
                transforms[child] = transforms[index] * transforms[child];
                pending.push(child);
            }
        }
    }
    transforms
}

/// Returns the transformation from the space of a node to that of its parent.
fn local_transform(node: &Node) -> DMat4 {
    if let Some(columns) = &node.matrix {
        return DMat4::from_cols_array(columns);
    }
    placement(node.translation, node.rotation, node.scale)
}

/// Returns the transformation that first scales, then rotates and then moves a point. Missing parts
/// have no effect.
pub(super) fn placement(
    translation: Option<[f64; 3]>,
    rotation: Option<[f64; 4]>,
    scale: Option<[f64; 3]>,
) -> DMat4 {
    let rotation = rotation.map_or(DQuat::IDENTITY, DQuat::from_array);
    let length = rotation.length();
    let rotation = if length > 0.0 && length.is_finite() {
        rotation / length
    } else {
        DQuat::IDENTITY
    };
    DMat4::from_scale_rotation_translation(
        scale.map_or(DVec3::ONE, DVec3::from_array),
        rotation,
        translation.map_or(DVec3::ZERO, DVec3::from_array),
    )
}
