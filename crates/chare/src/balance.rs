//! Load balancing of arrays. The run times of each element's entries and the messages between
//! elements are measured. A strategy computes where each element should be. Elements move if that
//! saves more than it costs.
//!
//! Balancing happens when all elements have reached a point in the program ([`Cx::balance`]), or
//! periodically while they run.
//!
//! In an array over nodes, all workers of all nodes are balanced ([`Cx::migrate_to`]). An element
//! moves to another node only if `#[chare(nodes, state)]` says how to serialise it, and if none of
//! its `async` entries is under way when it is measured. So elements that wait in [`Cx::balance`]
//! move only within their node.
//!
//! # Source
//! Jetley, Kalé, sect. 2: measurement-based balancing of arrays. Kalé, Krishnan: CHARM++. OOPSLA
//! 1993, for elements that can move. The strategies are longest-processing-time-first (Graham:
//! Bounds on multiprocessing timing anomalies. SIAM J. Applied Mathematics 17(2), 1969) and its
//! refinement.

mod by_traffic;
mod load_reports;
pub(crate) mod over_nodes;
mod strategy;

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use raddle_runtime::Instant;
use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};

pub use by_traffic::ByTraffic;

use load_reports::{Found, LoadReports};
pub use strategy::{ElementLoad, Greedy, LoadView, Refine, Strategy, Traffic};

use crate::engine::elements::collection::Collection;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::engine::object::cx::Cx;
use crate::failure::Failure;
use crate::measure::{Measuring, Meter};
use crate::reduction::{Goes, Target, deliver_to_all};
use crate::reply::{Reply, What, reply};
use crate::state::measured::Measured;
use crate::state::{Explain, Feature, SharedState};

/// The assumed cost of moving an element, until a move has been timed. It is also assumed for a
/// move during which elements run.
const MOVE_GUESS: Duration = Duration::from_micros(5);

/// The balancing of an array: the strategy, and when it runs.
#[derive(Clone)]
pub struct Balancing {
    strategy: Arc<dyn Strategy>,
    period: Option<Duration>,
}

impl fmt::Debug for Balancing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Balancing")
            .field("strategy", &self.strategy.name())
            .field("period", &self.period)
            .finish()
    }
}

impl Balancing {
    /// Balances with this strategy when all elements call [`Cx::balance`].
    ///
    /// The clock is read twice for each entry of such an array, and each element has an entry in a
    /// table. This costs some 40 ns per message, unless the strategy samples
    /// ([`Strategy::sampling`]).
    pub fn new(strategy: impl Strategy) -> Self {
        Self {
            strategy: Arc::new(strategy),
            period: None,
        }
    }

    /// Balances after each period of this length in addition, as long as elements run. The elements
    /// do not need to wait for it.
    ///
    /// Load is time. As long as no worker runs out of messages, all workers have the same load,
    /// however many messages wait, and hardly any element moves. For elements that always have
    /// work, [`Cx::balance`] is the better choice.
    #[must_use]
    pub fn every(mut self, period: Duration) -> Self {
        self.period = Some(period);
        self
    }

    pub(crate) fn needs_traffic(&self) -> bool {
        self.strategy.needs_traffic()
    }

    pub(crate) fn sampling(&self) -> u32 {
        self.strategy.sampling()
    }

    pub(crate) fn period(&self) -> Option<Duration> {
        self.period
    }
}

/// The result of a balancing: what was measured, and the moves.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Balanced {
    /// The strategy's name.
    pub strategy: &'static str,
    /// The time that each worker has run entries of the array since the last balancing.
    pub loads_before: Vec<Duration>,
    /// The time that each worker would have needed with the elements placed as the strategy wants.
    pub loads_after: Vec<Duration>,
    /// The number of elements that should move.
    pub move_count: usize,
    /// The expected saving of the moves, over a period as long as the measured one.
    pub saved: Duration,
    /// The savings that earlier balancings did not use; for patient strategies
    /// ([`Strategy::is_patient`]).
    pub missed: Duration,
    /// The expected cost of the moves.
    pub cost: Duration,
    /// True if the moves were made, because they cost less than they save.
    pub is_done: bool,
}

impl Balanced {
    /// Returns the total gain of the moves: the expected saving plus the missed one.
    pub fn gain(&self) -> Duration {
        self.saved + self.missed
    }
}

impl fmt::Display for Balanced {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_done {
            "moved"
        } else {
            "did not move"
        };
        write!(
            formatter,
            "{} {verb} {} elements: gain {:?}, cost {:?}",
            self.strategy,
            self.move_count,
            self.gain(),
            self.cost
        )
    }
}

