//! A collection over nodes as the target of wire messages.

use std::sync::Arc;

use super::Crosser;
use crate::address::number::Number;
use crate::engine::elements::moves::Mover;
use crate::engine::handler::ReplyTo;
use crate::engine::system::System;
use crate::failure::Failure;
use crate::reply::Reply;
use crate::state::measured::Measured;
use crate::state::merged::Merged;

/// A type-erased collection over nodes: the target of wire messages.
pub(crate) trait Reachable: Send + Sync {
    /// Its number within this node.
    fn id(&self) -> u32;

    /// A message for one element.
    ///
    /// `to` is its number and the priority. `epoch` is the sender's epoch, for a sender on another
    /// node.
    fn one(
        &self,
        to: (Number, i32),
        epoch: Option<u32>,
        handler: u16,
        reply_to: ReplyTo,
        args: &[u8],
    ) -> Result<(), Failure>;

    /// A message for all elements here, from a sender in `epoch`.
    fn all(&self, priority: i32, epoch: u32, handler: u16, args: &[u8]) -> Result<(), Failure>;

    /// Migration of its elements.
    fn mover(&self) -> Box<dyn Mover>;

    /// The other node where an element is or to which it goes, or `me`; `None` for an element that
    /// has ended here.
    fn node_of(&self, number: Number, me: u16) -> Option<u16>;

    /// An element comes from another node.
    fn arrive(&self, system: &System, number: Number, crosser: Option<Crosser>);

    /// Scans from `from` on have no results.
    fn lose_scans(&self, system: &System, from: u64, why: Failure);

    /// The workers here are to say what they have measured.
    fn measure(&self, system: &System);

    /// A worker of another node has said it. For the root's node, as the next.
    fn measured(&self, system: &System, measured: Measured);

    /// Handles the request of another node to balance.
    fn balancing_is_due(&self, system: &System);

    /// Adds contributions of another node to a reduction. For the node of its root.
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

    /// There are more contributions to a reduction, or fewer. For its root's node.
    fn population(&self, system: &System, from: u64, by: i64);

    /// Has a worker write its elements.
    fn save_part(&self, system: &System, worker: usize) -> Reply<Result<SavedPart, Failure>>;
}

/// One worker's part of an array in a checkpoint: the positions and values of its elements.
pub(crate) struct SavedPart {
    pub(crate) elements: Vec<(u64, Vec<u8>)>,
    /// The reductions and scans to which all of them contribute next; `None` without elements.
    pub(crate) next: Option<(u64, u64)>,
}
