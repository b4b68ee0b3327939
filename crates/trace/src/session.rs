//! A recording: it begins, gives the events so far, and ends. One is under way at a time.
//!
//! # Times
//! Events have readings of the processor's time-stamp counter. The recording reads the counter and
//! the system's monotonic clock together when it begins, and again for each copy of the events. All
//! processes of a machine share that clock. In a job on several machines, the times are those of
//! the first node's clock.

use std::fmt;

use thiserror::Error;

#[cfg(any(loom, shuttle, miri, raddle_no_events))]
use crate::events::Events;

/// The memory for events that a recording may use in all, if nothing else is said.
pub const BUFFER_BYTES: usize = 64 << 20;

/// The settings of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The memory for the events of all threads together. When it is used up, the oldest events of
    /// a thread make space for its next ones. Each thread has at least 64 KiB.
    pub buffer_bytes: usize,
    /// The events that are recorded.
    pub detail: Detail,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            buffer_bytes: BUFFER_BYTES,
            detail: Detail::Limited,
        }
    }
}

/// The events that are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Detail {
    /// As many events as can be recorded in about 3 % of the time: a program with many short tasks
    /// or messages is recorded in windows.
    Limited,
    /// All events, whatever they cost.
    All,
}

/// A recording could not begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BeginError {
    /// Another recording of this process is under way.
    #[error("events are being recorded already: one recording can be under way at a time")]
    UnderWay,
    /// This process was made by fork(2) from one with a runtime or a recording.
    #[error("a process that fork(2) has made is not recorded")]
    Forked,
    /// This build records no events.
    #[error("this build records no events: it was made with the flag raddle_no_events")]
    Absent,
}

/// A recording that is under way. It ends when it is dropped.
#[must_use = "a recording ends when it is dropped"]
pub struct Recording {
    #[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
    begun: live::Moment,
    #[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
    scope_cost: crate::record::live::recorder::ScopeTicks,
}

impl fmt::Debug for Recording {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Recording").finish_non_exhaustive()
    }
}

#[cfg(any(loom, shuttle, miri, raddle_no_events))]
impl Recording {
    /// Returns [`BeginError::Absent`]: this build records no events.
    ///
    /// # Errors
    /// Always.
    pub fn begin(_options: &Options) -> Result<Self, BeginError> {
        Err(BeginError::Absent)
    }

    /// Returns no events: there is no recording in this build.
    #[must_use]
    pub fn events(&self) -> Events {
        Events::default()
    }
}

#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) mod pauses;
#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
mod slowdown;

#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
pub(crate) use live::{WINDOW_BITS, ns_of, ticks_of};

#[cfg(not(any(loom, shuttle, miri, raddle_no_events)))]
mod live {
    use std::hint::black_box;

    use raddle_sync::clock::ticks;
    use raddle_sync::prim::{AtomicU64, Mutex, Relaxed, clock_ns, count_forks};

    use super::{BeginError, Detail, Options, Recording, pauses};
    use crate::events::Events;
    use crate::events::decode::{Clock, Copied};
    use crate::is_forked;
    use crate::process;
    use crate::profile::CallCost;
    use crate::record::live::buffer::{self, SEGMENT_BYTES};
    use crate::record::live::{names, recorder, set_recording, tracks};
    use crate::sources;

    /// The bits of the number of a recording that count its pauses.
    pub(crate) const WINDOW_BITS: u32 = 20;
    /// The largest number of a recording, without these bits.
    const NUMBER_MAX: u32 = (1 << (32 - WINDOW_BITS)) - 1;

    /// The number of the last recording, and whether it is under way.
    static LAST: Mutex<(u32, bool)> = Mutex::new((0, false));
    /// The ticks in 2^20 nanoseconds, roughly.
    static TICKS_PER_MIB_NS: AtomicU64 = AtomicU64::new(1 << 20);
    /// The ticks that a reading of the counter takes, roughly.
    static READING_TICKS: AtomicU64 = AtomicU64::new(20);
    /// The time for which the rate of the counter is measured when a recording begins.
    const RATE_NS: u64 = 100_000;

    /// Returns about how many ticks `ns` nanoseconds are.
    pub(crate) fn ticks_of(ns: u64) -> u64 {
        // Relaxed: an estimate.
        (ns * TICKS_PER_MIB_NS.load(Relaxed)) >> 20
    }

