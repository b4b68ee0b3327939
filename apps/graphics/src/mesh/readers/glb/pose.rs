//! The rest pose of a primitive: the displacements by its morph targets, and the transformations by
//! joints or nodes.
//!
//! # Source
//! glTF 2.0 Specification, 3.7.2.2 (morph targets), 3.7.3 (skins).

use std::collections::BTreeMap;

use glam::{DMat3, DMat4, DVec3};

use super::accessor::Accessors;
use super::json::{Index, Primitive, Skin};
use crate::file::Fault;
use crate::memory;

/// The maximum number of sets of four joints per vertex.
const JOINT_SETS_MAX: usize = 8;

/// The transformation of the vertices of a mesh to the world.
#[derive(Debug, Clone, Copy)]
pub(super) enum Placement<'a> {
    /// One transformation for all vertices.
    Rigid(DMat4),
    /// The transformations of joints. Each vertex uses a weighted mean of them.
    Joints {
        joints: &'a [DMat4],
        /// The transformation for a primitive without joints.
        node: DMat4,
    },
}

/// Returns the matrices that move points from the rest position to the joints of a skin.
pub(super) fn joint_matrices(
    accessors: Accessors<'_>,
    skin: &Skin,
    worlds: &[DMat4],
) -> Result<Vec<DMat4>, Fault> {
    let mut joints = Vec::new();
    for joint in &skin.joints {
        let Some(world) = worlds.get(joint.index()) else {
            let expected = format!("one below {}, the number of nodes", worlds.len());
            return Err(accessors.fault(format!("joint at node {}", joint.0), expected));
        };
        joints.push(*world);
    }
    if let Some(inverse) = skin.inverse_bind_matrices {
        let mut joints = joints.iter_mut();
        accessors.vectors(inverse.index(), "MAT4", |_, columns: [f64; 16]| {
            if let Some(joint) = joints.next() {
                *joint *= DMat4::from_cols_array(&columns);
            }
            Ok(())
        })?;
    }
    Ok(joints)
}

/// Returns the displacement of an attribute by morph targets for each vertex. The list is empty if
/// there is none.
pub(super) fn displacements(
    accessors: Accessors<'_>,
    primitive: &Primitive,
    weights: &[f64],
    attribute: &str,
) -> Result<Vec<DVec3>, Fault> {
    let mut sums: Vec<DVec3> = Vec::new();
    for (target, &weight) in primitive.targets.iter().zip(weights) {
        let Some(accessor) = target.get(attribute).filter(|_| weight != 0.0) else {
            continue;
        };
        let mut number = 0;
        accessors.vectors(accessor.index(), "VEC3", |_, values| {
            if number == sums.len() {
                sums.push(DVec3::ZERO);
            }
            sums[number] += weight * DVec3::from_array(values);
            number += 1;
            Ok(())
        })?;
    }
    Ok(sums)
}

/// The transformation of every vertex of a primitive.
#[derive(Debug)]
pub(super) enum Transforms {
    /// A common transformation for all vertices.
    One(DMat4),
    /// One transformation for each vertex in the list, and another one for all further vertices.
    Each(Vec<DMat4>, DMat4),
}

impl Transforms {
    /// Computes the transformations of a primitive.
    pub(super) fn of(
        accessors: Accessors<'_>,
        primitive: &Primitive,
        placement: Placement<'_>,
    ) -> Result<Self, Fault> {
        let (joints, node) = match placement {
            Placement::Rigid(transform) => return Ok(Self::One(transform)),
            Placement::Joints { joints, node } => (joints, node),
        };
        let mut sums: Vec<(DMat4, f64)> = Vec::new();
        for set in 0..JOINT_SETS_MAX {
            let Some((joint_numbers, weights)) = joint_set(&primitive.attributes, set) else {
                break;
            };
            let count = accessors.count(joint_numbers)?;
            memory::ask(count.saturating_mul(size_of::<(DMat4, f64)>() as u64))
                .map_err(|none| Fault::no_memory(accessors.json_place(), none))?;
            let mut weight_list: Vec<[f64; 4]> = Vec::new();
            accessors.vectors(weights, "VEC4", |_, weights| {
                weight_list.push(weights);
                Ok(())
            })?;
            let mut vertex = 0;
            accessors.vectors(joint_numbers, "VEC4", |_, numbers: [f64; 4]| {
                if vertex == sums.len() {
                    sums.push((DMat4::ZERO, 0.0));
                }
                let (sum, weight_sum) = &mut sums[vertex];
                let weights = weight_list.get(vertex).copied().unwrap_or_default();
                for (number, weight) in numbers.into_iter().zip(weights) {
                    if let Some(joint) = joints.get(number as usize).filter(|_| weight > 0.0) {
                        *sum += *joint * weight;
                        *weight_sum += weight;
                    }
                }
                vertex += 1;
                Ok(())
            })?;
        }
        if sums.is_empty() {
            return Ok(Self::One(node));
        }
        // Weights should add up to 1, and rounded weights add up to about 1.
        let mean = |(sum, weight): (DMat4, f64)| {
            if weight > 0.0 {
                sum * weight.recip()
            } else {
                node
            }
        };
        Ok(Self::Each(sums.into_iter().map(mean).collect(), node))
    }

    /// Returns the transformation of a vertex.
    #[inline]
    pub(super) fn at(&self, vertex: usize) -> DMat4 {
        match self {
            Self::One(transform) => *transform,
            Self::Each(list, other) => list.get(vertex).copied().unwrap_or(*other),
        }
    }

    /// Returns true if the transformation mirrors the primitive.
    pub(super) fn is_mirror(&self) -> bool {
        self.at(0).determinant() < 0.0
    }
}

/// Returns the accessors of joints and weights of a set.
fn joint_set(attributes: &BTreeMap<String, Index>, set: usize) -> Option<(usize, usize)> {
    let find = |name: &str| {
        attributes
            .get(&format!("{name}_{set}"))
            .map(|it| it.index())
    };
    find("JOINTS").zip(find("WEIGHTS"))
}

/// Returns the transformation of normals that corresponds to `transform` for points. It consists of
/// the cofactors, which equal the inverse transpose up to a factor, but exist for any matrix.
pub(super) fn normal_transform(transform: DMat4) -> DMat3 {
    let [x, y, z] = [0, 1, 2].map(|axis| transform.col(axis).truncate());
    let mirrored = if transform.determinant() < 0.0 {
        -1.0
    } else {
        1.0
    };
    DMat3::from_cols(y.cross(z), z.cross(x), x.cross(y)) * mirrored
}
