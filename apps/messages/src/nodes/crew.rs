//! A crew: nodes that do what the first of them is asked for.

use std::ffi::OsString;
use std::sync::{Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use raddle::net::{
    Arrival, Data, Launch, Message, NetError, Node, NodeId, Nodes, Port, PortId, Shape,
    TransportKind,
};

use super::order::{Order, Outcome, Rally, Task, Told};
use super::overheads::{self, Overheads};
use super::seats::{Seats, sit_down};
use super::symmetric::{self, Kernel, Served};
use super::watch::{Watch, send};
use super::{COMPUTE, NodesError, PORTS, RECEIVE, Receive, rally};
use crate::threads::{self, ThreadRefused};

/// The nodes of a program, as seen from the first.
///
/// # Examples
/// ```
/// use raddle::net::TransportKind;
/// use raddle_messages::nodes::{Crew, Receive, Seats};
/// use raddle_topology::{Affinity, Topology};
/// use std::time::Duration;
///
/// let seats = Seats::of(Topology::this_machine()?, &Affinity::None, 2)?;
/// let crew = Crew::in_process(TransportKind::Memory, 2, seats)?;
/// let times = crew.rally(Receive::Notify, 100, 20, Duration::from_secs(60))?;
/// assert_eq!(times.len(), 20);
/// crew.finish()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Crew {
    team: Team,
    kind: TransportKind,
    seats: Seats,
    ports: Mutex<Ports>,
}

/// The ports of a node.
#[derive(Debug)]
pub(super) struct Ports {
    pub(super) compute: Port,
    pub(super) receive: Port,
}

/// What a part of a program has of its node.
pub(super) struct Part<'node> {
    pub(super) node: &'node Node,
    pub(super) ports: &'node mut Ports,
    pub(super) order: Order,
}

/// What the nodes are.
#[derive(Debug)]
enum Team {
    Processes(Nodes),
    Threads(Node, Vec<JoinHandle<Result<(), NodesError>>>),
}

