//! The share of a node: the key, memory and sockets that it gets when all nodes of a program are
//! created, and from which its transport and its other parts are made.
//!
//! The processes of MPI have no shares. They [join](super::join_ranks) each other.

use std::iter::repeat_with;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::io::Errno;

use super::Parts;
use super::memory::ByMemory;
use super::sockets::{BySockets, Pair, allow_packets};
use crate::address::{NodeId, Shape};
use crate::connection::Rights;
use crate::control::{self, Controls};
use crate::error::NetError;
use crate::gets::Gets;
use crate::kind::TransportKind;
use crate::mapped::Region;
use crate::random::random;

/// The things from which one node is assembled.
#[derive(Debug)]
pub(crate) struct Share {
    pub(crate) me: NodeId,
    pub(crate) shape: Shape,
    /// The key of connection 0, the same for all nodes.
    pub(crate) key: u64,
    /// For each other node, a socket for control frames.
    controls: Vec<Option<OwnedFd>>,
    medium: Medium,
}

/// The memory and sockets by which a node exchanges messages with the others.
#[derive(Debug)]
enum Medium {
    /// The nodes are in this process, and use the same mappings.
    Threads {
        /// The regions of all nodes, in order.
        regions: Vec<Arc<Region>>,
        /// The rights that each node grants.
        rights: Vec<Arc<Rights>>,
    },
    /// All nodes share memory.
    Memory {
        /// The regions of all nodes, in order. Each node maps them for itself.
        regions: Vec<Arc<OwnedFd>>,
    },
    /// The nodes share no memory.
    Sockets {
        /// The region of this node.
        own: OwnedFd,
        /// For each other node, the sockets for the packets to and from it.
        sockets: Vec<Option<Pair>>,
    },
}

impl Share {
    /// Creates the shares of all nodes of a program.
    ///
    /// # Errors
    /// [`NetError::Shape`] and [`NetError::System`].
    /// # Panics
    /// If the nodes of this kind are processes of MPI.
    pub(crate) fn of_all(kind: TransportKind, shape: Shape) -> Result<Vec<Self>, NetError> {
        NetError::check_shape(shape)?;
        let key = random()?;
        let media = Medium::of_all(kind, shape, key)?;
        let controls = sockets(shape).map_err(NetError::system("a socket"))?;
        let parts = shape.node_ids().zip(controls).zip(media);
        let shares = parts.map(|((me, controls), medium)| Self {
            me,
            shape,
            key,
            controls,
            medium,
        });
        Ok(shares.collect())
    }

    /// Returns the files of a share, in the order in which [`receive`](Self::receive) takes them.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OwnedFd> {
        let (regions, own, sockets): (&[_], _, &[_]) = match &self.medium {
            Medium::Threads { .. } => (&[], None, &[]),
            Medium::Memory { regions } => (regions, None, &[]),
            Medium::Sockets { own, sockets } => (&[], Some(own), sockets),
        };
        let regions = regions.iter().map(|region| &**region);
        let controls = self.controls.iter().flatten();
        controls
            .chain(regions)
            .chain(own)
            .chain(sockets.iter().flatten().flatten())
    }

    /// Puts the share of node `me`, which is a process, together from its files. `next` receives
    /// the next file.
    ///
    /// # Errors
    /// Those of `next`.
    /// # Panics
    /// If the first node does not start nodes of this kind.
    pub(crate) fn receive(
        me: NodeId,
        shape: Shape,
        kind: TransportKind,
        key: u64,
        mut next: impl FnMut() -> Result<OwnedFd, NetError>,
    ) -> Result<Self, NetError> {
        let controls = one_for_each_other(me, shape, &mut next)?;
        let medium = match kind {
            TransportKind::Memory => {
                let regions = shape.node_ids().map(|_| next().map(Arc::new));
                Medium::Memory {
                    regions: regions.collect::<Result<_, _>>()?,
                }
            }
            TransportKind::Sockets => Medium::Sockets {
                own: next()?,
                sockets: one_for_each_other(me, shape, || Ok([next()?, next()?]))?,
            },
            TransportKind::Threads | TransportKind::Mpi | TransportKind::MpiMessages => {
                unreachable!("the first node does not start nodes of kind {kind}")
            }
        };
        Ok(Self {
            me,
            shape,
            key,
            controls,
            medium,
        })
    }

    /// Connects the node: creates its transport and its other parts.
    ///
    /// # Errors
    /// [`NetError::System`] if the memory of a node cannot be mapped.
    pub(crate) fn connect(self) -> Result<Parts, NetError> {
        let (me, shape) = (self.me, self.shape);
        let index = usize::from(me.0);
        let new_rights = || Arc::new(Rights::new(self.key));
        let gets = Arc::new(Gets::new(shape));
        let (own, rights, all_rights, (transport, capabilities)) = match self.medium {
            Medium::Threads { regions, rights } => (
                Arc::clone(&regions[index]),
                Arc::clone(&rights[index]),
                rights,
                ByMemory::connect(shape, regions),
            ),
            Medium::Memory { regions } => {
                let open = |file| open_region(file, shape);
                let regions: Vec<_> = regions.iter().map(open).collect::<Result<_, _>>()?;
                let own = Arc::clone(&regions[index]);
                let connected = ByMemory::connect(shape, regions);
                (own, new_rights(), Vec::new(), connected)
            }
            Medium::Sockets { own, sockets } => {
                let (own, rights) = (open_region(&own, shape)?, new_rights());
                let connected =
                    BySockets::connect(shape, Arc::clone(&own), &rights, &gets, sockets);
                (own, rights, Vec::new(), connected)
            }
        };
        Ok(Parts {
            me,
            shape,
            own,
            rights,
            all_rights,
            transport,
            capabilities,
            controls: Controls::new(self.controls, None),
            gets,
        })
    }
}

