//! How many bricks renderers miss.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/misses.md"))]

use crate::error::{DomainError, above_zero};
use crate::packets::PacketFormat;
use crate::units::Bytes;

/// How many bricks renderers miss, by how many there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissModel {
    /// Misses of all frames, but for the other two.
    pub base: f64,
    /// Further ones for each node.
    pub per_node: f64,
    /// Further ones, times the natural logarithm of a node's renderers.
    pub per_log_renderers: f64,
    /// Frames in which they were counted.
    pub frames: f64,
}

impl MissModel {
    /// Misses of one renderer in one frame, `N_M`.
    ///
    /// # Errors
    /// [`DomainError`] without nodes or renderers, or where the sum is not above 0.
    pub fn per_renderer(&self, nodes: u32, renderers: u32) -> Result<f64, DomainError> {
        let nodes = above_zero("nodes", f64::from(nodes))?;
        let renderers = above_zero("renderers", f64::from(renderers))?;
        let frames = above_zero("tracer.frames", self.frames)?;
        let all = self
            .per_log_renderers
            .mul_add(renderers.ln(), self.per_node.mul_add(nodes, self.base));
        Ok(above_zero("tracer.misses", all)? / (frames * nodes * renderers))
    }
}

/// How misses grow as bricks become smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BrickLaw {
    /// As the face of a brick shrinks against its volume: by the ratio of the edges to the power of 2/3.
    #[default]
    Expected,
    /// By the ratio of the edges.
    Worst,
    /// Not at all.
    Best,
}

impl BrickLaw {
    /// All of them, the likely one first.
    pub const ALL: [Self; 3] = [Self::Expected, Self::Worst, Self::Best];

    /// What it is called.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Worst => "worst",
            Self::Best => "best",
        }
    }

    /// The misses with bricks of an edge, over those with bricks of another one.
    ///
    /// # Errors
    /// [`DomainError`] where an edge is not above 0.
    pub fn growth(self, from: f64, to: f64) -> Result<f64, DomainError> {
        let ratio = above_zero("brick edge", from)? / above_zero("brick edge", to)?;
        Ok(match self {
            Self::Expected => libm::cbrt(ratio * ratio),
            Self::Worst => ratio,
            Self::Best => 1.0,
        })
    }
}

/// What a brick is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brick {
    /// Elements on an edge.
    pub edge: u32,
    /// An element.
    pub element_bytes: u32,
    /// What its message carries besides.
    pub header_bytes: u32,
}

impl Brick {
    /// The data of its message, in bytes; the largest number where that is more.
    #[must_use]
    pub const fn data_bytes(self) -> u64 {
        let edge = self.edge as u64;
        (self.element_bytes as u64 * edge)
            .saturating_mul(edge)
            .saturating_mul(edge)
            .saturating_add(self.header_bytes as u64)
    }

    /// What goes over the wire.
    #[must_use]
    pub const fn wire(self, format: PacketFormat) -> Bytes {
        format.wire(self.data_bytes())
    }
}

#[cfg(test)]
mod tests;
