//! The memory of a build, which is allocated before the build begins.

use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::Name;
use crate::kdtree::cells::stack::Stack;
use crate::kdtree::fork_join::ForkJoin;
use crate::kdtree::layout::assemble::TreeMemory;

/// The memory of a build.
#[derive(Debug, Clone)]
pub(in crate::kdtree) struct Memory {
    /// Memory for the lists of the first halves.
    pub(in crate::kdtree) lists: Stack,
    pub(in crate::kdtree) tree: TreeMemory,
}

/// Allocates memory for `count` triangles and for the pieces that the first planes cut. Reuses the
/// memory of `spare`.
pub(in crate::kdtree) fn memory_of(
    count: usize,
    spare: Vec<Vec<Event>>,
    threads: &impl ForkJoin,
) -> Memory {
    let capacity = count + count / 8;
    let mut events: [Vec<Event>; 3] = Default::default();
    for (to, spare) in events.iter_mut().zip(spare) {
        *to = spare;
    }
    threads.for_each(&mut events, |_, events| {
        events.resize(2 * capacity, Event::default());
    });
    Memory {
        lists: Stack {
            names: vec![Name::default(); capacity],
            events,
        },
        tree: TreeMemory::new(count, threads),
    }
}
