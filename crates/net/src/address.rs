//! The identifiers of nodes, ports and segments, and the shape of a program.

use std::fmt;

/// The number of a node, from 0 on. A node is one address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "node {}", self.0)
    }
}

/// A port of a node, at which one of the node's threads sends, receives and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId {
    /// The node that has the port.
    pub node: NodeId,
    /// The number of the port in its node, from 0 on.
    pub index: u16,
}

impl fmt::Display for PortId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, port {}", self.node, self.index)
    }
}

/// The number of a segment among all segments that its node has registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SegmentId(pub u32);

/// The number of nodes of a program, and the number of ports of each node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of nodes, at least one.
    pub nodes: u16,
    /// The number of ports of each node, at least one.
    pub ports: u16,
}

/// The largest number of ports of all nodes together. Each port has one bit for each port that may
/// send to it.
pub const PORTS_MAX: usize = 1024;

/// The largest number of threads of a node that may sleep without work in addition to one thread
/// per port: compensating threads, which replace workers that wait.
const COMPENSATING_MAX: usize = 1024;

impl Shape {
    /// Returns how many threads of a node may sleep in its [idle set](crate::Node::idle): one for
    /// each port, and 1,024 more.
    pub const fn idlers(self) -> usize {
        self.ports as usize + COMPENSATING_MAX
    }

    /// Returns the number of ports of all nodes together.
    pub const fn port_count(self) -> usize {
        self.nodes as usize * self.ports as usize
    }

    /// Returns true if a program can have this shape.
    pub(crate) const fn is_valid(self) -> bool {
        self.nodes != 0 && self.ports != 0 && self.port_count() <= PORTS_MAX
    }

    /// Returns the number of a port among the ports of all nodes.
    pub(crate) const fn number_of(self, port: PortId) -> usize {
        port.node.0 as usize * self.ports as usize + port.index as usize
    }

    /// Returns the port with the given number among the ports of all nodes.
    pub(crate) fn port(self, number: usize) -> PortId {
        let ports = usize::from(self.ports);
        // Both are below 2¹⁶, because the numbers of nodes and ports are.
        PortId {
            node: NodeId((number / ports) as u16),
            index: (number % ports) as u16,
        }
    }

    /// Returns true if the program has this port.
    pub(crate) const fn contains(self, port: PortId) -> bool {
        port.node.0 < self.nodes && port.index < self.ports
    }

    /// Returns the ids of all nodes.
    pub fn node_ids(self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes).map(NodeId)
    }
}
