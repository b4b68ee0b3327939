//! Who sends and who receives: nodes, and their ports.

use std::fmt;

use crate::error::NetError;

/// A node: one address space, with a number from 0 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u16);

impl fmt::Display for NodeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "node {}", self.0)
    }
}

/// A port of a node: where one of its threads sends from, receives, and waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PortId {
    /// Whose it is.
    pub node: NodeId,
    /// Its number there, from 0 on.
    pub index: u16,
}

impl fmt::Display for PortId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}, port {}", self.node, self.index)
    }
}

/// How many nodes there are, and how many ports each has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// At least one.
    pub nodes: u16,
    /// Of each node, at least one.
    pub ports: u16,
}

/// Ports of all nodes together, at most: as many bits as a port has for those who send to it.
pub const PORTS_MAX: usize = 1024;

/// Threads of a node that may sleep without work besides one for each port: those that stand in for workers that wait.
const STANDINS_MAX: usize = 1024;

impl Shape {
    /// How many threads of a node may sleep in its [idle set](crate::Node::idle): one for each port, and 1,024.
    pub const fn idlers(self) -> usize {
        self.ports as usize + STANDINS_MAX
    }

    /// The ports of all nodes.
    pub const fn port_count(self) -> usize {
        self.nodes as usize * self.ports as usize
    }

    /// Whether there can be a program of this shape.
    pub(crate) const fn check(self) -> Result<(), NetError> {
        if self.nodes == 0 || self.ports == 0 || self.port_count() > PORTS_MAX {
            return Err(NetError::Shape(self));
        }
        Ok(())
    }

    /// The number of a port among those of all nodes.
    pub(crate) const fn number_of(self, port: PortId) -> usize {
        port.node.0 as usize * self.ports as usize + port.index as usize
    }

    /// The port of such a number.
    pub(crate) fn port(self, number: usize) -> PortId {
        let ports = usize::from(self.ports);
        // Both are below 2¹⁶, as the shape's are.
        PortId {
            node: NodeId((number / ports) as u16),
            index: (number % ports) as u16,
        }
    }

    pub(crate) const fn contains(self, port: PortId) -> bool {
        port.node.0 < self.nodes && port.index < self.ports
    }

    /// All nodes.
    pub fn node_ids(self) -> impl Iterator<Item = NodeId> {
        (0..self.nodes).map(NodeId)
    }
}
