//! Livermore kernel 23, two-dimensional implicit hydrodynamics, as a program of locations.
//!
//! ```text
//! for each turn, row j, column k:
//!     qa = za[j+1][k]·zr[j][k] + za[j-1][k]·zb[j][k]
//!        + za[j][k+1]·zu[j][k] + za[j][k-1]·zv[j][k] + zz[j][k]
//!     za[j][k] += 0.175·(qa - za[j][k])
//! ```
//! A point needs its upper and left neighbours of this turn, and its lower and right neighbours of
//! the previous turn. A wave therefore runs from the upper left corner to the lower right one, and
//! the wave of the next turn may follow close behind.
//!
//! | item | method | purpose |
//! |---|---|---|
//! | [`Loops`], [`reference()`] | the loops above | the reference result |
//! | [`Blocks`] | block by block, several turns at a time, on one thread | the base of speedups |
//! | [`Lk23`] | the same blocks, as tasks and locations | parallel runs |
//!
//! All of them compute each point with the same operations in the same order, so all results are
//! equal to the last bit.
//!
//! # The program
//! A block is a task of up to nine operations, as in the study. A main operation sweeps over the
//! location of the block. For each neighbour, a border operation copies the edge or corner that the
//! neighbour needs into a location of its own. Main operations read the borders of their
//! neighbours. The blocks are declared row by row. Nothing else is needed: tasks see the same
//! values as if they ran one after the other in that order, so the program computes what the loops
//! compute, in waves that follow each other as closely as the data allow. Because the stencil has
//! five points, no operation reads the borders for the upper right and the lower left neighbour,
//! here as in the study.
//!
//! # Source
//! F. McMahon: The Livermore Fortran Kernels. UCRL-53745, 1986: kernel 23. Gustedt, Jeannot,
//! Mansouri: Fully-abstracted affinity optimization for task-based models. Inria RR-8993, 2016,
//! section 5.1: the operations; its listing has one array too many and one product too few.

mod axis;
mod block;
mod deal;
mod input;
mod kernel;
mod plan;
mod program;
mod serial;
mod sketch;
mod values;

pub use input::Input;
pub use plan::{Plan, PlanError, Wanted};
pub use program::{Form, Lk23, Ran};
pub use serial::{Blocks, Loops, checksum, reference};
pub use values::Coefficients;

/// The number of floating-point operations for a point.
pub const FLOPS_PER_POINT: u64 = 11;

/// The position of a neighbour relative to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    N,
    S,
    W,
    E,
    Nw,
    Ne,
    Sw,
    Se,
}

impl Side {
    const ALL: [Self; 8] = [
        Self::N,
        Self::S,
        Self::W,
        Self::E,
        Self::Nw,
        Self::Ne,
        Self::Sw,
        Self::Se,
    ];
    /// The neighbours that have finished a turn when this block begins it.
    const AHEAD: [Self; 3] = [Self::N, Self::W, Self::Nw];
    /// The neighbours that have not begun a turn when this block begins it.
    const BEHIND: [Self; 3] = [Self::S, Self::E, Self::Se];

    fn name(self) -> &'static str {
        match self {
            Self::N => "N",
            Self::S => "S",
            Self::W => "W",
            Self::E => "E",
            Self::Nw => "NW",
            Self::Ne => "NE",
            Self::Sw => "SW",
            Self::Se => "SE",
        }
    }

    /// Returns the difference of the rows: 1 below, -1 above, 0 in the same row.
    fn down(self) -> i8 {
        match self {
            Self::N | Self::Nw | Self::Ne => -1,
            Self::W | Self::E => 0,
            Self::S | Self::Sw | Self::Se => 1,
        }
    }

    /// Returns the difference of the columns: 1 right, -1 left, 0 in the same column.
    fn across(self) -> i8 {
        match self {
            Self::W | Self::Nw | Self::Sw => -1,
            Self::N | Self::S => 0,
            Self::E | Self::Ne | Self::Se => 1,
        }
    }

    /// Returns the position of this block relative to the neighbour.
    fn opposite(self) -> Self {
        match self {
            Self::N => Self::S,
            Self::S => Self::N,
            Self::W => Self::E,
            Self::E => Self::W,
            Self::Nw => Self::Se,
            Self::Se => Self::Nw,
            Self::Ne => Self::Sw,
            Self::Sw => Self::Ne,
        }
    }
}

#[cfg(test)]
mod tests;
