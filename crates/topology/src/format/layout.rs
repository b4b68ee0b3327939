//! Layout of the objects of a machine as nested boxes, for a picture.
//!
//! An object with children is a box around them. A cache or a memory is a bar across the objects
//! that share it. Children are in a grid; its number of columns is chosen so that the result looks
//! most like a page. Sizes are computed from the inside out, and positions from the outside in: a
//! box fills its cell. On a machine with more than [`DRAWN_CPUS_MAX`] CPUs, at most three children
//! that look alike are drawn, and the others are counted.
//!
//! # Source
//! The look is that of hwloc's `lstopo`. The grid search is our own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::size::size;
use crate::cpu_set::CpuId;
use crate::object::{Attributes, CacheKind, Object, ObjectKind};
use crate::topology::Topology;

/// The maximum number of CPUs for which every CPU is drawn.
pub(super) const DRAWN_CPUS_MAX: usize = 1024;

/// The number of objects that are drawn at the start of a long run of objects that look alike. A
/// count and the last object follow.
const ALIKE_DRAWN: usize = 2;

/// The desired ratio of width to height of a group of boxes.
const RATIO: f64 = 1.5;
/// The penalty of empty cells, relative to the number of used cells.
const HOLE_WEIGHT: f64 = 2.0;
/// The gap between boxes, in pixels.
const GAP: f64 = 5.0;
/// The space between the edge of a box and its contents, in pixels.
const PADDING: f64 = 6.0;
/// The height of a line of text with the space around it, in pixels.
pub(super) const LINE: f64 = 19.0;

/// The kind of a box, which determines its look.
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
    CpuParty,
    CpuControl,
    CpuIdle,
    More,
}

/// A note on a CPU, which is shown instead of just its number.
#[derive(Clone, Debug)]
pub(super) struct Note {
    pub(super) look: Look,
    /// A short text. If it is empty, the number of the CPU is shown.
    pub(super) label: String,
    /// The complete text, which is shown as a tooltip.
    pub(super) hint: String,
}

/// The notes on CPUs.
pub(super) type Notes = HashMap<CpuId, Note>;

/// A box with a line of text at its top.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) look: Look,
    pub(super) label: String,
    /// The details, which are shown when the pointer rests on the box.
    pub(super) hint: String,
}

/// The layout of a machine. Tiles come before the tiles inside them.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) tiles: Vec<Tile>,
}

/// Returns the layout of a machine.
pub(super) fn layout(topology: &Topology) -> Layout {
    layout_with(topology, &Notes::new())
}

/// Returns the layout of a machine with notes on CPUs.
pub(super) fn layout_with(topology: &Topology, notes: &Notes) -> Layout {
    let mut measurer = Measurer {
        topology,
        notes,
        collapse: topology.cpu_count() > DRAWN_CPUS_MAX,
        label_widths: HashMap::new(),
    };
    topology.root().for_each(&mut |object| {
        let width = text_width(&measurer.label(object));
        let widest = measurer.label_widths.entry(object.kind_name()).or_default();
        *widest = widest.max(width);
    });
    let machine = measurer.block(topology.root());
    let mut tiles = Vec::new();
    let (width, height) = (machine.width, machine.height);
    machine.place(0.0, 0.0, width, height, &mut tiles);
    Layout {
        width,
        height,
        tiles,
    }
}

/// Estimates the width of a text in the font of the picture.
pub(super) fn text_width(text: &str) -> f64 {
    text.chars()
        .map(|character| match character {
            ' ' | '.' | ',' | ':' | '(' | ')' | 'i' | 'j' | 'l' | '-' => 4.6,
            'M' | 'N' | 'U' | 'A' | 'G' | 'D' | 'm' | '#' | '…' => 10.0,
            _ => 7.9,
        })
        .sum()
}

/// An object with its minimum size.
#[derive(Clone, Debug)]
struct Block {
    width: f64,
    height: f64,
    look: Look,
    label: String,
    hint: String,
    memories: Vec<Block>,
    children: Vec<Block>,
    columns: usize,
    /// A hash that is equal for blocks that look alike except for their numbers.
    shape: u64,
}

/// Computes the sizes of objects.
struct Measurer<'topology> {
    topology: &'topology Topology,
    notes: &'topology Notes,
    /// True if objects that look alike are counted instead of drawn.
    collapse: bool,
    /// The widest label of each kind, so that similar objects get boxes of the same size.
    label_widths: HashMap<String, f64>,
}

