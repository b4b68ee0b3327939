//! The options of a build by messages. The study by Jetley and Kalé measures each of them.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use raddle::chare::{ScanForm, SectionForm};
use raddle::choice;

/// The options of a build by messages.
///
/// The default is the fastest choice on few workers. The tree does not depend on the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageOptions {
    /// The number of node tasks into which the tree is cut.
    pub grain: NodeGrain,
    /// The origin of the worker tasks.
    pub worker_tasks: WorkerTasks,
    /// The number of triangles of a cell per worker task, with at most 64 tasks per worker. With
    /// `None`, only cells near the root have worker tasks, as long as there are fewer cells than
    /// workers, or hardly more.
    pub triangles_per_task: Option<usize>,
    /// The way in which node tasks call their worker tasks and receive their answers.
    /// [`SectionForm::TwoLevel`] requires [`WorkerTasks::Static`]. It forwards messages between
    /// the workers of an array. Dynamic worker tasks are in no array, so they use
    /// [`SectionForm::Auto`] instead.
    pub sync: SectionForm,
    /// The scan by which worker tasks learn what comes before them.
    pub scans: ScanChoice,
    /// The arrays into which worker tasks write their results.
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

/// The size at which subtrees are no longer cut into node tasks but built by a single task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NodeGrain {
    /// A subtree is built by one task if it has at most the triangles of the mesh divided by this
    /// number.
    Tasks(usize),
    /// The best grain of the previous builds.
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

/// The error for a text that is not a grain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid grain {found:?}; expected a number of node tasks from 1 to {}, or tuned",
    usize::MAX
)]
pub struct UnknownNodeGrain {
    /// The text.
    pub found: String,
}

impl FromStr for NodeGrain {
    type Err = UnknownNodeGrain;

    /// Parses a number, or `tuned` in upper or lower case.
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

/// The origin of the tasks that share the work on one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerTasks {
    /// Collections of 1, 2, 4, … tasks over nested ranges of workers, created before the first
    /// build.
    Static,
    /// Tasks created for each cell. If there are more tasks than workers, they are spread over all
    /// workers; otherwise they are seeds that idle workers take.
    #[default]
    Dynamic,
}

choice! {
    WorkerTasks is "kind of worker tasks", named by "`--worker-tasks`":
    Static "static", Dynamic "dynamic";
    expected "static or dynamic", else UnknownWorkerTasks
}

/// The form of the scans by which the worker tasks of a cell learn what comes before them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum ScanChoice {
    /// Recursive doubling near the root, where all workers take part; prescan-push below.
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
    /// Returns the form for a cell at some depth, depending on whether that level has fewer cells
    /// than there are workers.
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

/// The kind of arrays into which worker tasks write their results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedArrays {
    /// One array for all tasks. The tasks compute their positions by scans.
    Plain,
    /// One chunk per task.
    #[default]
    Chunked,
}

choice! {
    SharedArrays is "kind of arrays", named by "`--arrays`":
    Plain "plain", Chunked "chunked";
    expected "plain or chunked", else UnknownSharedArrays
}
