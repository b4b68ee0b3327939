//! Locations: what tasks share, and how the world outside of a program reaches it.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use raddle_runtime::{Post, Waiter};
use raddle_sync::fifo::{Access, Standing};
use raddle_sync::ordered::{self, Ordered, Read, Right, Then, Write};
use raddle_sync::prim::{AtomicUsize, Mutex, Relaxed};

use crate::current::is_in_turn_of;
use crate::error::Broken;
use crate::holders::Holders;
use crate::seat::PutIn;

/// A resource that tasks share: data, and the FIFO of requests for it. A clone is the same location.
///
/// Made by [`Program::location`](crate::Program::location) and its kin. Tasks reach the data through handles; anybody
/// else through [`read`](Self::read) and [`write`](Self::write), before, after and while the program runs.
pub struct Location<D: ?Sized> {
    pub(crate) of: Arc<Identity>,
    /// One place; those of the turns that are kept, where old values are.
    pub(crate) ring: Arc<[Ordered<D>]>,
    pub(crate) bytes_of: fn(&D) -> usize,
}

/// The name of an operation, and the seat of a handle of it.
type Kept = (String, Arc<dyn PutIn>);

/// Which location it is.
pub(crate) struct Identity {
    /// Its program's number, which no other program has.
    pub(crate) program: u64,
    /// Its place among the locations of the program.
    pub(crate) index: usize,
    pub(crate) name: String,
    /// A piece has the index of its whole; others their own.
    pub(crate) whole: usize,
    /// The values it keeps.
    pub(crate) depth: usize,
    pub(crate) piece_count: usize,
    /// Its program's run, meanwhile. Who asks from outside holds this.
    pub(crate) run: Mutex<Option<Run>>,
    /// Who holds it from outside, its whole or any piece of that.
    pub(crate) holders: Arc<Holders>,
    /// The place in the ring with the newest value.
    pub(crate) newest: AtomicUsize,
    /// Handles that were still there when the run was over.
    pub(crate) kept: Mutex<Vec<Kept>>,
}

/// What those outside must know of a run.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    /// To the workers that run the `async` tasks, where there are some.
    pub(crate) futures: Option<Post>,
}

impl Run {
    /// True when this thread is one of the workers that others of the program want.
    fn wants_this_thread(&self) -> bool {
        self.futures
            .as_ref()
            .is_some_and(|post| post.own_index().is_some())
    }
}

impl Identity {
    /// True when this thread holds it from outside.
    pub(crate) fn is_held_here(&self) -> bool {
        self.holders.is_held_here(self.index)
    }

    pub(crate) fn kept(&self) -> impl DerefMut<Target = Vec<Kept>> + '_ {
        self.kept.lock().expect("nothing panics under this lock")
    }

    pub(crate) fn run(&self) -> impl DerefMut<Target = Option<Run>> + '_ {
        self.run.lock().expect("nothing panics under this lock")
    }

    /// Sees that who is no task does not wait for what never comes.
    #[track_caller]
    fn check_outside(&self, access: Access) {
        assert!(
            !is_in_turn_of(self.program),
            "location {:?} was asked for from outside in a turn of a task of its own program, which might wait for itself; expected a handle",
            self.name
        );
        assert!(
            !self
                .holders
                .is_in_its_own_way(self.index, self.whole, access),
            "location {:?} was asked for by a thread that holds it from outside, or a part of it, and would wait for itself; expected that to be \
             given back before",
            self.name
        );
        let mut kept = self.kept();
        kept.retain(|(_, seat)| {
            seat.clear_if_left();
            !seat.is_left()
        });
        let task = kept.first().map(|(task, _)| task.clone());
        drop(kept);
        assert!(
            task.is_none(),
            "task {} has left a handle on location {:?} behind, which keeps its place; expected handles to go with their task",
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
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.of.name
    }

    /// Waits until the data may be read, behind all that have asked before, and gives it out.
    ///
    /// Of a location that keeps old values, the newest that a run has left, or the initial one. Whoever asks for one while he holds another
    /// may wait for himself: tasks of several locations stand between the two. Who holds one cannot start the program.
    ///
    /// # Errors
    /// [`Broken`] when a task panicked while it wrote.
    ///
    /// # Panics
    /// In a turn of a task of the same program, which has handles for that; when the thread holds it, or a part of it, already, and one of the two writes;
    /// when a task's handle on it outlives the run; for a whole in pieces while the
    /// program runs: tasks would stand between its requests for one piece and another; and on a worker that runs `async` tasks of the program, while it
    /// runs: one of them may be in front, and wait for that worker.
    #[track_caller]
    pub fn read(&self) -> Result<Outside<D, Read>, Broken> {
        self.enter()
    }

    /// As [`read`](Self::read), to write.
    ///
    /// # Errors
    /// [`Broken`] when a task panicked while it wrote.
    ///
    /// # Panics
    /// As [`read`](Self::read).
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
        let run = self.of.run();
        let is_in_pieces = run.is_some() && self.of.piece_count > 1;
        let is_on_worker = run.as_ref().is_some_and(Run::wants_this_thread);
        if !is_in_pieces && !is_on_worker {
            handle.put_in();
        }
        drop(run);
        assert!(
            !is_on_worker,
            "location {:?} was asked for on a worker that runs the async tasks of its program, which might wait for this worker; expected a thread \
             of its own, as `spawn_blocking` gives",
            self.of.name
        );
        assert!(
            !is_in_pieces,
            "the whole of location {:?} was asked for from outside while its program runs, whose tasks have it piece by piece; expected \
             one piece after the other, or the whole before or after",
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
                |waiter| while_in(&handle, waiter),
            );
        }
    }
}

/// Leaves the waiter's waker, if the handle still waits.
fn while_in<D: ?Sized, R: Right>(handle: &ordered::Handle<D, R>, waiter: &Waiter) {
    let _ = handle.leave(&waiter.waker());
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

/// Items in one piece of memory that can be used as a whole or in pieces; see [`Program::split`](crate::Program::split).
#[derive(Debug)]
pub struct Split<T> {
    /// All items.
    pub whole: Location<[T]>,
    /// The pieces, in their order.
    pub pieces: Vec<Location<[T]>>,
}

/// A location's data, reached from outside of its program; given back when it is dropped.
///
/// It stays on the thread that has asked for it.
#[must_use = "the data is given back when this goes"]
pub struct Outside<D: ?Sized, R: Right> {
    loan: ordered::Loan<D, R>,
    _held: Held,
}

/// One of the times that a thread holds a location.
struct Held {
    of: Arc<Identity>,
    access: Access,
    /// It is not sent.
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