    /// Returns about how many ticks a reading of the counter takes.
    pub(crate) fn reading_ticks() -> u64 {
        // Relaxed: an estimate.
        READING_TICKS.load(Relaxed)
    }

    /// Measures how many ticks a reading of the counter takes: the least of several means.
    fn measure_reading() -> u64 {
        const READINGS: u64 = 64;
        let rounds = (0..9).map(|_| {
            let first = ticks();
            for _ in 1..READINGS {
                black_box(ticks());
            }
            ticks().saturating_sub(first) / READINGS
        });
        rounds.min().unwrap_or(0)
    }

    /// Returns about how many nanoseconds `ticks` ticks are.
    pub(crate) fn ns_of(ticks: u64) -> u64 {
        // Relaxed: an estimate.
        let per_mib_ns = TICKS_PER_MIB_NS.load(Relaxed).max(1);
        ((u128::from(ticks) << 20) / u128::from(per_mib_ns)) as u64
    }

    /// A reading of the counter, and of the clock at the same time.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Moment {
        ticks: u64,
        ns: u64,
    }

    impl Moment {
        /// Reads counter and clock: of a few readings, the one in which least time passed.
        fn now() -> Self {
            let read = || {
                let before = ticks();
                let ns = clock_ns();
                let between = ticks().saturating_sub(before);
                let ticks = before + between / 2;
                (between, Self { ticks, ns })
            };
            let readings = (0..5).map(|_| read());
            let best = readings.min_by_key(|(between, _)| *between);
            best.expect("five readings").1
        }
    }

    impl Recording {
        /// Begins to record the events of all threads.
        ///
        /// # Errors
        /// [`BeginError::UnderWay`] while there is another recording.
        pub fn begin(options: &Options) -> Result<Self, BeginError> {
            if is_forked() {
                return Err(BeginError::Forked);
            }
            count_forks();
            let mut last = LAST.lock().expect("nothing panics under this lock");
            if last.1 {
                return Err(BeginError::UnderWay);
            }
            tracks::clear();
            let scope_cost = recorder::measure_scope();
            buffer::set_limit((options.buffer_bytes / SEGMENT_BYTES).max(1));
            // Wait for a moment to learn the rate of the counter.
            let first = Moment::now();
            while clock_ns() < first.ns + RATE_NS {
                std::hint::spin_loop();
            }
            let begun = Moment::now();
            let passed = (begun.ticks - first.ticks, begun.ns - first.ns);
            // Relaxed: an estimate.
            TICKS_PER_MIB_NS.store(((passed.0 << 20) / passed.1.max(1)).max(1), Relaxed);
            // Relaxed: as above.
            READING_TICKS.store(measure_reading(), Relaxed);
            pauses::begin(options.detail == Detail::Limited);
            let number = last.0.wrapping_add(1).max(1) & NUMBER_MAX;
            *last = (number, true);
            set_recording(number << WINDOW_BITS);
            drop(last);
            sources::notice_recording();
            Ok(Self { begun, scope_cost })
        }

        /// Returns the events so far, of all threads. Threads go on recording meanwhile.
        ///
        /// Cost: about 50 ns per event.
        #[must_use]
        pub fn events(&self) -> Events {
            let now = Moment::now();
            let ahead_ns = process::node().map_or(0, |node| node.clock_ahead_ns);
            let moment = |of: Moment| (of.ticks, of.ns.saturating_add_signed(ahead_ns));
            let clock = Clock::between(moment(self.begun), moment(now));
            let (tracks, refused) = tracks::all();
            let copies = tracks
                .iter()
                .map(|track| Copied {
                    label: track.label.clone(),
                    segments: track.copy(),
                    ended: track.ended(),
                })
                .collect();
            // The names last: they include those of all events that were copied.
            let mut events = Events::decode(clock, copies, &pauses::all(), names::all(), refused);
            events.scope_cost = CallCost {
                interior_ns: clock.duration_ns(self.scope_cost.interior),
                exterior_ns: clock.duration_ns(self.scope_cost.exterior),
            };
            events
        }
    }

    impl Drop for Recording {
        fn drop(&mut self) {
            pauses::end();
            let mut last = LAST.lock().expect("nothing panics under this lock");
            last.1 = false;
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle, miri, raddle_no_events))))]
mod tests;
