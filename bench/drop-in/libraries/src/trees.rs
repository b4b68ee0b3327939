//! Trees over points: bounding volumes by `bvh`, and nearest neighbours by `instant-distance`.

use std::path::Path;

use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::{BHShape, BoundingHierarchy};
use bvh::bvh::{Bvh, BvhNode};
use instant_distance::{Builder, Search};

use crate::{Outcome, points};

/// The number of trees that are built.
const TREES: usize = 10;
/// The number of places that are searched for.
const SEARCHES: usize = 50;
/// One of this many points has neighbours.
const POINTS_PER_PLACE: usize = 8;

/// The box around three points.
struct Corner {
    min: [f32; 3],
    max: [f32; 3],
    index: usize,
}

impl Bounded<f32, 3> for Corner {
    fn aabb(&self) -> Aabb<f32, 3> {
        Aabb::with_bounds(self.min.into(), self.max.into())
    }
}

impl BHShape<f32, 3> for Corner {
    fn set_bh_node_index(&mut self, index: usize) {
        self.index = index;
    }

    fn bh_node_index(&self) -> usize {
        self.index
    }
}

/// Builds trees over the boxes around each three successive points.
pub(crate) fn bounding_volumes(file: &Path) -> Outcome {
    let points = points::read(file)?;
    for _ in 0..TREES {
        let boxes = points.array_windows().map(|[a, b, c]| Corner {
            min: std::array::from_fn(|axis| a[axis].min(b[axis]).min(c[axis])),
            max: std::array::from_fn(|axis| a[axis].max(b[axis]).max(c[axis])),
            index: 0,
        });
        let mut boxes: Vec<_> = boxes.collect();
        let tree = Bvh::build_par(&mut boxes);
        println!("{}", width_of(&tree));
    }
    Ok(())
}

/// Returns the sum of the widths of all boxes of a tree, which another tree does not have.
fn width_of(tree: &Bvh<f32, 3>) -> f64 {
    let widths = tree.nodes.iter().map(|node| match node {
        BvhNode::Leaf { .. } => 0.0,
        BvhNode::Node {
            child_l_aabb,
            child_r_aabb,
            ..
        } => f64::from(child_l_aabb.size().x + child_r_aabb.size().x),
    });
    widths.sum()
}

#[derive(Clone, Copy)]
struct Place([f32; 3]);

impl instant_distance::Point for Place {
    fn distance(&self, other: &Self) -> f32 {
        let squares = self.0.iter().zip(other.0).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f32>().sqrt()
    }
}

/// Builds a graph of near neighbours: hierarchical navigable small worlds. The graph depends on the
/// order in which the threads add the places, but a search for a place finds it in nearly any.
pub(crate) fn neighbours(file: &Path) -> Outcome {
    let points = points::read(file)?;
    let places = points.into_iter().step_by(POINTS_PER_PLACE).map(Place);
    let places: Vec<_> = places.collect();
    let (graph, _) = Builder::default().seed(1).build_hnsw(places.clone());
    let mut search = Search::default();
    let found = places.iter().take(SEARCHES).filter(|place| {
        let nearest = graph.search(place, &mut search).next();
        nearest.is_some_and(|nearest| nearest.distance == 0.0)
    });
    println!("{}", found.count() * 10 >= SEARCHES * 9);
    Ok(())
}
