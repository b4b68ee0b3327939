//! Block-distributed pools: workers steal several tasks at once.
//!
//! A worker puts its tasks into a private block. A block that is full joins the worker's other
//! private blocks. As long as the worker's public queue has capacity, the oldest full block moves
//! there, where other workers steal it as a whole. The worker itself takes its newest private task
//! first, and its oldest public block when it has no private tasks. So small tasks cost one lock
//! per block. In exchange, other workers take tasks of private blocks only when they are about to
//! sleep ([`hidden`](super::hidden)). A worker that has to wait makes all its tasks public, unless
//! some are public already.
//!
//! Blocks move when a task is put, as in the study, and also when one is taken: without the latter,
//! a worker that puts all of its tasks at once would share only the first two blocks.
//!
//! A worker that waits in a join or a scope steals only blocks in which it may run every task: the
//! other tasks of a block could be tasks for which other workers wait.
//!
//! # Source
//! DQ-BL-* in Hoffmann, Korch, Rauber, SC 2004, sect. 2.2.2; Korch, Rauber: A comparison of task
//! pools for dynamic load balancing of irregular algorithms. Concurrency and Computation 16(1),
//! 2004.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use raddle_sync::lock::{Lock, Locked};
use raddle_sync::prim::{AtomicUsize, Relaxed};
use raddle_sync::single_put::{Putter, Takers, single_put};

use super::distributed::Layout;
use super::hidden::{Hidden, Own, Place, hidden};
use super::outside::Outside;
use super::parts::Parts;
use super::victims::Victims;
use super::{BlockShape, Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::task::{Task, TaskList};

/// The public blocks of one worker.
pub(super) trait Public: fmt::Debug + Send + Sync + Sized + 'static {
    /// The part of the queue that only its owner has.
    type Owner: fmt::Debug + Send;

    /// Creates an empty queue.
    fn new() -> (Self, Self::Owner);

    /// Adds a block.
    fn put(&self, owner: &Self::Owner, block: TaskList);

    /// Takes the oldest block that is `wanted`. With `single_try`, gives up instead of waiting for
    /// a lock.
    fn take(&self, wanted: impl Fn(&TaskList) -> bool, single_try: bool) -> Option<TaskList>;

    /// Returns the number of blocks at some moment during the call.
    fn len(&self) -> usize;
}

/// A queue of blocks under a lock.
#[derive(Debug)]
pub(super) struct Queue<L> {
    blocks: Locked<L, VecDeque<TaskList>>,
    len: AtomicUsize,
}

impl<L: Lock + 'static> Public for Queue<L> {
    type Owner = ();

    fn new() -> (Self, ()) {
        let queue = Self {
            blocks: Locked::default(),
            len: AtomicUsize::new(0),
        };
        (queue, ())
    }

    fn put(&self, (): &(), block: TaskList) {
        self.blocks.with(|blocks| {
            blocks.push_back(block);
            // Relaxed: written under the lock; read as a hint, or after a fence (`Pool::has_work`).
            self.len.store(blocks.len(), Relaxed);
        });
    }

    fn take(&self, wanted: impl Fn(&TaskList) -> bool, single_try: bool) -> Option<TaskList> {
        if self.len() == 0 {
            return None;
        }
        let take = |blocks: &mut VecDeque<TaskList>| {
            let index = blocks.iter().position(wanted)?;
            let block = blocks.remove(index);
            // Relaxed: as above.
            self.len.store(blocks.len(), Relaxed);
            block
        };
        if single_try {
            self.blocks.try_with(take).flatten()
        } else {
            self.blocks.with(take)
        }
    }

    fn len(&self) -> usize {
        // Relaxed: as above.
        self.len.load(Relaxed)
    }
}

/// A queue of blocks that its owner fills without a lock.
#[derive(Debug)]
pub(super) struct SingleQueue<L> {
    takers: Takers<L, TaskList>,
}

impl<L: Lock + 'static> Public for SingleQueue<L> {
    type Owner = Putter<L, TaskList>;

    fn new() -> (Self, Self::Owner) {
        let (putter, takers) = single_put();
        (Self { takers }, putter)
    }

    fn put(&self, owner: &Self::Owner, block: TaskList) {
        owner.put(block);
    }

    fn take(&self, wanted: impl Fn(&TaskList) -> bool, single_try: bool) -> Option<TaskList> {
        if single_try {
            self.takers.try_take_where(wanted)
        } else {
            self.takers.take_where(wanted)
        }
    }

    fn len(&self) -> usize {
        self.takers.len()
    }
}

/// A public queue of blocks for each worker. With `SINGLE_TRY`, a thief does not wait for a lock,
/// but goes on to the next victim.
#[derive(Debug)]
pub(super) struct Blocks<Q: Public, P: Layout, const SINGLE_TRY: bool> {
    name: &'static str,
    shared: Arc<Shared<Q, P>>,
    setup: Setup,
}

