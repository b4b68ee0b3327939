//! Handles: the access of a task to a location, turn after turn.
//!
//! A handle requests its location for every turn before the turn begins. It puts in its next
//! request in the step that gives back the previous one. So the order in which tasks get a location
//! is the same in every turn, and no task is overtaken.
//!
//! A location that keeps old values has a ring with one place for each value. A handle moves from
//! place to place, turn by turn.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use raddle_runtime::{Instant, Waiter};
use raddle_sync::fifo::Standing;
use raddle_sync::ordered::{self, Read, Right, Then, Write};
use raddle_sync::prim::{LIGHT, Relaxed, spin_loop};
use raddle_trace::record;

use crate::error::Broken;
use crate::handle_requests::HandleRequests;
use crate::location::Location;
use crate::operation::{Link, Operation};
use crate::program_state::Halted;
use crate::section::Section;

/// The number of times that a thread polls a request before it prepares for a longer wait.
///
/// It takes about half a microsecond.
const POLLS_BEFORE_WAIT: u32 = if LIGHT { 1 } else { 64 };
/// The number of turns between two measurements of the size of the data.
const TURNS_PER_MEASUREMENT: u64 = 64;

/// The access of a task to a location in every turn, for reading ([`ReadHandle`]) or writing
/// ([`WriteHandle`]).
///
/// Each turn has one section, or a [`pass`](Self::pass). A handle that is dropped gives up its
/// place at the end of the turn.
pub struct Handle<D: ?Sized, R: Right> {
    /// The request for each place; empty before the first turn.
    ring: Vec<ordered::Handle<D, R>>,
    /// The index in `ring` for the next turn.
    at: usize,
    /// The number of the next turn.
    turn: u64,
    /// True if the handle is used only in the first turn.
    is_once: bool,
    requests: Arc<HandleRequests<D, R>>,
    link: Arc<Link>,
    operation: Arc<Operation>,
    bytes_of: fn(&D) -> usize,
}

/// A handle that reads.
pub type ReadHandle<D> = Handle<D, Read>;
/// A handle that writes.
pub type WriteHandle<D> = Handle<D, Write>;

impl<D: ?Sized, R: Right> Handle<D, R> {
    pub(crate) fn new(
        operation: &Arc<Operation>,
        location: &Location<D>,
        link: &Arc<Link>,
        first: usize,
        is_once: bool,
    ) -> Self {
        let ring = location.ring.iter().map(ordered::Handle::new).collect();
        Self {
            ring: Vec::new(),
            at: first,
            turn: 0,
            is_once,
            requests: Arc::new(HandleRequests::new(ring, first)),
            link: Arc::clone(link),
            operation: Arc::clone(operation),
            bytes_of: location.bytes_of,
        }
    }

    pub(crate) fn requests(&self) -> &Arc<HandleRequests<D, R>> {
        &self.requests
    }

    /// Declares that a turn uses at most `bytes` bytes of the location, such as an edge of a block.
    ///
    /// The number is used for placement. Without this call, each turn counts as if it used all
    /// bytes.
    ///
    /// # Examples
    /// ```
    /// # let mut program = raddle_orwl::Program::new("edge");
    /// let block = program.location("block", vec![0.0; 1_000_000]);
    /// let edge = program.location("edge", vec![0.0; 1_000]);
    /// program.task("sweep", |task| {
    ///     let mut block = task.writes_each_turn(&block);
    ///     move || block.section(|block| block.iter_mut().for_each(|value| *value += 1.0))
    /// });
    /// program.task("edge", |task| {
    ///     let mut block = task.reads_each_turn(&block).touching(8_000);
    ///     let mut edge = task.writes_each_turn(&edge);
    ///     move || {
    ///         block.section(|block| edge.section(|edge| edge.copy_from_slice(&block[..1_000])))
    ///     }
    /// });
    /// assert_eq!(program.dependencies().get(0, 1), 8_000.0);
    /// ```
    #[must_use]
    pub fn touching(self, bytes: usize) -> Self {
        // Relaxed: an estimate.
        self.link.touched.store(bytes as u64, Relaxed);
        self
    }

