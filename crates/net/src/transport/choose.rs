//! Creates the transport of a given kind, and the other parts of a node along with it.
//!
//! [`connect`] makes the parts of a node from its [`Share`]. Processes that MPI has started have no
//! shares, and [join](join_ranks) each other.

use std::sync::Arc;

use super::memory::ByMemory;
use super::share::{Medium, open_region};
use super::sockets::BySockets;
use super::{Parts, Share};
use crate::address::Shape;
use crate::connection::Rights;
use crate::control::Controls;
use crate::error::NetError;
use crate::kind::TransportKind;

/// Connects a node.
///
/// # Errors
/// [`NetError::System`] if the memory of a node cannot be mapped.
pub(crate) fn connect(share: Share) -> Result<Parts, NetError> {
    let Share {
        me,
        shape,
        key,
        controls,
        medium,
    } = share;
    let index = usize::from(me.0);
    let new_rights = || Arc::new(Rights::new(key));
    let (own, rights, all_rights, (transport, capabilities)) = match medium {
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
            let connected = BySockets::connect(shape, Arc::clone(&own), &rights, sockets);
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
        controls: Controls::new(controls, None),
    })
}

/// Connects this process, which MPI has started, to the others. All of them have to call this.
///
/// # Errors
/// [`NetError::NotByMpi`] if MPI has not started this process, and others of
/// [`Launch::start`](crate::Launch::start).
#[cfg(feature = "mpi")]
pub(crate) fn join_ranks(kind: TransportKind, shape: Shape) -> Result<Parts, NetError> {
    if crate::kind::ranks::count().is_none() {
        return Err(NetError::NotByMpi(shape.nodes));
    }
    super::mpi::join(shape, kind == TransportKind::MpiMessages)
}

/// Returns [`NetError::WithoutMpi`], because this program was built without MPI.
#[cfg(not(feature = "mpi"))]
pub(crate) fn join_ranks(_kind: TransportKind, _shape: Shape) -> Result<Parts, NetError> {
    Err(NetError::WithoutMpi)
}