impl Medium {
    /// Creates the media of all nodes of a program.
    fn of_all(kind: TransportKind, shape: Shape, key: u64) -> Result<Vec<Self>, NetError> {
        let create = |_| Region::create(shape).map_err(NetError::system("the memory of a node"));
        let files = shape.node_ids().map(create);
        let files: Vec<OwnedFd> = files.collect::<Result<_, _>>()?;
        let node_count = files.len();
        let media = match kind {
            TransportKind::Threads => {
                let regions = files.iter().map(|file| open_region(file, shape));
                let regions: Vec<_> = regions.collect::<Result<_, _>>()?;
                let rights = repeat_with(|| Arc::new(Rights::new(key)));
                let rights: Vec<_> = rights.take(node_count).collect();
                let medium = || Self::Threads {
                    regions: regions.clone(),
                    rights: rights.clone(),
                };
                repeat_with(medium).take(node_count).collect()
            }
            TransportKind::Memory => {
                let regions: Vec<_> = files.into_iter().map(Arc::new).collect();
                let medium = || Self::Memory {
                    regions: regions.clone(),
                };
                repeat_with(medium).take(node_count).collect()
            }
            TransportKind::Sockets => {
                let [messages, reads] = [(); 2].map(|()| {
                    let all = sockets(shape).map_err(NetError::system("a socket"))?;
                    let allowed = all.iter().flatten().flatten().try_for_each(allow_packets);
                    allowed.map_err(NetError::system("sockets with capacity for a packet"))?;
                    Ok(all)
                });
                let streams = messages?.into_iter().zip(reads?);
                let medium = |(own, (messages, reads)): (_, (Vec<_>, Vec<_>))| Self::Sockets {
                    own,
                    sockets: messages
                        .into_iter()
                        .zip(reads)
                        .map(|(message, read)| Some([message?, read?]))
                        .collect(),
                };
                files.into_iter().zip(streams).map(medium).collect()
            }
            TransportKind::Mpi | TransportKind::MpiMessages => {
                unreachable!("the processes of MPI have no share, but join each other")
            }
        };
        Ok(media)
    }
}

/// Maps the region of a node into this process.
///
/// # Errors
/// [`NetError::System`].
fn open_region(file: impl AsFd, shape: Shape) -> Result<Arc<Region>, NetError> {
    let region = Region::open(file, shape).map(Arc::new);
    region.map_err(NetError::system("the memory of a node"))
}

/// Takes a file, or several, for each node other than `me`.
fn one_for_each_other<T>(
    me: NodeId,
    shape: Shape,
    mut next: impl FnMut() -> Result<T, NetError>,
) -> Result<Vec<Option<T>>, NetError> {
    let nodes = shape.node_ids();
    nodes
        .map(|node| (node != me).then(&mut next).transpose())
        .collect()
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
