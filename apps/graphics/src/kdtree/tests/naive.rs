//! A builder without events. It counts the triangles on both sides of every candidate plane of
//! every cell.

use super::*;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cost::plane::{Plane, Side};
use crate::kdtree::cost::sweep::Surface;
use crate::kdtree::phases::clip;

/// A tree of boxes, simple enough to be obviously correct.
#[derive(Debug)]
pub(super) enum Naive {
    Leaf(Vec<u32>),
    Inner {
        axis: usize,
        position: f32,
        halves: Box<(Naive, Naive)>,
    },
}

impl Naive {
    /// Compares with the subtree of a node of a real tree.
    pub(super) fn equals(&self, tree: &KdTree, node: Node) -> bool {
        match (self, node.kind()) {
            (Self::Leaf(triangles), NodeKind::Leaf { .. }) => {
                tree.triangles_of(node).eq(triangles.iter().copied())
            }
            (
                Self::Inner {
                    axis,
                    position,
                    halves,
                },
                NodeKind::Inner {
                    axis: other_axis,
                    position: other_position,
                    children,
                },
            ) => {
                *axis == other_axis
                    && *position == other_position
                    && halves.0.equals(tree, tree.nodes()[children])
                    && halves.1.equals(tree, tree.nodes()[children + 1])
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Choice {
    axis: usize,
    position: f32,
    side: Side,
    counts: [u32; 2],
    cost: f64,
}

impl Choice {
    fn plane(&self) -> Plane {
        Plane {
            axis: self.axis,
            position: self.position,
            planar_side: self.side,
            counts: self.counts,
            cost: self.cost,
        }
    }
}

fn sides(extent: &Extent, choice: &Choice) -> (bool, bool) {
    let (low, high) = (extent.low[choice.axis], extent.high[choice.axis]);
    let planar = low == choice.position && high == choice.position;
    (
        low < choice.position || (planar && choice.side == Side::Below),
        high > choice.position || (planar && choice.side == Side::Above),
    )
}

fn cheapest(input: &Input<'_>, extent: &Extent, references: &[Reference]) -> Option<Choice> {
    let choices = [0, 1, 2].map(|axis| cheapest_along(input, extent, references, axis));
    first_cheapest(choices.into_iter().flatten())
}

fn first_cheapest(choices: impl Iterator<Item = Choice>) -> Option<Choice> {
    choices.reduce(|best, choice| {
        if choice.cost < best.cost {
            choice
        } else {
            best
        }
    })
}

/// Returns the cheapest of the lightest plane and the planes that cut off empty space.
fn cheapest_along(
    input: &Input<'_>,
    extent: &Extent,
    references: &[Reference],
    axis: usize,
) -> Option<Choice> {
    let surface = Surface::new(extent, axis);
    let mut positions: Vec<f32> = references
        .iter()
        .flat_map(|reference| [reference.extent.low[axis], reference.extent.high[axis]])
        .collect();
    positions.sort_by(f32::total_cmp);
    let (mut lightest, mut lightest_weight) = (None, f64::INFINITY);
    let mut cuts = Vec::new();
    for (position, side) in positions
        .into_iter()
        .flat_map(|position| [(position, Side::Above), (position, Side::Below)])
    {
        let mut choice = Choice {
            axis,
            position,
            side,
            counts: [0; 2],
            cost: 0.0,
        };
        let (mut below, mut above) = (0, 0);
        for reference in references {
            let (is_below, is_above) = sides(&reference.extent, &choice);
            below += u32::from(is_below);
            above += u32::from(is_above);
        }
        choice.counts = [below, above];
        let weight = surface.weight(position, below, above);
        choice.cost = surface.cost(weight, &input.parameters);
        if weight < lightest_weight {
            (lightest, lightest_weight) = (Some(choice), weight);
        }
        if (below == 0 && position > extent.low[axis])
            || (above == 0 && position < extent.high[axis])
        {
            choice.cost *= input.parameters.empty_bonus;
            cuts.push(choice);
        }
    }
    let below =
        |choice: &Choice| lightest.is_some_and(|lightest| choice.position < lightest.position);
    let (before, behind): (Vec<_>, Vec<_>) = cuts.into_iter().partition(below);
    first_cheapest(before.into_iter().chain(lightest).chain(behind))
}

/// Builds a tree in about O(N² log N) time.
pub(super) fn build(
    input: &Input<'_>,
    extent: Extent,
    references: &[Reference],
    level: Level,
) -> Naive {
    let leaf = || {
        let triangles = references
            .iter()
            .map(|reference| reference.triangle.triangle());
        Naive::Leaf(triangles.collect())
    };
    if level.depth == input.levels || extent.half_area() == 0.0 {
        return leaf();
    }
    let Some(choice) = cheapest(input, &extent, references) else {
        return leaf();
    };
    let (plane, count) = (choice.plane(), references.len());
    if choice.cost >= input.parameters.intersection_cost * count as f64
        || !level.allows(&plane, count, input.parameters.copies_max)
    {
        return leaf();
    }
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for reference in references {
        let with = |extent| Reference {
            extent,
            ..*reference
        };
        match sides(&reference.extent, &choice) {
            (true, true) => {
                let corners = &input.triangles[reference.triangle.triangle() as usize];
                let (first, second) = clip::halves(
                    corners,
                    &reference.extent,
                    &extent,
                    choice.axis,
                    choice.position,
                );
                below.extend(first.map(with));
                above.extend(second.map(with));
            }
            (true, false) => below.push(*reference),
            _ => above.push(*reference),
        }
    }
    let level = level.below(&plane, count);
    let (first, second) = extent.halves(choice.axis, choice.position);
    Naive::Inner {
        axis: choice.axis,
        position: choice.position,
        halves: Box::new((
            build(input, first, &below, level),
            build(input, second, &above, level),
        )),
    }
}
