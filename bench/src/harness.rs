//! One harness for every suite: Raddle and a peer in turn, A B A B, under the same conditions.
//!
//! A pair is one run of Raddle and, right after it, one of the peer. A pair counts when nobody else used
//! the machine meanwhile (see [`load`](crate::load)) and, with two or more workers, when the probes before
//! and after it found the same mode (see [`probe`]); other pairs are repeated within a
//! bound. Where only the near mode counts ([`Wanted`]), so are pairs of the far one. The ratio is the median over the pairs of Raddle's figure divided by the peer's: it means
//! something on a shared machine, where an absolute time does not.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::error::BenchError;
use crate::load::{FOREIGN_SHARE_MAX, LoadSnapshot};
use crate::probe::{self, Mode};
use crate::record::{Record, Surroundings, median, range};

/// Threads of the run before may still spin for a moment; so long they are left to fall asleep.
const PAUSE: Duration = Duration::from_millis(5);
/// A first pair below this is thrown away: it warms caches and starts threads.
const WARM_UP_MAX: Duration = Duration::from_secs(2);
/// Disturbed pairs are repeated up to so many times the number asked for,
const ATTEMPTS_PER_PAIR: usize = 4;
/// and not once a comparison has taken so long.
const REPEAT_UNTIL: Duration = Duration::from_secs(60);

/// What one run is asked to do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'case> {
    /// The case's name.
    pub(crate) case: &'case str,
    /// How many workers may be used.
    pub(crate) workers: usize,
    /// How often the workload is repeated inside the timed section.
    pub(crate) repetitions: u64,
    /// The input file, where the case has one.
    pub(crate) file: Option<&'case Path>,
}

/// What one run took and computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sample {
    /// The time of all repetitions.
    pub(crate) time: Duration,
    /// A number that tells whether the work was done.
    pub(crate) result: u64,
}

/// Raddle, a peer library or a peer program.
pub(crate) trait Contender {
    /// `raddle` or the peer's name.
    fn name(&self) -> &str;

    /// The process it runs in, where that is not ours.
    fn process(&self) -> Option<u32> {
        None
    }

    /// Does what is asked, once.
    fn measure(&mut self, request: &Request<'_>) -> Result<Sample, BenchError>;
}

/// A contender in this process: a name and a closure.
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

/// Measures `work` repeated as often as asked and keeps the last result.
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

/// How a time becomes a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Unit {
    /// Milliseconds a repetition: less is better.
    Milliseconds,
    /// Microseconds a repetition: less is better.
    Microseconds,
    /// Nanoseconds a repetition: less is better.
    Nanoseconds,
    /// CPU time of a core, as a share of a time that a repetition takes: less is better.
    Percent {
        /// What a repetition takes.
        of: Duration,
    },
    /// Millions of events a second, so many events a repetition: more is better.
    MillionsPerSecond {
        /// What is counted.
        name: &'static str,
        /// Events a repetition.
        events: u64,
    },
}

impl Unit {
    fn name(self) -> &'static str {
        match self {
            Self::Milliseconds => "ms",
            Self::Microseconds => "us",
            Self::Nanoseconds => "ns",
            Self::Percent { .. } => "%",
            Self::MillionsPerSecond { name, .. } => name,
        }
    }

    fn figure(self, time: Duration, repetitions: u64) -> f64 {
        let seconds = time.as_secs_f64() / repetitions as f64;
        match self {
            Self::Milliseconds => seconds * 1e3,
            Self::Microseconds => seconds * 1e6,
            Self::Nanoseconds => seconds * 1e9,
            Self::Percent { of } => seconds / of.as_secs_f64() * 1e2,
            Self::MillionsPerSecond { events, .. } => events as f64 / seconds / 1e6,
        }
    }
}

/// One question: a workload, how it is counted and what it must compute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'case> {
    /// The suite's name.
    pub(crate) suite: &'static str,
    /// The case's name.
    pub(crate) name: &'case str,
    /// How its time becomes a figure.
    pub(crate) unit: Unit,
    /// How often it is repeated in a run.
    pub(crate) repetitions: u64,
    /// Its input, where it has one.
    pub(crate) file: Option<&'case Path>,
    /// What every contender must compute,
    pub(crate) expected: u64,
    /// give or take so much.
    pub(crate) tolerance: u64,
}