/// The state of an array's balancing that all workers share.
pub(crate) struct OfArray {
    balancing: Balancing,
    balanced: Mutex<Option<Balanced>>,
    /// The recent cost of moving an element, in nanoseconds; 0 before the first move.
    move_cost: AtomicU64,
}

impl Explain for OfArray {}

impl SharedState for OfArray {
    const FEATURE: Feature = Feature::Balance;
}

impl OfArray {
    fn new(balancing: Balancing) -> Self {
        Self {
            balancing,
            balanced: Mutex::default(),
            move_cost: AtomicU64::new(0),
        }
    }

    /// Locks and returns the result of the last balancing.
    pub(crate) fn balanced(&self) -> impl std::ops::DerefMut<Target = Option<Balanced>> {
        self.balanced
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Returns the recent cost of moving an element; `None` before the first move.
    pub(crate) fn move_cost(&self) -> Option<Duration> {
        // Relaxed: an estimate, through which nothing else is read.
        let cost = self.move_cost.load(Relaxed);
        (cost > 0).then(|| Duration::from_nanos(cost))
    }

    /// Updates the recent cost with that of the latest moves, per element.
    pub(crate) fn learn_move_cost(&self, cost: Duration) {
        let cost = cost.as_nanos() as u64;
        let before = self
            .move_cost()
            .map_or(cost, |before| before.as_nanos() as u64);
        // Relaxed: an estimate, through which nothing else is read.
        self.move_cost.store((before + cost) / 2 + 1, Relaxed);
    }
}

/// Returns the collection with the state for its balancing, if any.
pub(crate) fn balanced_by<T: Chare>(
    collection: Collection<T>,
    balancing: Option<Balancing>,
) -> Collection<T> {
    match balancing {
        Some(balancing) => collection
            .that_is_measured()
            .with_state(Measuring {
                sampling: balancing.sampling(),
                needs_traffic: balancing.needs_traffic(),
                period: balancing.period(),
                due: |local, collection| {
                    over_nodes::report_due(local, &Part::<T>::of(local, collection));
                },
            })
            .with_state(OfArray::new(balancing)),
        None => collection,
    }
}

impl<T: Chare> Cx<T> {
    /// Returns a reply that arrives when all elements of the array have called this method and the
    /// resulting moves are complete.
    ///
    /// In an array without [`Balancing`], no elements move. A call counts as one of the array's
    /// reductions.
    ///
    /// # Panics
    /// If the chare is in no array.
    pub fn balance(&mut self) -> Reply<()> {
        let what = What {
            chare: T::NAME,
            entry: "balance",
        };
        let (replier, reply) = reply(self.one().system, None, what);
        self.await_round(move |_: &()| replier.give(Ok(())));
        self.contribute_for((), Goes::All, || {
            Target::All(|local, collection, round, output| {
                let part = Part::<T>::of(local, collection);
                begin_balancing(local, &part, move |local| {
                    deliver_to_all::<T, ()>(local, collection, round, output);
                });
            })
        });
        reply
    }
}

/// Collects the measurements, decides and moves, then calls `done`. Runs on the root of an array.
/// Calls `done` at once if the array is not measured or a balancing is already under way.
pub(crate) fn begin_balancing<T: Chare>(
    local: &Local,
    part: &Part<T>,
    done: impl FnOnce(&Local) + Send + 'static,
) {
    let collection = part.collection().id();
    let worker_count = over_nodes::workers_of(local, part);
    let mut reports = part.state::<Option<LoadReports>>().borrow_mut();
    if !part.collection().is_measured() || reports.is_some() {
        drop(reports);
        return done(local);
    }
    *reports = Some(LoadReports::new(worker_count, done));
    drop(reports);
    over_nodes::ask_other_nodes(local, part);
    let root = local.worker();
    for worker in 0..local.system().worker_count() {
        local.post_seldom(worker, move |local| {
            let measured = over_nodes::measure::<T>(local, &Part::of(local, collection));
            local.post_seldom(root, move |local| {
                take_measured::<T>(local, &Part::of(local, collection), measured);
            });
        });
    }
}

/// Adds the measurements of a worker, and decides when all are present. Runs on the root of an
/// array.
pub(crate) fn take_measured<T: Chare>(local: &Local, part: &Part<T>, measured: Measured) {
    let mut reports = part.state::<Option<LoadReports>>().borrow_mut();
    let Some(begun) = reports.as_mut() else {
        // The array was destroyed meanwhile.
        return;
    };
    let whole = begun.add(measured);
    let Some(complete) = whole.then(|| reports.take()).flatten() else {
        return;
    };
    drop(reports);
    let (view, found, done) = complete.view(over_nodes::cpus_of(local, part));
    decide(local, part, &view, &found, done);
}

fn decide<T: Chare>(
    local: &Local,
    part: &Part<T>,
    view: &LoadView,
    found: &[Found],
    done: impl FnOnce(&Local) + Send + 'static,
) {
    let of_array = part.collection().state::<OfArray>();
    let of_array = of_array.expect("the array is balanced");
    let balancing = &of_array.balancing;
    let (strategy, is_awaited) = (&balancing.strategy, balancing.period().is_none());
    // The strategy is the program's: it may panic, and its result is checked.
    let placed = match catch_unwind(AssertUnwindSafe(|| checked(&**strategy, view))) {
        Ok(placed) => placed,
        Err(panic) => {
            let who = format!("the strategy of {}", T::NAME);
            return local
                .system()
                .fail(Failure::panicked(&who, strategy.name(), &*panic));
        }
    };
    let placed = over_nodes::keep_within_nodes(local, part, view, found, placed);
    // The moves are the elements that the strategy places elsewhere.
    let elements = view.elements.iter().zip(found).zip(&placed);
    let moves: Vec<_> = elements
        .map(|((element, found), &to)| (found.number, element.worker, to))
        .filter(|&(_, from, to)| from != to)
        .collect();
    let move_count = moves.len();
    // If nothing waits for the moves, their latency does not matter, only the time that they take
    // from other work.
    let learned = of_array.move_cost().filter(|_| is_awaited);
    let cost = learned.unwrap_or(MOVE_GUESS) * move_count as u32;
    let mut balanced = Balanced {
        strategy: strategy.name(),
        loads_before: view.loads(),
        loads_after: view.loads_when(&placed),
        move_count,
        saved: strategy.gain(view, &placed),
        missed: Duration::ZERO,
        cost,
        is_done: false,
    };
    // A patient strategy adds the savings that earlier balancings did not use.
    let before = of_array.balanced().clone();
    if strategy.is_patient()
        && !balanced.saved.is_zero()
        && let Some(before) = before.filter(|before| !before.is_done)
    {
        balanced.missed = before.gain();
    }
    balanced.is_done = move_count > 0 && balanced.gain() > cost;
    let is_done = balanced.is_done;
    local
        .system()
        .post()
        .note_moves(&format!("elements of {}", T::NAME), |moves| {
            let moved = is_done.then(|| (move_count as u64, balanced.gain(), cost));
            moves.add(moved, balanced.to_string());
        });
    *of_array.balanced() = Some(balanced);
    if !is_done {
        return done(local);
    }
    let (start, collection) = (Instant::now(), part.collection().id());
    over_nodes::move_measured(local, part, moves, move |local| {
        let part = Part::<T>::of(local, collection);
        if let Some(of_array) = part.collection().state::<OfArray>() {
            of_array.learn_move_cost(start.elapsed() / move_count as u32);
        }
        done(local);
    });
}

/// Returns the balancing settings of an array; `None` if it is not balanced.
fn balancing<T: Chare>(part: &Part<T>) -> Option<&Balancing> {
    let of_array = part.collection().state::<OfArray>()?;
    Some(&of_array.balancing)
}

/// Starts a balancing unless one was started less than `period` ago. Called on the root of an array
/// after a worker has found that the period is over.
pub(crate) fn balance_if_due<T: Chare>(local: &Local, part: &Part<T>, period: Duration) {
    let mut meter = part.state::<Meter>().borrow_mut();
    let now = Instant::now();
    if meter.begun.is_some_and(|begun| now - begun < period) {
        return;
    }
    meter.begun = Some(now);
    drop(meter);
    begin_balancing(local, part, |_| {});
}

/// Returns the worker that the strategy chose for each element. Panics if the strategy returns too
/// few or too many workers, or one that does not exist.
fn checked(strategy: &dyn Strategy, view: &LoadView) -> Vec<usize> {
    let placed = strategy.place(view);
    let (count, places) = (view.elements.len(), placed.len());
    assert!(places == count, "it placed {places} elements of {count}");
    let worker_count = view.worker_count;
    if let Some(worker) = placed.iter().find(|&&worker| worker >= worker_count) {
        panic!("it named worker {worker}: there are {worker_count}");
    }
    placed
}
