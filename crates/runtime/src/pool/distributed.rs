//! Distributed pools: each worker has a store, from which the others steal.
//!
//! With a private buffer, the newest task of a worker is in a place that other workers do not
//! search: it costs no synchronisation and stays in the cache. When the worker puts the next task,
//! the previous one becomes public. A worker that has to wait makes its private task public first.
//! A worker that is about to sleep takes private tasks of others as well
//! ([`hidden`](super::hidden)).
//!
//! # Source
//! DQ-* in Hoffmann, Korch, Rauber, SC 2004, sect. 2.2.1.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use raddle_sync::CachePadded;

use super::hidden::{Hidden, Own, Place, hidden};
use super::outside::Outside;
use super::parts::Parts;
use super::store::Store;
use super::victims::Victims;
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::task::Task;

/// The arrangement of the stores in memory.
pub(super) trait Layout: fmt::Debug + Send + Sync + 'static {
    type Of<T: fmt::Debug + Send + Sync>: Deref<Target = T> + From<T> + fmt::Debug + Send + Sync;
}

/// Stores side by side.
#[derive(Debug)]
pub(super) struct Dense;

/// Stores on separate cache lines.
#[derive(Debug)]
pub(super) struct Padded;

/// A value without padding.
#[derive(Debug)]
pub(super) struct Bare<T>(T);

impl<T> From<T> for Bare<T> {
    fn from(value: T) -> Self {
        Self(value)
    }
}

impl<T> Deref for Bare<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl Layout for Dense {
    type Of<T: fmt::Debug + Send + Sync> = Bare<T>;
}

impl Layout for Padded {
    type Of<T: fmt::Debug + Send + Sync> = CachePadded<T>;
}

/// The private buffer of a worker, for its newest task.
pub(super) trait Buffer: Sized + fmt::Debug + Send + 'static {
    /// The end of the buffer that the other workers see.
    type Seen: fmt::Debug + Send + Sync;

    /// Creates an empty buffer.
    fn new() -> (Self::Seen, Self);

    /// Keeps the task. Returns the task that has to become public, if there is one.
    fn keep(&self, task: Task) -> Option<Task>;

    /// Takes the private task.
    fn take(&self) -> Option<Task>;

    /// Takes another worker's private task if it is wanted.
    fn raid(seen: &Self::Seen, wanted: Wanted<'_>) -> Option<Task>;

    /// Returns true if there may be a private task.
    fn holds(seen: &Self::Seen) -> bool;
}

/// No private buffer.
#[derive(Debug)]
pub(super) struct NoBuffer;

impl Buffer for NoBuffer {
    type Seen = ();

    fn new() -> ((), Self) {
        ((), Self)
    }

    #[inline]
    fn keep(&self, task: Task) -> Option<Task> {
        Some(task)
    }

    #[inline]
    fn take(&self) -> Option<Task> {
        None
    }

    fn raid((): &(), _wanted: Wanted<'_>) -> Option<Task> {
        None
    }

    fn holds((): &()) -> bool {
        false
    }
}

/// A private buffer of one task.
#[derive(Debug)]
pub(super) struct OneTask(Own<Option<Task>>);

impl Place for Option<Task> {
    #[inline]
    fn is_empty(&self) -> bool {
        self.is_none()
    }
}

impl Buffer for OneTask {
    type Seen = Hidden<Option<Task>>;

    fn new() -> (Self::Seen, Self) {
        let (seen, own) = hidden();
        (seen, Self(own))
    }

    #[inline]
    fn keep(&self, task: Task) -> Option<Task> {
        self.0.with(|place| place.replace(task))
    }

    #[inline]
    fn take(&self) -> Option<Task> {
        if self.0.is_empty() {
            return None;
        }
        self.0.with(Option::take)
    }

    fn raid(seen: &Self::Seen, wanted: Wanted<'_>) -> Option<Task> {
        seen.raid(|place| place.take_if(|task| wanted.accepts(task)))
    }

    fn holds(seen: &Self::Seen) -> bool {
        seen.holds()
    }
}

/// A store for each worker. With `SINGLE_TRY`, a thief does not wait for a lock, but goes on to the
/// next victim.
#[derive(Debug)]
pub(super) struct Distributed<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> {
    name: &'static str,
    shared: Arc<Shared<S, P, B>>,
    setup: Setup,
}

