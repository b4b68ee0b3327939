//! The peer of our kd-tree builders, where ParKD stood: the published *nested* algorithm on rayon.
//!
//! Written from the publications and for speed, not from our builders; what tree has to come out is ours to say, so that
//! the two can be compared node for node. A node's task is a [`rayon::join`]. In large nodes the phases are parallel
//! iterators over parts of its lists, below a grain one thread does a whole subtree by the same phases:
//!
//! ```text
//! prepare            triangles, events, the initial sort
//! FindBestPartition  sweep      counts by parts, the cost of every event, the least of all
//! MarkTriangles      triangles  which half each triangle is in
//! CopyTriangles      triangles  each half's own triangles, and the new indices
//! CopyEvents         copy       each half's own events, in order
//! ```
//! [`event`] and [`cell`] are what lists are made of, [`region`] is where they are, [`mod@build`] makes the nodes and
//! [`tree`] puts them into one piece.
//!
//! # What is made quick, and how
//! Events are words, so that a sweep reads one stream and copying writes one. Triangles are names of a word, boxes are looked up for
//! the few that a plane cuts. A plane that cuts off empty space copies nothing. The last splits make leaves without
//! dealing events out. All lists go to and fro between two buffers.
//!
//! # Source
//! B. Choi, R. Komuravelli, V. Lu, H. Sung, R. Bocchino, S. Adve, J. Hart: Parallel SAH k-D Tree Construction. High Performance
//! Graphics 2010, section 4 ("nested"). I. Wald, V. Havran: On building fast kd-trees for ray tracing, and on doing that in O(N log
//! N). IEEE Symposium on Interactive Ray Tracing 2006.

mod build;
mod cell;
mod copy;
mod event;
mod region;
mod sweep;
mod tree;
mod triangles;

use std::ops::Range;

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

/// How much longer buffers are than what is in them at first: planes cut triangles in two.
const ROOM: f64 = 1.5;

/// The triangles of a mesh and their sorted events. Building uses it up.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    corners: Vec<Corners>,
    root: Node,
    /// The lists of the root; and what the sort has left, to build in.
    buffers: [Buffer; 2],
}

/// Copies and sorts what a tree is built from, with all threads of the current pool.
pub(crate) fn prepare(mesh: &Mesh) -> Prepared {
    let corners: Vec<Corners> = (0..mesh.triangles.len())
        .into_par_iter()
        .map(|index| mesh.triangle(index).map(|corner| corner.to_array()))
        .collect();
    // No ray hits a triangle with two equal corners.
    let has_area = |[a, b, c]: &Corners| a != b && b != c && c != a;
    let mut names = Vec::with_capacity(room(corners.len()));
    names.extend((0..corners.len() as u32).filter(|&name| has_area(&corners[name as usize])));
    let extents: Vec<Cell> = names
        .par_iter()
        .map(|&name| Cell::of_triangle(&corners[name as usize]))
        .collect();
    let cell = extents.iter().copied().reduce(Cell::union);
    let lists: Vec<[Vec<u64>; 2]> = (0..3)
        .into_par_iter()
        .map(|axis| {
            let mut events = Vec::with_capacity(2 * room(names.len()));
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
    buffers[1].triangles = vec![0; room(names.len())];
    buffers[0].triangles = names;
    for (axis, [events, spare]) in lists.into_iter().enumerate() {
        buffers[0].events[axis] = events;
        buffers[1].events[axis] = spare;
    }
    for buffer in &mut buffers {
        buffer.grow_to(room(lens.triangles));
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

fn room(count: usize) -> usize {
    (count as f64 * ROOM) as usize
}

/// What a build needed and its tree does not. A clock stops before it is freed; those of the other builders leave the freeing of lists out too.
#[derive(Debug)]
pub(crate) struct Leavings {
    _corners: Vec<Corners>,
    _buffers: [Buffer; 2],
    _scratches: Vec<Scratch>,
    _layout: Layout,
}

/// Builds a tree with all threads of the current pool; a node with fewer triangles than `grain` is built by one, with all below it.
pub(crate) fn build(prepared: Prepared, parameters: &Parameters, grain: usize) -> (Tree, Leavings) {
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
    let leavings = Leavings {
        _scratches: build.into_scratches(),
        _corners: corners,
        _buffers: buffers,
        _layout: layout,
    };
    (tree, leavings)
}

/// Cuts a list into parts of about the same length, one after the other.
fn parts(len: usize, part_count: usize) -> impl Iterator<Item = Range<usize>> {
    (0..part_count).map(move |part| len * part / part_count..len * (part + 1) / part_count)
}

/// Takes the first elements off a slice.
fn take<'a, T>(slice: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(slice).split_at_mut(len);
    *slice = rest;
    first
}

#[cfg(test)]
mod tests;
