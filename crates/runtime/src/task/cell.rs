//! The memory of one task: header, payload, and the transitions between them.

use std::mem::{MaybeUninit, size_of};
use std::sync::Arc;

use raddle_sync::offer::Offer;
use raddle_sync::prim::{AtomicPtr, AtomicU32, Relaxed, UnsafeCell};
use raddle_sync::push_list::Linked;
use raddle_trace::record::{self, Name, TaskId};

use super::closure::{End, EndClosure, end, fits};
use super::{JobRef, Message, RootCall};
use crate::config::TaskMemory;

/// The size of the payload in words. With its header, a cell is two cache lines of 64 bytes.
const PAYLOAD_WORDS: usize = 10;

/// The kind of a task cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Kind {
    /// A closure, run by the worker that gets it from the pool.
    Closure = 1,
    /// A fork, run by the worker that wins its offer.
    Fork = 2,
    /// The frame of a scope; never in a pool.
    Frame = 3,
    /// A call that a handle waits for, run by the worker that begins it first.
    Root = 4,
}

/// The bits of the word that have the [`Kind`].
const KIND: u32 = 0xff;
/// The bit that is added to the kind of an open task.
const OPEN: u32 = 1 << 8;

/// The workers that may run a closure. A bit that is added to the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ForWhom {
    /// Any worker that gets it from the pool: a task.
    AnyWorker = 0,
    /// The worker that it is sent to: a message.
    OneWorker = 1 << 9,
}

/// The memory of one task. [`crate::task`] says which thread may access which field.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct TaskCell {
    kind: AtomicU32,
    depth: AtomicU32,
    home: AtomicU32,
    owner: AtomicU32,
    parent: AtomicPtr<TaskCell>,
    next: AtomicPtr<TaskCell>,
    offer: Offer,
    /// The index of the worker that runs this fork, plus one; zero while no worker runs it.
    thief: AtomicU32,
    end: UnsafeCell<Option<EndClosure>>,
    payload: UnsafeCell<[MaybeUninit<u64>; PAYLOAD_WORDS]>,
}

// SAFETY: all fields but `end` and `payload` are atomics; those two follow invariant 1 of
// `crate::task`.
unsafe impl Sync for TaskCell {}

// SAFETY: `next` is one field, and only the list that holds the cell accesses it.
unsafe impl Linked for TaskCell {
    fn next(&self) -> &AtomicPtr<Self> {
        &self.next
    }
}

impl TaskCell {
    /// Creates a free cell.
    pub(crate) fn new() -> Self {
        Self {
            kind: AtomicU32::new(Kind::Frame as u32),
            depth: AtomicU32::new(0),
            home: AtomicU32::new(0),
            owner: AtomicU32::new(0),
            parent: AtomicPtr::new(std::ptr::null_mut()),
            next: AtomicPtr::new(std::ptr::null_mut()),
            offer: Offer::new(),
            thief: AtomicU32::new(0),
            end: UnsafeCell::new(None),
            payload: UnsafeCell::new([MaybeUninit::uninit(); PAYLOAD_WORDS]),
        }
    }

    // Relaxed in all accessors below: the pool that hands the task over orders them, and what is
    // read from a stale cell is ignored.

    #[inline]
    pub(super) fn home(&self) -> usize {
        self.home.load(Relaxed) as usize
    }

    pub(super) fn set_home(&self, home: usize) {
        self.home.store(
            u32::try_from(home).expect("fewer than 2^32 workers"),
            Relaxed,
        );
    }

    #[inline]
    pub(crate) fn kind(&self) -> Kind {
        match self.kind.load(Relaxed) & KIND {
            1 => Kind::Closure,
            2 => Kind::Fork,
            4 => Kind::Root,
            _ => Kind::Frame,
        }
    }

