//! The pools by name, and what each is made of.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use raddle_sync::lock::{ClhLock, PthreadLock, SimpleLock, TicketLock};
use raddle_sync::prim::{AtomicUsize, Relaxed};

use super::auto::Auto;
use super::blocks::{Blocks, Queue, SingleQueue};
use super::central::Central;
use super::deque::Deque;
use super::distributed::{Dense, Distributed, NoBuffer, OneTask, Padded};
use super::parts::Parts;
use super::store::{Lifo, List, LockFree, Single};
use super::{BlockShape, Outside, Pool};

/// What a pool is built for.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// For each of the first workers, the order in which it looks through the others.
    orders: Vec<Arc<[usize]>>,
    worker_count: usize,
    substitute_count: usize,
    /// Workers that there have been: the first ones, and those substitutes that were ever needed.
    present: Arc<AtomicUsize>,
    pub(super) blocks: BlockShape,
    /// What comes from threads that are no workers: workers look there after their own tasks.
    pub(crate) outside: Arc<Outside>,
}

/// The others in the order in which a worker looks for work.
#[derive(Clone, Debug)]
pub(super) struct Victims {
    own: usize,
    /// Those that there are from the start.
    order: Arc<[usize]>,
    worker_count: usize,
    present: Arc<AtomicUsize>,
}

impl Victims {
    /// Those that there have been. Substitutes come last, in the order in which they come up.
    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        // Relaxed: one that is seen late is asked late.
        let substitutes = self.worker_count..self.present.load(Relaxed);
        let others = substitutes.filter(|&other| other != self.own);
        self.order.iter().copied().chain(others)
    }
}

impl Setup {
    /// For workers of whom each looks through the others in an order of its own, and up to `substitute_count` more.
    pub(crate) fn new(worker_count: usize, substitute_count: usize, blocks: BlockShape) -> Self {
        let order = |worker_index| permuted(worker_index, worker_count).into();
        Self {
            orders: (0..worker_count).map(order).collect(),
            worker_count,
            substitute_count,
            present: Arc::new(AtomicUsize::new(worker_count)),
            blocks,
            outside: Arc::default(),
        }
    }

    /// The same, but near workers before far ones: `distance` tells for two workers how far apart they are.
    pub(crate) fn near_first<D: Ord>(mut self, distance: impl Fn(usize, usize) -> D) -> Self {
        for (worker_index, order) in self.orders.iter_mut().enumerate() {
            let mut near_first = order.to_vec();
            near_first.sort_by_key(|&victim| distance(worker_index, victim));
            *order = near_first.into();
        }
        self
    }

    /// Where a worker looks for work.
    pub(super) fn victims(&self, worker_index: usize) -> Victims {
        let order = self.orders.get(worker_index).cloned();
        Victims {
            own: worker_index,
            order: order.unwrap_or_else(|| permuted(worker_index, self.worker_count).into()),
            worker_count: self.worker_count,
            present: Arc::clone(&self.present),
        }
    }

    /// The parts of a pool, as `make` makes them.
    pub(super) fn parts<P, T>(
        &self,
        make: impl Fn() -> (P, T) + Send + Sync + 'static,
    ) -> Parts<P, T> {
        Parts::new(self.worker_count, self.worker_limit(), make)
    }

    /// Workers that there may ever be, with all substitutes.
    pub(crate) fn worker_limit(&self) -> usize {
        self.worker_count + self.substitute_count
    }

    /// Workers that there are from the start.
    pub(crate) fn worker_count(&self) -> usize {
        self.worker_count
    }

    /// How many workers there have been, for whoever starts one.
    pub(crate) fn present(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.present)
    }
}

/// The other workers in an order that differs from worker to worker, so that hungry ones do not all ask the same.
fn permuted(worker_index: usize, worker_count: usize) -> Vec<usize> {
    let mut others: Vec<usize> = (0..worker_count)
        .filter(|&other| other != worker_index)
        .collect();
    let mut state = worker_index as u64;
    for end in (2..=others.len()).rev() {
        let random = usize::try_from(next_random(&mut state) >> 32).expect("32 bits");
        others.swap(end - 1, random % end);
    }
    others
}

