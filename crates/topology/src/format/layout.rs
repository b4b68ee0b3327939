//! Places a machine's objects as boxes inside each other, for a picture.
//!
//! An object that holds others is a box around them; a cache or a memory is a bar across what shares it.
//! Children stand in a grid whose number of columns makes the whole look most like a page. On a machine
//! of more than [`DRAWN_CPUS_MAX`] CPUs, children that are alike are drawn once or twice and counted.
//!
//! # Source
//! The look is that of hwloc's `lstopo`; the grid search is our own.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::size::size;
use crate::cpu_set::CpuId;
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::topology::Topology;

/// The most CPUs of which each one is drawn.
pub(super) const DRAWN_CPUS_MAX: usize = 1024;

/// Of a longer run of children that are alike, so many are drawn before the rest is only counted.
const ALIKE_DRAWN: usize = 2;

/// Width over height that a group of boxes should have.
const RATIO: f64 = 1.5;
const GAP: f64 = 5.0;
const PADDING: f64 = 6.0;
/// The height of a line of text with what stands around it.
pub(super) const LINE: f64 = 19.0;
/// The width that one character takes on average.
pub(super) const CHARACTER: f64 = 7.0;

/// What a box shows, which decides how it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Look {
    Machine,
    Group,
    Package,
    Die,
    Core,
    DataCache,
    InstructionCache,
    Memory,
    CpuAllowed,
    CpuForbidden,
    More,
}

/// A box with a line of text at its top.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) look: Look,
    pub(super) label: String,
    /// What more there is to say; shown when the pointer rests on the box.
    pub(super) hint: String,
}

/// Boxes that belong together, relative to their own upper left corner; holders before what they hold.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) tiles: Vec<Tile>,
    /// Equal for blocks that look alike but for their numbers.
    shape: u64,
}

/// Places the whole machine.
pub(super) fn layout(topology: &Topology) -> Block {
    Layouter {
        topology,
        collapse: topology.cpu_count() > DRAWN_CPUS_MAX,
    }
    .block(topology.root())
}

struct Layouter<'topology> {
    topology: &'topology Topology,
    collapse: bool,
}

impl Layouter<'_> {
    fn block(&self, object: &Object) -> Block {
        let look = self.look(object);
        let mut body = self.collapsed(
            object
                .children
                .iter()
                .map(|child| self.block(child))
                .collect(),
        );
        let memories: Vec<_> = object
            .memory_children
            .iter()
            .map(|memory| self.block(memory))
            .collect();
        let is_bar = matches!(
            look,
            Look::DataCache | Look::InstructionCache | Look::Memory
        );
        let mut shape = DefaultHasher::new();
        (look, size_label(object)).hash(&mut shape);
        for block in memories.iter().chain(&body) {
            block.shape.hash(&mut shape);
        }
        let label = self.label(object);
        let inner = stack(memories, grid(std::mem::take(&mut body)));
        let margin = if is_bar { 0.0 } else { PADDING };
        let text_width = label.chars().count() as f64 * CHARACTER + 2.0 * PADDING;
        let width = text_width.max(inner.width + 2.0 * margin);
        let empty = inner.tiles.is_empty();
        let height = match (is_bar, empty) {
            (_, true) => LINE,
            (true, false) => LINE + GAP + inner.height,
            (false, false) => LINE + inner.height + margin,
        };
        let mut tiles = vec![Tile {
            x: 0.0,
            y: 0.0,
            width,
            height: if is_bar { LINE } else { height },
            look,
            label,
            hint: hint(object),
        }];
        let top = if is_bar { LINE + GAP } else { LINE };
        tiles.extend(moved(inner.tiles, margin, top));
        Block {
            width,
            height,
            tiles,
            shape: shape.finish(),
        }
    }

    fn look(&self, object: &Object) -> Look {
        let forbidden = |id: u32| self.topology.cpu(CpuId(id)).is_some_and(|cpu| !cpu.allowed);
        match (object.kind, object.attributes) {
            (ObjectKind::Machine, _) => Look::Machine,
            (ObjectKind::Package, _) => Look::Package,
            (ObjectKind::Die, _) => Look::Die,
            (ObjectKind::Core, _) => Look::Core,
            (ObjectKind::Pu, _) if object.os_index.is_some_and(forbidden) => Look::CpuForbidden,
            (ObjectKind::Pu, _) => Look::CpuAllowed,
            (ObjectKind::NumaNode | ObjectKind::MemoryCache, _) => Look::Memory,
            (
                ObjectKind::Cache,
                Attributes::Cache {
                    kind: CacheKind::Instruction,
                    ..
                },
            ) => Look::InstructionCache,
            (ObjectKind::Cache, _) => Look::DataCache,
            (ObjectKind::Group | ObjectKind::Other, _) => Look::Group,
        }
    }

    /// Writes `Package 0`, `L2 1024KB`, `NUMANode 0 31GB`, `PU 3`; numbers of CPUs are the operating system's.
    fn label(&self, object: &Object) -> String {
        let kind = object.kind_name();
        let number = match object.kind {
            ObjectKind::Machine | ObjectKind::Cache | ObjectKind::MemoryCache => None,
            ObjectKind::Pu | ObjectKind::NumaNode => object.os_index.map(|index| index.to_string()),
            _ => Some(object.logical_index.to_string()),
        };
        let subtype = object
            .subtype
            .as_ref()
            .map(|subtype| format!("({subtype})"));
        let memory = object.memory_total_bytes();
        let total = (object.kind == ObjectKind::Machine && memory > 0)
            .then(|| format!("{} of memory", size(memory)));
        [Some(kind), subtype, number, size_label(object), total]
            .into_iter()
            .flatten()
            .collect::<Vec<_>>()
            .join(" ")
    }

    /// Draws only the beginning and the end of a run of blocks that look alike, where there are too many.
    fn collapsed(&self, blocks: Vec<Block>) -> Vec<Block> {
        if !self.collapse {
            return blocks;
        }
        let mut kept = Vec::new();
        for run in blocks.chunk_by(|left, right| left.shape == right.shape) {
            match run {
                [first @ .., last] if first.len() > ALIKE_DRAWN + 1 => {
                    kept.extend_from_slice(&first[..ALIKE_DRAWN]);
                    kept.push(more(first.len() - ALIKE_DRAWN));
                    kept.push(last.clone());
                }
                _ => kept.extend_from_slice(run),
            }
        }
        kept
    }
}

