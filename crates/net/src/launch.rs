//! Starting a program's nodes: the first starts the others, which run the same program with the same arguments.
//!
//! Or MPI starts them all, and each finds out which it is (the transport `mpi`).
//!
//! What a node that the first one starts needs it gets from the first one through its standard input, which is a socket without a name: nothing is written to any
//! file system, no process that was not started so can reach a node, and with the last node all is gone, however it ended.

mod others;
mod word;

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::address::{NodeId, Shape};
use crate::control::{self, FILES_MAX};
use crate::error::NetError;
use crate::node::{Node, Silence};
use crate::share::Share;
use crate::transport::TransportKind;

use self::others::Others;

/// Which node a process is: set for those that the first one starts.
pub const NODE_VARIABLE: &str = "RADDLE_NODE";

/// How long the others may take to end where the first has failed, before they are killed.
const GRACE: Duration = Duration::from_secs(5);

/// How many processes `mpirun` or `srun` has started, where they say so: Open MPI, what has Hydra or PMI (MPICH, Intel MPI), Slurm.
const RANK_COUNT_VARIABLES: [&str; 3] =
    ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"];

/// The same of those on this machine; Slurm does not say.
const LOCAL_COUNT_VARIABLES: [&str; 2] = ["OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"];

/// The name of a program that was started by MPI, the same for all its processes, in one or two words: of what has PMIx (Open MPI, Slurm), Slurm.
const RANK_PROGRAM_VARIABLES: [&[&str]; 2] =
    [&["PMIX_NAMESPACE"], &["SLURM_JOB_ID", "SLURM_STEP_ID"]];

/// Which of these a process is.
const LOCAL_RANK_VARIABLES: [&str; 3] = [
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "MPI_LOCALRANKID",
    "SLURM_LOCALID",
];

/// A program on several nodes, each a process, of this machine where the program itself starts them.
///
/// # Examples
/// Every process runs this; the first also starts the others.
/// ```no_run
/// use raddle_net::{Launch, Message, NodeId, PortId, Shape};
///
/// let nodes = Launch::new(Shape { nodes: 2, ports: 1 }).start()?;
/// let mut port = nodes.node().port(0);
/// if nodes.node().id() == NodeId(0) {
///     let other = PortId { node: NodeId(1), index: 0 };
///     port.send(other, Message::default(), b"hello")?;
/// } else {
///     port.wait();
///     port.poll(|arrival| println!("{arrival:?}"))?;
/// }
/// drop(port);
/// nodes.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Launch {
    shape: Shape,
    kind: TransportKind,
    arguments: Option<Vec<OsString>>,
    is_quiet: bool,
    grace: Option<Duration>,
    silence: Silence,
}

impl Launch {
    /// So many nodes, of so many ports each.
    pub const fn new(shape: Shape) -> Self {
        Self {
            shape,
            kind: TransportKind::Memory,
            arguments: None,
            is_quiet: false,
            grace: None,
            silence: Silence::USUAL,
        }
    }

    /// How messages travel; by memory that nodes share, if nothing else is said.
    #[must_use]
    pub const fn transport(mut self, kind: TransportKind) -> Self {
        self.kind = kind;
        self
    }

    /// Starts the other nodes with these arguments instead of this process's.
    #[must_use]
    pub fn arguments<I: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        self.arguments = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// Whether what the other nodes print on standard output is dropped.
    #[must_use]
    pub const fn quiet(mut self, is_quiet: bool) -> Self {
        self.is_quiet = is_quiet;
        self
    }

    /// How long the others may take to end once the first has [finished](Nodes::finish); who takes longer is killed. If nothing is said, they are waited for
    /// however long they take.
    #[must_use]
    pub const fn grace(mut self, limit: Duration) -> Self {
        self.grace = Some(limit);
        self
    }

    /// How long another node may be silent, in whole seconds, one at least; ten if nothing is said.
    ///
    /// A node is silent while its process is stopped (by SIGSTOP, or a frozen control group), or does not get to run. The
    /// first node asks all others once a second. One that does not answer for so long has ended for the first node
    /// ([`NetError::Silent`]), which kills its process at the end. A process that a debugger holds is waited for.
    #[must_use]
    pub const fn silence(mut self, limit: Duration) -> Self {
        self.silence = Silence::of(limit);
        self
    }

    /// True in a process that another has started as its node.
    pub fn is_started() -> bool {
        env::var_os(NODE_VARIABLE).is_some()
    }

    /// Tells the first node why this one fails, in a node that it has started. It finds that in
    /// [`NetError::Failed`], and may say it for both.
    ///
    /// Returns false, and does nothing, if this process is no such node, or the first has ended.
    /// Words beyond 4 kB are cut off.
    pub fn tell_first(why: &str) -> bool {
        Self::is_started() && word::tell(why)
    }

