//! What can be chosen of a pool besides its kind.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use crate::config::choice;

/// How block-distributed pools group tasks. The study's choice is the default: four tasks a block, two public blocks.
///
/// Written `TASKSxBLOCKS`, as `4x2`.
/// # Source
/// Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004, sect. 2.2.2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockShape {
    /// Tasks in a block.
    pub tasks: NonZeroUsize,
    /// Blocks that a worker keeps public.
    pub blocks: NonZeroUsize,
}

impl Default for BlockShape {
    fn default() -> Self {
        const { Self::new(4, 2) }
    }
}

impl BlockShape {
    /// Blocks of so many tasks, so many of them public.
    ///
    /// # Panics
    /// When a number is zero.
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

/// That is no shape of blocks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no shape of blocks {found:?}; expected {}", BlockShape::EXPECTED)]
pub struct BadBlockShape {
    /// What was asked for.
    pub found: String,
}

impl BlockShape {
    /// What is understood, for messages.
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

/// In which order a worker looks through the others for work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum VictimOrder {
    /// An order of its own for each worker, so that hungry ones do not all ask the same.
    #[default]
    Permuted,
    /// Near workers before far ones, by the machine's tree of cores, caches and memories; equally near ones as in
    /// `Permuted`. Workers that are bound nowhere are all equally near.
    Near,
}

choice! {
    VictimOrder is "order of victims", named by "`--victims` and `RADDLE_VICTIMS`":
    Permuted "permuted", Near "near";
    expected "permuted or near", else UnknownVictimOrder
}
