//! A grain that is learned from the times of runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use raddle_sync::clock::Instant;
use raddle_sync::prim::Mutex;

use super::Grain;
use super::file::{self, GrainFileError, Learned, Shape};
use super::search::{Search, Trial};

/// A run that takes at least this long is expensive: the search must manage with few of them.
const EXPENSIVE: Duration = Duration::from_millis(2);

/// Learns, over many runs of the same kind of work, the number of tasks to cut it into.
///
/// Each run gets a grain and is timed. The first runs are trials: eight if a run takes two
/// milliseconds or more, otherwise some dozens if the times are steady, and one or two hundred if
/// they are noisy. Then the tuner keeps the number of tasks that won and continues to measure. When
/// the times change permanently, it begins a new search. A result applies to one number of workers,
/// and to total weights from one power of two to the next. Times are compared per unit of weight.
///
/// Threads may share a tuner, although concurrent runs disturb each other's times. The cost is a
/// lock and some microseconds at the beginning and the end of a run, and nothing in between.
///
/// # Examples
/// ```
/// use raddle_collections::{Grain, GrainTuner};
///
/// fn sum(numbers: &[u64], grain: Grain) -> u64 {
///     if !grain.splits(numbers.len()) {
///         return numbers.iter().sum();
///     }
///     let (left, right) = numbers.split_at(numbers.len() / 2);
///     let (left, right) = raddle_runtime::join(|| sum(left, grain), || sum(right, grain));
///     left + right
/// }
///
/// let tuner = GrainTuner::new("sum");
/// let numbers = vec![1; 10_000];
/// for _ in 0..100 {
///     let total = tuner.run(numbers.len(), |grain| sum(&numbers, grain));
///     assert_eq!(total, 10_000);
/// }
/// ```
#[derive(Debug)]
pub struct GrainTuner {
    name: String,
    path: Option<PathBuf>,
    state: Mutex<State>,
}

/// A run of a [`GrainTuner`], from its beginning to [`finish`](Self::finish).
///
/// A run that is dropped instead, by a panic or an early return, is ignored.
#[derive(Debug)]
#[must_use = "a run that is not finished teaches nothing"]
pub struct GrainRun<'a> {
    tuner: &'a GrainTuner,
    grain: Grain,
    total_weight: usize,
    key: Key,
    trial: Trial,
    begun: Instant,
}

#[derive(Debug, Default)]
struct State {
    searches: BTreeMap<Key, Search>,
    /// `true` if something was learned since the file was last written.
    is_unsaved: bool,
}

/// The key of one search of a tuner: a [`Shape`] without the tuner's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    worker_count: usize,
    weight_log2: u32,
}

impl GrainTuner {
    /// Creates a tuner for work of this name that has learned nothing yet.
    ///
    /// # Panics
    /// When `name` is empty, or has a character that is not alphanumeric, `-`, `_` or `.`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        assert!(
            file::is_name(name),
            "{name:?} is not a name of work; expected alphanumeric characters, `-`, `_` and `.`"
        );
        Self {
            name: name.to_owned(),
            path: None,
            state: Mutex::new(State::default()),
        }
    }

    /// Keeps results in a file, and begins with the results that the file already holds.
    ///
    /// Tuners with other names may use the same file.
    ///
    /// The file need not exist. It is written atomically when a search ends;
    /// [`save`](Self::save) reports whether that succeeded.
    ///
    /// # Errors
    /// When the file exists but cannot be read, or is not a file of grains.
    pub fn keep_in(mut self, path: impl Into<PathBuf>) -> Result<Self, GrainFileError> {
        let path = path.into();
        let mut state = State::default();
        for learned in file::read(&path)? {
            if learned.shape.name == self.name {
                let key = Key {
                    worker_count: learned.shape.worker_count,
                    weight_log2: learned.shape.weight_log2,
                };
                let search = key.search(None);
                let search = search.found_before(learned.task_count, learned.ns_per_weight);
                state.searches.insert(key, search);
            }
        }
        self.path = Some(path);
        self.state = Mutex::new(state);
        Ok(self)
    }

    /// Runs work of this weight, and learns from the time that it takes. A run that panics is
    /// ignored.
    pub fn run<R>(&self, total_weight: usize, work: impl FnOnce(Grain) -> R) -> R {
        let run = self.begin(total_weight);
        let result = work(run.grain);
        run.finish();
        result
    }

    /// Begins a run of this weight on the workers of the current runtime.
    pub fn begin(&self, total_weight: usize) -> GrainRun<'_> {
        self.begin_on(raddle_runtime::worker_count(), total_weight)
    }

    fn begin_on(&self, worker_count: usize, total_weight: usize) -> GrainRun<'_> {
        let key = Key::new(worker_count, total_weight);
        let trial = self.with_state(|state| state.search(key).next());
        GrainRun {
            tuner: self,
            grain: Grain::tasks(total_weight, trial.task_count()),
            total_weight,
            key,
            trial,
            begun: Instant::now(),
        }
    }

    /// Returns the number of tasks with which work of this weight is fastest on the workers of the
    /// current runtime, or `None` while that is not known.
    #[must_use]
    pub fn found(&self, total_weight: usize) -> Option<usize> {
        self.found_on(raddle_runtime::worker_count(), total_weight)
    }

    fn found_on(&self, worker_count: usize, total_weight: usize) -> Option<usize> {
        let key = Key::new(worker_count, total_weight);
        let (task_count, _) = self.with_state(|state| state.searches.get(&key)?.found())?;
        Some(task_count)
    }

    /// Writes new results to the file, if the tuner keeps one.
    ///
    /// This also happens whenever something is learned. A program calls it at the end to learn of
    /// errors.
    ///
    /// # Errors
    /// When the file cannot be written, or is no longer a file of grains.
    pub fn save(&self) -> Result<(), GrainFileError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let Some(news) = self.with_state(|state| state.take_news(&self.name)) else {
            return Ok(());
        };
        // The lock is released, so that runs can begin and finish while the file is written.
        let written = file::write(path, news);
        if written.is_err() {
            self.with_state(|state| state.is_unsaved = true);
        }
        written
    }

    fn learn(&self, key: Key, trial: Trial, ns_per_weight: f64, is_expensive: bool) {
        let has_news = self.with_state(|state| {
            let search = state.search(key);
            let has_news = if is_expensive {
                search.learn_expensive(trial, ns_per_weight)
            } else {
                search.learn(trial, ns_per_weight)
            };
            state.is_unsaved |= has_news;
            has_news
        });
        if has_news {
            // There is no caller to take an error; the next call of `save` tries again and reports
            // it.
            let _tried = self.save();
        }
    }

    fn with_state<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        body(&mut self.state.lock().expect("nothing panics under this lock"))
    }
}