    /// Returns true if this task is open ([`crate::open`]).
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.kind.load(Relaxed) & OPEN != 0
    }

    /// Returns true if this task is a message to one worker.
    pub(crate) fn is_message(&self) -> bool {
        self.kind.load(Relaxed) & ForWhom::OneWorker as u32 != 0
    }

    /// Returns the identity of this task in recordings.
    #[inline]
    pub(crate) fn trace_id(&self) -> TaskId {
        TaskId::at(std::ptr::from_ref(self).addr())
    }

    /// Records that the task in this cell, which calls a closure of the type `name`, is put where
    /// workers find it.
    #[inline]
    pub(crate) fn record_put(&self, name: &'static str) {
        if record::is_on() {
            record::put(self.trace_id(), Name::of(name));
        }
    }

    /// Makes the task in this cell open. For the thread that has just made it.
    #[inline]
    pub(crate) fn set_open(&self) {
        self.kind.store(self.kind.load(Relaxed) | OPEN, Relaxed);
    }

    /// Returns the worker that published this fork.
    pub(crate) fn owner(&self) -> usize {
        self.owner.load(Relaxed) as usize
    }

    /// Returns the worker that runs this fork, once it has stored its index.
    pub(crate) fn thief(&self) -> Option<usize> {
        (self.thief.load(Relaxed) as usize).checked_sub(1)
    }

    pub(crate) fn set_thief(&self, worker_index: usize) {
        let number = u32::try_from(worker_index + 1).expect("fewer than 2^32 workers");
        self.thief.store(number, Relaxed);
    }

    pub(crate) fn offer(&self) -> &Offer {
        &self.offer
    }

    /// Returns true for a fork that its owner took back: it only waits to be removed from its
    /// pool.
    pub(super) fn is_stale(&self) -> bool {
        self.kind() == Kind::Fork && self.offer.is_reclaimed()
    }

    pub(super) fn is_root(&self) -> bool {
        self.parent.load(Relaxed).is_null()
    }

    /// Walks the chain of parents; returns true if `frame` is on it, or is this cell.
    pub(super) fn is_within(&self, frame: &TaskCell) -> bool {
        let target_depth = frame.depth.load(Relaxed);
        let mut cell: &TaskCell = self;
        loop {
            if std::ptr::eq(cell, frame) {
                return true;
            }
            let depth = cell.depth.load(Relaxed);
            // SAFETY: null, or a cell, which lives as long as the process.
            let Some(parent) = (unsafe { cell.parent.load(Relaxed).as_ref() }) else {
                return false;
            };
            // Above the frame, or on a chain that is not alive any more.
            if depth <= target_depth || parent.depth.load(Relaxed) >= depth {
                return false;
            }
            cell = parent;
        }
    }

    #[inline]
    fn make(&self, kind: Kind, parent: Option<&'static TaskCell>) {
        self.make_marked(kind as u32, parent);
    }

    /// Makes this free cell a task of the kind and with the marks in `kind`.
    #[inline(always)]
    fn make_marked(&self, kind: u32, parent: Option<&'static TaskCell>) {
        let depth = parent.map_or(0, |parent| parent.depth.load(Relaxed) + 1);
        self.kind.store(kind, Relaxed);
        self.depth.store(depth, Relaxed);
        self.parent.store(
            parent.map_or(std::ptr::null_mut(), |parent| {
                std::ptr::from_ref(parent).cast_mut()
            }),
            Relaxed,
        );
    }

    /// Makes this free cell the frame of a scope.
    pub(crate) fn make_frame(&self, parent: Option<&'static TaskCell>) {
        self.make(Kind::Frame, parent);
    }

    /// Makes this free cell a fork, offered to thieves.
    pub(crate) fn make_fork(&self, parent: Option<&'static TaskCell>, owner: usize, job: JobRef) {
        self.make(Kind::Fork, parent);
        if job.is_open() {
            self.set_open();
        }
        self.owner.store(
            u32::try_from(owner).expect("fewer than 2^32 workers"),
            Relaxed,
        );
        self.thief.store(0, Relaxed);
        self.payload.with_mut(|payload| {
            // SAFETY: the cell is free, hence ours (invariant 1); a job is a pointer, which is one
            // word of the payload.
            unsafe { payload.cast::<JobRef>().write(job) };
        });
        self.offer.offer();
    }

    /// Returns the job of a fork.
    ///
    /// # Safety
    /// The caller has won the offer of this fork.
    pub(crate) unsafe fn job(&self) -> JobRef {
        // SAFETY: written by `make_fork`; the winner reads it (contract, invariant 1).
        self.payload
            .with(|payload| unsafe { payload.cast::<JobRef>().read() })
    }

    /// Returns true if a closure can be stored in a cell.
    pub(crate) const fn holds<F>() -> bool {
        fits::<F>(PAYLOAD_WORDS)
    }

    /// Makes this free cell a task that calls `closure`, which must not unwind.
    ///
    /// A closure of up to 80 bytes is stored in the cell if `memory` says so, otherwise in a box.
    ///
    /// # Safety
    /// The task is run before anything that `closure` borrows ends.
    #[inline(always)]
    pub(crate) unsafe fn make_closure<F: Message + Send>(
        &self,
        for_whom: ForWhom,
        parent: Option<&'static TaskCell>,
        memory: TaskMemory,
        closure: F,
    ) {
        self.make_marked(Kind::Closure as u32 | for_whom as u32, parent);
        if const { Self::holds::<F>() } && memory == TaskMemory::Cells {
            // SAFETY: it fits (checked), and the lifetime is the caller's promise.
            unsafe { self.put_payload(closure) };
        } else {
            let boxed: Box<dyn FnOnce() + Send> = Box::new(|| closure.run());
            // SAFETY: a pointer fits; the lifetime is the caller's promise.
            unsafe { self.put_payload(boxed) };
        }
    }

    /// Stores a closure in the payload.
    ///
    /// # Safety
    /// `F` fits into the payload, and the task is run before anything that `closure` borrows ends.
    #[inline(always)]
    unsafe fn put_payload<F: Message + Send>(&self, closure: F) {
        // SAFETY: the cell is free, hence ours (invariant 1); it fits (contract).
        self.payload
            .with_mut(|payload| unsafe { payload.cast::<F>().write(closure) });
        // SAFETY: as above.
        self.end
            .with_mut(|place| unsafe { *place = Some(end::<F>) });
    }

    /// Makes this free cell a message with the closure in `words`, which `end` ends.
    ///
    /// # Safety
    /// `end` belongs to the closure, which is Send. It is not in use elsewhere.
    #[inline]
    pub(super) unsafe fn make_message<const WORDS: usize>(
        &self,
        end: EndClosure,
        words: [MaybeUninit<u64>; WORDS],
    ) {
        const { assert!(WORDS <= PAYLOAD_WORDS) };
        self.make_marked(Kind::Closure as u32 | ForWhom::OneWorker as u32, None);
        self.payload.with_mut(|payload| {
            // SAFETY: the cell is free, hence ours (invariant 1); the words fit.
            unsafe { payload.cast::<[MaybeUninit<u64>; WORDS]>().write(words) };
        });
        // SAFETY: as above.
        self.end.with_mut(|place| unsafe { *place = Some(end) });
    }

    /// Makes this free cell a root task.
    pub(crate) fn make_root(&self, call: Arc<dyn RootCall>) {
        const { assert!(size_of::<Arc<dyn RootCall>>() <= PAYLOAD_WORDS * size_of::<u64>()) };
        self.make(Kind::Root, None);
        self.payload.with_mut(|payload| {
            // SAFETY: the cell is free, hence ours (invariant 1); the call fits.
            unsafe { payload.cast::<Arc<dyn RootCall>>().write(call) };
        });
    }

    /// Takes the call out of a root task.
    ///
    /// # Safety
    /// The caller got this task from a pool, its kind is [`Kind::Root`], and this is done once.
    pub(crate) unsafe fn take_root(&self) -> Arc<dyn RootCall> {
        self.payload.with_mut(|payload| {
            // SAFETY: written by `make_root`; we are its one reader (contract).
            unsafe { payload.cast::<Arc<dyn RootCall>>().read() }
        })
    }

    /// Returns true if the call of a root task has begun already.
    ///
    /// # Safety
    /// The task is the caller's, and its kind is [`Kind::Root`].
    pub(super) unsafe fn is_begun(&self) -> bool {
        self.payload.with(|payload| {
            // SAFETY: written by `make_root`, and not taken out (contract).
            let call = unsafe { &*payload.cast::<Arc<dyn RootCall>>() };
            call.is_begun()
        })
    }

    /// Runs the closure of this task.
    ///
    /// # Safety
    /// The caller got this task from a pool, its kind is [`Kind::Closure`], and it is run once.
    pub(crate) unsafe fn run_closure(&self) {
        // SAFETY: as promised.
        unsafe { self.end_closure(End::Run) };
    }

    /// Drops the closure of this task.
    ///
    /// # Safety
    /// As for [`run_closure`](Self::run_closure), which is not called then.
    pub(super) unsafe fn drop_closure(&self) {
        // SAFETY: as promised.
        unsafe { self.end_closure(End::Drop) };
    }

    /// Ends the closure of this task by running or dropping it.
    ///
    /// # Safety
    /// As for [`run_closure`](Self::run_closure).
    unsafe fn end_closure(&self, how: End) {
        // SAFETY: written when the task was made; we are its one runner (contract, invariant 1).
        let end = self.end.with_mut(|end| unsafe { (*end).take() });
        let end = end.expect("a closure task is made with its function, and ends once");
        // SAFETY: `end` belongs to the closure in the payload.
        self.payload
            .with_mut(|payload| unsafe { end(payload.cast::<u8>(), how) });
    }
}
