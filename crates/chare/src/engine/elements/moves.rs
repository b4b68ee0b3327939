//! Type-erased migration of the elements of one array; see [`crate::migration`].

use crate::address::directory::Site;
use crate::address::number::Number;
use crate::engine::local::Local;
use crate::engine::local::ranks::RanksOf;

/// A call that runs on a worker.
pub(crate) type Request = Box<dyn FnOnce(&Local) + Send>;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Move {
    pub(crate) number: Number,
    pub(crate) from: Site,
    pub(crate) to: Site,
}

impl Move {
    /// Returns the worker that the element leaves, if that is here.
    pub(crate) fn source(&self) -> Option<usize> {
        match self.from {
            Site::Worker(worker) => Some(worker),
            Site::Node(_) => None,
        }
    }
}

/// Migration of the elements of one array, for any element type.
pub(crate) trait Mover: Send + Sync {
    /// Writes old and new worker into the routes of those that are elsewhere than they are to be.
    fn begin(
        &self,
        local: &Local,
        collection: u32,
        epoch: u32,
        requested: Vec<(Number, Site)>,
    ) -> Vec<Move>;
    /// Notes the moves at this worker, which enters the epoch.
    fn enter_epoch(&self, local: &Local, collection: u32, epoch: u32, moves: &[Move]);
    /// Returns the moves of the elements that are ready to leave this worker.
    fn leaving(&self, local: &Local, collection: u32, moves: &[Move]) -> Vec<Move>;
    /// Takes the elements from this worker. Returns one call for each new worker, for all its
    /// elements.
    fn take(
        &self,
        local: &Local,
        collection: u32,
        leaving: &[Move],
        ranked: &mut RanksOf,
    ) -> Vec<(usize, Request)>;
    /// Makes the new workers the old ones too.
    fn end(&self, local: &Local, collection: u32, moves: &[Move]);
}