/// A box that stands for `count` others.
fn more(count: usize) -> Block {
    let label = format!("… {count} more …");
    let width = label.chars().count() as f64 * CHARACTER + 2.0 * PADDING;
    Block {
        width,
        height: LINE,
        tiles: vec![Tile {
            x: 0.0,
            y: 0.0,
            width,
            height: LINE,
            look: Look::More,
            hint: format!("{count} more objects like those beside"),
            label,
        }],
        shape: 0,
    }
}

fn size_label(object: &Object) -> Option<String> {
    match object.attributes {
        Attributes::Cache { size_bytes, .. } => size_bytes.map(size),
        Attributes::Numa { memory_bytes } => memory_bytes.map(size),
        _ => None,
    }
}

/// Everything about an object that has no place in a short label.
fn hint(object: &Object) -> String {
    let mut hint = object.to_string();
    if let Some(name) = &object.name {
        hint += &format!(", {name}");
    }
    if let Attributes::Cache {
        line_bytes: Some(bytes),
        ..
    } = object.attributes
    {
        hint += &format!(", lines of {bytes} bytes");
    }
    if object.kind != ObjectKind::Pu {
        hint += &format!(", CPUs {}", object.cpus);
    }
    hint
}

/// Sets the bars of the memories above a block, each as wide as everything.
fn stack(memories: Vec<Block>, below: Block) -> Block {
    let width = memories
        .iter()
        .map(|bar| bar.width)
        .fold(below.width, f64::max);
    let mut tiles = Vec::new();
    let mut y = 0.0;
    for mut bar in memories {
        for tile in &mut bar.tiles {
            tile.width = width;
        }
        tiles.extend(moved(bar.tiles, 0.0, y));
        y += bar.height + GAP;
    }
    let height = if below.tiles.is_empty() {
        (y - GAP).max(0.0)
    } else {
        y + below.height
    };
    tiles.extend(moved(below.tiles, 0.0, y));
    Block {
        width,
        height,
        tiles,
        shape: 0,
    }
}

/// Sets blocks in the grid that looks most like a page, in reading order.
fn grid(blocks: Vec<Block>) -> Block {
    let (mut columns, mut best) = (1, f64::INFINITY);
    for candidate in 1..=blocks.len() {
        let (widths, heights) = tracks(&blocks, candidate);
        let (width, height) = (span(&widths), span(&heights));
        let off = (width / height / RATIO).max(RATIO * height / width);
        let holes = (widths.len() * heights.len() - blocks.len()) as f64 / blocks.len() as f64;
        let badness = off * (1.0 + holes);
        if badness < best {
            (columns, best) = (candidate, badness);
        }
    }
    let (widths, heights) = tracks(&blocks, columns);
    let mut tiles = Vec::new();
    let mut y = 0.0;
    let mut rest = blocks.into_iter();
    for height in &heights {
        let mut x = 0.0;
        for width in &widths {
            if let Some(block) = rest.next() {
                tiles.extend(moved(block.tiles, x, y));
            }
            x += width + GAP;
        }
        y += height + GAP;
    }
    Block {
        width: span(&widths),
        height: span(&heights),
        tiles,
        shape: 0,
    }
}

/// Returns the widths of the columns and the heights of the rows.
fn tracks(blocks: &[Block], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let mut widths = vec![0.0; columns.min(blocks.len())];
    let mut heights = Vec::new();
    for row in blocks.chunks(columns) {
        heights.push(row.iter().map(|block| block.height).fold(0.0, f64::max));
        for (width, block) in widths.iter_mut().zip(row) {
            *width = f64::max(*width, block.width);
        }
    }
    (widths, heights)
}

/// Adds up lengths with gaps between them.
fn span(lengths: &[f64]) -> f64 {
    let gaps = lengths.len().saturating_sub(1) as f64 * GAP;
    lengths.iter().sum::<f64>() + gaps
}

fn moved(tiles: Vec<Tile>, x: f64, y: f64) -> impl Iterator<Item = Tile> {
    tiles.into_iter().map(move |mut tile| {
        tile.x += x;
        tile.y += y;
        tile
    })
}
