//! The harness of every suite: it runs Raddle and a peer alternately under the same conditions.
//!
//! A pair is one run of Raddle and, right after it, one run of the peer. A pair counts if no other
//! process used the machine meanwhile (see [`load`](crate::load)) and, with two or more workers, if
//! the probes before and after it found the same mode (see [`probe`]). Other pairs are repeated, up
//! to a bound. If only the near mode counts ([`Wanted`]), pairs in the far mode are repeated too.
//!
//! The ratio is the median, over the pairs, of Raddle's figure divided by the peer's. A ratio is
//! meaningful on a shared machine. An absolute time is not.
//!
//! # Invariants
//! 1. A figure counts only if its run computed the right result.
//! 2. A figure that was not measured in the same run says so in place of its mode, and counts no
//!    pairs.
//! 3. A peer that is not available or fails is named on standard error. Nothing is left out
//!    silently.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::load::{FOREIGN_SHARE_MAX, LoadSnapshot};
use crate::probe::{self, Mode};
use crate::record::{Environment, Record, median, range};

/// The pause between runs, in which spinning threads of the previous run fall asleep.
const PAUSE: Duration = Duration::from_millis(5);
/// A first pair shorter than this is discarded: it warms caches and starts threads.
const WARM_UP_MAX: Duration = Duration::from_secs(2);
/// The maximum number of pairs that are run, disturbed ones included, per pair asked for.
const ATTEMPTS_PER_PAIR: usize = 4;
/// No disturbed pair is repeated after this time in one comparison.
const REPEAT_UNTIL: Duration = Duration::from_secs(60);

/// The description of one run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'case> {
    /// The case's name.
    pub(crate) case: &'case str,
    /// The maximum number of workers.
    pub(crate) workers: usize,
    /// The number of repetitions of the workload inside the timed section.
    pub(crate) repetitions: u64,
    /// The input file, if the case has one.
    pub(crate) file: Option<&'case Path>,
}

/// The time and the result of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The time of all repetitions.
    pub(crate) time: Duration,
    /// A number that shows whether the work was done correctly.
    pub(crate) result: u64,
}

/// Raddle, a peer library or a peer program.
pub(crate) trait Contender {
    /// Returns `raddle` or the name of the peer.
    fn name(&self) -> &str;

    /// Returns the process in which the contender runs, if it is not this process.
    fn process(&self) -> Option<u32> {
        None
    }

    /// Executes the request once.
    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError>;
}

impl<C: Contender> Contender for &mut C {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn process(&self) -> Option<u32> {
        (**self).process()
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        (**self).measure(request)
    }
}

/// A contender within this process: a name and a closure.
pub(crate) struct Local<F> {
    name: &'static str,
    run: F,
}

impl<F> Local<F>
where
    F: FnMut(&Request<'_>) -> Result<Sample, BenchError>,
{
    pub(crate) fn new(name: &'static str, run: F) -> Self {
        Self { name, run }
    }
}

impl<F> Contender for Local<F>
where
    F: FnMut(&Request<'_>) -> Result<Sample, BenchError>,
{
    fn name(&self) -> &str {
        self.name
    }

    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError> {
        (self.run)(request)
    }
}

/// Measures `repetitions` calls of `work` and keeps the last result.
pub(crate) fn timed(repetitions: u64, mut work: impl FnMut() -> u64) -> Sample {
    let mut result = 0;
    let began = Instant::now();
    for _ in 0..repetitions {
        result = work();
    }
    Sample {
        time: began.elapsed(),
        result,
    }
}

/// The conversion of a time into a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Milliseconds per repetition: less is better.
    Milliseconds,
    /// Microseconds per repetition: less is better.
    Microseconds,
    /// Nanoseconds per repetition: less is better.
    Nanoseconds,
    /// Nanoseconds per half of a repetition: less is better.
    HalfNanoseconds,
    /// CPU time as a share of the elapsed time of a repetition: less is better.
    Percent {
        /// The elapsed time of a repetition.
        of: Duration,
    },
    /// Repetitions per second: more is better.
    PerSecond,
    /// Millions of events per second: more is better.
    MillionsPerSecond {
        /// The name of the unit.
        name: &'static str,
        /// The number of events per repetition.
        events: u64,
    },
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds | Self::HalfNanoseconds => "ns",
            Self::Percent { .. } => "%",
            Self::PerSecond => "1/s",
            Self::MillionsPerSecond { name, .. } => name,
        }
    }

    fn figure(self, time: Duration, repetitions: u64) -> f64 {
        let seconds = time.as_secs_f64() / repetitions as f64;
        match self {
            Self::Milliseconds => seconds * 1e3,
            Self::Microseconds => seconds * 1e6,
            Self::Nanoseconds => seconds * 1e9,
            Self::HalfNanoseconds => seconds * 0.5e9,
            Self::Percent { of } => seconds / of.as_secs_f64() * 1e2,
            Self::PerSecond => 1.0 / seconds,
            Self::MillionsPerSecond { events, .. } => events as f64 / seconds / 1e6,
        }
    }
}

