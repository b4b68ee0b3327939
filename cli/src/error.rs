//! The errors that end a command. Each prints as one line that names the file and the place.

use std::io;
use std::path::PathBuf;

use raddle::BuildError;
use raddle::chare::nodes::JobError;
use raddle::net::{NetError, SendError};
use raddle_graphics::dirt::DirtError;
use raddle_graphics::file::FileError;
use raddle_graphics::kdtree;
use raddle_graphics::mesh::COORDINATE_MAX;
use raddle_graphics::picture::PictureError;
use raddle_graphics::render_mesh::RenderError;
use raddle_graphics::scene::OutOfMemory;
use raddle_graphics::volume::GenerateError;
use raddle_graphics::volume::isosurface::IsosurfaceError;
use raddle_graphics::volume::volrend::VolrendError;
use raddle_messages::nodes::NodesError;
use raddle_messages::waits::WaitsError;
use raddle_model::ModelError;
use raddle_topology::{MatrixError, PlaceError, TopologyError};
use raddle_trace::monitor::MonitorError;
use raddle_trace::trace_file::TraceFileError;

/// A failure of a command.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    /// The reader of standard output has closed the pipe. This failure is not reported.
    #[error("the reader of standard output has closed the pipe")]
    ReaderGone,
    /// Standard output cannot be written.
    #[error("standard output: {0}; expected to write the result there")]
    StandardOutput(io::Error),
    /// An output file cannot be written.
    #[error("{}: {source}; expected a file that can be written", path.display())]
    Output {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The events of the command cannot be recorded or written.
    #[error(transparent)]
    Trace(#[from] TraceFileError),
    /// A file is no recording, or cannot be read.
    #[error("{}: {reason}", path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// The reason, and what was expected.
        reason: String,
    },
    /// The sockets of running programs cannot be looked for.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// No running program can be watched.
    #[error(
        "{}: found no program that runs with RADDLE_MONITOR=on; expected at least one: start it \
         with that in its environment", folder.display()
    )]
    NothingToWatch {
        /// The folder with the sockets of this user.
        folder: PathBuf,
    },
    /// A process cannot be watched.
    #[error(
        "{}: found no socket of process {process}; expected a process of yours that was started \
         with RADDLE_MONITOR=on", folder.display()
    )]
    NotWatched {
        /// The number of the process.
        process: u32,
        /// The folder with the sockets of this user.
        folder: PathBuf,
    },
    /// A program cannot be started.
    #[error("{}: cannot be started: {source}; expected a program", program.display())]
    Launch {
        /// The program.
        program: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The page of a view cannot be served.
    #[error("port {port}: {source}; expected a free port of this machine")]
    Listen {
        /// The port; 0 for any free one.
        port: u16,
        /// The error of the system.
        source: io::Error,
    },
    /// An output path that is a directory.
    #[error("{}: found a directory; expected a file to write", path.display())]
    OutputIsDirectory {
        /// The path.
        path: PathBuf,
    },
    /// An output path that is the input.
    #[error("{}: found the input; expected another file to write", path.display())]
    OutputIsInput {
        /// The path.
        path: PathBuf,
    },
    /// A mesh, a volume or another input file cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// A scene cannot be generated.
    #[error("{input}: {source}")]
    Scene {
        /// The scene.
        input: String,
        /// The reason.
        source: OutOfMemory,
    },
    /// A volume cannot be generated.
    #[error("{input}: {source}")]
    Generate {
        /// The name and the size of the volume.
        input: String,
        /// The reason.
        source: Box<GenerateError>,
    },
    /// A mesh would have no triangles.
    #[error("{input}: {reason} and --clip")]
    NoSurface {
        /// The file or the scene.
        input: String,
        /// The reason.
        reason: String,
    },
    /// A surface has too many triangles.
    #[error("{input}: {source}")]
    Surface {
        /// The file or the scene.
        input: String,
        /// The reason.
        source: IsosurfaceError,
    },
    /// A surface is too far from the origin for a file of a mesh.
    #[error("{input}: coordinates up to {found:e}; expected at most {COORDINATE_MAX:e} in a mesh")]
    FarSurface {
        /// The file.
        input: String,
        /// The largest coordinate.
        found: f64,
    },
    /// No tree can be built from a mesh.
    #[error("{input}: {source}")]
    Tree {
        /// The file or the scene.
        input: String,
        /// The reason.
        source: kdtree::BuildError,
    },
    /// A mesh cannot be rendered with the given options.
    #[error("{input}: {source}")]
    Render {
        /// The file or the scene.
        input: String,
        /// The reason.
        source: RenderError,
    },
    /// A volume is not a density map.
    #[error("{input}: {source}")]
    Volrend {
        /// The file.
        input: String,
        /// The reason.
        source: VolrendError,
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
    /// A file has no content that the program knows.
    #[error(
        "{}: neither a mesh nor a volume, and not a matrix: {source}; expected one of them",
        path.display()
    )]
    UnknownContent {
        /// The file.
        path: PathBuf,
        /// The reason why it is not a matrix.
        source: MatrixError,
    },
    /// A file has nothing that can be shown.
    #[error(
        "{}: neither a mesh nor a volume; expected a mesh in {}, or a volume in {} (raw: named \
         with its size, or with --raw-size)",
        path.display(), raddle_graphics::mesh::FORMATS, raddle_graphics::volume::FORMATS
    )]
    NothingToShow {
        /// The file.
        path: PathBuf,
    },
    /// The parties of a matrix cannot be placed.
    #[error("{input}: {source}")]
    Place {
        /// The file.
        input: String,
        /// The reason.
        source: PlaceError,
    },
    /// Options that are well formed but cannot be followed; the call is wrong.
    #[error("{options}: {reason}")]
    WrongCall {
        /// The options, with their values.
        options: String,
        /// The reason, and what was expected.
        reason: String,
    },
    /// The runtime cannot be set up.
    #[error(transparent)]
    Runtime(#[from] BuildError),
    /// There is not enough memory for the numbers of a sort.
    #[error("{count} numbers: no memory for {bytes} bytes; expected {available}")]
    NumbersTooMany {
        /// The number that was asked for.
        count: usize,
        /// The bytes that they need.
        bytes: u64,
        /// The available memory, or advice.
        available: String,
    },
    /// There is not enough memory for the buffers of all messages.
    #[error("{what}: no memory for {bytes} bytes of messages; expected {available}")]
    MessagesTooLarge {
        /// The options.
        what: String,
        /// The bytes that the buffers need.
        bytes: u64,
        /// The available memory.
        available: String,
    },
    /// Messages that were lost, or that arrived changed or in another order.
    #[error("{what}: {source}; expected every message, in order")]
    MessagesWrong {
        /// The options.
        what: String,
        /// The reason.
        source: raddle::Failure,
    },
    /// The nodes of a program did not start, or ended early.
    #[error("{what}: {source}")]
    Job {
        /// The options.
        what: String,
        /// The reason.
        source: JobError,
    },
    /// Nodes did not start, ended early, or sent an unexpected answer.
    #[error("{what}: {source}")]
    Nodes {
        /// The options.
        what: String,
        /// The reason.
        source: NodesError,
    },
    /// The distributed ray tracer failed.
    #[error("{what}: {source}")]
    Dirt {
        /// The options.
        what: String,
        /// The reason.
        source: DirtError,
    },
    /// A way to wait cannot be measured.
    #[error("--wait {0}; expected a way that this machine has, or all")]
    Waits(#[from] WaitsError),
    /// There is not enough memory for matrices of this size.
    #[error("{what}: no memory for {bytes} bytes; expected {available}")]
    MatricesTooLarge {
        /// The options.
        what: String,
        /// The bytes that they need.
        bytes: u64,
        /// The available memory, or advice.
        available: String,
    },
    /// A program of locations stopped before its end.
    #[error("{what}: {source}")]
    Program {
        /// The options.
        what: String,
        /// The reason.
        source: raddle::orwl::RunError,
    },
    /// The result differs from that of the plain loops.
    #[error("{what}: {found}")]
    ResultWrong {
        /// The options.
        what: String,
        /// The place of the difference, and what was expected.
        found: String,
    },
    /// The model is not valid for the parameters or the question.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// There is not enough memory for the simulated nodes.
    #[error(
        "--nodes {nodes}: no memory for about {bytes} bytes; expected at most {available} bytes"
    )]
    SimulationTooLarge {
        /// The number that was asked for.
        nodes: u32,
        /// The bytes that they need.
        bytes: u64,
        /// The available memory.
        available: u64,
    },
    /// A file of parameters cannot be read.
    #[error(
        "{}: {source}; expected a file of parameters, or a machine that comes with the program: \
         {names}",
        path.display()
    )]
    Parameters {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
        /// The machines that come with the program.
        names: String,
    },
    /// A figure could not be drawn.
    #[error(transparent)]
    Figure(#[from] raddle_model::study::PictureError),
    /// A file has no measurements from which parameters can be computed.
    #[error(
        "{}: {found}; expected the output of raddle pingpong --nodes 2 --overheads --json",
        path.display()
    )]
    Measurements {
        /// The file.
        path: PathBuf,
        /// The reason.
        found: String,
    },
    /// A sort gave a wrong result.
    #[error("{count} numbers of seed {seed}: {what}")]
    SortedWrong {
        /// The number of numbers.
        count: usize,
        /// The seed that they were generated from.
        seed: u64,
        /// The fault, and what was expected.
        what: String,
    },
    /// Two builders made different trees.
    #[error(
        "{input}: node {node} differs between the trees of the two builders; expected equal trees"
    )]
    TreesDiffer {
        /// The file or the scene.
        input: String,
        /// The first node that differs.
        node: usize,
    },
}

impl CliError {
    /// Returns true if the cause is that a node has ended, which ends its program.
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
            Self::Dirt { source, .. } => matches!(
                source,
                DirtError::Supervisor(_)
                    | DirtError::NoWorkerLeft(_)
                    | DirtError::Net(NetError::Died(_) | NetError::Left(_))
                    | DirtError::Send(SendError::Died(_) | SendError::Left(_))
            ),
            _ => false,
        }
    }

    /// Returns true if the call is wrong, or an environment variable that replaces an option.
    pub(crate) fn is_of_the_call(&self) -> bool {
        match self {
            Self::WrongCall { .. } | Self::Trace(TraceFileError::Variable(_)) => true,
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
    matches!(
        error,
        BuildError::Environment { .. }
            | BuildError::Trace(TraceFileError::Variable(_))
            | BuildError::Monitor(MonitorError::Variable(_))
    )
}

/// Returns the text of an error without line breaks, whatever a library or a file name adds to it.
pub(crate) fn one_line(error: &CliError) -> String {
    error
        .to_string()
        .split(|character: char| character.is_control())
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
