//! What can be chosen about a build by messages: the study measures each of these.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use raddle::chare::{ScanForm, SectionForm};
use raddle::choice;

/// How a build by messages goes about it.
///
/// The default is what was fastest on few workers; the tree is the same whatever is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageOptions {
    /// Into how many node tasks the tree is cut.
    pub grain: NodeGrain,
    /// Where worker tasks come from.
    pub worker_tasks: WorkerTasks,
    /// A cell has one worker task for each so many of its triangles, but at most 64 for each worker. Without a number only cells near
    /// the root have any: while there are fewer cells than workers, or hardly more.
    pub triangles_per_task: Option<usize>,
    /// How node tasks call their worker tasks, and these answer. [`SectionForm::TwoLevel`] needs [`WorkerTasks::Static`]: dynamic ones are in no
    /// array whose workers could pass a message on, and have [`SectionForm::Auto`] instead.
    pub sync: SectionForm,
    /// How worker tasks learn what comes before them.
    pub scans: ScanChoice,
    /// Where worker tasks put what they make.
    pub arrays: SharedArrays,
}

impl Default for MessageOptions {
    fn default() -> Self {
        Self {
            grain: NodeGrain::Tuned,
            worker_tasks: WorkerTasks::Dynamic,
            triangles_per_task: None,
            sync: SectionForm::Auto,
            scans: ScanChoice::ByDepth,
            arrays: SharedArrays::Chunked,
        }
    }
}

/// Where the cutting into node tasks ends, and subtrees are built by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeGrain {
    /// Subtrees with at most the triangles of the mesh divided by this are one task.
    Tasks(usize),
    /// What was best in the builds before.
    Tuned,
}

impl fmt::Display for NodeGrain {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tasks(count) => write!(formatter, "{count}"),
            Self::Tuned => formatter.write_str("tuned"),
        }
    }
}

/// A text says no grain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no grain: {found:?}; expected a number of node tasks from 1 to {}, or tuned",
    usize::MAX
)]
pub struct UnknownNodeGrain {
    /// What was asked for.
    pub found: String,
}

impl FromStr for NodeGrain {
    type Err = UnknownNodeGrain;

    /// Reads a number, or `tuned` in letters of either case.
    fn from_str(text: &str) -> Result<Self, UnknownNodeGrain> {
        if text.eq_ignore_ascii_case("tuned") {
            return Ok(Self::Tuned);
        }
        let count = text.parse::<NonZeroUsize>();
        count
            .map(|count| Self::Tasks(count.get()))
            .map_err(|_| UnknownNodeGrain {
                found: text.to_owned(),
            })
    }
}

/// Where the tasks come from that share the work on one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerTasks {
    /// Collections of 1, 2, 4, … over nested ranges of workers, made beforehand.
    Static,
    /// Made for each cell: dealt to all workers where there are more tasks than workers, else seeds that idle workers take.
    #[default]
    Dynamic,
}

choice! {
    WorkerTasks is "kind of worker tasks", named by "`--worker-tasks`":
    Static "static", Dynamic "dynamic";
    expected "static or dynamic", else UnknownWorkerTasks
}

/// By which form of scan the worker tasks of a cell learn what comes before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanChoice {
    /// Recursive doubling near the root, where all workers take part, prescan-push below.
    #[default]
    ByDepth,
    /// Prescan-push everywhere.
    PrescanPush,
    /// Recursive doubling everywhere.
    RecursiveDoubling,
}

choice! {
    ScanChoice is "choice of scans", named by "`--scans`":
    ByDepth "by-depth", PrescanPush "prescan-push", RecursiveDoubling "recursive-doubling";
    expected "by-depth, prescan-push or recursive-doubling", else UnknownScanChoice
}

impl ScanChoice {
    /// The form for a cell at some depth: above it are fewer cells than there are workers, or not.
    pub(super) fn at(self, depth: u32, worker_count: usize) -> ScanForm {
        let is_shallow = 1_usize
            .checked_shl(depth)
            .is_some_and(|cells| cells < worker_count);
        match self {
            Self::RecursiveDoubling => ScanForm::RecursiveDoubling,
            Self::ByDepth if is_shallow => ScanForm::RecursiveDoubling,
            Self::ByDepth | Self::PrescanPush => ScanForm::PrescanPush,
        }
    }
}

/// Where worker tasks put what they make together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedArrays {
    /// In one array, at places that they find out by scans.
    Plain,
    /// In chunks of their own.
    #[default]
    Chunked,
}

choice! {
    SharedArrays is "kind of arrays", named by "`--arrays`":
    Plain "plain", Chunked "chunked";
    expected "plain or chunked", else UnknownSharedArrays
}
