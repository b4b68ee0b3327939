//! From the pieces that builders leave to a tree: nodes and leaves laid end to end, and the triangles in the order of the leaves.
//!
//! Pieces are laid out in the order in which the sequential builder would have written them, so that the tree does not show who built it. Each
//! triangle is put down once, where the first leaf names it. Which leaf that is was known when the leaf was made ([`Named`]), so
//! that all stretches of leaves can be worked on at once: one pass puts the triangles down and notes where, the next looks that up for
//! all other leaves.

use raddle_sync::prim::{AtomicU32, Relaxed};
use raddle_sync::shared_vec::SharedVec;

use super::KdTree;
use super::build::Input;
use super::cell::{Extent, Named, Reference};
use super::crew::Crew;
use super::node::Node;

/// Leaf entries that one visit of a crew deals with.
const STRETCH_LEN: usize = 16 * 1024;

/// A piece of a tree below some node: everything but that node itself.
///
/// Order: the pair of children, then all below the first, then all below the second.
#[derive(Debug, Default)]
pub(super) struct Fragment {
    pub(super) nodes: Vec<Node>,
    /// Triangles of all leaves, one list after the other in the order of the leaves.
    pub(super) entries: Vec<Named>,
    /// The depth, in the whole tree, of the deepest leaf.
    pub(super) depth: u32,
}

impl Fragment {
    /// Makes a leaf of some references.
    pub(super) fn leaf(&mut self, references: &[Reference], depth: u32) -> Node {
        self.depth = self.depth.max(depth);
        let first = self.entries.len();
        self.entries
            .extend(references.iter().map(|reference| reference.triangle));
        Node::leaf(first, references.len())
    }

    /// Makes room for two children and returns the index of the first.
    pub(super) fn open_pair(&mut self) -> usize {
        let pair = self.nodes.len();
        self.nodes.extend([Node::default(); 2]);
        pair
    }
}

/// A subtree as its builders left it.
#[derive(Debug)]
pub(super) enum Piece {
    /// Built by one.
    Whole { root: Node, fragment: Fragment },
    /// Built by several.
    Split {
        axis: usize,
        position: f32,
        halves: Box<(Piece, Piece)>,
    },
}

/// Puts a finished tree together.
pub(super) fn assemble(
    input: &Input<'_>,
    extent: Extent,
    piece: Piece,
    crew: &impl Crew,
) -> KdTree {
    let layout = Layout::of(piece);
    let (nodes, names) = layout.lay_out(crew);
    let stretches: Vec<&[Named]> = names.chunks(STRETCH_LEN).collect();
    let firsts = firsts_before(&stretches, crew);
    let triangle_count = firsts[stretches.len()];
    let places: Vec<AtomicU32> = (0..input.triangles.len())
        .map(|_| AtomicU32::new(0))
        .collect();
    let corners = SharedVec::new(triangle_count);
    let triangle_ids = SharedVec::new(triangle_count);
    each_of(stretches.len(), crew, |index| {
        let range = firsts[index]..firsts[index + 1];
        let mut corners = corners.claim(range.clone());
        let mut triangle_ids = triangle_ids.claim(range.clone());
        let named = stretches[index].iter().filter(|name| name.is_first());
        for (name, place) in named.zip(range) {
            let triangle = name.triangle();
            // Relaxed: nobody reads it before all of this pass is done.
            places[triangle as usize].store(place as u32, Relaxed);
            triangle_ids.extend_from_slice(&[triangle]);
            corners.extend_from_slice(&[input.triangles[triangle as usize]]);
        }
    });
    let entries = SharedVec::new(names.len());
    each_of(stretches.len(), crew, |index| {
        let first = index * STRETCH_LEN;
        let names = stretches[index];
        let mut entries = entries.claim(first..first + names.len());
        for name in names {
            // Relaxed: stored in the pass before this one.
            entries.extend_from_slice(&[places[name.triangle() as usize].load(Relaxed)]);
        }
    });
    KdTree {
        bounds: extent.into(),
        parameters: input.parameters,
        depth: layout.depth,
        nodes,
        entries: filled(entries),
        corners: filled(corners),
        triangle_ids: filled(triangle_ids),
    }
}

/// How many names before each stretch, and in all, are the first of their triangle.
fn firsts_before(stretches: &[&[Named]], crew: &impl Crew) -> Vec<usize> {
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
    fn lay_out(&self, crew: &impl Crew) -> (Vec<Node>, Vec<Named>) {
        let (nodes, entries) = (SharedVec::new(self.nodes), SharedVec::new(self.entries));
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
            let mut to = entries.claim(*first_entry..first_entry + fragment.entries.len());
            to.extend_from_slice(&fragment.entries);
        });
        let mut nodes = filled(nodes);
        for &(index, node) in &self.late {
            nodes[index] = node;
        }
        (nodes, filled(entries))
    }
}
