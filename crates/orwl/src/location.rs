//! Locations: the data that tasks share, and access to it from outside of a program.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, OnceLock};

use raddle_runtime::{Post, Waiter};
use raddle_sync::fifo::{Access, Standing};
use raddle_sync::ordered::{self, Ordered, Read, Right, Then, Write};
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};
use raddle_trace::record::Name;

use crate::current::is_in_turn_of;
use crate::error::Broken;
use crate::handle_requests::PutIn;
use crate::holders::Holders;

/// A resource that tasks share: data, and the FIFO of requests for it.
///
/// It is created by [`Program::location`](crate::Program::location) and similar methods. A clone is
/// the same location. Tasks access the data through handles. Other code uses [`read`](Self::read)
/// and [`write`](Self::write), before, after and while the program runs.
pub struct Location<D: ?Sized> {
    pub(crate) of: Arc<Identity>,
    /// The places of the values: one for each value that the location keeps.
    pub(crate) ring: Arc<[Ordered<D>]>,
    pub(crate) bytes_of: fn(&D) -> usize,
}

/// The name of an operation, and the requests of one of its handles.
type Kept = (String, Arc<dyn PutIn>);

/// The state of a location that does not depend on the type of its data.
pub(crate) struct Identity {
    /// The number of its program, which is unique in the process.
    pub(crate) program: u64,
    /// The index among the locations of the program.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// The index of the whole if this location is a piece, or else its own index.
    pub(crate) whole: usize,
    /// The number of values that it keeps.
    pub(crate) depth: usize,
    pub(crate) piece_count: usize,
    /// The run of its program while there is one. A request from outside holds this lock.
    pub(crate) run: Mutex<Option<Run>>,
    /// The threads that hold it, its whole or a piece of the same whole from outside.
    pub(crate) holders: Arc<Holders>,
    /// The place in the ring with the newest value.
    pub(crate) newest: AtomicUsize,
    /// The handles that still existed when the run was over.
    pub(crate) kept: Mutex<Vec<Kept>>,
    /// The name in recordings.
    pub(crate) recorded_name: OnceLock<Name>,
}

/// The properties of a run that requests from outside depend on.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// The access to the workers that run the `async` tasks; `None` if there are no such tasks.
    pub(crate) futures: Option<Post>,
}

impl Run {
    /// Returns true if this thread is a worker that runs `async` tasks of the program.
    fn needs_this_thread(&self) -> bool {
        self.futures
            .as_ref()
            .is_some_and(|post| post.own_index().is_some())
    }
}

impl Identity {
    /// Returns true if this thread holds the location from outside.
    pub(crate) fn is_held_here(&self) -> bool {
        self.holders.is_held_here(self.index)
    }

    /// Returns the name in recordings.
    pub(crate) fn recorded_name(&self) -> Name {
        *self.recorded_name.get_or_init(|| Name::of_text(&self.name))
    }

