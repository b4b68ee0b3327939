//! Nodes that share memory, as processes or as threads of one: the sender writes into the receiver's lanes, and rings its cells.

use std::sync::Arc;

use raddle_sync::lane::{Full, LaneSender};
use raddle_sync::prim::Release;

use super::{Link, Outgoing, Transport};
use crate::address::{NodeId, PortId, Shape};
use crate::connection::Rights;
use crate::error::SendError;
use crate::mapped::Region;
use crate::packet::Kind;

/// The regions of all nodes: of processes, as they are mapped here; of threads, the same ones for all.
#[derive(Debug)]
pub(crate) struct ByMemory {
    shape: Shape,
    regions: Vec<Arc<Region>>,
    /// What each node allows, where all are in this process; else nothing.
    rights: Vec<Arc<Rights>>,
}

impl ByMemory {
    pub(crate) const fn new(
        shape: Shape,
        regions: Vec<Arc<Region>>,
        rights: Vec<Arc<Rights>>,
    ) -> Self {
        Self {
            shape,
            regions,
            rights,
        }
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

    fn shares_memory_with(&self, _node: NodeId) -> bool {
        true
    }

    fn rights_of(&self, node: NodeId) -> Option<&Rights> {
        self.rights.get(usize::from(node.0)).map(|rights| &**rights)
    }
}

/// A lane, and the cell of who receives from it.
#[derive(Debug)]
pub(crate) struct LaneLink {
    lane: LaneSender,
    region: Arc<Region>,
    to: usize,
}

impl LaneLink {
    /// Opens the lane from a port to port `to` of the node of a region.
    ///
    /// # Panics
    /// When it was opened before.
    pub(crate) fn new(region: Arc<Region>, shape: Shape, from: PortId, to: u16) -> Self {
        let lane = region.sender(from, to);
        let lane = lane.expect("each lane is opened once");
        let number = shape.number_of(from);
        // ORDERING(N2): Release, for form's sake: the lane is as its region was made.
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
            Kind::Part => return Ok(()),
        };
        let sent = self.lane.send_for(outgoing.short, long, outgoing.reader);
        sent.map_err(|Full| SendError::Full)?;
        if outgoing.doorbell {
            self.region.ring(self.to);
        }
        Ok(())
    }
}