/// # Source
/// Steele, Lea, Flood: Fast splittable pseudorandom number generators. OOPSLA 2014.
fn next_random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Declares the pools: a line for each, with its name and its parts.
macro_rules! pools {
    ($($(#[doc = $about:literal])+ $(#[$default:ident])? $kind:ident = $name:literal: $pool:ty;)*) => {
        /// The pools to choose from, by name.
        ///
        /// The first letters say how tasks are distributed: `SQ` has one queue for all, `DQ` one for each worker, `DQ-BL` one of blocks
        /// of several tasks. Then the synchronisation: `PTH` a Pthreads mutex, `SL` the simple lock, `TL` the ticket lock, `CLH`
        /// that lock, `LF` none; `SP` (single put) lets the owner put without the lock. Then what else there is: `TRY`, thieves that wait
        /// for no lock; `PRIV`, a private buffer of one task; `C`, each worker's part on cache lines of its own.
        ///
        /// Beyond the study, tasks in private buffers and blocks are within the other workers' reach where they have nothing else: code
        /// that makes a task and then stands still for it in its own way (a channel, a lock, a flag) goes on.
        /// # Source
        /// Hoffmann, Korch, Rauber: Performance evaluation of task pools based on hardware synchronization. SC 2004, sect. 2.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum PoolKind {
            $($(#[doc = $about])+ $(#[$default])? $kind,)*
        }

        const COUNT: usize = [$($name),*].len();

        impl PoolKind {
            /// All of them.
            pub const ALL: [Self; COUNT] = [$(Self::$kind),*];

            /// The name that `--pool` and `RADDLE_POOL` take.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$kind => $name,)*
                }
            }

            /// Returns what the pool is made of, in one sentence.
            pub fn about(self) -> &'static str {
                match self {
                    $(Self::$kind => concat!($($about),+).trim_start(),)*
                }
            }

            /// An empty pool.
            pub(crate) fn build(self, setup: &Setup) -> Box<dyn Pool> {
                match self {
                    $(Self::$kind => <$pool>::build($name, setup),)*
                }
            }
        }
    };
}

const WAIT: bool = false;
const TRY: bool = true;