impl GrainRun<'_> {
    /// Returns the grain of this run, for tasks to carry along.
    #[must_use]
    pub fn grain(&self) -> Grain {
        self.grain
    }

    /// Returns `true` if a part of this weight should be split further.
    #[inline]
    #[must_use]
    pub fn splits(&self, weight: usize) -> bool {
        self.grain.splits(weight)
    }

    /// Returns the approximate number of tasks into which this run is cut.
    #[must_use]
    pub fn task_count(&self) -> usize {
        self.trial.task_count()
    }

    /// Ends the run. The tuner learns from the time since its beginning.
    pub fn finish(self) {
        let elapsed = self.begun.elapsed();
        self.finish_after(elapsed);
    }

    /// Ends the run with a time that the caller measured, of a part of the run or by another clock.
    pub fn finish_after(self, elapsed: Duration) {
        // Without weight there is no cost per weight, and a time of zero means a clock too coarse.
        if self.total_weight > 0 && !elapsed.is_zero() {
            let ns_per_weight = elapsed.as_secs_f64() * 1e9 / self.total_weight as f64;
            let is_expensive = elapsed >= EXPENSIVE;
            self.tuner
                .learn(self.key, self.trial, ns_per_weight, is_expensive);
        }
    }
}

impl State {
    /// Returns the search for this key. A new one begins with the result of the most similar
    /// weight.
    fn search(&mut self, key: Key) -> &mut Search {
        if !self.searches.contains_key(&key) {
            let similar = self
                .searches
                .iter()
                .filter(|(other, _)| other.worker_count == key.worker_count)
                .filter_map(|(other, search)| Some((other.weight_log2, search.found()?.0)))
                .min_by_key(|(weight_log2, _)| weight_log2.abs_diff(key.weight_log2))
                .map(|(_, task_count)| task_count);
            self.searches.insert(key, key.search(similar));
        }
        self.searches
            .get_mut(&key)
            .expect("it was put in if it was not there")
    }

    /// Returns all results, if any of them is not in the file yet.
    fn take_news(&mut self, name: &str) -> Option<Vec<Learned>> {
        std::mem::take(&mut self.is_unsaved).then(|| {
            let learned = |(key, search): (&Key, &Search)| {
                let (task_count, ns_per_weight) = search.found()?;
                Some(Learned {
                    shape: Shape {
                        name: name.to_owned(),
                        worker_count: key.worker_count,
                        weight_log2: key.weight_log2,
                    },
                    task_count,
                    ns_per_weight,
                })
            };
            self.searches.iter().filter_map(learned).collect()
        })
    }
}

impl Key {
    fn new(worker_count: usize, total_weight: usize) -> Self {
        Self {
            worker_count,
            weight_log2: total_weight.max(1).ilog2(),
        }
    }

    fn search(self, task_count: Option<usize>) -> Search {
        Search::new(self.worker_count, self.weight_log2, task_count)
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
