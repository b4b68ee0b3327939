//! The attention of a worker: one mark for all rare cases of a frequent path.
//!
//! A layer above the runtime asks for the mark where it would otherwise ask for each rare case:
//! while the mark is set, it takes a slow path, which finds out what the case is. The runtime sets
//! the mark while it is recorded; a layer sets it for its own cases. The slow path removes the mark
//! when it finds none.

use std::cell::Cell;
use std::rc::Rc;

/// The mark of one worker. Copies are the same mark.
#[derive(Clone, Debug, Default)]
pub struct Attention(Rc<Cell<bool>>);

impl Attention {
    /// Returns true if something rare may be the case.
    #[inline(always)]
    pub fn is_set(&self) -> bool {
        self.0.get()
    }

    /// Sets or removes the mark.
    #[inline]
    pub fn set(&self, is_set: bool) {
        self.0.set(is_set);
    }
}
