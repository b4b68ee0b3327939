//! The peer of Raddle's kd-tree builders, in the role of ParKD: the published *nested* algorithm on
//! rayon.
//!
//! It is written from the publications and for speed, not from Raddle's builders. Only the expected
//! tree is defined by Raddle, so that the two can be compared node for node. The task of a node is
//! a [`rayon::join`]. In large nodes the phases are parallel iterators over parts of the node's
//! lists. Below a grain, one thread builds a whole subtree by the same phases:
//!
//! ```text
//! prepare            triangles, events, the initial sort
//! FindBestPartition  sweep      counts by parts, the cost of every event, the minimum
//! MarkTriangles      triangles  which half each triangle is in
//! CopyTriangles      triangles  each half's own triangles, and the new indices
//! CopyEvents         copy       each half's own events, in order
//! ```
//! [`event`] and [`cell`] define the elements of the lists, [`region`] manages their memory,
//! [`mod@build`] creates the nodes, and [`tree`] assembles them.
//!
//! # Optimisations
//! - An event is one word, so that a sweep reads one stream and copying writes one.
//! - A triangle's name is one word. Boxes are looked up only for the few triangles that a plane
//!   cuts.
//! - A plane that cuts off empty space copies nothing.
//! - The last splits create leaves without distributing events.
//! - All lists move back and forth between two buffers.
//!
//! # Source
//! B. Choi, R. Komuravelli, V. Lu, H. Sung, R. Bocchino, S. Adve, J. Hart: Parallel SAH k-D Tree
//! Construction. High Performance Graphics 2010, section 4 ("nested"). I. Wald, V. Havran: On
//! building fast kd-trees for ray tracing, and on doing that in O(N log N). IEEE Symposium on
//! Interactive Ray Tracing 2006.

mod build;
mod cell;
mod copy;
mod event;
mod region;
mod slices;
mod sweep;
mod tree;
mod triangles;

use raddle_graphics::intersect::Corners;
use raddle_graphics::kdtree::Parameters;
use raddle_graphics::mesh::Mesh;
use rayon::prelude::*;

use build::{Build, Node};
use cell::{Arena, Cell};
use region::{Buffer, Lens};
use tree::Layout;
pub(crate) use tree::Tree;
use triangles::Scratch;

/// The length of a buffer over that of its initial contents. Planes cut triangles, which adds some.
const CAPACITY_FACTOR: f64 = 1.5;

/// The triangles of a mesh and their sorted events. A build consumes them.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    corners: Vec<Corners>,
    root: Node,
    /// The lists of the root, and the buffer that the sort no longer needs.
    buffers: [Buffer; 2],
}

/// Copies and sorts the input of a build, with all threads of the current pool.
pub(crate) fn prepare(mesh: &Mesh) -> Prepared {
    let corners: Vec<Corners> = (0..mesh.triangles.len())
        .into_par_iter()
        .map(|index| mesh.triangle(index).map(|corner| corner.to_array()))
        .collect();
    // No ray hits a triangle with two equal corners.
    let has_area = |[a, b, c]: &Corners| a != b && b != c && c != a;
    let mut names = Vec::with_capacity(capacity_for(corners.len()));
    names.extend((0..corners.len() as u32).filter(|&name| has_area(&corners[name as usize])));
    let extents: Vec<Cell> = names
        .par_iter()
        .map(|&name| Cell::of_triangle(&corners[name as usize]))
        .collect();
    let cell = extents.iter().copied().reduce(Cell::union);
    let lists: Vec<[Vec<u64>; 2]> = (0..3)
        .into_par_iter()
        .map(|axis| {
            let mut events = Vec::with_capacity(2 * capacity_for(names.len()));
            for (index, extent) in extents.iter().enumerate() {
                event::push(&mut events, extent, axis, index);
            }
            let mut spare = Vec::with_capacity(events.capacity());
            event::sort(&mut events, &mut spare);
            [events, spare]
        })
        .collect();
    let mut buffers = [Buffer::default(), Buffer::default()];
    let lens = Lens {
        events: [0, 1, 2].map(|axis: usize| lists[axis][0].len()),
        triangles: names.len(),
    };
    buffers[1].triangles = vec![0; capacity_for(names.len())];
    buffers[0].triangles = names;
    for (axis, [events, spare]) in lists.into_iter().enumerate() {
        buffers[0].events[axis] = events;
        buffers[1].events[axis] = spare;
    }
    for buffer in &mut buffers {
        buffer.grow_to(capacity_for(lens.triangles));
    }
    Prepared {
        corners,
        root: Node {
            cell: cell.unwrap_or(Cell {
                low: [0.0; 3],
                high: [0.0; 3],
            }),
            depth: 0,
            lens,
        },
        buffers,
    }
}

fn capacity_for(count: usize) -> usize {
    (count as f64 * CAPACITY_FACTOR) as usize
}

/// Memory that a build needed and its tree does not.
///
/// It is freed after the clock has stopped. The measurements of the other builders exclude the
/// freeing of lists too.
#[derive(Debug)]
pub(crate) struct Leftovers {
    _corners: Vec<Corners>,
    _buffers: [Buffer; 2],
    _scratches: Vec<Scratch>,
    _layout: Layout,
}

/// Builds a tree with all threads of the current pool.
///
/// A subtree with fewer triangles than `grain` is built by one thread.
pub(crate) fn build(
    prepared: Prepared,
    parameters: &Parameters,
    grain: usize,
) -> (Tree, Leftovers) {
    let Prepared {
        corners,
        root,
        mut buffers,
    } = prepared;
    let [here, there] = &mut buffers;
    let build = Build::new(&corners, parameters, grain);
    let built = build.subtree(root, here.region(), there.region(), &Arena::root());
    let layout = Layout::of(built);
    let tree = layout.tree();
    let leftovers = Leftovers {
        _scratches: build.into_scratches(),
        _corners: corners,
        _buffers: buffers,
        _layout: layout,
    };
    (tree, leftovers)
}

#[cfg(test)]
mod tests;
