//! Assembles a tree from the pieces that the builders make: lays nodes and leaves end to end, and
//! stores the triangles in the order of the leaves.
//!
//! Pieces are laid out in the order in which the sequential builder would have written them, so the
//! tree does not depend on the builder. Each triangle is stored once, at the position of the first
//! leaf that contains it. Whether a leaf is the first one was known when the leaf was made
//! ([`Occurrence`]), so all stretches of leaves can be processed in parallel. The first pass stores
//! the triangles and records their positions. The second pass looks up these positions for all leaf
//! entries.

use raddle_collections::shared_vec::SharedVec;
use raddle_sync::prim::{AtomicU32, Relaxed};

use super::large::Hierarchies;
use super::node::Node;
use super::piece::{Fragment, Piece};
use super::tree::KdTree;
use crate::intersect::Corners;
use crate::kdtree::cells::extent::Extent;
use crate::kdtree::cells::names::Occurrence;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::fork_join::ForkJoin;

/// The number of leaf entries in one unit of work.
const STRETCH_LEN: usize = 16 * 1024;

/// Memory for the triangles of a tree.
#[derive(Debug, Clone, Default)]
pub(in crate::kdtree) struct TreeMemory {
    corners: Vec<Corners>,
    triangle_ids: Vec<u32>,
    places: Vec<u32>,
}

impl TreeMemory {
    /// Allocates memory for `count` triangles and writes to it, so that the system maps its pages
    /// now and not during the build.
    pub(in crate::kdtree) fn new(count: usize, threads: &impl ForkJoin) -> Self {
        let (corners, (triangle_ids, places)) = threads.join(
            || vec![[[f32::NAN; 3]; 3]; count],
            || (vec![u32::MAX; count], vec![u32::MAX; count]),
        );
        Self {
            corners,
            triangle_ids,
            places,
        }
    }

    /// Returns an array with one place for each triangle of the mesh.
    fn places(&mut self, triangle_count: usize) -> Vec<AtomicU32> {
        let mut places = std::mem::take(&mut self.places);
        places.resize(triangle_count, 0);
        // The conversion reuses the allocation.
        places.into_iter().map(AtomicU32::new).collect()
    }
}

/// Assembles the finished tree.
pub(in crate::kdtree) fn assemble(
    (triangles, parameters): (&[Corners], &Parameters),
    extent: Extent,
    piece: Piece,
    mut memory: TreeMemory,
    threads: &impl ForkJoin,
) -> KdTree {
    // Give every node its final index, and copy the leaf lists into one.
    let mut layout = Layout::of(piece);
    let (nodes, mut names) = layout.lay_out(threads);
    let stretches: Vec<&[Occurrence]> = names.chunks(STRETCH_LEN).collect();
    let firsts = firsts_before(&stretches, threads);
    let triangle_count = firsts[stretches.len()];
    let places = memory.places(triangles.len());
    let corners = SharedVec::within(memory.corners, triangle_count);
    let triangle_ids = SharedVec::within(memory.triangle_ids, triangle_count);
    // First pass: store each triangle where it occurs first, and record its place.
    each_of(stretches.len(), threads, |index| {
        let range = firsts[index]..firsts[index + 1];
        let mut corners = corners.claim(range.clone());
        let mut triangle_ids = triangle_ids.claim(range.clone());
        let first_occurrences = stretches[index].iter().filter(|name| name.is_first());
        for (name, place) in first_occurrences.zip(range) {
            let triangle = name.triangle();
            // Relaxed: it is read only after this pass has ended.
            places[triangle as usize].store(place as u32, Relaxed);
            triangle_ids.extend_from_slice(&[triangle]);
            corners.extend_from_slice(&[triangles[triangle as usize]]);
        }
    });
    // Second pass: replace every leaf entry by the recorded place.
    let mut stretches: Vec<&mut [Occurrence]> = names.chunks_mut(STRETCH_LEN).collect();
    threads.for_each(&mut stretches, |_, stretch| {
        for name in &mut **stretch {
            // Relaxed: it was stored in the previous pass.
            *name = Occurrence::first(places[name.triangle() as usize].load(Relaxed));
        }
    });
    // The conversion reuses the allocation.
    let entries: Vec<u32> = names.into_iter().map(Occurrence::triangle).collect();
    let corners = filled(corners);
    KdTree {
        bounds: extent.into(),
        parameters: *parameters,
        depth: layout.depth,
        hierarchies: Hierarchies::of(
            &nodes,
            &entries,
            &corners,
            extent,
            parameters.depth_limit,
            threads,
        ),
        nodes,
        entries,
        corners,
        triangle_ids: filled(triangle_ids),
    }
}

