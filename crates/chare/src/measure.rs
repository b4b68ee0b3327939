//! Measuring the elements of an array: how long their entries run, and what they send.
//!
//! Each worker measures the elements that it has. [`crate::balance`] uses the measurements.

use std::collections::HashMap;
use std::time::Duration;

use raddle_runtime::Instant;

use crate::address::number::Number;
use crate::engine::elements::part::Part;
use crate::engine::local::Local;
use crate::engine::object::chare::Chare;
use crate::state::measured::{Loaded, Measured, Sent};
use crate::state::{Explain, Feature, LocalState, SharedState};

/// The settings for measuring the elements of an array.
pub(crate) struct Measuring {
    /// The sampling interval: one of this many runs of entries is measured, on average.
    pub(crate) sampling: u32,
    /// True if messages are counted too.
    pub(crate) needs_traffic: bool,
    /// The period between calls of `due`, if it is called.
    pub(crate) period: Option<Duration>,
    /// A function that is called on a worker when the period is over, with the number of the
    /// collection.
    pub(crate) due: fn(&Local, u32),
}

impl Explain for Measuring {}

impl SharedState for Measuring {
    const FEATURE: Feature = Feature::Measure;
}

/// A worker's measurements of an array since the last balancing.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    loads: HashMap<Number, Duration>,
    traffic: HashMap<(Number, Number), Sent>,
    /// The state of the random generator for gaps between samples.
    random: u32,
    /// The time of the last call of [`Measuring::due`] on this worker.
    checked: Option<Instant>,
    /// The time at which the root last began a balancing.
    pub(crate) begun: Option<Instant>,
}

impl LocalState for Meter {
    const FEATURE: Feature = Feature::Measure;
}

impl Meter {
    /// Returns the number of runs of entries to skip, so that one in `sampling` is measured on
    /// average. The number is random, because a fixed one could coincide with a period of the
    /// program, and measure the same element every time.
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

/// Begins to measure a run of an element. Returns the time if this run is to be measured.
#[inline]
pub(crate) fn start<T: Chare>(part: &Part<T>, local: &Local, number: Number) -> Option<Instant> {
    if !part.measures() {
        return None;
    }
    if !part.is_sample() {
        return None;
    }
    start_slow(part, local, number)
}

#[cold]
fn start_slow<T: Chare>(part: &Part<T>, local: &Local, number: Number) -> Option<Instant> {
    let measuring = part.collection().state::<Measuring>()?;
    let skipped = part.state::<Meter>().borrow_mut().skip(measuring.sampling);
    part.skip_samples(skipped);
    if measuring.needs_traffic {
        local.set_sender(Some((part.collection().id(), number)));
    }
    Some(Instant::now())
}

/// Records the run of an element since `start`.
#[cold]
pub(crate) fn stop<T: Chare>(part: &Part<T>, local: &Local, number: Number, start: Instant) {
    local.set_sender(None);
    let Some(measuring) = part.collection().state::<Measuring>() else {
        return;
    };
    let mut meter = part.state::<Meter>().borrow_mut();
    let load = meter.loads.entry(number).or_default();
    *load += start.elapsed() * measuring.sampling;
    let Some(period) = measuring.period else {
        return;
    };
    // Call `due` if the period is over.
    let checked = *meter.checked.get_or_insert(start);
    if start - checked < period {
        return;
    }
    meter.checked = Some(start);
    drop(meter);
    (measuring.due)(local, part.collection().id());
}

/// Counts a message of `bytes` bytes from an element to another one.
#[cold]
pub(crate) fn count_traffic<T: Chare>(part: &Part<T>, from: Number, to: Number, bytes: usize) {
    let mut meter = part.state::<Meter>().borrow_mut();
    let sent = meter.traffic.entry((from, to)).or_default();
    let measuring = part.collection().state::<Measuring>();
    let weight = measuring.map_or(1, |measuring| u64::from(measuring.sampling));
    sent.0 += weight;
    sent.1 += bytes as u64 * weight;
}

/// Returns the measurements of all local elements since the last call.
pub(crate) fn take_measured<T: Chare>(part: &Part<T>, worker: usize) -> Measured {
    let mut meter = part.state::<Meter>().borrow_mut();
    let mut at = 0;
    let mut loads = Vec::new();
    while let Some(number) = part.next_number(&mut at, u32::MAX) {
        loads.push(Loaded {
            number,
            load: meter.loads.get(&number).copied().unwrap_or_default(),
            is_busy: part.ready(number).is_none(),
        });
    }
    meter.loads.clear();
    Measured {
        worker,
        loads,
        traffic: meter.traffic.drain().collect(),
    }
}
