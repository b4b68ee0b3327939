//! From the pieces that builders leave to a tree: nodes and leaves laid end to end, and the triangles in the order of the leaves.
//!
//! Pieces are laid out in the order in which the sequential builder would have written them, so that the tree does not show who built it. Each
//! triangle is put down once, where the first leaf names it. Which leaf that is was known when the leaf was made ([`Named`]), so
//! that all stretches of leaves can be worked on at once: one pass puts the triangles down and notes where, the next looks that up for
//! all other leaves.

use raddle_sync::prim::{AtomicU32, Relaxed};

use super::KdTree;
use super::build::Input;
use super::cell::{Extent, Named, Reference};
use super::crew::{Crew, take};
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
    let (nodes, entries) = layout.lay_out(crew);
    let (entries, triangle_ids) = put_down(entries, input.triangles.len(), crew);
    let mut corners = vec![[[0.0; 3]; 3]; triangle_ids.len()];
    let mut jobs: Vec<_> = corners
        .chunks_mut(STRETCH_LEN)
        .zip(triangle_ids.chunks(STRETCH_LEN))
        .collect();
    crew.for_each(&mut jobs, |_, (corners, ids)| {
        for (corners, &triangle) in corners.iter_mut().zip(ids.iter()) {
            *corners = input.triangles[triangle as usize];
        }
    });
    KdTree {
        bounds: extent.into(),
        parameters: input.parameters,
        depth: layout.depth,
        nodes,
        entries,
        corners,
        triangle_ids,
    }
}

/// Gives each triangle its place, and each entry the place of its triangle. Returns the entries and what triangle is where.
fn put_down(
    mut names: Vec<Named>,
    triangle_count: usize,
    crew: &impl Crew,
) -> (Vec<u32>, Vec<u32>) {
    struct Job<'a> {
        names: &'a mut [Named],
        entries: &'a mut [u32],
        first: usize,
        triangle_ids: &'a mut [u32],
    }

    let mut counts: Vec<(&[Named], usize)> =
        names.chunks(STRETCH_LEN).map(|names| (names, 0)).collect();
    crew.for_each(&mut counts, |_, (names, count)| {
        *count = names.iter().filter(|name| name.is_first()).count();
    });
    let counts: Vec<usize> = counts.into_iter().map(|(_, count)| count).collect();
    let mut triangle_ids = vec![0; counts.iter().sum()];
    let mut entries = vec![0; names.len()];
    let (mut left, mut first) = (triangle_ids.as_mut_slice(), 0);
    let mut jobs: Vec<_> = names
        .chunks_mut(STRETCH_LEN)
        .zip(entries.chunks_mut(STRETCH_LEN))
        .zip(counts)
        .map(|((names, entries), count)| {
            let triangle_ids = take(&mut left, count);
            first += count;
            Job {
                names,
                entries,
                first: first - count,
                triangle_ids,
            }
        })
        .collect();
    let places: Vec<AtomicU32> = (0..triangle_count).map(|_| AtomicU32::new(0)).collect();
    crew.for_each(&mut jobs, |_, job| {
        let mut place = 0;
        for (name, entry) in job.names.iter().zip(&mut *job.entries) {
            if name.is_first() {
                job.triangle_ids[place] = name.triangle();
                *entry = (job.first + place) as u32;
                // Relaxed: nobody reads it before all of this pass is done.
                places[name.triangle() as usize].store(*entry, Relaxed);
                place += 1;
            }
        }
    });
    crew.for_each(&mut jobs, |_, job| {
        for (name, entry) in job.names.iter().zip(&mut *job.entries) {
            if !name.is_first() {
                // Relaxed: stored in the pass before this one.
                *entry = places[name.triangle() as usize].load(Relaxed);
            }
        }
    });
    (entries, triangle_ids)
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
        let mut all_nodes = vec![Node::default(); self.nodes];
        let mut all_entries = vec![Named::default(); self.entries];
        let (mut nodes, mut entries) = (all_nodes.as_mut_slice(), all_entries.as_mut_slice());
        let mut copies: Vec<_> = self
            .runs
            .iter()
            .map(|run| {
                let nodes = take(&mut nodes, run.fragment.nodes.len());
                let entries = take(&mut entries, run.fragment.entries.len());
                (run, nodes, entries)
            })
            .collect();
        crew.for_each(&mut copies, |_, (run, nodes, entries)| {
            for (to, from) in nodes.iter_mut().zip(&run.fragment.nodes) {
                *to = from.moved(run.first_node, run.first_entry);
            }
            entries.copy_from_slice(&run.fragment.entries);
        });
        for &(index, node) in &self.late {
            all_nodes[index] = node;
        }
        (all_nodes, all_entries)
    }
}
