//! A group of nodes that run the programs that the first node is asked for.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use raddle::net::{Launch, Message, NetError, Node, NodeId, Nodes, PortId, Shape, TransportKind};

use super::cpus::{NodeCpus, bind_this_thread};
use super::error::NodesError;
use super::order::{Kernel, Order, Outcome, Report, RoundTrips, Task};
use super::overheads::{self, Overheads};
use super::part::{COMPUTE, PORTS, Part, Ports, inline_data};
use super::receive::Receive;
use super::round_trips;
use super::symmetric::{self, Served};
use super::watch::{Watch, send};
use crate::threads::{self, ThreadRefused};

/// A group of nodes, as seen from the first node.
///
/// # Examples
/// ```
/// use raddle::net::TransportKind;
/// use raddle_messages::nodes::{NodeGroup, Receive, NodeCpus};
/// use raddle_topology::{Affinity, Topology};
/// use std::time::Duration;
///
/// let cpus = NodeCpus::of(Topology::this_machine()?, &Affinity::None, 2)?;
/// let group = NodeGroup::in_process(TransportKind::Memory, 2, cpus)?;
/// let times = group.trip_times(Receive::Notify, 100, 20, Duration::from_secs(60))?;
/// assert_eq!(times.len(), 20);
/// group.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NodeGroup {
    team: Team,
    kind: TransportKind,
    cpus: NodeCpus,
    ports: Mutex<Ports>,
}

/// The processes or threads that are the nodes.
#[derive(Debug)]
enum Team {
    Processes(Nodes),
    Threads(Node, Vec<JoinHandle<Result<(), NodesError>>>),
}

impl NodeGroup {
    /// Starts the nodes as processes of this program, or, for [`TransportKind::Threads`], as
    /// [threads of this process](Self::in_process).
    ///
    /// The processes get `arguments`, or by default the arguments of this process. Each of them
    /// must reach the same call.
    ///
    /// Returns the group in the first node. In the other nodes, this call runs their parts of all
    /// programs until the first node finishes, and returns `None`; they have nothing left to do.
    ///
    /// # Errors
    /// [`NodesError`] if the nodes fail to start, and in the other nodes also if a program fails.
    pub fn start(
        kind: TransportKind,
        nodes: u16,
        cpus: NodeCpus,
        arguments: Option<Vec<OsString>>,
    ) -> Result<Option<Self>, NodesError> {
        if kind == TransportKind::Threads {
            return Self::in_process(kind, nodes, cpus).map(Some);
        }
        let mut launch = Launch::new(shape(nodes)).transport(kind).quiet(true);
        if let Some(arguments) = arguments {
            launch = launch.arguments(arguments);
        }
        let nodes = launch.start()?;
        if nodes.node().id() != NodeId(0) {
            follow(nodes.node())?;
            nodes.finish()?;
            return Ok(None);
        }
        Ok(Some(Self::of(Team::Processes(nodes), kind, cpus)))
    }

    /// Starts the nodes as threads of this process. They share nothing but their messages.
    ///
    /// # Errors
    /// [`NodesError`] if the nodes fail to start.
    pub fn in_process(kind: TransportKind, nodes: u16, cpus: NodeCpus) -> Result<Self, NodesError> {
        let mut nodes = Node::in_process_by(kind, shape(nodes))?;
        let others = nodes.split_off(1);
        let first = nodes.pop().expect("a program has a first node");
        let follow = |node: Node| threads::spawn("node", move || follow(&node));
        // If a thread is refused, its node, all later nodes and the first node are dropped. That
        // ends the threads that were started before.
        let others = others
            .into_iter()
            .map(follow)
            .collect::<Result<_, ThreadRefused>>()?;
        Ok(Self::of(Team::Threads(first, others), kind, cpus))
    }

    fn of(team: Team, kind: TransportKind, cpus: NodeCpus) -> Self {
        let ports = Mutex::new(Ports::of(team.node()));
        Self {
            team,
            kind,
            cpus,
            ports,
        }
    }

    /// Returns the transport of the messages.
    pub const fn transport(&self) -> TransportKind {
        self.kind
    }

    /// Returns the number of nodes.
    pub fn node_count(&self) -> u16 {
        self.team.node().shape().nodes
    }

    /// Returns the number of nodes that share memory with the first node, including itself.
    pub fn sharing_count(&self) -> usize {
        let node = self.team.node();
        let all = node.shape().node_ids();
        all.filter(|&other| node.shares_memory_with(other)).count()
    }

    /// Returns the CPUs on which the threads of the nodes run.
    pub const fn cpus(&self) -> &NodeCpus {
        &self.cpus
    }

    /// Makes `trips` round trips of a message between the first and the last node, and returns the
    /// time of each.
    ///
    /// No trip begins after `limit`, but at least one is timed. The clock is read once per trip.
    ///
    /// A small payload is part of the message. A larger payload is put into a segment of the
    /// receiver, and is sent back from there. The first and the last byte are checked in every
    /// trip. All bytes are checked in the very first and the very last trip, which are not timed.
    ///
    /// # Errors
    /// [`NodesError`] if a node ends, if a message arrives with wrong bytes, or if a thread cannot
    /// be started or bound.
    pub fn trip_times(
        &self,
        receive: Receive,
        bytes: usize,
        trips: u64,
        limit: Duration,
    ) -> Result<Vec<Duration>, NodesError> {
        let each = true;
        let wanted = RoundTrips {
            receive,
            bytes,
            trips,
            limit,
            each,
        };
        let (own, _) = self.all_do(Task::RoundTrips(wanted))?;
        Ok(own.times)
    }

