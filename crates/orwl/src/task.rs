//! The declaration of tasks: their handles, their turns, and the code that they run.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use raddle_sync::fifo::Access;
use raddle_sync::ordered::{Read, Right, Write};
use raddle_sync::prim::AtomicU64;

use crate::handle::{Handle, Once, ReadHandle, WriteHandle};
use crate::handle_requests::PutIn;
use crate::location::Location;
use crate::operation::{Link, Operation};

/// The properties of a location that declarations depend on.
#[derive(Debug)]
pub(crate) struct Declared {
    /// True once a task has been declared that writes the location.
    pub(crate) has_writer: bool,
    pub(crate) bytes: usize,
}

/// The requests of a handle, which the program puts in before the run.
pub(crate) struct FirstRequests {
    pub(crate) requests: Arc<dyn PutIn>,
    /// The number of turns for which requests are put in before the run begins.
    pub(crate) turns: usize,
}

impl std::fmt::Debug for FirstRequests {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("FirstRequests")
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

/// A task, or one of its operations, while it is declared.
///
/// It creates the handles that the task will use.
pub struct Task<'a> {
    operation: &'a Arc<Operation>,
    program: u64,
    locations: &'a [Declared],
    declared: Settled,
    links: Vec<Arc<Link>>,
    pub(crate) has_turns: bool,
}

/// The result of a declaration, for the program.
///
/// If the declaration panics, the program gets nothing.
#[derive(Default)]
pub(crate) struct Settled {
    pub(crate) requests: Vec<FirstRequests>,
    /// The indices of the wholes of the locations that the task writes.
    pub(crate) written: Vec<usize>,
    pub(crate) load: Option<f64>,
}

impl<'a> Task<'a> {
    pub(crate) fn new(
        operation: &'a Arc<Operation>,
        program: u64,
        locations: &'a [Declared],
    ) -> Self {
        Self {
            operation,
            program,
            locations,
            declared: Settled::default(),
            links: Vec::new(),
            has_turns: false,
        }
    }

    /// Ends the declaration.
    pub(crate) fn settle(self) -> Settled {
        let links = self.operation.links.set(self.links);
        links.expect("a task is declared once");
        let requests = self
            .declared
            .requests
            .iter()
            .map(|of| Arc::clone(&of.requests));
        let requests = self.operation.requests.set(requests.collect());
        assert!(requests.is_ok(), "a task is declared once");
        self.declared
    }

