//! The memory of a sequential build.

use super::store::Buffer;
use crate::kdtree::cells::stack::{Stack, Top};
use crate::kdtree::cost::sweep;
use crate::kdtree::phases::route::{Added, Route, Straddler};

/// The memory that a sequential build needs besides its result. It is reused from one subtree to
/// the next.
#[derive(Debug, Default)]
pub(super) struct Workspace {
    pub(super) stacks: [Stack; 2],
    pub(super) tops: [Top; 2],
    pub(super) marks: Vec<u8>,
    pub(super) routes: Vec<Route>,
    pub(super) straddlers: Vec<Straddler>,
    pub(super) added: Added,
    pub(super) sweep: sweep::Scratch,
}

impl Workspace {
    /// Creates a workspace that uses the given memory.
    pub(super) fn within(memory: Stack) -> Self {
        Self {
            stacks: [Stack::default(), memory],
            ..Self::default()
        }
    }
}

impl Buffer for Workspace {
    /// Returns the size of the lists in bytes, which take nearly all of the memory.
    fn byte_count(&self) -> usize {
        let of_stack = |stack: &Stack| {
            let events = stack.events.iter().map(Buffer::byte_count);
            stack.names.byte_count() + events.sum::<usize>()
        };
        let lists = self.stacks.iter().map(of_stack).sum::<usize>();
        lists + self.marks.byte_count() + self.routes.byte_count()
    }
}