    /// How many processes MPI has started of this program, if it was started so, by `mpirun` or `srun`; as the environment tells, whether or not the
    /// program was built with MPI.
    pub fn rank_count() -> Option<u16> {
        first_of(&RANK_COUNT_VARIABLES)
    }

    /// How many of these run on this machine, where that is told.
    pub fn local_rank_count() -> Option<u16> {
        first_of(&LOCAL_COUNT_VARIABLES)
    }

    /// Which of these this process is, from 0, where that is told.
    pub fn local_rank() -> Option<u16> {
        first_of(&LOCAL_RANK_VARIABLES)
    }

    /// A name that the processes have in common which MPI has started together with this one, and no others on this machine at the moment, where that is told.
    pub fn rank_program() -> Option<String> {
        let words = |names: &&[&str]| {
            let words: Option<Vec<_>> = names.iter().map(|name| env::var(name).ok()).collect();
            words.map(|words| words.join("."))
        };
        RANK_PROGRAM_VARIABLES.iter().find_map(words)
    }

    /// Starts the other nodes, or in one of these, joins them. By MPI the processes that it has started join each other, each of which has to come here.
    ///
    /// # Errors
    /// [`NetError::Shape`], [`NetError::System`], [`NetError::Start`]; [`NetError::OneOfMany`] in processes that MPI has started; [`NetError::NoProcess`] by threads; in a node that was started, [`NetError::NotStarted`]. By MPI
    /// [`NetError::WithoutMpi`], [`NetError::NotByMpi`], [`NetError::RankCount`], [`NetError::Unlike`] and [`NetError::Mpi`]: it can be started once in a
    /// process.
    pub fn start(self) -> Result<Nodes, NetError> {
        match self.kind {
            TransportKind::Mpi | TransportKind::MpiMessages => return self.join_ranks(),
            TransportKind::Threads => return Err(NetError::NoProcess(self.kind)),
            TransportKind::Memory | TransportKind::Sockets => {}
        }
        if !self.kind.is_here() {
            return Err(NetError::OneOfMany(self.kind));
        }
        if Self::is_started() {
            let node = join(self.kind, self.shape)?;
            return Ok(self.nodes(node, Others::default()));
        }
        allow_files();
        // From the first that was started on: whatever fails, they are waited for, when they have seen that this one is gone.
        let mut others = Others::default();
        match self.start_others(&mut others) {
            Ok(node) => Ok(self.nodes(node, others)),
            Err(error @ NetError::Died(_)) => Err(others.why().unwrap_or(error)),
            Err(error) => Err(error),
        }
    }

    /// Starts the other nodes, and returns the first one, which this process is.
    fn start_others(&self, others: &mut Others) -> Result<Node, NetError> {
        let mut shares = Share::of_all(self.kind, self.shape)?.into_iter();
        let ours = shares.next().expect("a program has a first node");
        for share in shares {
            let (here, there) = control::pair().map_err(NetError::system("a socket"))?;
            let child = self.spawn(share.me, there)?;
            let welcomed = welcome(&here, &share);
            others.push(share.me, child, here);
            welcomed.map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => NetError::Died(share.me),
                _ => NetError::system("a message to a node that was started")(error),
            })?;
        }
        let node = Node::assemble(ours, Some(self.silence))?;
        node.set_children(others.processes().collect());
        Ok(node)
    }

    const fn nodes(&self, node: Node, others: Others) -> Nodes {
        let (grace, silence) = (self.grace, self.silence);
        Nodes {
            node,
            others,
            grace,
            silence,
        }
    }

    /// Becomes the node that this process is of those that MPI has started.
    fn join_ranks(self) -> Result<Nodes, NetError> {
        if cfg!(not(feature = "mpi")) {
            return Err(NetError::WithoutMpi);
        }
        if Self::rank_count().is_none() {
            return Err(NetError::NotByMpi(self.shape.nodes));
        }
        allow_files();
        let node = Node::by_mpi(self.kind, self.shape, Some(self.silence))?;
        if self.is_quiet && node.id() != NodeId(0) {
            let nothing = nothing(OFlags::WRONLY);
            nothing
                .and_then(rustix::stdio::dup2_stdout)
                .map_err(NetError::system("an empty standard output"))?;
        }
        Ok(self.nodes(node, Others::default()))
    }

    /// Starts a process whose standard input is `control`.
    fn spawn(&self, me: NodeId, control: OwnedFd) -> Result<Child, NetError> {
        let program = env::current_exe();
        let started = program
            .as_ref()
            .map_err(|error| io::Error::new(error.kind(), error.to_string()));
        let started = started.and_then(|program| {
            let mut command = Command::new(program);
            match &self.arguments {
                Some(arguments) => command.args(arguments),
                None => command.args(env::args_os().skip(1)),
            };
            if self.is_quiet {
                command.stdout(Stdio::null());
            }
            command
                .env(NODE_VARIABLE, me.0.to_string())
                .stdin(control)
                .spawn()
        });
        started.map_err(|error| NetError::Start {
            node: me,
            program: program.map_or_else(
                |_| "this program".to_owned(),
                |path| path.display().to_string(),
            ),
            error,
        })
    }
}