impl Crew {
    /// Brings nodes up as processes of this program, which are given these arguments, or those of this process, and come here, too; by threads, as
    /// [threads of this one](Self::in_process).
    ///
    /// Returns nothing in the other nodes: they have done what they were told to the end, by which time there is nothing left to do.
    ///
    /// # Errors
    /// [`NodesError`]: nodes that do not come up; in the others also what ended them.
    pub fn start(
        kind: TransportKind,
        nodes: u16,
        seats: Seats,
        arguments: Option<Vec<OsString>>,
    ) -> Result<Option<Self>, NodesError> {
        if kind == TransportKind::Threads {
            return Self::in_process(kind, nodes, seats).map(Some);
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
        Ok(Some(Self::of(Team::Processes(nodes), kind, seats)))
    }

    /// Nodes that are threads of this process, and meet nowhere but in their messages.
    ///
    /// # Errors
    /// [`NodesError`]: nodes that do not come up.
    pub fn in_process(kind: TransportKind, nodes: u16, seats: Seats) -> Result<Self, NodesError> {
        let mut nodes = Node::in_process_by(kind, shape(nodes))?;
        let others = nodes.split_off(1);
        let first = nodes.pop().expect("a program has a first node");
        let follow = |node: Node| threads::spawn("node", move || follow(&node));
        // Where a thread is refused, its node is dropped, and so are the others and the first, which ends the threads before it.
        let others = others
            .into_iter()
            .map(follow)
            .collect::<Result<_, ThreadRefused>>()?;
        Ok(Self::of(Team::Threads(first, others), kind, seats))
    }

    fn of(team: Team, kind: TransportKind, seats: Seats) -> Self {
        let ports = Mutex::new(Ports::of(team.node()));
        Self {
            team,
            kind,
            seats,
            ports,
        }
    }

    /// By what messages travel.
    pub const fn transport(&self) -> TransportKind {
        self.kind
    }

    /// How many nodes there are.
    pub fn node_count(&self) -> u16 {
        self.team.node().shape().nodes
    }

    /// How many of them the first shares memory with, itself among them.
    pub fn sharing_count(&self) -> usize {
        let node = self.team.node();
        let all = node.shape().node_ids();
        all.filter(|&other| node.shares_memory_with(other)).count()
    }

    /// Where their threads run.
    pub const fn seats(&self) -> &Seats {
        &self.seats
    }

    /// The time of each of so many round trips of a message between the first node and the last, or of those that began within `limit`: one at least.
    /// The clock is read once for each.
    ///
    /// Few bytes come along with the message, more are put into a segment of the receiver, from where they are sent back. All of them are looked at in the
    /// first trip and in the last, which are not timed, the first and the last byte in every one.
    ///
    /// # Errors
    /// [`NodesError`]: a node that ended, bytes that nobody sent, a thread that cannot be bound.
    pub fn rally(
        &self,
        receive: Receive,
        bytes: usize,
        trips: u64,
        limit: Duration,
    ) -> Result<Vec<Duration>, NodesError> {
        let each = true;
        let rally = Rally {
            receive,
            bytes,
            trips,
            limit,
            each,
        };
        let (own, _) = self.all_do(Task::Rally(rally))?;
        Ok(own.times)
    }

    /// The time of so many round trips, all together.
    ///
    /// # Errors
    /// As [`rally`](Self::rally).
    pub fn rally_in_all(
        &self,
        receive: Receive,
        bytes: usize,
        trips: u64,
    ) -> Result<Duration, NodesError> {
        let rally = Rally {
            receive,
            bytes,
            trips,
            limit: Duration::MAX,
            each: false,
        };
        let (own, _) = self.all_do(Task::Rally(rally))?;
        Ok(own.told.time)
    }

    /// Runs the symmetrical kernel.
    ///
    /// # Errors
    /// As [`rally`](Self::rally).
    pub fn serve(&self, kernel: Kernel) -> Result<Served, NodesError> {
        let (own, _) = self.all_do(Task::Kernel(kernel))?;
        Ok(Served::of(own))
    }

    /// Measures the steps of a message, each so often.
    ///
    /// # Errors
    /// As [`rally`](Self::rally).
    pub fn overheads(&self, samples: u64) -> Result<Overheads, NodesError> {
        let (own, others) = self.all_do(Task::Overheads { samples })?;
        let last = others.last().copied().unwrap_or_default();
        Overheads::complete(self, samples, own.told, last)
    }

    /// Has every node do its part, this one in a thread of its own; returns its outcome, and what the others told of theirs.
    fn all_do(&self, task: Task) -> Result<(Outcome, Vec<Told>), NodesError> {
        let mut ports = self.ports.lock().unwrap_or_else(PoisonError::into_inner);
        let node = self.team.node();
        let order = |index: u16| Order {
            seat: self.seats.of_node(index.into()),
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
        let own = own.run_apart()?;
        let mut told = Vec::new();
        while told.len() + 1 < usize::from(node.shape().nodes) {
            Watch::Wait.next(&mut ports.compute, |arrival| {
                told.extend(Told::read(here(&arrival)).map(|told| (arrival.from.node, told)));
            })?;
        }
        told.sort_unstable_by_key(|(node, _)| *node);
        Ok((own, told.into_iter().map(|(_, told)| told).collect()))
    }

    /// Tells the others that it is over, and waits for them.
    ///
    /// # Errors
    /// [`NodesError`] of the first of them that failed.
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

    /// Ends the nodes after a failure; returns that of a node that has told why it failed.
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
            seat: self.seats.of_node(0),
            task: Task::End,
        };
        for to in others(self.team.node()) {
            // Who has ended need not be told.
            let _gone = send(&mut ports.compute, to, Message::default(), &order.write());
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

impl Ports {
    fn of(node: &Node) -> Self {
        Self {
            compute: node.port(COMPUTE),
            receive: node.port(RECEIVE),
        }
    }
}

impl Part<'_> {
    /// Which of how many it is.
    pub(super) fn place(&self) -> (u16, u16) {
        (self.node.id().0, self.node.shape().nodes)
    }

    /// Runs it in a thread of its own, which is bound. The process's first thread is not: by that one a process knows how many CPUs it has.
    fn run_apart(self) -> Result<Outcome, NodesError> {
        thread::scope(|scope| {
            let part = threads::spawn_in(scope, "part", || self.run())?;
            part.join().expect("no part panics")
        })
    }

    fn run(mut self) -> Result<Outcome, NodesError> {
        sit_down(self.order.seat.compute)?;
        match self.order.task {
            Task::Rally(rally) => rally::run(&mut self, rally),
            Task::Kernel(kernel) => symmetric::run(&mut self, kernel),
            Task::Overheads { samples } => overheads::run(&mut self, samples),
            Task::End => Ok(Outcome::default()),
        }
    }
}

/// Does what the first node orders, to the end.
fn follow(node: &Node) -> Result<(), NodesError> {
    let mut ports = Ports::of(node);
    loop {
        let mut order = None;
        let next = Watch::Wait.next(&mut ports.compute, |arrival| {
            order = Order::read(here(&arrival));
        });
        match next {
            // It has nothing more to say.
            Err(NetError::Left(NodeId(0))) => return Ok(()),
            // Another one has finished before this one.
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
        let outcome = part.run_apart()?;
        let first = PortId {
            node: NodeId(0),
            index: COMPUTE,
        };
        let bytes = outcome.told.write();
        send(&mut ports.compute, first, Message::default(), &bytes)?;
    }
}

const fn shape(nodes: u16) -> Shape {
    Shape {
        nodes,
        ports: PORTS,
    }
}

/// Where the other nodes hear orders.
fn others(node: &Node) -> impl Iterator<Item = PortId> {
    let me = node.id();
    let others = node.shape().node_ids().filter(move |&node| node != me);
    others.map(|node| PortId {
        node,
        index: COMPUTE,
    })
}

/// The data of a message that came along with it.
pub(super) fn here<'data>(arrival: &Arrival<'data>) -> &'data [u8] {
    match arrival.data {
        Data::Here(bytes) => bytes,
        Data::Put { .. } => &[],
    }
}
