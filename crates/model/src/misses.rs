//! The number of bricks that renderers miss.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/misses.md"))]

mod fit;

pub use self::fit::{CountedMisses, MissFit};

use crate::error::{DomainError, above_zero};
use crate::packets::PacketFormat;
use crate::units::Bytes;

/// The number of misses as a function of the numbers of nodes and renderers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MissModel {
    /// The constant part of the misses of all frames.
    pub base: f64,
    /// Additional misses for each node.
    pub per_node: f64,
    /// Additional misses, multiplied by the natural logarithm of a node's renderers.
    pub per_log_renderers: f64,
    /// The number of frames in which the misses were counted.
    pub frames: f64,
    /// If true, the terms count misses as if no node had bricks of its own. With `n` nodes, `1/n`
    /// of them are none.
    pub is_remote_only: bool,
}

impl MissModel {
    /// Returns the misses of one renderer in one frame, `N_M`.
    ///
    /// # Errors
    /// [`DomainError`] if there are no nodes or renderers, or the sum is not above 0.
    pub fn per_renderer(&self, nodes: u32, renderers: u32) -> Result<f64, DomainError> {
        let nodes = above_zero("nodes", f64::from(nodes))?;
        let renderers = above_zero("renderers", f64::from(renderers))?;
        let frames = above_zero("tracer.frames", self.frames)?;
        let all = self
            .per_log_renderers
            .mul_add(renderers.ln(), self.per_node.mul_add(nodes, self.base));
        let all = above_zero("tracer.misses", all)? * self.remote_share(nodes);
        Ok(all / (frames * nodes * renderers))
    }

    /// Returns the share of the counted misses that are misses on this number of nodes.
    pub(crate) fn remote_share(&self, nodes: f64) -> f64 {
        match self.is_remote_only {
            true => 1.0 - 1.0 / nodes,
            false => 1.0,
        }
    }
}

/// The growth of misses as bricks become smaller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BrickLaw {
    /// Misses grow by the ratio of the edges to the power of 2/3, as a brick's face shrinks more
    /// slowly than its volume.
    #[default]
    Expected,
    /// Misses grow by the ratio of the edges.
    Worst,
    /// Misses do not grow.
    Best,
    /// Misses grow by the ratio of the faces, as does the number of bricks that a surface crosses.
    /// Counts of real rays grow by a power of 1.4 to 2 of the ratio of the edges.
    Face,
    /// Misses grow by the ratio of the volumes: all bricks of a part of the volume are read.
    Volume,
}

impl BrickLaw {
    /// The laws of the study's figures, the one that it calls likely first.
    pub const OF_THE_STUDY: [Self; 3] = [Self::Expected, Self::Worst, Self::Best];
    /// All variants.
    pub const ALL: [Self; 5] = [
        Self::Expected,
        Self::Worst,
        Self::Best,
        Self::Face,
        Self::Volume,
    ];

    /// Returns the name of this variant, as options and files spell it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Expected => "expected",
            Self::Worst => "worst",
            Self::Best => "best",
            Self::Face => "face",
            Self::Volume => "volume",
        }
    }

    /// Returns the misses with bricks of edge `to`, relative to those with bricks of edge `from`.
    ///
    /// # Errors
    /// [`DomainError`] if an edge is not above 0.
    pub fn growth(self, from: f64, to: f64) -> Result<f64, DomainError> {
        let ratio = above_zero("brick edge", from)? / above_zero("brick edge", to)?;
        Ok(match self {
            Self::Expected => libm::cbrt(ratio * ratio),
            Self::Worst => ratio,
            Self::Best => 1.0,
            Self::Face => ratio * ratio,
            Self::Volume => ratio * ratio * ratio,
        })
    }
}

/// The composition of a brick.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Brick {
    /// The number of elements on an edge.
    pub edge: u32,
    /// The size of an element, in bytes.
    pub element_bytes: u32,
    /// The size of the header of the brick's message, in bytes.
    pub header_bytes: u32,
}

impl Brick {
    /// Returns the size of the data of the brick's message, in bytes. Saturates at the largest
    /// number.
    #[must_use]
    pub const fn data_bytes(self) -> u64 {
        let edge = self.edge as u64;
        (self.element_bytes as u64 * edge)
            .saturating_mul(edge)
            .saturating_mul(edge)
            .saturating_add(self.header_bytes as u64)
    }

    /// Returns the number of bytes on the wire.
    #[must_use]
    pub const fn wire(self, format: PacketFormat) -> Bytes {
        format.wire(self.data_bytes())
    }
}

#[cfg(test)]
mod tests;