    /// Creates a handle to read a location in every turn.
    ///
    /// A task that is declared after the writers of the location reads what they wrote in the same
    /// turn. A task that is declared before them reads what they wrote in the previous turn.
    ///
    /// # Panics
    /// Panics if the location belongs to another program, or if the task already has a handle on it
    /// (or on its whole, or on a piece of it).
    #[track_caller]
    pub fn reads_each_turn<D>(&mut self, location: &Location<D>) -> ReadHandle<D>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        self.handle::<D, Read>(location, false)
    }

    /// Creates a handle to write a location in every turn.
    ///
    /// The writer finds the value that the task before it has left. If the location keeps old
    /// values, that value is as many turns old as there are values.
    ///
    /// # Panics
    /// As for [`reads_each_turn`](Self::reads_each_turn).
    #[track_caller]
    pub fn writes_each_turn<D>(&mut self, location: &Location<D>) -> WriteHandle<D>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        self.handle::<D, Write>(location, false)
    }

    /// Creates a handle to read a location once, in the first turn.
    ///
    /// # Panics
    /// As for [`reads_each_turn`](Self::reads_each_turn).
    #[track_caller]
    pub fn reads<D>(&mut self, location: &Location<D>) -> Once<D, Read>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        Once(self.handle(location, true))
    }

    /// Creates a handle to write a location once, in the first turn.
    ///
    /// # Panics
    /// As for [`reads_each_turn`](Self::reads_each_turn). Also panics if the location keeps old
    /// values, since the values of later turns would be older than the one that is written.
    #[track_caller]
    pub fn writes<D>(&mut self, location: &Location<D>) -> Once<D, Write>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        assert!(
            location.ring.len() == 1,
            "task {} writes location {:?} once, which keeps {} values; expected a handle for each \
             turn, or a location of one value",
            self.operation.name,
            location.name(),
            location.ring.len()
        );
        Once(self.handle(location, true))
    }

    /// Returns the turns of an `async` task, which requests each of them.
    ///
    /// A task that does not call this has one turn. The other tasks go on without it.
    pub fn turns(&mut self) -> Turns {
        self.has_turns = true;
        Turns {
            operation: Arc::clone(self.operation),
            has_begun: false,
        }
    }

    /// Declares the work of a turn, relative to other tasks.
    ///
    /// It is used for placement if there are more tasks than CPUs. Without this call, the work is
    /// estimated from the bytes that a turn uses. If operations are moved during the run, their
    /// measured work counts instead.
    ///
    /// # Panics
    /// Panics if `load` is not a positive finite number.
    #[track_caller]
    pub fn load(&mut self, load: f64) {
        assert!(
            load > 0.0 && load.is_finite(),
            "the load of task {} is {load}; expected a positive number",
            self.operation.name
        );
        self.declared.load = Some(load);
    }

    #[track_caller]
    fn handle<D, R: Right>(&mut self, location: &Location<D>, is_once: bool) -> Handle<D, R>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        let (name, of) = (&self.operation.name, &location.of);
        assert!(
            of.program == self.program,
            "location {:?} belongs to another program than task {name}; expected one that this \
             program has created",
            of.name
        );
        let is_same = |link: &Arc<Link>| {
            let other = &link.location;
            let is_part = of.index == of.whole || other.index == other.whole;
            of.index == other.index || (of.whole == other.whole && is_part)
        };
        assert!(
            !self.links.iter().any(is_same),
            "task {name} has two handles on location {:?}, which would wait for each other; \
             expected one",
            of.name
        );
        let depth = location.ring.len();
        let is_reader = R::ACCESS == Access::Read;
        // A reader that is declared before the writers reads what they wrote in the previous turn.
        let first = if is_reader && !self.locations[of.whole].has_writer {
            depth - 1
        } else {
            0
        };
        if !is_reader {
            self.declared.written.push(of.whole);
        }
        let link = Arc::new(Link {
            location: Arc::clone(of),
            access: R::ACCESS,
            is_once,
            turns: AtomicU64::new(0),
            sections: AtomicU64::new(0),
            extent: AtomicU64::new(self.locations[of.index].bytes as u64),
            touched: AtomicU64::new(u64::MAX),
        });
        let handle = Handle::new(self.operation, location, &link, first, is_once);
        self.links.push(link);
        self.declared.requests.push(FirstRequests {
            requests: Arc::clone(handle.requests()) as Arc<dyn PutIn>,
            turns: if is_once { 1 } else { depth },
        });
        handle
    }
}

impl std::fmt::Debug for Task<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Task")
            .field("name", &self.operation.name.to_string())
            .field("links", &self.links)
            .finish_non_exhaustive()
    }
}

/// The turns of an `async` task; see [`Task::turns`].
#[derive(Debug)]
pub struct Turns {
    operation: Arc<Operation>,
    has_begun: bool,
}

impl Turns {
    /// Ends the current turn and begins the next one. Returns false if there is no other turn.
    ///
    /// A task that returns before that ends the program. The last turn of the program is the last
    /// one that the task has ended.
    ///
    /// # Panics
    /// Panics if a handle was not used in the turn that ends, or is still in its section.
    #[must_use = "there is no section to wait for after the last turn"]
    #[expect(clippy::should_implement_trait, reason = "a turn is not an item")]
    pub fn next(&mut self) -> bool {
        if std::mem::replace(&mut self.has_begun, true) {
            self.operation.end_turn();
        }
        self.operation.begin_turn()
    }

    /// Returns the number of the current turn, from 0.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.operation.turn()
    }
}

/// The return type of a turn: `()`, or a [`ControlFlow`] that may end the program.
pub trait TurnEnd {
    /// Returns [`ControlFlow::Break`] if this turn does not count and the program ends.
    fn flow(self) -> ControlFlow<()>;
}

impl TurnEnd for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl TurnEnd for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}

/// The code of an operation.
pub(crate) enum Body {
    /// A closure that runs one turn, on a thread that it may block.
    Blocking(Box<dyn FnMut() -> ControlFlow<()> + Send>),
    /// A future that runs all turns, on a worker.
    Future {
        future: Pin<Box<dyn Future<Output = ()> + Send>>,
        has_turns: bool,
    },
}

impl Body {
    /// Returns true if the operation needs its own thread.
    pub(crate) fn blocks(&self) -> bool {
        matches!(self, Self::Blocking(_))
    }
}

impl std::fmt::Debug for Body {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Blocking(_) => "Blocking",
            Self::Future { .. } => "Future",
        })
    }
}