impl Measurer<'_> {
    /// Creates the block of an object and its descendants.
    fn block(&self, object: &Object) -> Block {
        let look = self.look(object);
        let children = self.collapsed(
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
        let mut shape = DefaultHasher::new();
        (look, object.attributes_label()).hash(&mut shape);
        for block in memories.iter().chain(&children) {
            block.shape.hash(&mut shape);
        }
        let label_width = self.label_widths.get(&object.kind_name()).copied();
        let mut block = Block {
            width: label_width.unwrap_or(0.0) + 2.0 * PADDING,
            height: LINE,
            look,
            label: self.label(object),
            hint: self.hint(object),
            columns: columns(&children),
            memories,
            children,
            shape: shape.finish(),
        };
        block.measure();
        block
    }

    fn note(&self, object: &Object) -> Option<&Note> {
        let cpu = object.os_index.filter(|_| object.kind == ObjectKind::Pu)?;
        self.notes.get(&CpuId(cpu))
    }

    fn label(&self, object: &Object) -> String {
        match self.note(object) {
            Some(note) if !note.label.is_empty() => note.label.clone(),
            _ => label(object),
        }
    }

    fn hint(&self, object: &Object) -> String {
        match self.note(object) {
            Some(note) if !note.hint.is_empty() => format!("{}: {}", hint(object), note.hint),
            _ => hint(object),
        }
    }

    fn look(&self, object: &Object) -> Look {
        if let Some(note) = self.note(object) {
            return note.look;
        }
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

    /// Replaces the middle of each long run of blocks that look alike by a count, if required.
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

impl Block {
    /// Returns true if the block is a bar across its children rather than a box around them.
    fn is_bar(&self) -> bool {
        matches!(
            self.look,
            Look::DataCache | Look::InstructionCache | Look::Memory
        )
    }

    /// Returns the space between the edge of the block and its contents.
    fn margin(&self) -> f64 {
        if self.is_bar() { 0.0 } else { PADDING }
    }

    /// Computes the minimum size from the sizes of the contents.
    fn measure(&mut self) {
        let (widths, heights) = tracks(&self.children, self.columns);
        let widest_memory = self.memories.iter().map(|memory| memory.width);
        let inner_width = widest_memory.fold(span(&widths), f64::max);
        self.width = self.width.max(inner_width + 2.0 * self.margin());
        let mut parts: Vec<_> = self.memories.iter().map(|memory| memory.height).collect();
        if !self.children.is_empty() {
            parts.push(span(&heights));
        }
        if !parts.is_empty() {
            let gap = if self.is_bar() { GAP } else { 0.0 };
            self.height = LINE + gap + span(&parts) + self.margin();
        }
    }

    /// Places the block and its contents into a cell, which is at least as large as the block.
    fn place(self, x: f64, y: f64, width: f64, height: f64, tiles: &mut Vec<Tile>) {
        let (is_bar, margin) = (self.is_bar(), self.margin());
        tiles.push(Tile {
            x,
            y,
            width,
            height: if is_bar { LINE } else { height },
            look: self.look,
            label: self.label,
            hint: self.hint,
        });
        let (inner_x, inner_width) = (x + margin, width - 2.0 * margin);
        let mut inner_y = y + LINE + if is_bar { GAP } else { 0.0 };
        for memory in self.memories {
            let memory_height = memory.height;
            memory.place(inner_x, inner_y, inner_width, memory_height, tiles);
            inner_y += memory_height + GAP;
        }
        let (mut widths, mut heights) = tracks(&self.children, self.columns);
        widen(&mut widths, inner_width);
        widen(&mut heights, y + height - margin - inner_y);
        let mut rest = self.children.into_iter();
        for row_height in heights {
            let mut column_x = inner_x;
            for (child, column_width) in rest.by_ref().take(widths.len()).zip(&widths) {
                child.place(column_x, inner_y, *column_width, row_height, tiles);
                column_x += column_width + GAP;
            }
            inner_y += row_height + GAP;
        }
    }
}

impl Object {
    /// Returns the size as `(1024KB)` or `(31GB)`, if it is known.
    fn attributes_label(&self) -> Option<String> {
        let bytes = match self.attributes {
            Attributes::Cache { size_bytes, .. } => size_bytes,
            Attributes::Numa { memory_bytes } => memory_bytes,
            _ => None,
        };
        bytes.map(|bytes| format!("({})", size(bytes)))
    }
}

/// Returns a label such as `Package L#0`, `L2 (1024KB)`, `NUMANode P#0 (31GB)` or `PU P#3`.
fn label(object: &Object) -> String {
    let number = match object.kind {
        ObjectKind::Machine | ObjectKind::Cache | ObjectKind::MemoryCache => None,
        ObjectKind::Pu | ObjectKind::NumaNode => object.os_index.map(|index| format!("P#{index}")),
        _ => Some(format!("L#{}", object.logical_index)),
    };
    let subtype = object.subtype.clone();
    let memory = object.memory_total_bytes();
    let total = (object.kind == ObjectKind::Machine && memory > 0)
        .then(|| format!("({} total)", size(memory)));
    [
        Some(object.kind_name()),
        number,
        subtype,
        object.attributes_label(),
        total,
    ]
    .into_iter()
    .flatten()
    .collect::<Vec<_>>()
    .join(" ")
}

/// Returns the details of an object that do not fit into a short label.
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

/// Returns a box that represents `count` others.
fn more(count: usize) -> Block {
    let label = format!("… {count} more …");
    Block {
        width: text_width(&label) + 2.0 * PADDING,
        height: LINE,
        look: Look::More,
        hint: format!("{count} more objects like those beside"),
        label,
        memories: Vec::new(),
        children: Vec::new(),
        columns: 1,
        shape: 0,
    }
}

/// Returns the number of columns with which a grid looks most like a page.
fn columns(blocks: &[Block]) -> usize {
    let badness = |columns: &usize| {
        let (widths, heights) = tracks(blocks, *columns);
        let (width, height) = (span(&widths), span(&heights));
        let off = (width / height / RATIO).max(RATIO * height / width);
        let holes = (widths.len() * heights.len() - blocks.len()) as f64 / blocks.len() as f64;
        off * (1.0 + HOLE_WEIGHT * holes)
    };
    (1..=blocks.len())
        .min_by(|left, right| badness(left).total_cmp(&badness(right)))
        .unwrap_or(1)
}

/// Returns the minimum widths of the columns and heights of the rows of a grid.
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

/// Enlarges lengths so that they fill `space`, with gaps between them.
fn widen(lengths: &mut [f64], space: f64) {
    let more = (space - span(lengths)).max(0.0) / lengths.len().max(1) as f64;
    for length in lengths {
        *length += more;
    }
}

/// Returns the sum of lengths with gaps between them.
fn span(lengths: &[f64]) -> f64 {
    let gaps = lengths.len().saturating_sub(1) as f64 * GAP;
    lengths.iter().sum::<f64>() + gaps
}
