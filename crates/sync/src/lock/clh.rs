//! The CLH lock: each waiter spins on the node of its predecessor. Fair.
//!
//! One swap enters the queue. A thread that gets the lock takes its predecessor's node for its next
//! wait, so nodes move from thread to thread. A thread keeps a few nodes that it does not need for
//! later, and leaves them to other threads when it ends. Nodes are never freed. Their number is at
//! most the number of locks that were ever used, plus the largest number of simultaneous waits.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | L3 | `unlock` stores `locked` = false | the successor loads it | what the last holder did |
//! | L4 | `lock`, `try_lock` swap in a node | the next swaps it out | that the node is `locked` |
//! # Invariants
//! 1. `tail` points to the node of the last thread in the queue, or of the last holder. It is null
//!    before the first use.
//! 2. A node that was swapped out of `tail` belongs to its successor as soon as the node is not
//!    `locked`.
//! 3. Only the holder accesses `held`.
//! # Source
//! Craig: Building FIFO and priority-queuing spin locks from atomic swap. TR 93-02-02, Washington,
//! 1993; Magnusson, Landin, Hagersten: Queue locks on cache coherent multiprocessors. IPPS 1994;
//! the form that needs no node from its callers: Scott: Shared-memory synchronization. 2013, sect.
//! 4.3.

use std::cell::{Cell, RefCell};
use std::ptr;

use crossbeam_utils::CachePadded;

use super::Lock;
use crate::backoff::Backoff;
use crate::prim::{
    AcqRel, Acquire, AtomicBool, AtomicPtr, Relaxed, Release, UnsafeCell, thread_local,
};

/// A fair lock that is entered with one swap.
#[derive(Debug)]
pub struct ClhLock {
    tail: AtomicPtr<Node>,
    /// The node of the holder.
    held: UnsafeCell<*const Node>,
}

// SAFETY: only the holder accesses `held` (invariant 3).
unsafe impl Sync for ClhLock {}
// SAFETY: nodes belong to no particular thread.
unsafe impl Send for ClhLock {}

impl Default for ClhLock {
    fn default() -> Self {
        Self::new()
    }
}

impl ClhLock {
    crate::const_fn! {
        /// Creates a free lock.
        pub const fn new() -> Self {
            Self {
                tail: AtomicPtr::new(ptr::null_mut()),
                held: UnsafeCell::new(ptr::null()),
            }
        }
    }

    /// Returns true if a thread waits for the lock.
    ///
    /// # Safety
    /// The calling thread holds the lock.
    pub unsafe fn is_contended(&self) -> bool {
        // SAFETY: the caller is the holder (contract).
        let held = self.held.with(|held| unsafe { *held });
        // Relaxed: a hint.
        !ptr::eq(self.tail.load(Relaxed), held)
    }

    /// Waits until the predecessor has unlocked. Its node then belongs to the caller.
    #[inline]
    fn wait_for(&self, before: Option<&'static Node>) {
        let Some(before) = before else { return };
        // ORDERING(L3): Acquire: what the last holder did.
        if before.locked.load(Acquire) {
            before.wait();
        }
    }

    /// Stores the node of the caller, which is the holder.
    #[inline]
    fn hold(&self, node: &'static Node) {
        self.held.with_mut(|held| {
            // SAFETY: the caller is the holder (invariant 3).
            unsafe { *held = node };
        });
    }
}

// SAFETY: every node in the queue except the first waits for the one before it.
unsafe impl Lock for ClhLock {
    #[inline]
    fn lock(&self) {
        spare::exchange(|node| {
            // Relaxed: published by the swap.
            node.locked.store(true, Relaxed);
            // ORDERING(L4): Release: this node is locked. Acquire: the node before it.
            let before = self.tail.swap(ptr::from_ref(node).cast_mut(), AcqRel);
            // SAFETY: null or a node, and nodes are never freed.
            let before = unsafe { before.as_ref() };
            self.wait_for(before);
            self.hold(node);
            Ok(before)
        });
    }

    /// Takes the lock if it is free. After losing a rare race against two other threads, this waits
    /// for one of them, because it is in the queue already.
    #[inline]
    fn try_lock(&self) -> bool {
        // ORDERING(L4): Acquire: the node.
        let last = self.tail.load(Acquire);
        // SAFETY: null or a node, and nodes are never freed.
        let before = unsafe { last.as_ref() };
        // Relaxed: checked again once this thread is in the queue.
        if before.is_some_and(|before| before.locked.load(Relaxed)) {
            return false;
        }
        spare::exchange(|node| {
            // Relaxed: published by the CAS.
            node.locked.store(true, Relaxed);
            let entered = self.tail.compare_exchange(
                last,
                ptr::from_ref(node).cast_mut(),
                // ORDERING(L4): as in `lock`.
                AcqRel,
                Relaxed,
            );
            if entered.is_err() {
                return Err(node);
            }
            // The node may have been used by other threads in between, and be locked again.
            self.wait_for(before);
            self.hold(node);
            Ok(before)
        })
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: the caller is the holder (contract, invariant 3).
        let held = self.held.with(|held| unsafe { *held });
        // SAFETY: `lock` stored a node there, and nodes are never freed.
        let held = unsafe { &*held };
        // ORDERING(L3): Release: what this holder did.
        held.locked.store(false, Release);
    }
}

