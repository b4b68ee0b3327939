//! Distributed pools: a store for each worker, from which the others steal.
//!
//! With a private buffer, the newest task of a worker lies where nobody else looks: it costs no synchronisation and stays
//! in the cache; the one before it becomes public. A worker that has to wait makes its private task public first.
//!
//! # Source
//! DQ-* in Hoffmann, Korch, Rauber, SC 2004, sect. 2.2.1.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use raddle_sync::CachePadded;

use super::kind::Victims;
use super::outside::Outside;
use super::owners::Owners;
use super::store::Store;
use super::{Found, Look, Mark, Pool, Put, Seat, Setup, Wanted};
use crate::task::Task;

/// How the stores lie in memory.
pub(super) trait Layout: fmt::Debug + Send + Sync + 'static {
    type Of<T: fmt::Debug + Send + Sync>: Deref<Target = T> + From<T> + fmt::Debug + Send + Sync;
}

/// Side by side.
#[derive(Debug)]
pub(super) struct Dense;

/// Each on cache lines of its own.
#[derive(Debug)]
pub(super) struct Padded;

/// A value and nothing around it.
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

/// Whether the newest task of a worker is its own.
pub(super) trait Buffer: Default + fmt::Debug + Send + 'static {
    /// Keeps the task, and returns what has to become public.
    fn keep(&self, task: Task) -> Option<Task>;
    /// The private task.
    fn take(&self) -> Option<Task>;
}

/// No private buffer.
#[derive(Debug, Default)]
pub(super) struct NoBuffer;

impl Buffer for NoBuffer {
    #[inline]
    fn keep(&self, task: Task) -> Option<Task> {
        Some(task)
    }

    #[inline]
    fn take(&self) -> Option<Task> {
        None
    }
}

/// A private buffer of one task.
#[derive(Default)]
pub(super) struct OneTask(Cell<Option<Task>>);

impl fmt::Debug for OneTask {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("OneTask").finish_non_exhaustive()
    }
}

impl Buffer for OneTask {
    #[inline]
    fn keep(&self, task: Task) -> Option<Task> {
        self.0.replace(Some(task))
    }

    #[inline]
    fn take(&self) -> Option<Task> {
        self.0.take()
    }
}

/// A store for each worker. With `SINGLE_TRY`, a thief goes on to the next victim
/// rather than wait for a lock.
#[derive(Debug)]
pub(super) struct Distributed<S: Store, P: Layout, B, const SINGLE_TRY: bool> {
    name: &'static str,
    shared: Arc<Shared<S, P>>,
    owners: Owners<S::Owner>,
    victims: Vec<Victims>,
    buffer: PhantomData<fn() -> B>,
}

#[derive(Debug)]
struct Shared<S: Store, P: Layout> {
    stores: Box<[P::Of<S>]>,
    outside: Arc<Outside>,
}

#[derive(Debug)]
struct DistributedSeat<S: Store, P: Layout, B, const SINGLE_TRY: bool> {
    private: B,
    shared: Arc<Shared<S, P>>,
    owner: S::Owner,
    worker_index: usize,
    victims: Victims,
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> Distributed<S, P, B, SINGLE_TRY> {
    pub(super) fn build(name: &'static str, setup: &Setup) -> Box<dyn Pool> {
        let (stores, owners) = Owners::with_parts(setup.worker_limit(), || {
            let (store, owner) = S::new();
            (P::Of::from(store), owner)
        });
        Box::new(Self {
            name,
            shared: Arc::new(Shared {
                stores,
                outside: Arc::clone(&setup.outside),
            }),
            owners,
            victims: setup.victims.clone(),
            buffer: PhantomData,
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
        let owner = self.owners.take(worker_index);
        Box::new(DistributedSeat::<S, P, B, SINGLE_TRY> {
            private: B::default(),
            shared: Arc::clone(&self.shared),
            owner,
            worker_index,
            victims: self.victims[worker_index].clone(),
        })
    }

    fn has_work(&self) -> bool {
        self.shared.stores.iter().any(|store| store.has_tasks())
    }
}

impl<S: Store, P: Layout, B: Buffer, const SINGLE_TRY: bool> DistributedSeat<S, P, B, SINGLE_TRY> {
    fn own(&self) -> &S {
        &self.shared.stores[self.worker_index]
    }

    /// The private task if it is wanted; one that is not becomes public, since this worker may be about to wait.
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
        self.victims.iter().find_map(|victim| {
            look.steals_tried += 1;
            let task = self.shared.stores[victim].steal(wanted, SINGLE_TRY, look)?;
            Some(Found {
                task,
                stolen_from: Some(victim),
            })
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

    /// The store is searched as a whole: no position is needed.
    fn mark(&self) -> Mark {
        Mark::default()
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