/// One question: a workload, its unit, and its expected result.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'case> {
    /// The suite's name.
    pub(crate) suite: &'static str,
    /// The case's name.
    pub(crate) name: &'case str,
    /// The conversion of its time into a figure.
    pub(crate) unit: Unit,
    /// The number of repetitions in a run.
    pub(crate) repetitions: u64,
    /// The input file, if it has one.
    pub(crate) file: Option<&'case Path>,
    /// The result that every contender must compute.
    pub(crate) expected: u64,
    /// The permitted difference from `expected`.
    pub(crate) tolerance: u64,
}

impl Case<'_> {
    pub(crate) fn request(&self, workers: usize) -> Request<'_> {
        Request {
            case: self.name,
            workers,
            repetitions: self.repetitions,
            file: self.file,
        }
    }

    /// Runs a contender once and checks its result.
    fn run(&self, contender: &mut dyn Contender, workers: usize) -> Result<f64, BenchError> {
        let sample = contender.measure(&self.request(workers))?;
        if sample.result.abs_diff(self.expected) > self.tolerance {
            return Err(BenchError::WrongResult {
                contender: contender.name().to_owned(),
                case: self.name.to_owned(),
                found: sample.result,
                expected: self.expected,
            });
        }
        Ok(self.unit.figure(sample.time, self.repetitions))
    }
}

/// One run of Raddle, one of the peer, and the conditions around them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Pair {
    raddle: f64,
    peer: f64,
    mode_before: Mode,
    mode_after: Mode,
    foreign_share: f64,
}

impl Pair {
    fn is_undisturbed(&self) -> bool {
        self.mode_before == self.mode_after && self.foreign_share <= FOREIGN_SHARE_MAX
    }
}

/// The pairs that a comparison needs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// The number of pairs.
    pub(crate) pairs: usize,
    /// If set, pairs in the far mode do not count. Otherwise, the pairs of the more frequent mode
    /// count.
    pub(crate) only_near: bool,
}

impl Wanted {
    fn accepts(self, mode: Mode) -> bool {
        !self.only_near || mode != Mode::Far
    }
}

