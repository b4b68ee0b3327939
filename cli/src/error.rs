//! What can end a command; each prints as one line that names the file and the place.

use std::io;
use std::path::PathBuf;

use raddle::BuildError;
use raddle::chare::nodes::JobError;
use raddle::net::{NetError, SendError};
use raddle_graphics::kdtree;
use raddle_graphics::mesh::MeshError;
use raddle_graphics::picture::PictureError;
use raddle_graphics::render::RenderError;
use raddle_graphics::scene::OutOfMemory;
use raddle_messages::nodes::NodesError;
use raddle_messages::waits::WaitsError;
use raddle_model::ModelError;
use raddle_topology::{MatrixError, PlaceError, TopologyError};

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    /// Whoever read standard output has gone; not worth a word.
    #[error("the reader of standard output has gone")]
    ReaderGone,
    /// Standard output cannot be written.
    #[error("standard output: {0}; expected to write the result there")]
    StandardOutput(io::Error),
    /// An output file cannot be written.
    #[error("{}: {source}; expected a file that can be written", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A program cannot be started.
    #[error("{}: cannot be started: {source}; expected a program", program.display())]
    Launch {
        /// The program.
        program: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// An output path that leads to a directory.
    #[error("{}: found a directory; expected a file to write", path.display())]
    OutputIsDirectory {
        /// The path.
        path: PathBuf,
    },
    /// A mesh cannot be loaded.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// A scene cannot be generated.
    #[error("{input}: {source}")]
    Scene {
        /// The scene.
        input: String,
        /// What stands in the way.
        source: OutOfMemory,
    },
    /// A mesh can have no tree.
    #[error("{input}: {source}")]
    Tree {
        /// The file or the scene.
        input: String,
        /// What is wrong with it.
        source: kdtree::BuildError,
    },
    /// A mesh cannot be rendered as asked.
    #[error("{input}: {source}")]
    Render {
        /// The file or the scene.
        input: String,
        /// What stands in the way.
        source: RenderError,
    },
    /// A picture cannot be written.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// A topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A communication matrix cannot be read.
    #[error(transparent)]
    Matrix(#[from] MatrixError),
    /// The parties of a matrix cannot be placed.
    #[error("{input}: {source}")]
    Place {
        /// The file.
        input: String,
        /// What stands in the way.
        source: PlaceError,
    },
    /// Options that were well written and still cannot be followed: a wrong call.
    #[error("{options}: {reason}")]
    WrongCall {
        /// The options, with their values.
        options: String,
        /// What is wrong with them, and what was expected.
        reason: String,
    },
    /// The runtime cannot be set up.
    #[error(transparent)]
    Runtime(#[from] BuildError),
    /// There is no memory for so many numbers.
    #[error("{count} numbers: no memory for {bytes} bytes; expected {available}")]
    NumbersTooMany {
        /// How many were asked for.
        count: usize,
        /// What they take.
        bytes: u64,
        /// What there is, or what to do.
        available: String,
    },
    /// There is no memory for the buffers of all messages.
    #[error("{what}: no memory for {bytes} bytes of messages; expected {available}")]
    MessagesTooLarge {
        /// The options.
        what: String,
        /// What the buffers take.
        bytes: u64,
        /// What there is.
        available: String,
    },
    /// Messages that were lost or came otherwise than they were sent.
    #[error("{what}: {source}; expected every message, in its turn")]
    MessagesWrong {
        /// The options.
        what: String,
        /// What was found.
        source: raddle::Failure,
    },
    /// A program over nodes that did not come up, or ended early.
    #[error("{what}: {source}")]
    Job {
        /// The options.
        what: String,
        /// What was found.
        source: JobError,
    },
    /// Nodes that did not come up, ended early or sent something else.
    #[error("{what}: {source}")]
    Nodes {
        /// The options.
        what: String,
        /// What was found.
        source: NodesError,
    },
    /// A way to wait that cannot be measured.
    #[error("--wait {0}; expected a way that this machine has, or all")]
    Waits(#[from] WaitsError),
    /// There is no memory for matrices of such a size.
    #[error("{what}: no memory for {bytes} bytes; expected {available}")]
    MatricesTooLarge {
        /// The options.
        what: String,
        /// What they take.
        bytes: u64,
        /// What there is, or what to do.
        available: String,
    },
    /// A program of locations did not run to its end.
    #[error("{what}: {source}")]
    Program {
        /// The options.
        what: String,
        /// What stopped it.
        source: raddle::orwl::RunError,
    },
    /// A result that is not that of the plain loops.
    #[error("{what}: {found}")]
    ResultWrong {
        /// The options.
        what: String,
        /// Where it differs, and what was expected.
        found: String,
    },
    /// Parameters, or a question, that the model does not hold for.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is no memory for so many simulated nodes.
    #[error(
        "--nodes {nodes}: no memory for about {bytes} bytes; expected at most {available} bytes"
    )]
    SimulationTooLarge {
        /// How many were asked for.
        nodes: u32,
        /// What they take.
        bytes: u64,
        /// What there is.
        available: u64,
    },
    /// A file of parameters that cannot be read.
    #[error("{}: {source}; expected a file of parameters, or a machine that comes with the program: {names}", path.display())]
    Parameters {
        /// The file.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
        /// The machines.
        names: String,
    },
    /// A figure that could not be drawn.
    #[error(transparent)]
    Figure(#[from] raddle_model::study::PictureError),
    /// Measurements that no parameters can be made of.
    #[error("{}: {found}; expected what raddle pingpong --nodes 2 --overheads --json prints", path.display())]
    Measurements {
        /// The file.
        path: PathBuf,
        /// What was found.
        found: String,
    },
    /// A sort that did not sort.
    #[error("{count} numbers of seed {seed}: {what}")]
    SortedWrong {
        /// How many there are.
        count: usize,
        /// Where they come from.
        seed: u64,
        /// What was found, and what was expected.
        what: String,
    },
    /// The two builders disagree.
    #[error("{input}: node {node} of the tree is not the other builder's; expected equal trees")]
    TreesDiffer {
        /// The file or the scene.
        input: String,
        /// The first node that differs.
        node: usize,
    },
}

impl CliError {
    /// True if a node has ended, which is the end of its program.
    pub(crate) fn is_end_of_a_node(&self) -> bool {
        match self {
            Self::Nodes { source, .. } => matches!(
                source,
                NodesError::Net(NetError::Died(_) | NetError::Left(_))
                    | NodesError::Send(SendError::Died(_) | SendError::Left(_))
            ),
            Self::Job { source, .. } => {
                matches!(source, JobError::Net(NetError::Died(_) | NetError::Left(_)))
            }
            _ => false,
        }
    }

    /// Whether the call is wrong, or an environment variable that stands in for an option.
    pub(crate) fn is_of_the_call(&self) -> bool {
        match self {
            Self::WrongCall { .. } => true,
            Self::Model(error) => error.is_of_the_call(),
            Self::Runtime(error) => is_of_a_variable(error),
            Self::Job { source, .. } => match source {
                JobError::Environment { .. } => true,
                JobError::Build(error) => is_of_a_variable(error),
                _ => false,
            },
            _ => false,
        }
    }
}

fn is_of_a_variable(error: &BuildError) -> bool {
    matches!(error, BuildError::Environment { .. })
}

/// An error's text without line breaks, whatever a library or a file name puts into it.
pub(crate) fn one_line(error: &CliError) -> String {
    error
        .to_string()
        .split(|character: char| character.is_control())
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
