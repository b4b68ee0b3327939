//! The CLH lock: each waiter looks at the node of its predecessor. Fair.
//!
//! One swap enters the queue. A thread that gets the lock takes its predecessor's node for its next wait, so that nodes
//! travel from thread to thread; what a thread does not need it keeps for later, and leaves to the others when it ends. Nodes
//! are never given back to the system: there are as many as locks that were ever used and waits that were ever under way
//! at one time.
//!
//! # Memory ordering
//! | label | release side | acquire side | what it publishes |
//! | --- | --- | --- | --- |
//! | L3 | `unlock` stores `locked` false | the successor loads it | what the last holder did |
//! | L4 | `lock`, `try_lock` swap their node into `tail` | the next one swaps it out | that the node is `locked` |
//! # Invariants
//! 1. `tail` points to the node of the last one in the queue, or of the last holder, or is null before the first.
//! 2. A node that was swapped out of `tail` is its successor's as soon as it is not `locked`.
//! 3. `held` is touched by the holder alone.
//! # Source
//! Craig: Building FIFO and priority-queuing spin locks from atomic swap. TR 93-02-02, Washington, 1993; Magnusson,
//! Landin, Hagersten: Queue locks on cache coherent multiprocessors. IPPS 1994; the form that needs nothing from its callers: Scott:
//! Shared-memory synchronization. 2013, sect. 4.3.

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
    /// The holder's node.
    held: UnsafeCell<*const Node>,
}

// SAFETY: `held` is touched by the holder alone (invariant 3).
unsafe impl Sync for ClhLock {}
// SAFETY: nodes belong to no thread.
unsafe impl Send for ClhLock {}

impl Default for ClhLock {
    fn default() -> Self {
        Self::new()
    }
}

impl ClhLock {
    crate::const_fn! {
        /// A free lock.
        pub const fn new() -> Self {
            Self {
                tail: AtomicPtr::new(ptr::null_mut()),
                held: UnsafeCell::new(ptr::null()),
            }
        }
    }

    /// True when somebody waits for the lock.
    ///
    /// # Safety
    /// The caller's thread has the lock.
    pub unsafe fn is_contended(&self) -> bool {
        // SAFETY: the holder asks (contract).
        let held = self.held.with(|held| unsafe { *held });
        // Relaxed: a hint.
        !ptr::eq(self.tail.load(Relaxed), held)
    }

    /// Waits until the predecessor is done; its node is then ours.
    #[inline]
    fn wait_for(&self, before: Option<&'static Node>) {
        let Some(before) = before else { return };
        // ORDERING(L3): Acquire, what the last holder did.
        if before.locked.load(Acquire) {
            before.wait();
        }
    }

    /// Notes the holder's node, which is the caller's.
    #[inline]
    fn hold(&self, node: &'static Node) {
        self.held.with_mut(|held| {
            // SAFETY: we are the holder (invariant 3).
            unsafe { *held = node };
        });
    }
}

// SAFETY: every node in the queue but the first waits for the one before it.
unsafe impl Lock for ClhLock {
    #[inline]
    fn lock(&self) {
        spare::exchange(|node| {
            // Relaxed: published by the swap.
            node.locked.store(true, Relaxed);
            // ORDERING(L4): Release, our node is locked; Acquire, the node before ours.
            let before = self.tail.swap(ptr::from_ref(node).cast_mut(), AcqRel);
            // SAFETY: null or a node, and nodes live for ever.
            let before = unsafe { before.as_ref() };
            self.wait_for(before);
            self.hold(node);
            Ok(before)
        });
    }

    /// After losing a rare race against two others, this waits for one of them: it is in the queue then.
    #[inline]
    fn try_lock(&self) -> bool {
        // ORDERING(L4): Acquire, the node.
        let last = self.tail.load(Acquire);
        // SAFETY: null or a node, and nodes live for ever.
        let before = unsafe { last.as_ref() };
        // Relaxed: looked at again once we are in the queue.
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
            // The node may have gone round since, and be locked again.
            self.wait_for(before);
            self.hold(node);
            Ok(before)
        })
    }

    #[inline]
    unsafe fn unlock(&self) {
        // SAFETY: we are the holder (contract, invariant 3).
        let held = self.held.with(|held| unsafe { *held });
        // SAFETY: `lock` stored a node there, and nodes live for ever.
        let held = unsafe { &*held };
        // ORDERING(L3): Release, what we did.
        held.locked.store(false, Release);
    }
}

impl Drop for ClhLock {
    fn drop(&mut self) {
        // Relaxed: nobody else has the lock any more.
        let last = self.tail.load(Relaxed);
        // SAFETY: null or a node, and nodes live for ever.
        if let Some(last) = unsafe { last.as_ref() } {
            spare::keep(last);
        }
    }
}

/// One place in a queue, on cache lines of its own: others look at it.
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
        // ORDERING(L3): Acquire, what the last holder did.
        while self.locked.load(Acquire) {
            backoff.pause();
        }
    }
}

/// The nodes that nobody waits with.
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

    /// Those of threads that have ended. In a model every execution begins without any.
    #[cfg(not(any(loom, shuttle)))]
    static LEFT: Mutex<Vec<&'static Node>> = Mutex::new(Vec::new());

    /// Nodes that a thread keeps besides the one that it uses.
    const KEPT_MAX: usize = 8;

    struct Spare {
        /// The one that every lock takes and most give back.
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

    /// Lends a node to `enter`, and keeps what that got in exchange; true when `enter` succeeded.
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
        // One look at the thread's own, not one before and one after.
        let entered = SPARE.try_with(|spare| {
            // Not taken out meanwhile, since nobody else looks: that would be one more store.
            let (node, entered) = exchange(spare.one.get());
            spare.one.set(node);
            entered
        });
        entered.unwrap_or_else(|_| {
            // This thread is just ending.
            let (node, entered) = exchange(None);
            leave(node.into_iter().collect());
            entered
        })
    }

    #[cold]
    fn take_slow() -> &'static Node {
        let kept = SPARE.try_with(|spare| spare.more.borrow_mut().pop());
        kept.ok().flatten().or_else(left).unwrap_or_else(Node::new)
    }

    /// Keeps a node that nobody looks at.
    #[inline]
    pub(super) fn keep(node: &'static Node) {
        let other = SPARE.try_with(|spare| spare.one.replace(Some(node)));
        match other {
            Ok(None) => {}
            Ok(Some(other)) => keep_slow(other),
            // This thread is just ending.
            Err(_) => leave(vec![node]),
        }
    }

    /// More than a few are for whoever needs them: locks may be made by one thread and dropped by another.
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
        leave(surplus.unwrap_or_else(|_| vec![node]));
    }

    impl Drop for Spare {
        fn drop(&mut self) {
            let mut nodes = self.more.take();
            nodes.extend(self.one.take());
            leave(nodes);
        }
    }

    #[cfg(not(any(loom, shuttle)))]
    fn leave(nodes: Vec<&'static Node>) {
        LEFT.lock()
            .expect("nothing panics under this lock")
            .extend(nodes);
    }

    #[cfg(not(any(loom, shuttle)))]
    fn left() -> Option<&'static Node> {
        LEFT.lock().expect("nothing panics under this lock").pop()
    }

    #[cfg(any(loom, shuttle))]
    fn leave(nodes: Vec<&'static Node>) {
        drop(nodes);
    }

    #[cfg(any(loom, shuttle))]
    fn left() -> Option<&'static Node> {
        None
    }
}
