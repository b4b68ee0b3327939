//! The transport by shared memory, for nodes that are processes or threads of one process. The
//! sender writes into the receiver's lanes, and rings its wait cells.

use std::sync::Arc;

use raddle_sync::lane::{Full, LaneSender};
use raddle_sync::prim::Release;

use super::{Capabilities, Link, Outgoing, Transport};
use crate::address::{PortId, Shape};
use crate::error::SendError;
use crate::mapped::Region;
use crate::packet::Kind;

/// The regions of all nodes. Processes have mappings of their own, threads share the mappings.
#[derive(Debug)]
pub(super) struct ByMemory {
    shape: Shape,
    regions: Vec<Arc<Region>>,
}

impl ByMemory {
    pub(super) fn connect(
        shape: Shape,
        regions: Vec<Arc<Region>>,
    ) -> (Box<dyn Transport>, Capabilities) {
        let capabilities = Capabilities::shared_memory(shape);
        (Box::new(Self { shape, regions }), capabilities)
    }
}

impl Transport for ByMemory {
    fn link(&self, from: PortId, to: PortId) -> Box<dyn Link> {
        let region = &self.regions[usize::from(to.node.0)];
        Box::new(LaneLink::new(
            Arc::clone(region),
            self.shape,
            from,
            to.index,
        ))
    }
}

/// The sending end of a lane, and the index of the port that receives from it.
#[derive(Debug)]
pub(super) struct LaneLink {
    lane: LaneSender,
    region: Arc<Region>,
    to: usize,
}

impl LaneLink {
    /// Opens the lane from a port to port `to` of the node that has the region.
    ///
    /// # Panics
    /// If the lane has been opened before.
    pub(super) fn new(region: Arc<Region>, shape: Shape, from: PortId, to: u16) -> Self {
        let lane = region.sender(from, to);
        let lane = lane.expect("each lane is opened once");
        let number = shape.number_of(from);
        // ORDERING(N2): Release as a matter of form: the lane is still as its region was created.
        region.openings(to)[number / 64].fetch_or(1 << (number % 64), Release);
        Self {
            lane,
            region,
            to: to.into(),
        }
    }
}

impl Link for LaneLink {
    #[inline]
    fn send(&mut self, outgoing: Outgoing<'_>) -> Result<(), SendError> {
        let long = match outgoing.kind {
            Kind::Message => outgoing.long,
            Kind::Put => &[],
            // No port receives these. Nodes that share memory send none.
            Kind::Part | Kind::Get | Kind::Got => return Ok(()),
        };
        let sent = self.lane.send_for(outgoing.short, long, outgoing.reader);
        sent.map_err(|Full| SendError::Full)?;
        if outgoing.doorbell {
            self.region.ring(self.to);
        }
        Ok(())
    }
}
