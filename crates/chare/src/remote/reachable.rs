//! A collection over nodes as the target of wire messages.

use std::sync::Arc;

use super::MigratingElement;
use crate::address::number::Number;
use crate::engine::elements::moves::Mover;
use crate::engine::handler::ReplyTo;
use crate::engine::local::sender::FarSender;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::state::measured::Measured;
use crate::state::merged::Merged;

/// A type-erased collection over nodes: the target of wire messages.
pub(crate) trait Reachable: Send + Sync {
    /// Returns the number of the collection within this node.
    fn id(&self) -> u32;

    /// Delivers a message to one element.
    ///
    /// `to` is the number of the element and the priority of the message. `from` is the sender, if
    /// it is on another node.
    fn one(
        &self,
        to: (Number, i32),
        from: Option<FarSender>,
        handler: u16,
        reply_to: ReplyTo,
        args: &[u8],
    ) -> Result<(), Failure>;

    /// Delivers a message to all elements here, from a sender in `epoch`.
    fn all(&self, priority: i32, epoch: u32, handler: u16, args: &[u8]) -> Result<(), Failure>;

    /// Returns the migration of the collection's elements.
    fn mover(&self) -> Box<dyn Mover>;

    /// Returns the node where an element is or to which it is moving, which may be `me`; `None` for
    /// an element that has ended here.
    fn node_of(&self, number: Number, me: u16) -> Option<u16>;

    /// Handles the arrival of an element from another node.
    fn arrive(&self, system: &System, number: Number, element: Option<MigratingElement>);

    /// Fails the scans from `from` on, which have no results.
    fn lose_scans(&self, system: &System, from: u64, why: Failure);

    /// Sends the measurements of the workers here to the root.
    fn measure(&self, system: &System);

    /// Handles the measurements of a worker of another node. Runs on the node of the root.
    fn measured(&self, system: &System, measured: Measured);

    /// Handles the request of another node to balance. Runs on the node of the root.
    fn balancing_is_due(&self, system: &System);

    /// Adds contributions of another node to a reduction. Runs on the node of the root.
    ///
    /// `goes` is the destination of the result; `merged` is the merged value, or why there is none.
    fn share(
        &self,
        system: &System,
        round: u64,
        count: u64,
        goes: u8,
        merged: Result<Box<dyn Merged>, String>,
    ) -> Result<(), Failure>;

    /// Delivers the result of a reduction to the local contributors.
    fn result(&self, system: &Arc<System>, round: u64, of: u64, output: &[u8]);

    /// Records that reductions from `from` on have `by` more contributions. Runs on the node of the
    /// root.
    fn population(&self, system: &System, from: u64, by: i64);

    /// Requests a worker to serialise its elements.
    fn save_part(&self, system: &System, worker: usize) -> Reply<Result<SavedPart, Failure>>;
}

/// One worker's part of an array in a checkpoint: the positions and values of its elements.
pub(crate) struct SavedPart {
    pub(crate) elements: Vec<(u64, Vec<u8>)>,
    /// The reduction and the scan to which all of these elements contribute next; `None` without
    /// elements.
    pub(crate) next: Option<(u64, u64)>,
}