/// Returns the number of first occurrences before each stretch, and their total.
fn firsts_before(stretches: &[&[Occurrence]], threads: &impl ForkJoin) -> Vec<usize> {
    let mut firsts = vec![0; stretches.len() + 1];
    threads.for_each(&mut firsts[1..], |index, count| {
        *count = stretches[index]
            .iter()
            .filter(|name| name.is_first())
            .count();
    });
    let mut sum = 0;
    for count in &mut firsts {
        sum += *count;
        *count = sum;
    }
    firsts
}

/// Calls `body` with every index below `count`.
fn each_of(count: usize, threads: &impl ForkJoin, body: impl Fn(usize) + Sync) {
    threads.for_each(&mut vec![(); count], |index, ()| body(index));
}

fn filled<T: Copy>(vector: SharedVec<T>) -> Vec<T> {
    vector.into_vec().expect("every stretch was written")
}

/// The positions of the fragments in the tree.
#[derive(Debug, Default)]
struct Layout {
    /// The fragments in the order of the nodes. A pair of children that belongs to no fragment is a
    /// run of its own.
    runs: Vec<Run>,
    /// Nodes with their indices, which are written after everything below them has its position.
    late: Vec<(usize, Node)>,
    nodes: usize,
    entries: usize,
    depth: u32,
}

/// A fragment and its position.
#[derive(Debug)]
struct Run {
    fragment: Fragment,
    first_node: usize,
    first_entry: usize,
}

impl Layout {
    /// Lays out a whole tree. The root and a filler make up the first pair.
    fn of(piece: Piece) -> Self {
        let mut layout = Self::default();
        let first = layout.open_pair();
        let root = layout.place(piece);
        layout.late.push((first, root));
        layout
    }

    /// Assigns a position to a piece and returns the root of the piece.
    fn place(&mut self, piece: Piece) -> Node {
        match piece {
            Piece::Whole { root, fragment } => {
                let root = root.moved(self.nodes, self.entries);
                self.push(fragment);
                root
            }
            Piece::Split {
                axis,
                position,
                halves,
            } => {
                let first = self.open_pair();
                let (below, above) = *halves;
                for (index, half) in [(first, below), (first + 1, above)] {
                    let node = self.place(half);
                    self.late.push((index, node));
                }
                Node::inner(axis, position, first)
            }
        }
    }

    /// Reserves two nodes and returns the index of the first.
    fn open_pair(&mut self) -> usize {
        let mut pair = Fragment::default();
        pair.open_pair();
        let first = self.nodes;
        self.push(pair);
        first
    }

    fn push(&mut self, fragment: Fragment) {
        let run = Run {
            first_node: self.nodes,
            first_entry: self.entries,
            fragment,
        };
        self.nodes += run.fragment.nodes.len();
        self.entries += run.fragment.entries.len();
        self.depth = self.depth.max(run.fragment.depth);
        self.runs.push(run);
    }

    /// Copies all fragments to their positions.
    fn lay_out(&mut self, threads: &impl ForkJoin) -> (Vec<Node>, Vec<Occurrence>) {
        // If a single fragment contains all entries, its list is reused without copying.
        let is_whole = |run: &&mut Run| run.fragment.entries.len() == self.entries;
        let whole = self.runs.iter_mut().find(is_whole);
        let whole = whole.map(|run| {
            let mut entries = std::mem::take(&mut run.fragment.entries);
            entries.shrink_to_fit();
            entries
        });
        let entry_count = if whole.is_some() { 0 } else { self.entries };
        let (nodes, entries) = (SharedVec::new(self.nodes), SharedVec::new(entry_count));
        each_of(self.runs.len(), threads, |index| {
            let Run {
                fragment,
                first_node,
                first_entry,
            } = &self.runs[index];
            let mut to = nodes.claim(*first_node..first_node + fragment.nodes.len());
            for node in &fragment.nodes {
                to.extend_from_slice(&[node.moved(*first_node, *first_entry)]);
            }
            if !fragment.entries.is_empty() {
                let mut to = entries.claim(*first_entry..first_entry + fragment.entries.len());
                to.extend_from_slice(&fragment.entries);
            }
        });
        let mut nodes = filled(nodes);
        for &(index, node) in &self.late {
            nodes[index] = node;
        }
        (nodes, whole.unwrap_or_else(|| filled(entries)))
    }
}
