//! Starting a program's nodes. The first node starts the others, which run the same program with
//! the same arguments. With some transports, an external launcher starts all processes, and each
//! finds out which node it is.
//!
//! A node that the first one starts receives what it needs through its standard input, which is an
//! unnamed socket. So nothing is written to a file system, no other process can reach a node, and
//! nothing remains once the last node has ended, however it ended.

mod children;
mod last_report;

use std::env;
use std::ffi::OsString;
use std::io::{self, ErrorKind};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::parent_id;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use raddle_trace::trace_file::{self, JobNode, JobNumbers};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit, setrlimit};

use crate::address::{NodeId, Shape};
use crate::clock_difference::ClockDifference;
use crate::control::{self, FILES_MAX};
use crate::error::NetError;
use crate::failure_detector::Silence;
use crate::kind::{TransportKind, ranks};
use crate::node::Node;
use crate::transport::{self, Share};

use self::children::Children;

/// The environment variable with the number of a node. It is set for the nodes that the first one
/// starts.
pub const NODE_VARIABLE: &str = "RADDLE_NODE";

/// The time that the other nodes have to end after the first node has failed. Then they are killed.
const GRACE: Duration = Duration::from_secs(5);

/// A builder for the nodes of a program, each of which is a process. If the program itself starts
/// them, they all run on this machine.
///
/// # Examples
/// Every process runs this. The first one also starts the others.
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
    /// Creates a builder for nodes of this shape.
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

    /// Sets the transport. The default is shared memory.
    #[must_use]
    pub const fn transport(mut self, kind: TransportKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets the arguments of the other nodes. The default is the arguments of this process.
    #[must_use]
    pub fn arguments<I: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        self.arguments = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether the standard output of the other nodes is discarded.
    #[must_use]
    pub const fn quiet(mut self, is_quiet: bool) -> Self {
        self.is_quiet = is_quiet;
        self
    }

    /// Sets how long the others may take to end once the first node has [finished](Nodes::finish).
    /// Nodes that take longer are killed. By default there is no limit.
    #[must_use]
    pub const fn grace(mut self, limit: Duration) -> Self {
        self.grace = Some(limit);
        self
    }

    /// Sets how long another node may be silent, in whole seconds, at least one. The default is
    /// ten.
    ///
    /// A node is silent while its process is stopped (by SIGSTOP, or a frozen control group), or
    /// does not get to run. The first node asks all others once a second. A node that does not
    /// answer for this time has ended for the first node ([`NetError::Silent`]), which kills its
    /// process at the end. A process that a debugger holds is waited for.
    #[must_use]
    pub const fn silence(mut self, limit: Duration) -> Self {
        self.silence = Silence::of(limit);
        self
    }

    /// Returns true in a process that the first node has started.
    pub fn is_started() -> bool {
        env::var_os(NODE_VARIABLE).is_some()
    }

    /// Reports to the first node why this one fails, in a node that the first one has started. The
    /// first node finds the reason in [`NetError::Failed`], and may print it for both.
    ///
    /// Returns false, and does nothing, if this process is not such a node, or the first node has
    /// ended. The reason is cut off after 4 kB.
    pub fn tell_first(why: &str) -> bool {
        Self::is_started() && last_report::send(why)
    }

    /// Returns the number of processes of this program, if `mpirun` or `srun` has started it.
    ///
    /// The environment says so, whether or not the program was built with MPI.
    pub fn rank_count() -> Option<u16> {
        ranks::count()
    }

    /// Returns the number of these processes on this machine, if the environment says so.
    pub fn local_rank_count() -> Option<u16> {
        ranks::local_count()
    }

    /// Returns the index of this process among those on this machine, from 0 on, if the environment
    /// says so.
    pub fn local_rank() -> Option<u16> {
        ranks::local_rank()
    }

    /// Returns a name for the processes that were started together with this one, if the
    /// environment has one. No other processes on this machine have the same name at the moment.
    pub fn rank_program() -> Option<String> {
        ranks::program()
    }

    /// Starts the other nodes, or joins them in a process that was started. With an external
    /// launcher, all processes have to call this, and join each other.
    ///
    /// # Errors
    /// - [`NetError::Shape`], [`NetError::System`] and [`NetError::Start`].
    /// - [`NetError::NoProcess`] if nodes with this transport are threads.
    /// - [`NetError::OneOfMany`] if an external launcher has started several processes, and the
    ///   transport does not use them.
    /// - [`NetError::NotStarted`] in a node that was started.
    /// - With an external launcher, [`NetError::WithoutMpi`], [`NetError::NotByMpi`],
    ///   [`NetError::RankCount`], [`NetError::Unlike`] and [`NetError::Mpi`]. A process can be
    ///   joined to the others only once.
    pub fn start(self) -> Result<Nodes, NetError> {
        if self.kind.is_by_mpi() {
            return self.join_ranks();
        }
        if !TransportKind::OF_PROCESSES.contains(&self.kind) {
            return Err(NetError::NoProcess(self.kind));
        }
        if !self.kind.is_here() {
            return Err(NetError::OneOfMany(self.kind));
        }
        if Self::is_started() {
            let (node, numbers) = join(self.kind, self.shape)?;
            return Ok(self.nodes(node, numbers, ClockDifference::NONE, Children::default()));
        }
        raise_file_limit();
        // Whatever fails once the first child was started, the children are waited for. They end
        // when they see that this process is gone.
        let mut children = Children::default();
        let node_count = self.shape.nodes.into();
        let numbers = trace_file::next_job(node_count);
        match self.start_children(&mut children, numbers) {
            Ok(node) => Ok(self.nodes(node, numbers, ClockDifference::NONE, children)),
            Err(error) => {
                trace_file::take_back_job(numbers, node_count);
                match error {
                    NetError::Died(_) => Err(children.reported_failure().unwrap_or(error)),
                    error => Err(error),
                }
            }
        }
    }

    /// Starts the other nodes, and returns the node of this process, which is the first.
    fn start_children(
        &self,
        children: &mut Children,
        numbers: JobNumbers,
    ) -> Result<Node, NetError> {
        let mut shares = Share::of_all(self.kind, self.shape)?.into_iter();
        let ours = shares.next().expect("a program has a first node");
        for share in shares {
            let (here, there) = control::pair().map_err(NetError::system("a socket"))?;
            let child = self.spawn(share.me, there)?;
            let sent = send_share(&here, &share, self.kind, numbers);
            children.push(share.me, child, here);
            sent.map_err(|error| match error.kind() {
                ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => NetError::Died(share.me),
                _ => NetError::system("a message to a node that was started")(error),
            })?;
        }
        let node = Node::assemble(ours.connect()?, numbers, Some(self.silence))?;
        node.set_children(children.processes().collect());
        Ok(node)
    }

    fn nodes(
        &self,
        node: Node,
        numbers: JobNumbers,
        clock: ClockDifference,
        children: Children,
    ) -> Nodes {
        trace_file::set_node(JobNode {
            numbers,
            node: node.id().0.into(),
            node_count: node.shape().nodes.into(),
            // The first node has started the others, or MPI has started all.
            job_process: match node.id().0 {
                0 if !self.kind.is_by_mpi() => std::process::id(),
                _ => parent_id(),
            },
            clock_ahead_ns: clock.ahead_ns,
            clock_error_ns: clock.error_ns,
        });
        let (grace, silence) = (self.grace, self.silence);
        Nodes {
            node,
            children,
            grace,
            silence,
        }
    }

    /// Joins the other processes that an external launcher has started.
    fn join_ranks(self) -> Result<Nodes, NetError> {
        raise_file_limit();
        let (parts, clock) = transport::join_ranks(self.kind, self.shape)?;
        let is_first = parts.me == NodeId(0);
        let node = Node::assemble(parts, JobNumbers::FIRST, is_first.then_some(self.silence))?;
        if self.is_quiet && node.id() != NodeId(0) {
            open_null(OFlags::WRONLY)
                .and_then(rustix::stdio::dup2_stdout)
                .map_err(NetError::system("an empty standard output"))?;
        }
        Ok(self.nodes(node, JobNumbers::FIRST, clock, Children::default()))
    }

    /// Starts the process of node `me`, with `control` as its standard input.
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

/// Raises the limit of open files to the maximum that the system allows. Each pair of nodes shares
/// sockets, of which the first node has both ends at first, and the usual limit is low.
fn raise_file_limit() {
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // If the system refuses, the old limit stays.
    let _ = setrlimit(Resource::Nofile, limit);
}

/// Sends a node that was started its share.
fn send_share(
    to: &OwnedFd,
    share: &Share,
    kind: TransportKind,
    numbers: JobNumbers,
) -> Result<(), Errno> {
    let (me, shape) = (share.me, share.shape);
    // A frame has five words: the numbers of the job share one with the node.
    let job = u64::from(numbers.job as u16) << 16 | u64::from(numbers.started_before) << 32;
    let words = [
        u64::from(me.0) | job,
        shape.nodes.into(),
        shape.ports.into(),
        share.key,
        kind as u64,
    ];
    control::send(to, control::WELCOME, words, &[])?;
    let files: Vec<_> = share.files().map(AsFd::as_fd).collect();
    files
        .chunks(FILES_MAX)
        .try_for_each(|files| control::send(to, control::FILES, [0; 5], files))
}

/// Becomes the node as which the first node has started this process. Also returns the numbers of
/// its job.
fn join(kind: TransportKind, shape: Shape) -> Result<(Node, JobNumbers), NetError> {
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
    let [me_and_job, nodes, ports, key, by] = welcome.words;
    let me = me_and_job & 0xffff;
    let numbers = JobNumbers {
        job: (me_and_job >> 16 & 0xffff) as u32,
        started_before: (me_and_job >> 32) as u32,
    };
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
    // Files arrive in frames of several. The next frame is received when a further file is needed.
    let mut files = Vec::new().into_iter();
    let next_file = || {
        loop {
            if let Some(file) = files.next() {
                return Ok(file);
            }
            let frame = frame()?;
            if frame.lacks_files {
                return Err(NetError::system("as many open files as a node needs")(
                    Errno::MFILE,
                ));
            }
            files = frame.files.into_iter();
        }
    };
    // Below the number of nodes.
    let share = Share::receive(NodeId(me as u16), shape, kind, key, next_file)?;
    // The program must not read from the socket, so its standard input becomes empty.
    last_report::keep(first)
        .and_then(|()| open_null(OFlags::RDONLY))
        .and_then(rustix::stdio::dup2_stdin)
        .map_err(NetError::system("an empty standard input"))?;
    Ok((Node::assemble(share.connect()?, numbers, None)?, numbers))
}

/// Opens `/dev/null`, which is always empty.
fn open_null(flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open("/dev/null", flags, Mode::empty())
}

/// A program's nodes, as seen from one of them: that node, and in the first node, the processes of
/// the others.
#[derive(Debug)]
pub struct Nodes {
    node: Node,
    children: Children,
    grace: Option<Duration>,
    silence: Silence,
}

impl Nodes {
    /// Returns the node of this process.
    pub const fn node(&self) -> &Node {
        &self.node
    }

    /// Returns the processes that this process has started, with their nodes.
    pub fn processes(&self) -> impl Iterator<Item = (NodeId, u32)> {
        self.children.processes()
    }

    /// Leaves the program. In the first node, this waits for the others, as long as
    /// [`Launch::grace`] says. With an external launcher, every node waits until all have left.
    ///
    /// If nodes are dropped without this call, the first node gives the others five seconds, and
    /// kills those that are still running. In both cases it kills the nodes that were
    /// [silent](Launch::silence) for too long, and those that are now stopped for this time.
    ///
    /// # Errors
    /// [`NetError::Silent`] if a node was killed because it was silent; [`NetError::Failed`] for
    /// the first node that ended with an error. With an external launcher, the first node returns
    /// [`NetError::Stays`] if another node has not left in time.
    pub fn finish(mut self) -> Result<(), NetError> {
        let grace = self.grace;
        self.end(grace)
    }

    /// Ends the program after a failure, as a drop does. Returns the failure of a node that has
    /// [reported](Launch::tell_first) its reason, because that says more than that the node has
    /// died.
    pub fn why(mut self) -> Option<NetError> {
        self.end(Some(GRACE)).err().filter(children::has_reason)
    }

    fn end(&mut self, grace: Option<Duration>) -> Result<(), NetError> {
        self.node.leave();
        let is_first = self.node.id() == NodeId(0);
        let ended = self.node.finish(grace.filter(|_| is_first));
        let node = &self.node;
        self.children.kill_if(|child| node.is_silent(child));
        self.children.wait(grace, self.silence).and(ended)
    }
}

impl Drop for Nodes {
    fn drop(&mut self) {
        // A caller that needs the result calls `finish`.
        let _ = self.end(Some(GRACE));
    }
}
