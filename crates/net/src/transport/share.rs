//! The share of a node: the key, memory and sockets that it gets when all nodes of a program are
//! created.

use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::io::Errno;

use super::sockets::allow_packets;
use crate::address::{NodeId, Shape};
use crate::control;
use crate::error::NetError;
use crate::kind::TransportKind;
use crate::mapped::Region;
use crate::random::random;

/// The things from which one node is assembled.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    pub(crate) kind: TransportKind,
    /// The key of connection 0, the same for all nodes.
    pub(crate) key: u64,
    /// With shared memory, the regions of all nodes in order. With sockets, the region of this
    /// node.
    pub(crate) regions: Vec<Arc<OwnedFd>>,
    /// For each other node, a socket for control frames.
    pub(crate) controls: Vec<Option<OwnedFd>>,
    /// With sockets, one for the messages to and from each other node.
    pub(crate) sockets: Vec<Option<OwnedFd>>,
}

impl Share {
    /// Creates the shares of all nodes of a program.
    ///
    /// # Errors
    /// [`NetError::Shape`] and [`NetError::System`].
    pub(crate) fn of_all(kind: TransportKind, shape: Shape) -> Result<Vec<Self>, NetError> {
        NetError::check_shape(shape)?;
        let key = random()?;
        let region = |_| {
            let region = Region::create(shape).map(Arc::new);
            region.map_err(NetError::system("the memory of a node"))
        };
        let regions: Vec<_> = shape.node_ids().map(region).collect::<Result<_, _>>()?;
        let controls = sockets(shape).map_err(NetError::system("a socket"))?;
        let by_sockets = if kind.shares_memory() {
            shape.node_ids().map(|_| Vec::new()).collect()
        } else {
            let all = sockets(shape).map_err(NetError::system("a socket"))?;
            let allowed = all.iter().flatten().flatten().try_for_each(allow_packets);
            allowed.map_err(NetError::system("sockets with capacity for a packet"))?;
            all
        };
        let parts = shape.node_ids().zip(controls).zip(by_sockets);
        let shares = parts
            .map(|((me, controls), sockets)| {
                let regions = if kind.shares_memory() {
                    regions.clone()
                } else {
                    vec![Arc::clone(&regions[usize::from(me.0)])]
                };
                Self {
                    me,
                    shape,
                    kind,
                    key,
                    regions,
                    controls,
                    sockets,
                }
            })
            .collect();
        Ok(shares)
    }

    /// Maps the regions of the share into this process.
    ///
    /// # Errors
    /// [`NetError::System`].
    pub(crate) fn open_regions(&self) -> Result<Vec<Arc<Region>>, NetError> {
        let open = |file: &Arc<OwnedFd>| Region::open(&**file, self.shape).map(Arc::new);
        let regions: Result<Vec<_>, _> = self.regions.iter().map(open).collect();
        regions.map_err(NetError::system("the memory of a node"))
    }

    /// Returns the files of a share, in the order that [`take_files`](Self::take_files) expects.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OwnedFd> {
        let sockets = self.controls.iter().chain(&self.sockets).flatten();
        self.regions.iter().map(|region| &**region).chain(sockets)
    }

    /// Returns the number of files in the share of a node that is started.
    pub(crate) const fn file_count(kind: TransportKind, shape: Shape) -> usize {
        let nodes = shape.nodes as usize;
        if kind.shares_memory() {
            nodes + nodes - 1
        } else {
            1 + 2 * (nodes - 1)
        }
    }

    /// Puts the share of node `me` together from its files.
    ///
    /// # Panics
    /// If there are fewer than [`file_count`](Self::file_count).
    pub(crate) fn take_files(
        me: NodeId,
        shape: Shape,
        kind: TransportKind,
        key: u64,
        files: Vec<OwnedFd>,
    ) -> Self {
        let mut files = files.into_iter();
        let region_count = if kind.shares_memory() {
            shape.nodes.into()
        } else {
            1
        };
        let regions = files.by_ref().take(region_count).map(Arc::new).collect();
        let mut to_others = || {
            let next = |node| {
                (node != me).then(|| files.next().expect("the caller has counted the files"))
            };
            shape.node_ids().map(next).collect()
        };
        let controls = to_others();
        let sockets = if kind.shares_memory() {
            Vec::new()
        } else {
            to_others()
        };
        Self {
            me,
            shape,
            kind,
            key,
            regions,
            controls,
            sockets,
        }
    }
}

/// Creates a socket between each pair of nodes. Returns the ends of each node, by other node.
fn sockets(shape: Shape) -> Result<Vec<Vec<Option<OwnedFd>>>, Errno> {
    let none = || shape.node_ids().map(|_| None).collect::<Vec<_>>();
    let mut all: Vec<_> = shape.node_ids().map(|_| none()).collect();
    let count = all.len();
    for (lower, higher) in (0..count).flat_map(|a| (a + 1..count).map(move |b| (a, b))) {
        let (of_lower, of_higher) = control::pair()?;
        all[lower][higher] = Some(of_lower);
        all[higher][lower] = Some(of_higher);
    }
    Ok(all)
}
