//! From the pieces that builders leave to a tree: nodes and leaves laid end to end, and the triangles in the order of the leaves.
//!
//! Pieces are laid out in the order in which the sequential builder would have written them, so that the tree does not show who built it. Each
//! triangle is put down once, where the first leaf names it. Which leaf that is was known when the leaf was made ([`Named`]), so
//! that all stretches of leaves can be worked on at once: one pass puts the triangles down and notes where, the next looks that up for
//! all other leaves.

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
use crate::kdtree::crew::Crew;

/// Leaf entries that one visit of a crew deals with.
const STRETCH_LEN: usize = 16 * 1024;

/// Memory for the triangles of a tree.
#[derive(Debug, Clone, Default)]
pub(in crate::kdtree) struct TreeMemory {
    corners: Vec<Corners>,
    triangle_ids: Vec<u32>,
    places: Vec<u32>,
}

impl TreeMemory {
    /// Room for so many triangles. It is written to here, so that a system that only then finds the memory need not do so later.
    pub(in crate::kdtree) fn new(count: usize, crew: &impl Crew) -> Self {
        let (corners, (triangle_ids, places)) = crew.join(
            || vec![[[f32::NAN; 3]; 3]; count],
            || (vec![u32::MAX; count], vec![u32::MAX; count]),
        );
        Self {
            corners,
            triangle_ids,
            places,
        }
    }

    /// A place for each triangle of the mesh.
    fn places(&mut self, triangle_count: usize) -> Vec<AtomicU32> {
        let mut places = std::mem::take(&mut self.places);
        places.resize(triangle_count, 0);
        // In the same memory.
        places.into_iter().map(AtomicU32::new).collect()
    }
}

/// Puts a finished tree together.
pub(in crate::kdtree) fn assemble(
    (triangles, parameters): (&[Corners], &Parameters),
    extent: Extent,
    piece: Piece,
    mut memory: TreeMemory,
    crew: &impl Crew,
) -> KdTree {
    let mut layout = Layout::of(piece);
    let (nodes, mut names) = layout.lay_out(crew);
    let stretches: Vec<&[Occurrence]> = names.chunks(STRETCH_LEN).collect();
    let firsts = firsts_before(&stretches, crew);
    let triangle_count = firsts[stretches.len()];
    let places = memory.places(triangles.len());
    let corners = SharedVec::within(memory.corners, triangle_count);
    let triangle_ids = SharedVec::within(memory.triangle_ids, triangle_count);
    each_of(stretches.len(), crew, |index| {
        let range = firsts[index]..firsts[index + 1];
        let mut corners = corners.claim(range.clone());
        let mut triangle_ids = triangle_ids.claim(range.clone());
        let first_occurrences = stretches[index].iter().filter(|name| name.is_first());
        for (name, place) in first_occurrences.zip(range) {
            let triangle = name.triangle();
            // Relaxed: nobody reads it before all of this pass is done.
            places[triangle as usize].store(place as u32, Relaxed);
            triangle_ids.extend_from_slice(&[triangle]);
            corners.extend_from_slice(&[triangles[triangle as usize]]);
        }
    });
    let mut stretches: Vec<&mut [Occurrence]> = names.chunks_mut(STRETCH_LEN).collect();
    crew.for_each(&mut stretches, |_, stretch| {
        for name in &mut **stretch {
            // Relaxed: stored in the pass before this one.
            *name = Occurrence::first(places[name.triangle() as usize].load(Relaxed));
        }
    });
    // In the same memory.
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
            crew,
        ),
        nodes,
        entries,
        corners,
        triangle_ids: filled(triangle_ids),
    }
}

/// How many names before each stretch, and in all, are the first of their triangle.
fn firsts_before(stretches: &[&[Occurrence]], crew: &impl Crew) -> Vec<usize> {
    let mut firsts = vec![0; stretches.len() + 1];
    crew.for_each(&mut firsts[1..], |index, count| {
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
fn each_of(count: usize, crew: &impl Crew, body: impl Fn(usize) + Sync) {
    crew.for_each(&mut vec![(); count], |index, ()| body(index));
}

fn filled<T: Copy>(vector: SharedVec<T>) -> Vec<T> {
    vector.into_vec().expect("every stretch was written")
}

/// Where the fragments of a tree go.
#[derive(Debug, Default)]
struct Layout {
    /// In the order of the nodes. A pair of children that belongs to no fragment is a run by itself.
    runs: Vec<Run>,
    /// Nodes that are known only when what is below them has its place.
    late: Vec<(usize, Node)>,
    nodes: usize,
    entries: usize,
    depth: u32,
}

/// A fragment and its place.
#[derive(Debug)]
struct Run {
    fragment: Fragment,
    first_node: usize,
    first_entry: usize,
}

impl Layout {
    /// Lays out a whole tree. The root fills the first pair.
    fn of(piece: Piece) -> Self {
        let mut layout = Self::default();
        let first = layout.open_pair();
        let root = layout.place(piece);
        layout.late.push((first, root));
        layout
    }

    /// Gives a piece its place and returns its root.
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

    /// Makes room for two nodes and returns the index of the first.
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

    /// Copies all fragments to their places.
    fn lay_out(&mut self, crew: &impl Crew) -> (Vec<Node>, Vec<Occurrence>) {
        // A single list stays where it is.
        let is_whole = |run: &&mut Run| run.fragment.entries.len() == self.entries;
        let whole = self.runs.iter_mut().find(is_whole);
        let whole = whole.map(|run| {
            let mut entries = std::mem::take(&mut run.fragment.entries);
            entries.shrink_to_fit();
            entries
        });
        let entry_count = if whole.is_some() { 0 } else { self.entries };
        let (nodes, entries) = (SharedVec::new(self.nodes), SharedVec::new(entry_count));
        each_of(self.runs.len(), crew, |index| {
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
