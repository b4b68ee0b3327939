//! Creates the transport of a given kind, and the other parts of a node along with it.

use std::sync::Arc;

use super::memory::ByMemory;
use super::sockets::BySockets;
use super::{Parts, Share};
use crate::address::Shape;
use crate::connection::Rights;
use crate::control::Controls;
use crate::error::NetError;
use crate::kind::{TransportKind, ranks};
use crate::mapped::Region;

/// Connects a node that is a process of its own.
pub(crate) fn connect(share: Share) -> Result<Parts, NetError> {
    let regions = share.open_regions()?;
    let rights = Arc::new(Rights::new(share.key));
    Ok(parts_of(share, regions, rights, Vec::new()))
}

/// Connects nodes that are in this process and use the same mappings of their regions.
pub(crate) fn connect_threads(shares: Vec<Share>) -> Result<Vec<Parts>, NetError> {
    let regions = shares[0].open_regions()?;
    let rights = |share: &Share| Arc::new(Rights::new(share.key));
    let rights: Vec<_> = shares.iter().map(rights).collect();
    let connect = |share: Share| {
        let own = Arc::clone(&rights[usize::from(share.me.0)]);
        parts_of(share, regions.clone(), own, rights.clone())
    };
    Ok(shares.into_iter().map(connect).collect())
}

/// Connects a node. `all_rights` are the rights of all nodes if they are in this process.
fn parts_of(
    share: Share,
    regions: Vec<Arc<Region>>,
    rights: Arc<Rights>,
    all_rights: Vec<Arc<Rights>>,
) -> Parts {
    let Share {
        me,
        shape,
        kind,
        controls,
        sockets,
        ..
    } = share;
    // Without shared memory, a node has only its own region.
    let own = if kind.shares_memory() {
        usize::from(me.0)
    } else {
        0
    };
    let own = Arc::clone(&regions[own]);
    let (transport, capabilities) = match kind {
        TransportKind::Threads | TransportKind::Memory => ByMemory::connect(shape, regions),
        TransportKind::Sockets => BySockets::connect(shape, Arc::clone(&own), &rights, sockets),
        TransportKind::Mpi | TransportKind::MpiMessages => {
            unreachable!("the processes of MPI have no share, but join each other")
        }
    };
    Parts {
        me,
        shape,
        own,
        rights,
        all_rights,
        transport,
        capabilities,
        controls: Controls::new(controls, None),
    }
}

/// Checks that MPI has started this process, and that the program was built with MPI.
///
/// # Errors
/// [`NetError::WithoutMpi`] and [`NetError::NotByMpi`].
pub(crate) fn check_ranks(shape: Shape) -> Result<(), NetError> {
    if cfg!(not(feature = "mpi")) {
        return Err(NetError::WithoutMpi);
    }
    if ranks::count().is_none() {
        return Err(NetError::NotByMpi(shape.nodes));
    }
    Ok(())
}

/// Connects this process, which MPI has started, to the others. All of them have to call this.
///
/// # Errors
/// Those of [`Launch::start`](crate::Launch::start).
#[cfg(feature = "mpi")]
pub(crate) fn join_ranks(kind: TransportKind, shape: Shape) -> Result<Parts, NetError> {
    super::mpi::join(shape, kind == TransportKind::MpiMessages)
}

/// Returns an error: this program was built without MPI.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join_ranks(_kind: TransportKind, _shape: Shape) -> Result<Parts, NetError> {
    Err(NetError::WithoutMpi)
}
