//! Numbers the objects of a tree: levels and positions within a level, as hwloc assigns them.
//!
//! A level is the set of all objects of one type. The outermost type comes first. If the parts of a
//! machine differ, objects of a level have different depths in the tree.
//!
//! # Source
//! The levels follow hwloc's documentation, "Terms and Definitions" and "Multi-node, asymmetric
//! topologies".

use crate::object::{Attributes, CacheKind, Object, ObjectKind};

/// The type of an object: objects of the same type are of the same level.
type Type = (ObjectKind, u32, Option<CacheKind>);

/// Sets the level and the position of every object, and the position of every memory.
pub(super) fn number(root: &mut Object) {
    let mut front = vec![&mut *root];
    let mut depth = 0;
    while let Some(outermost) = outermost_type(&front) {
        let mut next = Vec::new();
        let mut logical_index = 0;
        for object in front {
            if type_of(object) == outermost {
                object.depth = Some(depth);
                object.logical_index = logical_index;
                logical_index += 1;
                next.extend(object.children.iter_mut());
            } else {
                next.push(object);
            }
        }
        front = next;
        depth += 1;
    }
    number_memories(root, &mut 0);
}

/// Returns the type of the objects in `front` that no object of another type there contains.
fn outermost_type(front: &[&mut Object]) -> Option<Type> {
    let mut outermost = type_of(front.first()?);
    for object in front {
        if type_of(object) != outermost && contains(object, outermost) {
            outermost = type_of(object);
        }
    }
    Some(outermost)
}

/// Returns true if there is an object of this type below `object`.
fn contains(object: &Object, wanted: Type) -> bool {
    let mut children = object.children.iter();
    children.any(|child| type_of(child) == wanted || contains(child, wanted))
}

fn type_of(object: &Object) -> Type {
    match object.attributes {
        Attributes::Cache { level, kind, .. } => (object.kind, level, Some(kind)),
        Attributes::Group { level } => (object.kind, level, None),
        _ => (object.kind, 0, None),
    }
}

/// Numbers the memories in the order of the tree. Those of an object come after those inside it.
fn number_memories(object: &mut Object, next: &mut usize) {
    for child in &mut object.children {
        number_memories(child, next);
    }
    for memory in &mut object.memory_children {
        memory.logical_index = *next;
        *next += 1;
    }
}