#[derive(Debug)]
struct Shared<Q: Public, P: Layout> {
    parts: Parts<BlockPart<Q, P>, (Q::Owner, Own<Private>)>,
    outside: Arc<Outside>,
    shape: BlockShape,
}

#[derive(Debug)]
struct BlockPart<Q: Public, P: Layout> {
    queue: P::Of<Q>,
    private: Hidden<Private>,
}

#[derive(Debug)]
struct BlocksSeat<Q: Public, P: Layout, const SINGLE_TRY: bool> {
    private: Own<Private>,
    shared: Arc<Shared<Q, P>>,
    owner: Q::Owner,
    worker_index: usize,
    victims: Victims,
}

/// The private blocks of a worker.
#[derive(Debug, Default)]
struct Private {
    /// The block to which new tasks are added, newest task first.
    current: TaskList,
    /// Full blocks, newest last.
    full: VecDeque<TaskList>,
}

impl Place for Private {
    #[inline]
    fn is_empty(&self) -> bool {
        self.current.is_empty() && self.full.is_empty()
    }
}

impl Private {
    /// Puts a task into the current block.
    #[inline]
    fn put(&mut self, task: Task, block_len: usize) {
        self.current.put_first(task);
        if self.current.len() >= block_len {
            self.full.push_back(std::mem::take(&mut self.current));
        }
    }

    /// Takes the oldest full block, if there is one and `has_capacity` returns true.
    #[inline]
    fn take_full(&mut self, has_capacity: impl FnOnce() -> bool) -> Option<TaskList> {
        if self.full.is_empty() || !has_capacity() {
            return None;
        }
        self.full.pop_front()
    }

    /// Takes the newest task.
    #[inline]
    fn take_newest(&mut self) -> Option<Task> {
        if self.current.is_empty() {
            self.current = self.full.pop_back()?;
        }
        self.current.take_first()
    }

    /// Takes the oldest block, full or not.
    fn take_oldest_block(&mut self) -> Option<TaskList> {
        let oldest = self.full.pop_front();
        oldest.or_else(|| Some(std::mem::take(&mut self.current)).filter(|block| !block.is_empty()))
    }

    /// Takes the newest task that `accepts` accepts.
    fn take_where(&mut self, accepts: impl Fn(&Task) -> bool + Copy) -> Option<Task> {
        if let Some(task) = self.current.take_where(accepts) {
            return Some(task);
        }
        let mut newest_first = (0..self.full.len()).rev();
        let (at, task) =
            newest_first.find_map(|at| Some((at, self.full[at].take_where(accepts)?)))?;
        // Only this block can have become empty. A scope may have put thousands of others.
        if self.full[at].is_empty() {
            self.full.remove(at);
        }
        Some(task)
    }
}

impl<Q: Public, P: Layout, const SINGLE_TRY: bool> Blocks<Q, P, SINGLE_TRY> {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let parts = setup.parts(|| {
            let ((queue, owner), (seen, private)) = (Q::new(), hidden());
            let part = BlockPart {
                queue: P::Of::from(queue),
                private: seen,
            };
            (part, (owner, private))
        });
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                parts,
                outside: Arc::clone(&setup.outside),
                shape: setup.blocks,
            }),
            setup: setup.clone(),
        })
    }
}

impl<Q: Public, P: Layout, const SINGLE_TRY: bool> Pool for Blocks<Q, P, SINGLE_TRY> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        let (owner, private) = self.shared.parts.take(worker_index);
        Box::new(BlocksSeat::<Q, P, SINGLE_TRY> {
            private,
            shared: Arc::clone(&self.shared),
            owner,
            worker_index,
            victims: self.setup.victims(worker_index),
        })
    }

    fn has_work(&self) -> bool {
        let parts = &self.shared.parts;
        parts.iter().any(|part| part.queue.len() > 0)
            || parts.iter().any(|part| part.private.holds())
    }
}

impl<Q: Public, P: Layout, const SINGLE_TRY: bool> BlocksSeat<Q, P, SINGLE_TRY> {
    /// Returns this worker's public blocks.
    fn own(&self) -> &Q {
        &self.shared.parts.own(self.worker_index).queue
    }

    /// Takes any task.
    fn take_any(&self, look: &mut Look) -> Option<Found> {
        if let Some(task) = self.take_private(look) {
            return Some(Found {
                task,
                stolen_from: None,
            });
        }
        if let Some(block) = self.own().take(|_| true, false) {
            return self.begin(block, None, look);
        }
        if let Some(task) = self.shared.outside.take_oldest(Wanted::Any) {
            return Some(Found {
                task,
                stolen_from: None,
            });
        }
        let (victim, block) = self.steal(|_| true, look).or_else(|| {
            let oldest = |private: &mut Private| private.take_oldest_block();
            self.raid(look, oldest)
        })?;
        self.begin(block, Some(victim), look)
    }