/// What the first of these variables says that says a number.
fn first_of(names: &[&str]) -> Option<u16> {
    let mut names = names.iter();
    names.find_map(|name| env::var(name).ok()?.parse().ok())
}

/// Lets this process have as many files open as the system allows it: each two nodes share sockets, of which the first node has both ends at first, and what is usual is few.
fn allow_files() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Refused, it is as before.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Tells a node that was started who it is, and gives it what it needs.
fn welcome(to: &OwnedFd, share: &Share) -> Result<(), Errno> {
    let Share {
        me,
        shape,
        kind,
        key,
        ..
    } = share;
    let words = [
        me.0.into(),
        shape.nodes.into(),
        shape.ports.into(),
        *key,
        *kind as u64,
    ];
    control::send(to, control::WELCOME, words, &[])?;
    let files: Vec<_> = share.files().map(AsFd::as_fd).collect();
    files
        .chunks(FILES_MAX)
        .try_for_each(|files| control::send(to, control::FILES, [0; 5], files))
}

/// Becomes the node that the first one has started this process as.
fn join(kind: TransportKind, shape: Shape) -> Result<Node, NetError> {
    let not_started = |error: Errno| NetError::NotStarted {
        found: error.to_string(),
    };
    let first = rustix::stdio::stdin();
    let frame = || {
        control::receive(first)
            .map_err(not_started)?
            .ok_or_else(|| not_started(Errno::PIPE))
    };
    let welcome = frame()?;
    let [me, nodes, ports, key, by] = welcome.words;
    let is_ours = welcome.kind == control::WELCOME
        && (nodes, ports, by) == (shape.nodes.into(), shape.ports.into(), kind as u64)
        && (1..nodes).contains(&me);
    if !is_ours {
        return Err(NetError::NotStarted {
            found: format!(
                "a program of {nodes} nodes with {ports} ports each, not {} with {} by {kind}",
                shape.nodes, shape.ports
            ),
        });
    }
    let mut files = Vec::new();
    while files.len() < Share::file_count(kind, shape) {
        let frame = frame()?;
        if frame.lacks_files {
            return Err(NetError::system("as many open files as a node needs")(
                Errno::MFILE,
            ));
        }
        files.extend(frame.files);
    }
    // From here on nobody reads what was for this node alone.
    word::keep(first)
        .and_then(|()| nothing(OFlags::RDONLY))
        .and_then(rustix::stdio::dup2_stdin)
        .map_err(NetError::system("an empty standard input"))?;
    // Below the number of nodes.
    let share = Share::take_files(NodeId(me as u16), shape, kind, key, files);
    Node::assemble(share, None)
}

/// A file that is empty, and stays so.
fn nothing(flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open("/dev/null", flags, Mode::empty())
}

/// A program's nodes, as seen from one of them: itself, and in the first, the processes of the others.
#[derive(Debug)]
pub struct Nodes {
    node: Node,
    others: Others,
    grace: Option<Duration>,
    silence: Silence,
}

impl Nodes {
    /// The node of this process.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// The processes that this one has started, by their nodes.
    pub fn processes(&self) -> impl Iterator<Item = (NodeId, u32)> {
        self.others.processes()
    }

    /// Leaves, and in the first node waits for the others, as long as [`Launch::grace`] says. By MPI all wait until all have left.
    ///
    /// Where nodes are dropped without this, the first gives the others five seconds, and kills who is still there. Either way it kills those that were
    /// [silent](Launch::silence) for too long, and those that are stopped for as long now.
    ///
    /// # Errors
    /// [`NetError::Silent`] of a node that was killed for that; [`NetError::Failed`] of the first of them that ended with an error; by MPI [`NetError::Stays`] in the first node of one that has not left in time.
    pub fn finish(mut self) -> Result<(), NetError> {
        let grace = self.grace;
        self.end(grace)
    }

    /// Ends the program after a failure, as a drop does. Returns the failure of a node that has
    /// [told](Launch::tell_first) why it failed: it tells more than that the node has died.
    pub fn why(mut self) -> Option<NetError> {
        self.end(Some(GRACE)).err().filter(others::has_told)
    }

    fn end(&mut self, grace: Option<Duration>) -> Result<(), NetError> {
        self.node.leave();
        let is_first = self.node.id() == NodeId(0);
        let ended = self.node.finish(grace.filter(|_| is_first));
        let node = &self.node;
        self.others.kill_if(|other| node.is_silent(other));
        self.others.wait(grace, self.silence).and(ended)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        // Who wants to know how the others ended calls `finish`.
        let _ = self.end(Some(GRACE));
    }
}