    /// Enters the section of this turn: `.await` the result, or [`wait`](Enter::wait) for it.
    ///
    /// # Panics
    /// Panics if the turn has already had its section, or if another task runs on this thread.
    #[inline]
    #[track_caller]
    pub fn enter(&mut self) -> Enter<'_, D, R> {
        self.check();
        Enter(Some(self))
    }

    /// Skips the section of this turn: waits until it is granted, and gives it back at once.
    ///
    /// An `async` task uses `drop(handle.enter().await)` instead.
    ///
    /// # Panics
    /// As for [`enter`](Self::enter) and [`Enter::wait`].
    #[track_caller]
    pub fn pass(&mut self) {
        drop(self.enter().wait());
    }

    /// Checks that the handle is used by its own operation, and once in this turn.
    ///
    /// In the first turn, it also takes the requests that the program has put in.
    #[inline]
    #[track_caller]
    fn check(&mut self) {
        if !self.operation.is_current()
            || self.turn != self.operation.turn()
            || self.ring.is_empty()
        {
            self.check_slow();
        }
    }

    #[cold]
    #[track_caller]
    fn check_slow(&mut self) {
        let (name, location) = (&self.operation.name, &self.link.location.name);
        assert!(
            self.operation.is_current(),
            "the handle of task {name} on location {location:?} was used outside of that task's \
             turns; expected each task to use its own handles, on the thread that runs it"
        );
        let turn = self.operation.turn();
        assert!(
            self.turn == turn,
            "task {name} used its handle on location {location:?} a second time in turn {turn}; \
             expected one section in a turn"
        );
        if self.ring.is_empty() {
            self.ring = std::mem::take(&mut *self.requests.ring());
        }
    }

    /// Counts the section of this turn, and moves on to the place of the next turn.
    ///
    /// Returns the place of this turn, and what happens to the request when the section ends.
    #[inline]
    fn advance(&mut self) -> (usize, Then) {
        let (at, depth) = (self.at, self.ring.len());
        self.at = if at + 1 == depth { 0 } else { at + 1 };
        let next = self.turn + depth as u64;
        let has_more = !self.is_once && next < self.operation.program_state.limit();
        self.turn += 1;
        // Relaxed, here and below: read by this operation, by the program after the run, and for
        // estimates.
        let count = self.link.sections.load(Relaxed);
        self.link.sections.store(count + 1, Relaxed);
        (
            at,
            if has_more {
                Then::Renew
            } else {
                Then::GiveBack
            },
        )
    }

    /// Returns the granted section of a place.
    #[inline]
    fn section_at(&mut self, at: usize, then: Then) -> Section<'_, D, R> {
        let granted = self.ring[at].enter(then).expect("it was granted");
        let section = Section::new(granted, &self.link);
        if self.turn % TURNS_PER_MEASUREMENT == 1 {
            let bytes = (self.bytes_of)(&section) as u64;
            // Relaxed: as above.
            self.link.extent.store(bytes, Relaxed);
        }
        section
    }

    /// Waits on this thread for the section of this turn.
    #[cold]
    #[track_caller]
    fn wait_slow(&mut self, at: usize) {
        let (operation, handle) = (&self.operation, &self.ring[at]);
        operation.expect_thread(&self.link);
        self.expect_in(at, self.turn - 1);
        let state = &operation.program_state;
        // If the handle is the next one behind a short section, it is granted before a clock could
        // be read.
        let polls = if state.may_spin() {
            POLLS_BEFORE_WAIT
        } else {
            0
        };
        for _ in 0..polls {
            // Pause first: each poll takes the cache line of the word from the thread that is about
            // to release.
            spin_loop();
            if handle.standing() != Standing::Waiting {
                return;
            }
        }
        if record::is_on() {
            record::wait_for_location(self.link.location.recorded_name());
        }
        let start = Instant::now();
        Waiter::current().wait_asking(
            state.may_spin(),
            || handle.standing() != Standing::Waiting || state.is_halted(),
            |waiter| {
                let waker = waiter.waker();
                operation.leave(&waker);
                handle.register_waker(&waker);
            },
        );
        record::end_wait();
        // Relaxed: written only here, and read for estimates.
        let waited_ns = operation.waited_ns.load(Relaxed) + start.elapsed().as_nanos() as u64;
        operation.waited_ns.store(waited_ns, Relaxed);
    }

    /// Checks that there is a request that will be granted.
    #[cold]
    #[track_caller]
    fn expect_in(&self, at: usize, turn: u64) {
        assert!(
            self.ring[at].is_in(),
            "task {} has no section on location {:?} in turn {turn}; expected a handle for one \
             turn to be used in the first turn, and no request when there are no more turns",
            self.operation.name,
            self.link.location.name
        );
    }

    /// Unwinds from a wait that never ends, since the program is halted or the location is broken.
    #[cold]
    fn unwind(&self) -> ! {
        if self.operation.program_state.is_halted() {
            ordered::unwind(Box::new(Halted));
        }
        ordered::unwind(Box::new(Broken {
            location: self.link.location.name.clone(),
        }));
    }
}

impl<D: ?Sized> Handle<D, Read> {
    /// Waits for the section of this turn, and calls `read` in it.
    ///
    /// Takes about 20 ns if no other task is ahead.
    ///
    /// # Panics
    /// As for [`enter`](Self::enter) and [`Enter::wait`], and if `read` panics.
    #[inline]
    #[track_caller]
    pub fn section<T>(&mut self, read: impl FnOnce(&D) -> T) -> T {
        read(&self.enter().wait())
    }
}

