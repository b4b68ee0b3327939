//! Livermore kernel 23, two-dimensional implicit hydrodynamics, as a program of locations.
//!
//! ```text
//! for each turn, row j, column k:
//!     qa = za[j+1][k]·zr[j][k] + za[j-1][k]·zb[j][k] + za[j][k+1]·zu[j][k] + za[j][k-1]·zv[j][k] + zz[j][k]
//!     za[j][k] += 0.175·(qa - za[j][k])
//! ```
//! A point wants its upper and left neighbours of this turn, and its lower and right ones of the last: a wave goes from the upper left
//! corner to the lower right, and the next turn's wave may follow close behind.
//!
//! | | how | for |
//! |---|---|---|
//! | [`Loops`], [`reference()`] | the loops as above | what is right |
//! | [`Blocks`] | block by block, several turns at a time, on one thread | the base of every speedup |
//! | [`Lk23`] | the same blocks, as tasks and locations | users |
//!
//! All of them compute each point by the same operations in the same order, and so the same to the last bit.
//!
//! # The program
//! A block is a task of up to nine operations, as in the study: a main operation, which sweeps over the block's location, and a border operation
//! for each neighbour, which copies the edge or corner that the neighbour wants into a location of its own. Main operations read their neighbours'
//! borders. The blocks are declared row by row. That is all: since tasks see what they would if they ran one after the other in that
//! order, the program does what the loops do, in waves that follow each other as closely as the data allow. The stencil has five
//! points, so what goes to the upper right and the lower left is read by nobody, here as in the study.
//!
//! # Source
//! F. McMahon: The Livermore Fortran Kernels. UCRL-53745, 1986: kernel 23. Gustedt, Jeannot, Mansouri: Fully-abstracted affinity
//! optimization for task-based models. Inria RR-8993, 2016, section 5.1: the operations; its listing has one array too many and one product too few.

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

/// Floating-point operations that a point takes.
pub const FLOPS_PER_POINT: u64 = 11;

/// Where a neighbour is.
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
    /// Those that have had their turn when a block begins it, and those that have not.
    const BEFORE: [Self; 3] = [Self::N, Self::W, Self::Nw];
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

    /// One row further down, up, or neither.
    fn down(self) -> i8 {
        match self {
            Self::N | Self::Nw | Self::Ne => -1,
            Self::W | Self::E => 0,
            Self::S | Self::Sw | Self::Se => 1,
        }
    }

    /// One column further to the right, to the left, or neither.
    fn across(self) -> i8 {
        match self {
            Self::W | Self::Nw | Self::Sw => -1,
            Self::N | Self::S => 0,
            Self::E | Self::Ne | Self::Se => 1,
        }
    }

    /// What this side is called from there.
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