    /// Takes this worker's newest private task, and makes a full block public if other workers have
    /// taken one.
    #[inline]
    fn take_private(&self, look: &mut Look) -> Option<Task> {
        if self.private.is_empty() {
            return None;
        }
        let (task, ready) = self.private.with(|private| {
            let task = private.take_newest();
            (task, private.take_full(|| self.has_capacity()))
        });
        if let Some(block) = ready {
            self.own().put(&self.owner, block);
            look.hid = true;
        }
        task
    }

    /// Returns true if one more block may become public.
    #[inline]
    fn has_capacity(&self) -> bool {
        self.own().len() < self.shared.shape.blocks.get()
    }

    /// Takes the first task of a block. The other tasks of the block become this worker's private
    /// tasks. It has no others at this point.
    ///
    /// These tasks are invisible to all other workers while they are moved.
    fn begin(
        &self,
        mut block: TaskList,
        stolen_from: Option<usize>,
        look: &mut Look,
    ) -> Option<Found> {
        let task = block.take_first()?;
        if !block.is_empty() {
            look.hid = true;
            self.private.with(|private| private.current = block);
        }
        Some(Found { task, stolen_from })
    }

    /// Lets `take` take from the private tasks of another worker, if this is the last search before
    /// sleep.
    #[cold]
    fn raid<R>(&self, look: &Look, take: impl Fn(&mut Private) -> Option<R>) -> Option<(usize, R)> {
        if !look.is_last {
            return None;
        }
        self.victims.iter().find_map(|victim| {
            let part = self.shared.parts.get(victim)?;
            Some((victim, part.private.raid(&take)?))
        })
    }

    /// Takes a task that is wanted by a waiting worker.
    fn take_where(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let accepts = |task: &Task| wanted.accepts(task);
        let own = self.take_own(accepts, look);
        if own.is_some() && self.own().len() == 0 {
            // Give the other workers something to take while this worker runs the task.
            look.hid |= self.share_all();
        }
        if let Some(task) = own.or_else(|| self.shared.outside.take_oldest(wanted)) {
            return Some(Found {
                task,
                stolen_from: None,
            });
        }
        // This worker has no wanted task. It makes its private tasks public, because it may be
        // about to wait.
        look.hid |= self.share_all();
        if let Some((victim, block)) = self.steal(|block| block.all(accepts), look) {
            return self.begin(block, Some(victim), look);
        }
        let (victim, task) = self.raid(look, |private| private.take_where(accepts))?;
        Some(Found {
            task,
            stolen_from: Some(victim),
        })
    }

    /// Takes a wanted task from anywhere among this worker's own tasks.
    fn take_own(&self, accepts: impl Fn(&Task) -> bool + Copy, look: &mut Look) -> Option<Task> {
        let private = self.private.with(|private| private.take_where(accepts));
        if private.is_some() {
            return private;
        }
        let mut block = self.own().take(|block| block.any(accepts), false)?;
        look.hid = true;
        let task = block.take_where(accepts);
        if !block.is_empty() {
            // Back in the queue, the block would be moved again for each of its tasks.
            self.private.with(|private| private.full.push_front(block));
        }
        task
    }

    /// Takes a wanted public block from another worker.
    #[cold]
    fn steal(
        &self,
        wanted: impl Fn(&TaskList) -> bool + Copy,
        look: &mut Look,
    ) -> Option<(usize, TaskList)> {
        // The last search waits for locks: a worker that sleeps after it is not notified of blocks
        // that were there before.
        let single_try = SINGLE_TRY && !look.is_last;
        self.victims.iter().find_map(|victim| {
            look.steals_tried += 1;
            let part = self.shared.parts.get(victim)?;
            Some((victim, part.queue.take(wanted, single_try)?))
        })
    }
}

impl<Q: Public, P: Layout, const SINGLE_TRY: bool> Seat for BlocksSeat<Q, P, SINGLE_TRY> {
    fn put(&self, task: Task) -> Put {
        let BlockShape { tasks, .. } = self.shared.shape;
        let has_capacity = || self.has_capacity();
        let mut ready = self.private.with(|private| {
            private.put(task, tasks.get());
            private.take_full(has_capacity)
        });
        let mut put = Put::Private;
        while let Some(block) = ready {
            self.own().put(&self.owner, block);
            put = Put::Shared;
            ready = self.private.with(|private| private.take_full(has_capacity));
        }
        put
    }

    fn share(&self, task: Task) {
        let mut block = TaskList::default();
        block.put_first(task);
        self.own().put(&self.owner, block);
    }

    fn share_all(&self) -> bool {
        if self.private.is_empty() {
            return false;
        }
        let private = self.private.with(std::mem::take);
        for block in private.full.into_iter().chain([private.current]) {
            if !block.is_empty() {
                self.own().put(&self.owner, block);
            }
        }
        true
    }

    /// Returns an empty mark. No position is needed: the blocks are searched as a whole.
    fn mark(&self) -> Mark {
        Mark::default()
    }

    fn has_own(&self) -> bool {
        !self.private.is_empty() || self.own().len() > 0
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        match wanted {
            Wanted::Any => self.take_any(look),
            _ => self.take_where(wanted, look),
        }
    }
}
