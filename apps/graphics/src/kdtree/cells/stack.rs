//! A stack of cells' lists, which lets the sequential builder work without an allocation per cell.

use std::ops::Range;

use super::cell::Cell;
use super::event::Event;
use super::extent::Extent;
use super::names::Name;

/// The ranges of a stack that hold the lists of one cell.
#[derive(Debug, Clone)]
pub(in crate::kdtree) struct Place {
    pub(in crate::kdtree) names: Range<usize>,
    pub(in crate::kdtree) events: [Range<usize>; 3],
}

/// The lists of several cells, one on top of the other. The vectors never shrink; a [`Place`] tells
/// which part of them a cell uses.
#[derive(Debug, Clone, Default)]
pub(in crate::kdtree) struct Stack {
    pub(in crate::kdtree) names: Vec<Name>,
    pub(in crate::kdtree) events: [Vec<Event>; 3],
}

impl Stack {
    pub(in crate::kdtree) fn cell(&self, place: &Place, extent: Extent) -> Cell<'_> {
        Cell {
            extent,
            names: &self.names[place.names.clone()],
            events: std::array::from_fn(|axis| &self.events[axis][place.events[axis].clone()]),
        }
    }

    /// Grows the stack, if necessary, so that `count` more triangles fit on `top`.
    pub(in crate::kdtree) fn grow(&mut self, top: &Top, count: usize) {
        let len = top.names + count;
        if self.names.len() < len {
            self.names.resize(len, Name::default());
        }
        for (events, top) in self.events.iter_mut().zip(top.events) {
            let len = top + 2 * count;
            if events.len() < len {
                events.resize(len, Event::default());
            }
        }
    }
}

/// The fill level of a stack.
#[derive(Debug, Clone, Copy, Default)]
pub(in crate::kdtree) struct Top {
    pub(in crate::kdtree) names: usize,
    pub(in crate::kdtree) events: [usize; 3],
}
