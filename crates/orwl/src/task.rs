//! Tasks as they are declared: their handles, their turns, and what runs them.

use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;

use raddle_sync::fifo::Access;
use raddle_sync::ordered::{Read, Right, Write};
use raddle_sync::prim::AtomicU64;

use crate::handle::{Handle, Once, ReadHandle, WriteHandle};
use crate::location::Location;
use crate::operation::{Link, Operation};
use crate::seat::PutIn;

/// What a program knows of a location.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Somebody has declared that he writes it.
    pub(crate) has_writer: bool,
    pub(crate) bytes: usize,
}

/// A seat of a handle, and in how many turns it is taken up before the run begins.
pub(crate) struct SeatOf {
    pub(crate) seat: Arc<dyn PutIn>,
    pub(crate) turns: usize,
}

impl std::fmt::Debug for SeatOf {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("SeatOf")
            .field("turns", &self.turns)
            .finish_non_exhaustive()
    }
}

/// A task, or one operation of it, while it is declared: makes the handles that it will use.
pub struct Task<'a> {
    operation: &'a Arc<Operation>,
    program: u64,
    locations: &'a [Declared],
    declared: Settled,
    links: Vec<Arc<Link>>,
    pub(crate) has_turns: bool,
}

/// What a task has declared, for its program: nothing of one whose declaration panics.
#[derive(Default)]
pub(crate) struct Settled {
    pub(crate) seats: Vec<SeatOf>,
    /// Locations that it writes, as wholes.
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
        let seats = self.declared.seats.iter().map(|of| Arc::clone(&of.seat));
        let seats = self.operation.seats.set(seats.collect());
        assert!(seats.is_ok(), "a task is declared once");
        self.declared
    }

    /// A handle to read a location in every turn.
    ///
    /// A task that was declared behind the writers of the location reads what they wrote in the same turn; one that was declared before
    /// them, what they wrote in the turn before.
    ///
    /// # Panics
    /// When the location is another program's, or the task has a handle on it already.
    #[track_caller]
    pub fn reads_each_turn<D>(&mut self, location: &Location<D>) -> ReadHandle<D>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        self.handle::<D, Read>(location, false)
    }

    /// A handle to write a location in every turn.
    ///
    /// The writer finds what the task before it has left; where a location keeps old values, one that is as many turns old as are kept.
    ///
    /// # Panics
    /// As [`reads_each_turn`](Self::reads_each_turn).
    #[track_caller]
    pub fn writes_each_turn<D>(&mut self, location: &Location<D>) -> WriteHandle<D>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        self.handle::<D, Write>(location, false)
    }

    /// A handle to read a location once, in the first turn.
    ///
    /// # Panics
    /// As [`reads_each_turn`](Self::reads_each_turn).
    #[track_caller]
    pub fn reads<D>(&mut self, location: &Location<D>) -> Once<D, Read>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        Once(self.handle(location, true))
    }

    /// A handle to write a location once, in the first turn.
    ///
    /// # Panics
    /// As [`reads_each_turn`](Self::reads_each_turn), and when the location keeps old values: those of later turns would be older than this one.
    #[track_caller]
    pub fn writes<D>(&mut self, location: &Location<D>) -> Once<D, Write>
    where
        D: ?Sized + Send + Sync + 'static,
    {
        assert!(
            location.ring.len() == 1,
            "task {} writes location {:?} once, which keeps {} values; expected a handle for each turn, or a location of one value",
            self.operation.name,
            location.name(),
            location.ring.len()
        );
        Once(self.handle(location, true))
    }

    /// The turns of an `async` task, which asks for each of them. One that does not ask has one turn, and others go on without it.
    pub fn turns(&mut self) -> Turns {
        self.has_turns = true;
        Turns {
            operation: Arc::clone(self.operation),
            has_begun: false,
        }
    }

    /// Says how much work a turn is, compared with other tasks; for placement, where tasks are more than CPUs.
    ///
    /// Otherwise it is taken from the bytes that a turn goes through. When it runs, what it is seen to work counts instead, should tasks be moved.
    ///
    /// # Panics
    /// When that is no positive number.
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
            "location {:?} belongs to another program than task {name}; expected one that this program has made",
            of.name
        );
        let is_same = |link: &Arc<Link>| {
            let other = &link.location;
            let is_part = of.index == of.whole || other.index == other.whole;
            of.index == other.index || (of.whole == other.whole && is_part)
        };
        assert!(
            !self.links.iter().any(is_same),
            "task {name} has two handles on location {:?}, of which each would wait for the other; expected one",
            of.name
        );
        let depth = location.ring.len();
        let is_reader = R::ACCESS == Access::Read;
        // Who reads before the writers reads what they wrote a turn ago.
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
        self.declared.seats.push(SeatOf {
            seat: Arc::clone(handle.seat()) as Arc<dyn PutIn>,
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
    /// Ends the turn that runs, and begins the next one; false when there is none. A task that returns earlier ends the program with
    /// the turn before.
    ///
    /// # Panics
    /// When a handle was not used in the turn that ends, or is still in its section.
    #[must_use = "there is no section to wait for behind the last turn"]
    #[expect(clippy::should_implement_trait, reason = "a turn is no item")]
    pub fn next(&mut self) -> bool {
        if std::mem::replace(&mut self.has_begun, true) {
            self.operation.end_turn();
        }
        self.operation.begin_turn()
    }

    /// The number of the turn that runs, from 0.
    #[must_use]
    pub fn turn(&self) -> u64 {
        self.operation.turn()
    }
}

/// What a turn returns: nothing, or whether there shall be more.
pub trait TurnEnd {
    /// [`ControlFlow::Break`] when this turn is not to count, and no more shall follow.
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

/// What an operation does.
pub(crate) enum Body {
    /// A turn, on a thread that it blocks.
    Blocking(Box<dyn FnMut() -> ControlFlow<()> + Send>),
    /// All turns, on a worker.
    Future {
        future: Pin<Box<dyn Future<Output = ()> + Send>>,
        has_turns: bool,
    },
}

impl Body {
    /// True when it wants a thread of its own.
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