pools! {
    /// One stack under a Pthreads mutex.
    SqPth = "SQ-PTH": Central<List<PthreadLock, Lifo>>;
    /// One stack under a simple lock.
    SqSl = "SQ-SL": Central<List<SimpleLock, Lifo>>;
    /// One stack under a ticket lock.
    SqTl = "SQ-TL": Central<List<TicketLock, Lifo>>;
    /// One lock-free stack.
    SqLf = "SQ-LF": Central<LockFree>;
    /// A stack for each worker under a Pthreads mutex.
    DqPth = "DQ-PTH": Distributed<List<PthreadLock, Lifo>, Dense, NoBuffer, WAIT>;
    /// A stack for each worker under a simple lock.
    DqSl = "DQ-SL": Distributed<List<SimpleLock, Lifo>, Dense, NoBuffer, WAIT>;
    /// As DQ-SL, with a private buffer.
    DqSlPriv = "DQ-SL-PRIV": Distributed<List<SimpleLock, Lifo>, Dense, OneTask, WAIT>;
    /// As DQ-SL-PRIV, on separate cache lines.
    DqSlPrivC = "DQ-SL-PRIV-C": Distributed<List<SimpleLock, Lifo>, Padded, OneTask, WAIT>;
    /// As DQ-SL-PRIV-C, with thieves that do not wait.
    DqSlTryPrivC = "DQ-SL-TRY-PRIV-C": Distributed<List<SimpleLock, Lifo>, Padded, OneTask, TRY>;
    /// As DQ-SL-PRIV-C, under ticket locks.
    DqTlPrivC = "DQ-TL-PRIV-C": Distributed<List<TicketLock, Lifo>, Padded, OneTask, WAIT>;
    /// As DQ-SL-PRIV-C, under CLH locks.
    DqClhPrivC = "DQ-CLH-PRIV-C": Distributed<List<ClhLock, Lifo>, Padded, OneTask, WAIT>;
    /// A queue for each worker, which puts without a lock, and a private buffer.
    DqSlSpPrivC = "DQ-SL-SP-PRIV-C": Distributed<Single<SimpleLock>, Padded, OneTask, WAIT>;
    /// A lock-free stack for each worker, and a private buffer.
    DqLfPrivC = "DQ-LF-PRIV-C": Distributed<LockFree, Padded, OneTask, WAIT>;
    /// Blocks under Pthreads mutexes.
    DqBlPth = "DQ-BL-PTH": Blocks<Queue<PthreadLock>, Dense, WAIT>;
    /// Blocks under simple locks.
    DqBlSlC = "DQ-BL-SL-C": Blocks<Queue<SimpleLock>, Padded, WAIT>;
    /// As DQ-BL-SL-C, with thieves that do not wait.
    DqBlSlTryC = "DQ-BL-SL-TRY-C": Blocks<Queue<SimpleLock>, Padded, TRY>;
    /// Blocks under ticket locks.
    DqBlTlC = "DQ-BL-TL-C": Blocks<Queue<TicketLock>, Padded, WAIT>;
    /// As DQ-BL-TL-C, with thieves that do not wait.
    DqBlTlTryC = "DQ-BL-TL-TRY-C": Blocks<Queue<TicketLock>, Padded, TRY>;
    /// Blocks that their owner puts without a lock.
    DqBlSpC = "DQ-BL-SP-C": Blocks<SingleQueue<SimpleLock>, Padded, WAIT>;
    /// As DQ-BL-SP-C, with thieves that do not wait.
    DqBlSpTryC = "DQ-BL-SP-TRY-C": Blocks<SingleQueue<SimpleLock>, Padded, TRY>;
    /// Blocks under CLH locks.
    DqBlClhC = "DQ-BL-CLH-C": Blocks<Queue<ClhLock>, Padded, WAIT>;
    /// A lock-free deque for each worker (Chase and Lev).
    Deque = "deque": Deque;
    /// One of the others, chosen while the program runs; the default.
    #[default]
    Auto = "auto": Auto;
}

impl fmt::Display for PoolKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.name())
    }
}

/// No pool has that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no pool named {found:?}; expected {}", PoolKind::expected())]
pub struct UnknownPool {
    /// What was asked for.
    pub found: String,
}

impl PoolKind {
    /// Names of whole families, and the member that each stands for.
    pub const FAMILIES: [(&'static str, Self); 3] = [
        ("central", Self::SqTl),
        ("distributed", Self::DqTlPrivC),
        ("blocks", Self::DqBlTlC),
    ];

    /// All names that are understood: families, then pools.
    pub fn names() -> impl Iterator<Item = &'static str> {
        let families = Self::FAMILIES.into_iter().map(|(name, _)| name);
        families.chain(Self::ALL.into_iter().map(Self::name))
    }

    /// As [`names`](Self::names), for messages.
    pub(crate) fn expected() -> String {
        let mut names: Vec<&str> = Self::names().collect();
        let last = names.pop().expect("there are pools");
        format!("{} or {last}", names.join(", "))
    }
}

impl FromStr for PoolKind {
    type Err = UnknownPool;

    /// Reads a name, in letters of either case, or that of a family: `central`, `distributed`, `blocks`.
    fn from_str(name: &str) -> Result<Self, UnknownPool> {
        let kinds = Self::ALL.iter().map(|&kind| (kind.name(), kind));
        kinds
            .chain(Self::FAMILIES)
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, kind)| kind)
            .ok_or_else(|| UnknownPool {
                found: name.to_owned(),
            })
    }
}
