//! One node's part of a program: the order of the first node, and the ports of the node.

use raddle::net::{Arrival, Data, Node, Port};

use super::order::Order;

/// The number of ports of a node: one for the thread that computes, one for the thread that
/// receives.
pub(super) const PORTS: u16 = 2;
/// The port at which orders and reports arrive.
pub(super) const COMPUTE: u16 = 0;
/// The port at which all other messages arrive.
pub(super) const RECEIVE: u16 = 1;

/// The ports of a node.
#[derive(Debug)]
pub(super) struct Ports {
    pub(super) compute: Port,
    pub(super) receive: Port,
}

/// One node's part of a program, with the resources of the node that it uses.
pub(super) struct Part<'node> {
    pub(super) node: &'node Node,
    pub(super) ports: &'node mut Ports,
    pub(super) order: Order,
}

impl Ports {
    /// Takes the ports of a node.
    pub(super) fn of(node: &Node) -> Self {
        Self {
            compute: node.port(COMPUTE),
            receive: node.port(RECEIVE),
        }
    }
}

impl Part<'_> {
    /// Returns the index of this node, and the number of nodes.
    pub(super) fn place(&self) -> (u16, u16) {
        (self.node.id().0, self.node.shape().nodes)
    }
}

/// Returns the data that is part of a message; nothing if the data was put into a segment.
pub(super) fn inline_data<'data>(arrival: &Arrival<'data>) -> &'data [u8] {
    match arrival.data {
        Data::Here(bytes) => bytes,
        Data::Put { .. } => &[],
    }
}