    pub(crate) fn kept(&self) -> impl DerefMut<Target = Vec<Kept>> + '_ {
        self.kept.lock().expect("nothing panics under this lock")
    }

    pub(crate) fn run(&self) -> impl DerefMut<Target = Option<Run>> + '_ {
        self.run.lock().expect("nothing panics under this lock")
    }

    /// Checks that a request from outside would not wait forever.
    #[track_caller]
    fn check_outside(&self, access: Access) {
        assert!(
            !is_in_turn_of(self.program),
            "location {:?} was requested from outside in a turn of a task of its own program, \
             which might wait for itself; expected a handle",
            self.name
        );
        assert!(
            !self
                .holders
                .is_in_its_own_way(self.index, self.whole, access),
            "location {:?} was requested by a thread that holds it, or a part of it, from outside \
             and would wait for itself; expected that to be given back before",
            self.name
        );
        // Forget the handles that were dropped since the run. The requests of the others stay in
        // the FIFO.
        let mut kept = self.kept();
        kept.retain(|(_, requests)| {
            requests.give_back_if_dropped();
            !requests.is_dropped()
        });
        let task = kept.first().map(|(task, _)| task.clone());
        drop(kept);
        assert!(
            task.is_none(),
            "task {} has left behind a handle on location {:?}, which keeps its place; \
             expected handles to be dropped with their task",
            task.unwrap_or_default(),
            self.name
        );
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Identity")
            .field("name", &self.name)
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

impl<D: ?Sized> Location<D> {
    /// Returns the name of the location.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.of.name
    }

    /// Waits until the data may be read, behind all earlier requests, and returns it.
    ///
    /// If the location keeps old values, this is the newest value that a run has left, or the
    /// initial one.
    ///
    /// A thread that requests a location while it holds another one may wait for itself: tasks that
    /// use both locations may be ahead of the second request and behind the first. A thread that
    /// holds a location cannot start its program.
    ///
    /// # Errors
    /// [`Broken`] if a task panicked while it wrote.
    ///
    /// # Panics
    /// Panics in the following cases, in which the call might wait forever:
    /// - in a turn of a task of the same program; tasks use handles;
    /// - if this thread already holds the location or a part of it, and one of the two requests
    ///   writes;
    /// - if a handle of a task on the location outlives the run;
    /// - for a whole with several pieces while the program runs, since requests of tasks would
    ///   come between its requests for two pieces;
    /// - on a worker that runs `async` tasks of the program, while the program runs: one of these
    ///   tasks may be ahead, and wait for the worker.
    #[track_caller]
    pub fn read(&self) -> Result<Outside<D, Read>, Broken> {
        self.enter()
    }

    /// Waits until the data may be written, behind all earlier requests, and returns it; see
    /// [`read`](Self::read).
    ///
    /// # Errors
    /// [`Broken`] if a task panicked while it wrote.
    ///
    /// # Panics
    /// As for [`read`](Self::read).
    #[track_caller]
    pub fn write(&self) -> Result<Outside<D, Write>, Broken> {
        self.enter()
    }

    #[track_caller]
    fn enter<R: Right>(&self) -> Result<Outside<D, R>, Broken> {
        self.of.check_outside(R::ACCESS);
        // Relaxed: written before and after a run.
        let newest = self.of.newest.load(Relaxed);
        let mut handle = ordered::Handle::new(&self.ring[newest]);
        // The lock ensures that no run starts or ends before the request is in.
        let run = self.of.run();
        let is_in_pieces = run.is_some() && self.of.piece_count > 1;
        let is_on_worker = run.as_ref().is_some_and(Run::needs_this_thread);
        if !is_in_pieces && !is_on_worker {
            handle.put_in();
        }
        drop(run);
        assert!(
            !is_on_worker,
            "location {:?} was requested on a worker that runs the async tasks of its program, \
             which might wait for this worker; expected another thread, such as one from \
             `spawn_blocking`",
            self.of.name
        );
        assert!(
            !is_in_pieces,
            "the whole of location {:?} was requested from outside while its program runs and its \
             tasks use the pieces; expected requests for one piece after the other, or for the \
             whole before or after the run",
            self.of.name
        );
        let waiter = Waiter::current();
        loop {
            match handle.lend(Then::GiveBack) {
                Ok(loan) => return Ok(Outside::new(loan, &self.of)),
                Err(_) if self.ring[newest].is_stopped() => {
                    return Err(Broken {
                        location: self.of.name.clone(),
                    });
                }
                Err(waiting) => handle = waiting,
            }
            waiter.wait_asking(
                true,
                || handle.standing() != Standing::Waiting,
                |waiter| leave_waker(&handle, waiter),
            );
        }
    }
}

/// Leaves the waker of the waiter with the request, if that still waits.
fn leave_waker<D: ?Sized, R: Right>(handle: &ordered::Handle<D, R>, waiter: &Waiter) {
    let _ = handle.register_waker(&waiter.waker());
}

impl<D: ?Sized> Clone for Location<D> {
    fn clone(&self) -> Self {
        Self {
            of: Arc::clone(&self.of),
            ring: Arc::clone(&self.ring),
            bytes_of: self.bytes_of,
        }
    }
}

impl<D: ?Sized> fmt::Debug for Location<D> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Location")
            .field("name", &self.of.name)
            .field("depth", &self.ring.len())
            .finish_non_exhaustive()
    }
}

/// Items in contiguous memory that can be used as a whole or in pieces.
///
/// It is created by [`Program::split`](crate::Program::split).
#[derive(Debug)]
pub struct Split<T> {
    /// All items.
    pub whole: Location<[T]>,
    /// The pieces, in the order of their items.
    pub pieces: Vec<Location<[T]>>,
}

/// Access to the data of a location from outside of its program.
///
/// Dropping it gives the data back. It cannot be sent to another thread.
#[must_use = "the data is given back when this is dropped"]
pub struct Outside<D: ?Sized, R: Right> {
    loan: ordered::Loan<D, R>,
    _held: Held,
}

/// The record that a thread holds a location, removed on drop.
struct Held {
    of: Arc<Identity>,
    access: Access,
    /// Makes the type `!Send`.
    _here: PhantomData<*const ()>,
}

impl<D: ?Sized, R: Right> Outside<D, R> {
    fn new(loan: ordered::Loan<D, R>, of: &Arc<Identity>) -> Self {
        of.holders.add(of.index, R::ACCESS);
        let _held = Held {
            of: Arc::clone(of),
            access: R::ACCESS,
            _here: PhantomData,
        };
        Self { loan, _held }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.of.holders.remove(self.of.index, self.access);
    }
}

impl<D: ?Sized, R: Right> Deref for Outside<D, R> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.loan
    }
}

impl<D: ?Sized> DerefMut for Outside<D, Write> {
    fn deref_mut(&mut self) -> &mut D {
        &mut self.loan
    }
}

impl<D: ?Sized + fmt::Debug, R: Right> fmt::Debug for Outside<D, R> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.loan.fmt(formatter)
    }
}