impl Case<'_> {
    fn request(&self, workers: usize) -> Request<'_> {
        Request {
            case: self.name,
            workers,
            repetitions: self.repetitions,
            file: self.file,
        }
    }

    /// Runs a contender once and checks what it computed.
    fn run(&self, who: &mut dyn Contender, workers: usize) -> Result<f64, BenchError> {
        let sample = who.measure(&self.request(workers))?;
        if sample.result.abs_diff(self.expected) > self.tolerance {
            return Err(BenchError::WrongResult {
                who: who.name().to_owned(),
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

/// Which pairs a comparison is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    /// How many.
    pub(crate) pairs: usize,
    /// Whether those count alone in which the workers' CPUs were near each other; otherwise those of whichever mode has more.
    pub(crate) only_near: bool,
}

impl Wanted {
    fn accepts(self, mode: Mode) -> bool {
        !self.only_near || mode != Mode::Far
    }
}

/// Compares Raddle with each peer and returns Raddle's record followed by theirs.
///
/// `warn` hears, in one line each, about peers that failed and about pairs that stayed disturbed.
///
/// # Errors
/// Raddle's own failure, above all a wrong result. A peer's failure is a warning.
pub(crate) fn compare(
    case: &Case<'_>,
    workers: usize,
    wanted: Wanted,
    raddle: &mut dyn Contender,
    peers: &mut [Box<dyn Contender + '_>],
    surroundings: &Surroundings,
    warn: &mut dyn FnMut(String),
) -> Result<Vec<Record>, BenchError> {
    case.run(raddle, workers)?;
    let mut own = Vec::new();
    let mut records = Vec::new();
    for peer in peers {
        let pairs = match gather(case, workers, wanted, raddle, peer.as_mut()) {
            Ok(pairs) => pairs,
            Err(failure) if failure_of(&failure, raddle.name()) => return Err(failure),
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
                "{} {} against {}, {workers} workers: the machine stayed in the far mode, which does not count here",
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
            surroundings,
        ));
        own.extend(pairs);
    }
    if own.is_empty() {
        own = gather(case, workers, wanted, raddle, &mut Nobody)?;
    }
    // One peer may have had peace where another had none.
    let good = undisturbed_of_one_mode(&own, wanted);
    if good.len() >= wanted.pairs {
        own = good;
    }
    records.insert(
        0,
        raddle_record(case, raddle.name(), workers, &own, surroundings),
    );
    Ok(records)
}

/// Stands in where no peer could be had: Raddle is measured all the same.
struct Nobody;

impl Contender for Nobody {
    fn name(&self) -> &'static str {
        "nobody"
    }

    fn measure(&mut self, _request: &Request<'_>) -> Result<Sample, BenchError> {
        Ok(Sample {
            time: Duration::from_secs(1),
            result: 0,
        })
    }
}

fn failure_of(failure: &BenchError, name: &str) -> bool {
    match failure {
        BenchError::WrongResult { who, .. } | BenchError::Contender { who, .. } => who == name,
        _ => false,
    }
}

/// Runs pairs until enough of one mode are undisturbed or the bound is reached, and returns the best.
fn gather(
    case: &Case<'_>,
    workers: usize,
    wanted: Wanted,
    raddle: &mut dyn Contender,
    peer: &mut dyn Contender,
) -> Result<Vec<Pair>, BenchError> {
    let pair_count = wanted.pairs;
    let peer_case = Case {
        // Nobody computes nothing.
        tolerance: if peer.name() == "nobody" {
            u64::MAX
        } else {
            case.tolerance
        },
        ..*case
    };
    let began = Instant::now();
    let mut pairs = Vec::new();
    let first = run_pair(case, &peer_case, workers, raddle, peer)?;
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
        pairs.push(run_pair(case, &peer_case, workers, raddle, peer)?);
    }
    let good = undisturbed_of_one_mode(&pairs, wanted);
    if good.len() >= pair_count {
        return Ok(good);
    }
    // The least disturbed ones, and the record will say that they are.
    pairs.sort_by(|a, b| {
        let is_off =
            |pair: &Pair| pair.mode_before != pair.mode_after || !wanted.accepts(pair.mode_before);
        let by_mode = is_off(a).cmp(&is_off(b));
        by_mode.then(a.foreign_share.total_cmp(&b.foreign_share))
    });
    pairs.truncate(pair_count);
    Ok(pairs)
}

fn run_pair(
    case: &Case<'_>,
    peer_case: &Case<'_>,
    workers: usize,
    raddle: &mut dyn Contender,
    peer: &mut dyn Contender,
) -> Result<Pair, BenchError> {
    let processes: Vec<u32> = peer.process().into_iter().collect();
    thread::sleep(PAUSE);
    let mode_before = probe::mode(workers);
    let load_before = LoadSnapshot::take(&processes);
    let own = case.run(raddle, workers)?;
    thread::sleep(PAUSE);
    let theirs = peer_case.run(peer, workers)?;
    let load_after = LoadSnapshot::take(&processes);
    Ok(Pair {
        raddle: own,
        peer: theirs,
        mode_before,
        mode_after: probe::mode(workers),
        foreign_share: load_after.foreign_share_since(&load_before),
    })
}

/// The undisturbed pairs of whichever mode that counts has more of them.
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

/// The mode that every pair had, or `mixed`; `+loaded` when a pair was disturbed all the same.
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
    who: &str,
    workers: usize,
    pairs: &[Pair],
    surroundings: &Surroundings,
) -> Record {
    let figures: Vec<f64> = pairs.iter().map(|pair| pair.raddle).collect();
    record(case, who, workers, &figures, mode_of(pairs), surroundings)
}

fn peer_record(
    case: &Case<'_>,
    who: &str,
    workers: usize,
    pairs: &[Pair],
    mode: &str,
    surroundings: &Surroundings,
) -> Record {
    let figures: Vec<f64> = pairs.iter().map(|pair| pair.peer).collect();
    let ratios: Vec<f64> = pairs.iter().map(|pair| pair.raddle / pair.peer).collect();
    let mut record = record(case, who, workers, &figures, mode.to_owned(), surroundings);
    record.ratio = Some(median(&ratios));
    record.ratio_range = Some(range(&ratios));
    record
}

fn record(
    case: &Case<'_>,
    who: &str,
    workers: usize,
    figures: &[f64],
    mode: String,
    surroundings: &Surroundings,
) -> Record {
    let (min, max) = range(figures);
    Record {
        suite: case.suite.to_owned(),
        case: case.name.to_owned(),
        who: who.to_owned(),
        workers,
        unit: case.unit.name().to_owned(),
        median: median(figures),
        min,
        max,
        pairs: figures.len(),
        ratio: None,
        ratio_range: None,
        machine: surroundings.machine.clone(),
        mode,
        commit: surroundings.commit.clone(),
    }
}

#[cfg(test)]
mod tests;