#[derive(Debug)]
struct Shared<S: Store, P: Layout, B: Buffer> {
    parts: Parts<StorePart<S, P, B>, (S::Owner, B)>,
    outside: Arc<Outside>,
}

#[derive(Debug)]
struct StorePart<S: Store, P: Layout, B: Buffer> {
    store: P::Of<S>,
    private: B::Seen,
}

#[derive(Debug)]
struct DistributedSeat<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> {
    private: B,
    shared: Arc<Shared<S, P, B>>,
    owner: S::Owner,
    worker_index: usize,
    victims: Victims,
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> Distributed<S, P, B, SINGLE_TRY> {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let parts = setup.parts(|| {
            let ((store, owner), (seen, private)) = (S::new(), B::new());
            let part = StorePart {
                store: P::Of::from(store),
                private: seen,
            };
            (part, (owner, private))
        });
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                parts,
                outside: Arc::clone(&setup.outside),
            }),
            setup: setup.clone(),
        })
    }
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> Pool
    for Distributed<S, P, B, SINGLE_TRY>
{
    fn name(&self) -> &'static str {
        self.name
    }

    fn seat(&self, worker_index: usize) -> Box<dyn Seat> {
        let (owner, private) = self.shared.parts.take(worker_index);
        Box::new(DistributedSeat::<S, P, B, SINGLE_TRY> {
            private,
            shared: Arc::clone(&self.shared),
            owner,
            worker_index,
            victims: self.setup.victims(worker_index),
        })
    }

    fn has_work(&self) -> bool {
        let parts = &self.shared.parts;
        parts.iter().any(|part| part.store.has_tasks())
            || parts.iter().any(|part| B::holds(&part.private))
    }

    /// Counts the shared tasks only.
    fn len_estimate(&self) -> Option<usize> {
        let parts = self.shared.parts.iter();
        parts.map(|part| part.store.len_estimate()).sum()
    }
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> DistributedSeat<S, P, B, SINGLE_TRY> {
    fn own(&self) -> &S {
        &self.shared.parts.own(self.worker_index).store
    }

    /// Takes the private task if it is wanted. Otherwise makes it public, since this worker may be
    /// about to wait.
    #[inline]
    fn take_private(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Task> {
        let task = self.private.take()?;
        if wanted.accepts(&task) {
            return Some(task);
        }
        self.share(task);
        look.hid = true;
        None
    }

    #[cold]
    fn steal(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        // The last search waits for locks: a worker that sleeps after it is not notified of tasks
        // that were there before.
        let single_try = SINGLE_TRY && !look.is_last;
        let found = self.victims.iter().find_map(|victim| {
            look.steals_tried += 1;
            let part = self.shared.parts.get(victim)?;
            Some((part.store.steal(wanted, single_try, look)?, victim))
        });
        let raid = || {
            self.victims.iter().find_map(|victim| {
                let part = self.shared.parts.get(victim)?;
                Some((B::raid(&part.private, wanted)?, victim))
            })
        };
        let (task, victim) = found.or_else(|| look.is_last.then(raid).flatten())?;
        Some(Found {
            task,
            stolen_from: Some(victim),
        })
    }
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> Seat
    for DistributedSeat<S, P, B, SINGLE_TRY>
{
    fn put(&self, task: Task) -> Put {
        match self.private.keep(task) {
            Some(task) => {
                self.share(task);
                Put::Shared
            }
            None => Put::Private,
        }
    }

    fn share(&self, task: Task) {
        self.own().put(&self.owner, task);
    }

    fn share_all(&self) -> bool {
        let task = self.private.take();
        let had = task.is_some();
        task.into_iter().for_each(|task| self.share(task));
        had
    }

    /// Returns an empty mark. No position is needed: the store is searched as a whole.
    fn mark(&self) -> Mark {
        Mark::default()
    }

    fn has_own(&self) -> bool {
        let part = self.shared.parts.own(self.worker_index);
        part.store.has_tasks() || B::holds(&part.private)
    }

    fn get(&self, wanted: Wanted<'_>, look: &mut Look) -> Option<Found> {
        let own = self
            .take_private(wanted, look)
            .or_else(|| self.own().take(wanted, look))
            .or_else(|| self.shared.outside.take_oldest(wanted));
        match own {
            Some(task) => Some(Found {
                task,
                stolen_from: None,
            }),
            None => self.steal(wanted, look),
        }
    }
}
