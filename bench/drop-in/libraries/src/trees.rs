//! Trees over points: bounding volumes by `bvh`, and nearest neighbours by `instant-distance`.

use std::path::Path;

use bvh::aabb::{Aabb, Bounded};
use bvh::bounding_hierarchy::{BHShape, BoundingHierarchy};
use bvh::bvh::Bvh;
use instant_distance::Builder;

use crate::{Outcome, points};

/// The number of trees that are built.
const TREES: usize = 10;
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
        println!("{}", Bvh::build_par(&mut boxes).nodes.len());
    }
    Ok(())
}

#[derive(Clone, Copy)]
struct Place([f32; 3]);

impl instant_distance::Point for Place {
    fn distance(&self, other: &Self) -> f32 {
        let squares = self.0.iter().zip(other.0).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f32>().sqrt()
    }
}

/// Builds a graph of near neighbours: hierarchical navigable small worlds.
pub(crate) fn neighbours(file: &Path) -> Outcome {
    let points = points::read(file)?;
    let places = points.into_iter().step_by(POINTS_PER_PLACE).map(Place);
    let (_, ids) = Builder::default().seed(1).build_hnsw(places.collect());
    println!("{}", ids.len());
    Ok(())
}
