//! A program's nodes, from their start to their end.
//!
//! All nodes run the same set-up, which creates the arrays over nodes. Then the first node runs the
//! program's main part, and the others serve.
//!
//! # Invariants
//! 1. If a node ends, in whatever way, before the first node has asked all nodes to stop, the
//!    program fails. So no node waits for work that an ended node was to do.

mod allocator;
#[cfg(not(shuttle))]
mod environment;
mod error;
mod listener;
mod open;
mod progress;
mod receiver;
mod setup;
pub(crate) mod transport;

#[cfg(not(shuttle))]
use std::ffi::OsString;
#[cfg(not(shuttle))]
use std::num::NonZeroUsize;
use std::sync::Arc;
#[cfg(not(shuttle))]
use std::sync::OnceLock;

#[cfg(not(shuttle))]
use raddle_net::{Launch, Shape, TransportKind};
#[cfg(not(shuttle))]
use raddle_runtime::Builder;
use raddle_runtime::{BuildError, Network, Runtime};
#[cfg(not(shuttle))]
use raddle_sync::prim::thread;

use self::allocator::keep_freed_memory;
#[cfg(not(shuttle))]
pub use self::environment::{JobEnvironment, NODES_MAX};
pub use self::error::JobError;
use self::listener::Listener;
use self::open::Open;
pub use self::progress::Progress;
pub use self::setup::Setup;
#[cfg(not(shuttle))]
use self::transport::MORE_PORTS;
use self::transport::NetTransport;
use super::net::Node;
#[cfg(not(shuttle))]
use super::net::{NetError, PORTS_MAX};
use crate::remote::{Away, WireMessage, out};
use crate::start::try_system_of;

/// A program over several nodes: processes of one program, each with its own runtime.
///
/// # Examples
/// Every process runs this; the first also starts the others.
/// ```no_run
/// use raddle_chare::nodes::Job;
/// use raddle_chare::reduce::Sum;
/// use raddle_chare::{Cx, chare};
///
/// struct Square {
///     edge: u64,
/// }
///
/// #[chare(nodes)]
/// impl Square {
///     #[entry]
///     fn add_up(&mut self, cx: &mut Cx<Self>) {
///         cx.contribute(Sum(self.edge * self.edge));
///     }
/// }
///
/// let sum = Job::new(2).run(
///     |setup| setup.array(10, |index| Square { edge: index as u64 }),
///     |_, squares| {
///         squares.all().add_up();
///         squares.reduction::<u64>().wait()
///     },
/// )?;
/// // `None` on the nodes that were started.
/// if let Some(sum) = sum {
///     assert_eq!(sum, 285);
/// }
/// # Ok::<(), raddle_chare::nodes::JobError>(())
/// ```
#[cfg(not(shuttle))]
#[derive(Debug)]
pub struct Job {
    nodes: u16,
    kind: TransportKind,
    arguments: Option<Vec<OsString>>,
    is_quiet: bool,
    progress: Progress,
    builder: Builder,
}

#[cfg(not(shuttle))]
impl Job {
    /// Creates a job on this many nodes.
    #[must_use]
    pub fn new(nodes: u16) -> Self {
        Self {
            nodes,
            kind: TransportKind::default(),
            arguments: None,
            is_quiet: false,
            progress: Progress::default(),
            builder: Builder::new(),
        }
    }

    /// Creates a job from the environment: `RADDLE_NODES` is the number of nodes (default 1),
    /// `RADDLE_TRANSPORT` the transport, and `RADDLE_PROGRESS` the progress.
    ///
    /// A program that `mpirun` or `srun` has started as several processes uses
    /// [`TransportKind::Mpi`] if no transport is named. With that transport, the default number of
    /// nodes is the number of processes.
    ///
    /// # Errors
    /// [`JobError::Environment`].
    pub fn from_environment() -> Result<Self, JobError> {
        let said = JobEnvironment::read()?;
        Ok(Self::new(said.nodes.unwrap_or(1))
            .transport(said.transport.unwrap_or_default())
            .progress(said.progress.unwrap_or_default()))
    }

    /// Sets the transport of messages between nodes; the default is shared memory.
    #[must_use]
    pub fn transport(mut self, kind: TransportKind) -> Self {
        self.kind = kind;
        self
    }

    /// Sets which threads receive messages from other nodes, and when; the default is
    /// [`Progress::Pending`].
    #[must_use]
    pub fn progress(mut self, progress: Progress) -> Self {
        self.progress = progress;
        self
    }