impl<D: ?Sized> Handle<D, Write> {
    /// Waits for the section of this turn, and calls `write` in it.
    ///
    /// Takes about 20 ns if no other task is ahead.
    ///
    /// # Panics
    /// As for [`enter`](Self::enter) and [`Enter::wait`], and if `write` panics. The location is
    /// broken then.
    #[inline]
    #[track_caller]
    pub fn section<T>(&mut self, write: impl FnOnce(&mut D) -> T) -> T {
        write(&mut self.enter().wait())
    }
}

impl<D: ?Sized, R: Right> Drop for Handle<D, R> {
    fn drop(&mut self) {
        // Relaxed, here and below: read by this operation, or after the run. Without a handle, the
        // operation need not have a section in each turn.
        self.link.turns.store(u64::MAX, Relaxed);
        if !self.ring.is_empty() {
            *self.requests.ring() = std::mem::take(&mut self.ring);
        }
        if self.operation.program_state.is_over() {
            // No other thread gives the requests back after the run.
            self.requests.ring().clear();
        }
        self.requests.mark_dropped();
        self.operation.note_dropped_handle();
    }
}

impl<D: ?Sized, R: Right> fmt::Debug for Handle<D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Handle")
            .field("task", &self.operation.name.to_string())
            .field("location", &self.link.location.name)
            .field("access", &R::ACCESS)
            .field("turn", &self.turn)
            .finish_non_exhaustive()
    }
}

/// A future of a section; see [`Handle::enter`].
#[must_use = "the section is entered only when this is awaited, or waited for"]
pub struct Enter<'a, D: ?Sized, R: Right>(Option<&'a mut Handle<D, R>>);

impl<'a, D: ?Sized, R: Right> Enter<'a, D, R> {
    /// Waits on this thread until the section is granted.
    ///
    /// An `async` task must not call it, since other tasks of the program need its thread.
    ///
    /// If the program ends before the section is granted, the call unwinds, without a panic. The
    /// values on the stack are dropped.
    ///
    /// # Panics
    /// Panics in an `async` task.
    #[inline]
    #[track_caller]
    pub fn wait(mut self) -> Section<'a, D, R> {
        let handle = self.0.take().expect("`wait` consumes it");
        if handle.turn == 0 {
            // Report the misuse in the first turn, even if the handle would not have to wait.
            handle.operation.expect_thread(&handle.link);
        }
        // Count the section before it is granted: work between grant and release keeps other tasks
        // waiting.
        let (at, then) = handle.advance();
        if handle.ring[at].standing() != Standing::Granted {
            handle.wait_slow(at);
            if handle.ring[at].standing() != Standing::Granted {
                handle.unwind();
            }
        }
        handle.section_at(at, then)
    }
}

impl<'a, D: ?Sized, R: Right> Future for Enter<'a, D, R> {
    type Output = Section<'a, D, R>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let handle = self
            .0
            .as_deref()
            .expect("it is not polled after it is done");
        match handle.ring[handle.at].poll(context) {
            Poll::Pending => {
                handle.expect_in(handle.at, handle.turn);
                Poll::Pending
            }
            Poll::Ready(Standing::Granted) => {
                let handle = self.0.take().expect("it was there");
                let (at, then) = handle.advance();
                Poll::Ready(handle.section_at(at, then))
            }
            Poll::Ready(_) => handle.unwind(),
        }
    }
}

impl<D: ?Sized, R: Right> fmt::Debug for Enter<'_, D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Enter").field(&self.0).finish()
    }
}

/// The access of a task to a location once, in its first turn.
#[derive(Debug)]
pub struct Once<D: ?Sized, R: Right>(pub(crate) Handle<D, R>);

impl<D: ?Sized> Once<D, Read> {
    /// Waits for the section, and calls `read` in it; see [`Handle::section`].
    ///
    /// # Panics
    /// As for [`Handle::section`].
    #[track_caller]
    pub fn section<T>(mut self, read: impl FnOnce(&D) -> T) -> T {
        self.0.section(read)
    }
}

impl<D: ?Sized> Once<D, Write> {
    /// Waits for the section, and calls `write` in it; see [`Handle::section`].
    ///
    /// # Panics
    /// As for [`Handle::section`].
    #[track_caller]
    pub fn section<T>(mut self, write: impl FnOnce(&mut D) -> T) -> T {
        self.0.section(write)
    }
}

impl<D: ?Sized, R: Right> Once<D, R> {
    /// Enters the section; see [`Handle::enter`].
    ///
    /// # Panics
    /// As for [`Handle::enter`].
    #[track_caller]
    pub fn enter(&mut self) -> Enter<'_, D, R> {
        self.0.enter()
    }
}
