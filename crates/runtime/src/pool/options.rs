//! The shape of the blocks of block-distributed pools.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

/// The grouping of tasks in block-distributed pools. The default is that of the study: four tasks
/// per block, two public blocks.
///
/// Written `TASKSxBLOCKS`, for example `4x2`.
///
/// # Source
/// Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization.
/// SC 2004, sect. 2.2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// The number of tasks in a block.
    pub tasks: NonZeroUsize,
    /// The number of blocks that a worker keeps public.
    pub blocks: NonZeroUsize,
}

impl Default for BlockShape {
    fn default() -> Self {
        const { Self::new(4, 2) }
    }
}

impl BlockShape {
    /// Creates a shape of `tasks` tasks per block and `blocks` public blocks.
    ///
    /// # Panics
    /// If a number is zero.
    #[must_use]
    pub const fn new(tasks: usize, blocks: usize) -> Self {
        let expectation = "a block has tasks, and some are public";
        Self {
            tasks: NonZeroUsize::new(tasks).expect(expectation),
            blocks: NonZeroUsize::new(blocks).expect(expectation),
        }
    }
}

impl fmt::Display for BlockShape {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}x{}", self.tasks, self.blocks)
    }
}

/// The error for a text that is no shape of blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no shape of blocks {found:?}; expected {}", BlockShape::EXPECTED)]
pub struct BadBlockShape {
    /// The requested shape.
    pub found: String,
}

impl BlockShape {
    /// The accepted format, for messages.
    pub const EXPECTED: &str = "tasks in a block and public blocks, such as 4x2";
}

impl FromStr for BlockShape {
    type Err = BadBlockShape;

    fn from_str(text: &str) -> Result<Self, BadBlockShape> {
        let parse = || {
            let (tasks, blocks) = text.split_once('x')?;
            Some(Self {
                tasks: tasks.parse().ok()?,
                blocks: blocks.parse().ok()?,
            })
        };
        parse().ok_or_else(|| BadBlockShape {
            found: text.to_owned(),
        })
    }
}