    /// Configures each node's runtime.
    #[must_use]
    pub fn runtime(mut self, builder: Builder) -> Self {
        self.builder = builder;
        self
    }

    /// Starts the other nodes with these arguments instead of this process's.
    #[must_use]
    pub fn arguments<I: Into<OsString>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        self.arguments = Some(arguments.into_iter().map(Into::into).collect());
        self
    }

    /// Sets whether the standard output of the other nodes is dropped.
    #[must_use]
    pub fn quiet(mut self, is_quiet: bool) -> Self {
        self.is_quiet = is_quiet;
        self
    }

    /// Runs `setup` on all nodes, then `main` on the first. Returns the result of `main` on the
    /// first node, and `None` on the others.
    ///
    /// All nodes together have at most [`PORTS_MAX`] ports: one for each worker, and two more per
    /// node. From here on glibc's allocator keeps up to 16 MB of freed memory per arena, for
    /// messages.
    ///
    /// # Errors
    /// [`JobError`]; on nodes that were started, also if the first node has ended unexpectedly.
    /// [`JobError::Failed`] if an entry on any node has panicked and no wait in `main` has reported
    /// it.
    /// # Panics
    /// If `setup` or `main` panics, with the same panic.
    pub fn run<S, R>(
        self,
        setup: impl FnOnce(&Setup<'_>) -> S,
        main: impl FnOnce(&Runtime, S) -> R,
    ) -> Result<Option<R>, JobError> {
        let local = Launch::local_rank_count().filter(|_| self.kind.is_by_mpi());
        let processes = processes_of(local.unwrap_or(self.nodes))?;
        let builder = self.builder.processes(processes);
        let is_alone = self.nodes == 1 && !Launch::is_started();
        // Without MPI, a single node needs no network. With MPI, it is one of the processes that
        // MPI has started.
        if is_alone && !self.kind.is_by_mpi() {
            let runtime = builder.build()?;
            let system = try_system_of(&runtime)?;
            let made = setup(&Setup {
                runtime: &runtime,
                system: &system,
                listener: None,
            });
            let result = main(&runtime, made);
            return system
                .unreported()
                .report()
                .map_or(Ok(Some(result)), |failure| Err(failure.into()));
        }
        // Start the other processes, or connect with the process that started this one.
        let shape = shape(self.nodes, &builder)?;
        let mut launch = Launch::new(shape).transport(self.kind).quiet(self.is_quiet);
        if let Some(arguments) = self.arguments {
            launch = launch.arguments(arguments);
        }
        let nodes = launch.start()?;
        let result = run_on(
            nodes.node(),
            builder_of(of_node(builder, nodes.node(), self.kind, processes)),
            self.progress,
            setup,
            main,
        );
        match result {
            Ok(result) => {
                nodes.finish()?;
                Ok(result)
            }
            // If a node has ended, its exit status may explain it better.
            Err(error @ JobError::Net(NetError::Died(_) | NetError::Left(_))) => {
                Err(nodes.why().map_or(error, JobError::Net))
            }
            Err(error) => Err(error),
        }
    }

    /// Runs a program like [`run`](Self::run), on nodes within this process. Each node has its own
    /// runtime and memory; the nodes communicate only by messages.
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    /// # Panics
    /// As for [`run`](Self::run).
    pub fn run_within<S, R: Send>(
        self,
        setup: impl Fn(&Setup<'_>) -> S + Sync,
        main: impl FnOnce(&Runtime, S) -> R + Send,
    ) -> Result<R, JobError> {
        let processes = processes_of(self.nodes)?;
        let builder = self.builder.processes(processes);
        let (progress, kind) = (self.progress, self.kind);
        let nodes = Node::in_process_by(kind, shape(self.nodes, &builder)?)?;
        let mut mains = Some(main);
        // No node begins before all threads exist, because the program needs every node. If a
        // thread cannot be started, no node begins.
        let are_all_there = OnceLock::new();
        thread::scope(|scope| {
            let threads: Vec<_> = nodes
                .into_iter()
                .map(|node| {
                    let (setup, main, builder) = (&setup, mains.take(), builder.clone());
                    let are_all_there = &are_all_there;
                    let run = move || {
                        if !are_all_there.wait() {
                            return Ok(None);
                        }
                        run_on(
                            &node,
                            builder_of(of_node(builder, &node, kind, processes)),
                            progress,
                            setup,
                            |runtime, setup| main.map(|main| main(runtime, setup)),
                        )
                    };
                    let named = thread::Builder::new().name("raddle-main".to_owned());
                    named.spawn_scoped(scope, run)
                })
                .collect();
            let set = are_all_there.set(threads.iter().all(Result::is_ok));
            set.expect("the value is set once");
            let threads: Result<Vec<_>, _> = threads.into_iter().collect();
            let threads = threads.map_err(|error| NetError::System {
                what: "a thread",
                error,
            })?;
            let mut results = threads.into_iter().map(|thread| {
                let joined = thread.join();
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            let first = results.next().expect("there is a first node")?;
            for other in results {
                other?;
            }
            Ok(first.flatten().expect("the first node runs the main part"))
        })
    }
}

/// Returns the number of processes that share the machine.
#[cfg(not(shuttle))]
fn processes_of(nodes: u16) -> Result<NonZeroUsize, NetError> {
    NonZeroUsize::new(nodes.into()).ok_or(NetError::Shape(Shape { nodes: 0, ports: 1 }))
}

/// Sets the number of a node among the processes of this machine in its builder. Unless MPI gives
/// that number, each machine is assumed to have equally many processes, with consecutive numbers.
#[cfg(not(shuttle))]
fn of_node(builder: Builder, node: &Node, kind: TransportKind, processes: NonZeroUsize) -> Builder {
    let local_rank = Launch::local_rank().filter(|_| kind.is_by_mpi());
    let index = local_rank.map_or_else(
        || usize::from(node.id().0) % processes,
        |local_rank| local_rank.into(),
    );
    builder.process_index(index)
}

/// Computes the number of ports of each node. Fails if all nodes together would have too many
/// ports.
#[cfg(not(shuttle))]
fn shape(nodes: u16, builder: &Builder) -> Result<Shape, JobError> {
    let workers = builder.worker_count()?;
    let ports = workers + MORE_PORTS;
    if usize::from(nodes) * ports > PORTS_MAX {
        return Err(JobError::TooMany { nodes, workers });
    }
    // The conversion fails only if there are 0 nodes; starting them reports that.
    let ports = u16::try_from(ports).unwrap_or(u16::MAX);
    Ok(Shape { nodes, ports })
}

/// Returns a function that builds the runtime of a node. The workers use the network if they
/// receive.
#[cfg(not(shuttle))]
fn builder_of(
    builder: Builder,
) -> impl FnOnce(Option<Arc<dyn Network>>) -> Result<Runtime, BuildError> {
    |network| match network {
        Some(network) => builder.network(network).build(),
        None => builder.build(),
    }
}

/// Runs a program on one node, with the runtime that `build` returns.
pub(crate) fn run_on<S, R>(
    node: &Node,
    build: impl FnOnce(Option<Arc<dyn Network>>) -> Result<Runtime, BuildError>,
    progress: Progress,
    setup: impl FnOnce(&Setup<'_>) -> S,
    main: impl FnOnce(&Runtime, S) -> R,
) -> Result<Option<R>, JobError> {
    keep_freed_memory();
    // Workers receive from the listener, unless a thread of its own does.
    let listener = Arc::new(Listener::new(node));
    let runtime = build(match progress {
        Progress::Thread => None,
        Progress::Pending | Progress::EachSend | Progress::AnySend => {
            Some(Arc::clone(&listener) as _)
        }
    })?;
    let system = try_system_of(&runtime)?;
    let me = node.id().0;
    let transport = NetTransport::new(node, runtime.worker_count(), &listener, progress);
    // Connect the system with the other nodes, and run the set-up. Wire messages are kept until all
    // collections exist.
    let away = Away::new(me, node.shape().nodes, Box::new(transport));
    system.set_other_nodes(away);
    let made = setup(&Setup {
        runtime: &runtime,
        system: &system,
        listener: Some(&listener),
    });
    // From here on, wire messages are delivered. Nodes other than the first serve until the end.
    let open = Open::new(&listener, &system, progress)?;
    if me > 0 {
        open.serve()?;
        return Ok(None);
    }
    let result = main(&runtime, made);
    // The main part is over: let the other nodes end, and report panics that no wait has reported.
    listener.stop();
    out::send_to_others(&system, &WireMessage::Stop);
    drop(open);
    let unreported = system.unreported().report();
    unreported.map_or(Ok(Some(result)), |failure| Err(failure.into()))
}