    /// Measures the total time of `trips` round trips.
    ///
    /// # Errors
    /// Those of [`trip_times`](Self::trip_times).
    pub fn total_time(
        &self,
        receive: Receive,
        bytes: usize,
        trips: u64,
    ) -> Result<Duration, NodesError> {
        let wanted = RoundTrips {
            receive,
            bytes,
            trips,
            limit: Duration::MAX,
            each: false,
        };
        let (own, _) = self.all_do(Task::RoundTrips(wanted))?;
        Ok(own.report.time)
    }

    /// Runs the symmetric kernel.
    ///
    /// # Errors
    /// Those of [`trip_times`](Self::trip_times).
    pub fn serve(&self, kernel: Kernel) -> Result<Served, NodesError> {
        let (own, _) = self.all_do(Task::Kernel(kernel))?;
        Ok(Served::of(own))
    }

    /// Measures the steps of a message, `samples` times each.
    ///
    /// # Errors
    /// Those of [`trip_times`](Self::trip_times).
    pub fn overheads(&self, samples: u64) -> Result<Overheads, NodesError> {
        let (own, others) = self.all_do(Task::Overheads { samples })?;
        let last = others.last().copied().unwrap_or_default();
        Overheads::complete(self, samples, own.report, last)
    }

    /// Runs `task` on every node. Returns the outcome of this node, and the reports of the others
    /// in the order of the nodes.
    fn all_do(&self, task: Task) -> Result<(Outcome, Vec<Report>), NodesError> {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let node = self.team.node();
        let order = |index: u16| Order {
            cpus: self.cpus.of_node(index.into()),
            task,
        };
        for to in others(node) {
            let bytes = order(to.node.0).write();
            send(&mut ports.compute, to, Message::default(), &bytes)?;
        }
        let own = Part {
            node,
            ports: &mut ports,
            order: order(0),
        };
        let own = run_apart(own)?;
        let mut reports = Vec::new();
        while reports.len() + 1 < usize::from(node.shape().nodes) {
            Watch::Wait.next(&mut ports.compute, |arrival| {
                let report = Report::read(inline_data(&arrival));
                reports.extend(report.map(|report| (arrival.from.node, report)));
            })?;
        }
        reports.sort_unstable_by_key(|(node, _)| *node);
        Ok((own, reports.into_iter().map(|(_, report)| report).collect()))
    }

    /// Ends the other nodes, and waits for them.
    ///
    /// # Errors
    /// [`NodesError`] of the first node that failed.
    pub fn finish(self) -> Result<(), NodesError> {
        self.dismiss();
        match self.team {
            Team::Processes(nodes) => Ok(nodes.finish()?),
            Team::Threads(node, others) => {
                drop(node);
                let mut ends = others.into_iter().map(JoinHandle::join);
                ends.try_for_each(|end| end.expect("no node panics"))
            }
        }
    }

    /// Ends the nodes after a failure. Returns the failure of a node that has reported its reason.
    pub fn why(self) -> Option<NodesError> {
        self.dismiss();
        match self.team {
            Team::Processes(nodes) => nodes.why().map(NodesError::Net),
            Team::Threads(..) => None,
        }
    }

    fn dismiss(&self) {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let order = Order {
            cpus: self.cpus.of_node(0),
            task: Task::End,
        };
        for to in others(self.team.node()) {
            // A node that has already ended does not need the order.
            let _has_ended = send(&mut ports.compute, to, Message::default(), &order.write());
        }
    }
}

impl Team {
    const fn node(&self) -> &Node {
        match self {
            Self::Processes(nodes) => nodes.node(),
            Self::Threads(node, _) => node,
        }
    }
}

/// Runs the part in a new thread, which is bound to its CPU. The main thread of the process
/// must not be bound, because the CPUs that it may use tell how many CPUs the process has.
fn run_apart(part: Part<'_>) -> Result<Outcome, NodesError> {
    thread::scope(|scope| {
        let thread = threads::spawn_in(scope, "part", || run(part))?;
        thread.join().expect("no part panics")
    })
}

/// Runs the part in this thread.
fn run(mut part: Part<'_>) -> Result<Outcome, NodesError> {
    bind_this_thread(part.order.cpus.compute)?;
    match part.order.task {
        Task::RoundTrips(wanted) => round_trips::run(&mut part, wanted),
        Task::Kernel(kernel) => symmetric::run(&mut part, kernel),
        Task::Overheads { samples } => overheads::run(&mut part, samples),
        Task::End => Ok(Outcome::default()),
    }
}

/// Carries out the orders of the first node until it sends [`Task::End`] or ends.
fn follow(node: &Node) -> Result<(), NodesError> {
    let mut ports = Ports::of(node);
    loop {
        let mut order = None;
        let next = Watch::Wait.next(&mut ports.compute, |arrival| {
            order = Order::read(inline_data(&arrival));
        });
        match next {
            // The first node has left, so there will be no further orders.
            Err(NetError::Left(NodeId(0))) => return Ok(()),
            // Another node has finished earlier than this one.
            Err(NetError::Left(_)) => continue,
            other => other?,
        }
        let Some(order) = order else { continue };
        if order.task == Task::End {
            return Ok(());
        }
        let part = Part {
            node,
            ports: &mut ports,
            order,
        };
        let outcome = run_apart(part)?;
        let first = PortId {
            node: NodeId(0),
            index: COMPUTE,
        };
        let bytes = outcome.report.write();
        send(&mut ports.compute, first, Message::default(), &bytes)?;
    }
}

const fn shape(nodes: u16) -> Shape {
    Shape {
        nodes,
        ports: PORTS,
    }
}

/// Returns the ports at which the other nodes receive orders.
fn others(node: &Node) -> impl Iterator<Item = PortId> {
    let me = node.id();
    let others = node.shape().node_ids().filter(move |&node| node != me);
    others.map(|node| PortId {
        node,
        index: COMPUTE,
    })
}
