//! Measuring an array: each worker for the elements that it has, put together at the root.

use std::collections::HashMap;
use std::time::Duration;

use raddle_runtime::Instant;
use raddle_topology::CpuId;

use super::strategy::{ElementLoad, LoadView, Traffic};
use super::{Balancing, OfArray};
use crate::address::number::Number;
use crate::balance;
use crate::balance::over_nodes;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::state::measured::{Loaded, Measured, Sent};
use crate::state::{Slot, State};

/// What a worker has measured of an array since the last balancing.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    loads: HashMap<Number, Duration>,
    traffic: HashMap<(Number, Number), Sent>,
    /// What gaps between samples are drawn from.
    random: u32,
    /// When this worker has last thought of balancing.
    checked: Option<Instant>,
    /// When the root has last begun one.
    begun: Option<Instant>,
}

/// An element that was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) number: Number,
    /// An asynchronous entry of it is under way, or it goes to another node: it cannot go to another node now.
    pub(super) is_busy: bool,
}

impl State for Meter {
    const SLOT: Slot = Slot::Measure;
}

impl Meter {
    /// How many runs of entries to skip, so that one in `sampling` is measured on average. A fixed number could fall into step with the
    /// program, and see the same element all the time.
    fn skip(&mut self, sampling: u32) -> u32 {
        // Xorshift (Marsaglia: Xorshift RNGs. J. Statistical Software 8(14), 2003).
        let mut random = self.random.max(1);
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        self.random = random;
        random % (2 * sampling.max(1) - 1)
    }
}

type Done = Box<dyn FnOnce(&Local) + Send>;

/// What all workers say.
pub(crate) struct Sheet {
    missing: usize,
    loads: Vec<(Found, ElementLoad)>,
    traffic: Vec<((Number, Number), Sent)>,
    done: Done,
}

/// At the root: the balancing that is under way.
impl State for Option<Sheet> {
    const SLOT: Slot = Slot::Balance;
}

impl Sheet {
    pub(super) fn new(worker_count: usize, done: impl FnOnce(&Local) + Send + 'static) -> Self {
        Self {
            missing: worker_count,
            loads: Vec::new(),
            traffic: Vec::new(),
            done: Box::new(done),
        }
    }

    /// Adds what a worker says; true when it was the last.
    pub(super) fn add(&mut self, measured: Measured) -> bool {
        let worker = measured.worker;
        let loads = measured.loads.into_iter();
        self.loads.extend(loads.map(|loaded| {
            let Loaded {
                number,
                load,
                is_busy,
            } = loaded;
            (Found { number, is_busy }, ElementLoad { worker, load })
        }));
        self.traffic.extend(measured.traffic);
        self.missing -= 1;
        self.missing == 0
    }

    /// What a strategy looks at, the numbers of its elements, and what is to be done afterwards.
    pub(super) fn view(mut self, cpus: Vec<Option<CpuId>>) -> (LoadView, Vec<Found>, Done) {
        self.loads.sort_by_key(|entry| entry.0.number);
        // One that moves is here and there: where it is later counts.
        self.loads.dedup_by_key(|entry| entry.0.number);
        let found: Vec<_> = self.loads.iter().map(|entry| entry.0).collect();
        let position = |number| {
            let at = found.binary_search_by_key(&number, |found| found.number);
            at.ok()
        };
        let traffic = self
            .traffic
            .iter()
            .filter_map(|&((from, to), (message_count, bytes))| {
                Some(Traffic {
                    from: position(from)?,
                    to: position(to)?,
                    message_count,
                    bytes,
                })
            });
        let view = LoadView {
            worker_count: cpus.len(),
            cpus,
            traffic: traffic.collect(),
            elements: self.loads.iter().map(|entry| entry.1).collect(),
        };
        (view, found, self.done)
    }
}

impl<T: Chare> Part<T> {
    /// An element begins to run; returns the time, if this part's elements are measured.
    #[inline]
    pub(crate) fn start_measuring(&self, local: &Local, number: Number) -> Option<Instant> {
        if !self.measures {
            return None;
        }
        let left = self.until_sample.get();
        if left > 0 {
            self.until_sample.set(left - 1);
            return None;
        }
        self.start_measuring_slow(local, number)
    }

    #[cold]
    fn start_measuring_slow(&self, local: &Local, number: Number) -> Option<Instant> {
        let balancing = self.balancing()?;
        let skipped = self
            .state::<Meter>()
            .borrow_mut()
            .skip(balancing.sampling());
        self.until_sample.set(skipped);
        if balancing.needs_traffic() {
            local.sender.set(Some((self.collection.id, number)));
        }
        Some(Instant::now())
    }

    /// How the array is balanced, if it is.
    pub(super) fn balancing(&self) -> Option<&Balancing> {
        let of_array = self.collection.state::<OfArray>()?;
        Some(&of_array.balancing)
    }

    /// For how many runs of entries one that is measured stands.
    fn sampling(&self) -> u32 {
        self.balancing().map_or(1, Balancing::sampling)
    }

    /// An element has run since `start`.
    #[cold]
    pub(crate) fn stop_measuring(&self, local: &Local, number: Number, start: Instant) {
        local.sender.set(None);
        let mut meter = self.state::<Meter>().borrow_mut();
        let load = meter.loads.entry(number).or_default();
        *load += start.elapsed() * self.sampling();
        let period = self.balancing().and_then(Balancing::period);
        let Some(period) = period else { return };
        let checked = *meter.checked.get_or_insert(start);
        if start - checked < period {
            return;
        }
        meter.checked = Some(start);
        drop(meter);
        over_nodes::say_that_balancing_is_due(local, self, period);
    }

    /// Some worker finds that it is time. For the root.
    pub(super) fn balance_if_due(&self, local: &Local, period: Duration) {
        let mut meter = self.state::<Meter>().borrow_mut();
        let now = Instant::now();
        if meter.begun.is_some_and(|begun| now - begun < period) {
            return;
        }
        meter.begun = Some(now);
        drop(meter);
        balance::begin_balancing(local, self, |_| {});
    }

    /// An element sends `bytes` to another.
    #[cold]
    pub(crate) fn measure_traffic(&self, from: Number, to: Number, bytes: usize) {
        let mut meter = self.state::<Meter>().borrow_mut();
        let sent = meter.traffic.entry((from, to)).or_default();
        let weight = u64::from(self.sampling());
        sent.0 += weight;
        sent.1 += bytes as u64 * weight;
    }

    /// What was measured since the last time, of all elements that are here.
    pub(super) fn take_measured(&self, worker: usize) -> Measured {
        let mut meter = self.state::<Meter>().borrow_mut();
        let mut at = 0;
        let mut loads = Vec::new();
        while let Some(number) = self.next_number(&mut at, u32::MAX) {
            let slot_at = self.slot_of(number);
            let mut slots = self.slots.borrow_mut();
            loads.push(Loaded {
                number,
                load: meter.loads.get(&number).copied().unwrap_or_default(),
                is_busy: slots.ready(slot_at, number).is_none(),
            });
        }
        meter.loads.clear();
        Measured {
            worker,
            loads,
            traffic: meter.traffic.drain().collect(),
        }
    }
}