/// Compares Raddle with each peer and returns Raddle's record followed by those of the peers.
///
/// `warn` receives one line for each peer that failed, and for each comparison with pairs that
/// remained disturbed.
///
/// # Errors
/// Raddle's own failure, above all a wrong result. A peer's failure is only a warning.
pub(crate) fn compare(
    case: &Case<'_>,
    workers: usize,
    wanted: Wanted,
    raddle: &mut dyn Contender,
    peers: &mut [Box<dyn Contender + '_>],
    environment: &Environment,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Record>, BenchError> {
    case.run(raddle, workers)?;
    let mut own = Vec::new();
    let mut records = Vec::new();
    for peer in peers {
        let pairs = match gather(case, workers, wanted, raddle, peer.as_mut()) {
            Ok(pairs) => pairs,
            Err(failure) if is_failure_of(&failure, raddle.name()) => return Err(failure),
            Err(failure) => {
                warn(format!("{} left out: {failure}", peer.name()));
                continue;
            }
        };
        let mode = mode_of(&pairs);
        if mode.ends_with("+loaded") {
            warn(format!(
                "{} {} against {}, {workers} workers: others used more than {:.0} % of the machine \
                 or its mode changed throughout; take the figures with care",
                case.suite,
                case.name,
                peer.name(),
                FOREIGN_SHARE_MAX * 100.0
            ));
        } else if pairs.iter().any(|pair| !wanted.accepts(pair.mode_before)) {
            warn(format!(
                "{} {} against {}, {workers} workers: the machine stayed in the far mode, \
                 which does not count here",
                case.suite,
                case.name,
                peer.name()
            ));
        }
        records.push(peer_record(
            case,
            peer.name(),
            workers,
            &pairs,
            &mode,
            environment,
        ));
        own.extend(pairs);
    }
    if own.is_empty() {
        own = gather(case, workers, wanted, raddle, &mut NoPeer)?;
    }
    // Keep only the undisturbed pairs if there are enough of them over all peers.
    let good = undisturbed_of_one_mode(&own, wanted);
    if good.len() >= wanted.pairs {
        own = good;
    }
    records.insert(
        0,
        raddle_record(case, raddle.name(), workers, &own, environment),
    );
    Ok(records)
}

/// A placeholder for the peer, with which Raddle is measured alone.
struct NoPeer;

/// The name of the placeholder. No peer has it.
const NO_PEER: &str = "none";

impl Contender for NoPeer {
    fn name(&self) -> &'static str {
        NO_PEER
    }

    fn measure(&mut self, _request: &Request<'_>) -> Result<Sample, BenchError> {
        Ok(Sample {
            time: Duration::from_secs(1),
            result: 0,
        })
    }
}

fn is_failure_of(failure: &BenchError, name: &str) -> bool {
    match failure {
        BenchError::WrongResult { contender, .. } | BenchError::Contender { contender, .. } => {
            contender == name
        }
        _ => false,
    }
}

/// Runs pairs until enough pairs of one mode are undisturbed or the bound is reached.
///
/// Returns those pairs or, if the bound was reached, the least disturbed ones.
fn gather(
    case: &Case<'_>,
    workers: usize,
    wanted: Wanted,
    raddle: &mut dyn Contender,
    peer: &mut dyn Contender,
) -> Result<Vec<Pair>, BenchError> {
    let pair_count = wanted.pairs;
    let peer_case = Case {
        // The placeholder computes no result.
        tolerance: if peer.name() == NO_PEER {
            u64::MAX
        } else {
            case.tolerance
        },
        ..*case
    };
    let began = Instant::now();
    let mut pairs = Vec::new();
    let first = run_pair(case, &peer_case, workers, raddle, peer, true)?;
    if began.elapsed() > WARM_UP_MAX {
        pairs.push(first);
    }
    for _ in 0..pair_count * ATTEMPTS_PER_PAIR {
        let good = undisturbed_of_one_mode(&pairs, wanted);
        if good.len() >= pair_count {
            return Ok(good);
        }
        if pairs.len() >= pair_count && began.elapsed() > REPEAT_UNTIL {
            break;
        }
        let raddle_first = pairs.len().is_multiple_of(2);
        pairs.push(run_pair(
            case,
            &peer_case,
            workers,
            raddle,
            peer,
            raddle_first,
        )?);
    }
    let good = undisturbed_of_one_mode(&pairs, wanted);
    if good.len() >= pair_count {
        return Ok(good);
    }
    // Take the least disturbed pairs. The record's mode will say that they are disturbed.
    pairs.sort_by(|a, b| {
        let is_off =
            |pair: &Pair| pair.mode_before != pair.mode_after || !wanted.accepts(pair.mode_before);
        let by_mode = is_off(a).cmp(&is_off(b));
        by_mode.then(a.foreign_share.total_cmp(&b.foreign_share))
    });
    pairs.truncate(pair_count);
    Ok(pairs)
}

/// Runs both contenders, in an order that changes from pair to pair.
fn run_pair(
    case: &Case<'_>,
    peer_case: &Case<'_>,
    workers: usize,
    raddle: &mut dyn Contender,
    peer: &mut dyn Contender,
    raddle_first: bool,
) -> Result<Pair, BenchError> {
    let processes: Vec<u32> = peer.process().into_iter().collect();
    thread::sleep(PAUSE);
    let mode_before = probe::mode(workers);
    let load_before = LoadSnapshot::take(&processes);
    let mut own = || case.run(raddle, workers);
    let mut theirs = || peer_case.run(peer, workers);
    let pause = || thread::sleep(PAUSE);
    let (own, theirs) = if raddle_first {
        let own = own()?;
        pause();
        (own, theirs()?)
    } else {
        let theirs = theirs()?;
        pause();
        (own()?, theirs)
    };
    let load_after = LoadSnapshot::take(&processes);
    Ok(Pair {
        raddle: own,
        peer: theirs,
        mode_before,
        mode_after: probe::mode(workers),
        foreign_share: load_after.foreign_share_since(&load_before),
    })
}

/// Returns the undisturbed pairs of one mode: of the modes that count, the one with most of them.
fn undisturbed_of_one_mode(pairs: &[Pair], wanted: Wanted) -> Vec<Pair> {
    let of = |mode: Mode| -> Vec<Pair> {
        pairs
            .iter()
            .filter(|pair| pair.is_undisturbed() && pair.mode_before == mode)
            .copied()
            .collect()
    };
    [Mode::OneThread, Mode::Near, Mode::Far]
        .into_iter()
        .filter(|&mode| wanted.accepts(mode))
        .map(of)
        .max_by_key(Vec::len)
        .unwrap_or_default()
}

/// Returns the mode that all pairs had, or `mixed`, with `+loaded` if any pair was disturbed.
fn mode_of(pairs: &[Pair]) -> String {
    let Some(first) = pairs.first() else {
        return "mixed".to_owned();
    };
    let all_alike = pairs
        .iter()
        .all(|pair| pair.mode_before == first.mode_before && pair.mode_after == first.mode_before);
    let mut mode = if all_alike {
        first.mode_before.to_string()
    } else {
        "mixed".to_owned()
    };
    if !pairs.iter().all(Pair::is_undisturbed) {
        mode.push_str("+loaded");
    }
    mode
}

fn raddle_record(
    case: &Case<'_>,
    name: &str,
    workers: usize,
    pairs: &[Pair],
    environment: &Environment,
) -> Record {
    let figures: Vec<f64> = pairs.iter().map(|pair| pair.raddle).collect();
    record(case, name, workers, &figures, mode_of(pairs), environment)
}

fn peer_record(
    case: &Case<'_>,
    name: &str,
    workers: usize,
    pairs: &[Pair],
    mode: &str,
    environment: &Environment,
) -> Record {
    let figures: Vec<f64> = pairs.iter().map(|pair| pair.peer).collect();
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.raddle / pair.peer).collect();
    let mut record = record(case, name, workers, &figures, mode.to_owned(), environment);
    record.ratio = Some(median(&ratios));
    record.ratio_range = Some(range(&ratios));
    record
}

fn record(
    case: &Case<'_>,
    name: &str,
    workers: usize,
    figures: &[f64],
    mode: String,
    environment: &Environment,
) -> Record {
    let (min, max) = range(figures);
    Record {
        suite: case.suite.to_owned(),
        case: case.name.to_owned(),
        contender: name.to_owned(),
        workers,
        unit: case.unit.name().to_owned(),
        median: median(figures),
        min,
        max,
        pairs: figures.len(),
        ratio: None,
        ratio_range: None,
        machine: environment.machine.clone(),
        mode,
        commit: environment.commit.clone(),
    }
}

#[cfg(test)]
mod tests;