impl Drop for ClhLock {
    fn drop(&mut self) {
        // Relaxed: no other thread can use the lock any more.
        let last = self.tail.load(Relaxed);
        // SAFETY: null or a node, and nodes are never freed.
        if let Some(last) = unsafe { last.as_ref() } {
            spare::keep(last);
        }
    }
}

/// A position in a queue, on separate cache lines, because the successor spins on it.
#[derive(Debug)]
struct Node {
    locked: CachePadded<AtomicBool>,
}

impl Node {
    fn new() -> &'static Self {
        Box::leak(Box::new(Self {
            locked: CachePadded::new(AtomicBool::new(false)),
        }))
    }

    #[cold]
    fn wait(&self) {
        let mut backoff = Backoff::new();
        // ORDERING(L3): Acquire: what the last holder did.
        while self.locked.load(Acquire) {
            backoff.pause();
        }
    }
}

/// The nodes that no thread uses at the moment.
mod spare {
    use super::{Cell, Node, RefCell, thread_local};
    #[cfg(not(any(loom, shuttle)))]
    use crate::prim::Mutex;

    #[cfg(not(any(loom, shuttle)))]
    thread_local! {
        static SPARE: Spare = const { Spare::new() };
    }
    #[cfg(any(loom, shuttle))]
    thread_local! {
        static SPARE: Spare = Spare::new();
    }

    /// The surplus nodes of threads, and all nodes of threads that have ended. In a model, every
    /// execution begins without any.
    #[cfg(not(any(loom, shuttle)))]
    static SURPLUS: Mutex<Vec<&'static Node>> = Mutex::new(Vec::new());

    /// The maximum number of nodes that a thread keeps besides the one that it uses.
    const KEPT_MAX: usize = 8;

    struct Spare {
        /// The node that every `lock` takes, and usually replaces.
        one: Cell<Option<&'static Node>>,
        more: RefCell<Vec<&'static Node>>,
    }

    impl Spare {
        const fn new() -> Self {
            Self {
                one: Cell::new(None),
                more: RefCell::new(Vec::new()),
            }
        }
    }

    /// Lends a node to `enter`, and keeps the node that `enter` returns. Returns true if `enter`
    /// succeeded.
    #[inline]
    pub(super) fn exchange(
        enter: impl FnOnce(&'static Node) -> Result<Option<&'static Node>, &'static Node>,
    ) -> bool {
        let mut enter = Some(enter);
        let mut exchange = |node: Option<&'static Node>| {
            let enter = enter.take().expect("one of two calls below");
            match enter(node.unwrap_or_else(take_slow)) {
                Ok(before) => (before, true),
                Err(own) => (Some(own), false),
            }
        };
        // A single access to the thread-local variable, instead of one before and one after.
        let entered = SPARE.try_with(|spare| {
            // The node is not removed meanwhile, because no other code looks; that saves a store.
            let (node, entered) = exchange(spare.one.get());
            spare.one.set(node);
            entered
        });
        entered.unwrap_or_else(|_| {
            // This thread is ending.
            let (node, entered) = exchange(None);
            give_to_others(node.into_iter().collect());
            entered
        })
    }

    #[cold]
    fn take_slow() -> &'static Node {
        let kept = SPARE.try_with(|spare| spare.more.borrow_mut().pop());
        kept.ok()
            .flatten()
            .or_else(take_from_others)
            .unwrap_or_else(Node::new)
    }

    /// Keeps a node on which no thread spins.
    #[inline]
    pub(super) fn keep(node: &'static Node) {
        let other = SPARE.try_with(|spare| spare.one.replace(Some(node)));
        match other {
            Ok(None) => {}
            Ok(Some(other)) => keep_slow(other),
            // This thread is ending.
            Err(_) => give_to_others(vec![node]),
        }
    }

    /// Keeps a few nodes and leaves the surplus to other threads, because locks may be created by
    /// one thread and dropped by another.
    #[cold]
    fn keep_slow(node: &'static Node) {
        let surplus = SPARE.try_with(|spare| {
            let mut more = spare.more.borrow_mut();
            more.push(node);
            if more.len() > KEPT_MAX {
                std::mem::take(&mut *more)
            } else {
                Vec::new()
            }
        });
        give_to_others(surplus.unwrap_or_else(|_| vec![node]));
    }

    impl Drop for Spare {
        fn drop(&mut self) {
            let mut nodes = self.more.take();
            nodes.extend(self.one.take());
            give_to_others(nodes);
        }
    }

    #[cfg(not(any(loom, shuttle)))]
    fn give_to_others(nodes: Vec<&'static Node>) {
        SURPLUS
            .lock()
            .expect("nothing panics under this lock")
            .extend(nodes);
    }

    #[cfg(not(any(loom, shuttle)))]
    fn take_from_others() -> Option<&'static Node> {
        SURPLUS
            .lock()
            .expect("nothing panics under this lock")
            .pop()
    }

    #[cfg(any(loom, shuttle))]
    fn give_to_others(nodes: Vec<&'static Node>) {
        drop(nodes);
    }

    #[cfg(any(loom, shuttle))]
    fn take_from_others() -> Option<&'static Node> {
        None
    }
}
