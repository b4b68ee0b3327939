//! A grain that is learned from the times of runs.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use raddle_sync::prim::{Instant, Mutex};

use super::Grain;
use super::file::{self, GrainFileError, Learned, Shape};
use super::search::{Search, Trial};

/// Runs that take so long are dear: some must do.
const DEAR: Duration = Duration::from_millis(2);

/// Finds out, over many runs of the same kind of work, into how many tasks to cut it.
///
/// Each run is given a grain and is timed. At first these are trials: eight where a run takes two milliseconds or more; else some dozens where
/// times are quiet, a hundred or two where they are noisy. Then the tuner stays with the number of tasks that won, and looks on; when the times change for good, it tries anew.
/// What it learns counts for one number of workers, and for total weights between a power of two and the next, whose times it compares
/// by weight.
///
/// A tuner may be shared by threads, though runs that are under way at the same time disturb each other's times. Cost: a lock and some
/// microseconds at the beginning and the end of a run, nothing in between.
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
/// One that is dropped instead, by a panic or an early return, counts for nothing.
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
    /// Something was learned since the file was last written.
    is_unsaved: bool,
}

/// What a tuner learns separately: a [`Shape`] without the tuner's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    worker_count: usize,
    weight_log2: u32,
}

impl GrainTuner {
    /// A tuner for work of this name that has learned nothing yet.
    ///
    /// # Panics
    /// When `name` is empty or has other characters than letters, digits, `-`, `_` and `.`.
    #[must_use]
    pub fn new(name: &str) -> Self {
        assert!(
            file::is_name(name),
            "{name:?} names no work: a name has letters, digits, `-`, `_` and `.`"
        );
        Self {
            name: name.to_owned(),
            path: None,
            state: Mutex::new(State::default()),
        }
    }

    /// Keeps what is learned in a file, beside what tuners of other names keep there, and begins with what it says.
    ///
    /// The file need not be there. It is written when a search ends, whole or not at all; [`save`](Self::save) tells whether that
    /// went well.
    ///
    /// # Errors
    /// When the file is there and cannot be read, or is no file of grains.
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

    /// Runs work of this weight, and learns from the time that it takes. A panic teaches nothing.
    pub fn run<R>(&self, total_weight: usize, work: impl FnOnce(Grain) -> R) -> R {
        let run = self.begin(total_weight);
        let result = work(run.grain);
        run.finish();
        result
    }

    /// Begins a run of this weight on the workers of this thread's runtime.
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

    /// The number of tasks with which work of this weight is done soonest on the workers of this thread's runtime; none while
    /// that is not known.
    #[must_use]
    pub fn found(&self, total_weight: usize) -> Option<usize> {
        self.found_on(raddle_runtime::worker_count(), total_weight)
    }

    fn found_on(&self, worker_count: usize, total_weight: usize) -> Option<usize> {
        let key = Key::new(worker_count, total_weight);
        let (task_count, _) = self.with_state(|state| state.searches.get(&key)?.found())?;
        Some(task_count)
    }

    /// Writes what was learned to the file that keeps it, if there is one and there is anything new.
    ///
    /// This happens by itself when something is learned; a program calls it in the end to know that it went well.
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
        // Outside of the lock: others begin and finish runs while the disk is busy.
        let written = file::write(path, news);
        if written.is_err() {
            self.with_state(|state| state.is_unsaved = true);
        }
        written
    }

    fn learn(&self, key: Key, trial: Trial, ns_per_weight: f64, is_dear: bool) {
        let has_news = self.with_state(|state| {
            let search = state.search(key);
            let has_news = if is_dear {
                search.learn_dear(trial, ns_per_weight)
            } else {
                search.learn(trial, ns_per_weight)
            };
            state.is_unsaved |= has_news;
            has_news
        });
        if has_news {
            // Nobody is there to take an error; the next call of `save` tries again and tells.
            let _tried = self.save();
        }
    }

    fn with_state<R>(&self, body: impl FnOnce(&mut State) -> R) -> R {
        body(&mut self.state.lock().expect("nothing panics under this lock"))
    }
}

impl GrainRun<'_> {
    /// The grain of this run, for tasks to carry along.
    #[must_use]
    pub fn grain(&self) -> Grain {
        self.grain
    }

    /// True when a part of this weight shall be split further.
    #[inline]
    #[must_use]
    pub fn splits(&self, weight: usize) -> bool {
        self.grain.splits(weight)
    }

    /// The number of tasks into which this run is cut, about.
    #[must_use]
    pub fn task_count(&self) -> usize {
        self.trial.task_count()
    }

    /// Ends the run; the time since its beginning teaches the tuner.
    pub fn finish(self) {
        let elapsed = self.begun.elapsed();
        self.finish_after(elapsed);
    }

    /// Ends the run with a time that the caller measured: that of a part of it, or of another clock.
    pub fn finish_after(self, elapsed: Duration) {
        // No weight, no cost of it; and a clock that stands still is none.
        if self.total_weight > 0 && !elapsed.is_zero() {
            let ns_per_weight = elapsed.as_secs_f64() * 1e9 / self.total_weight as f64;
            let is_dear = elapsed >= DEAR;
            self.tuner
                .learn(self.key, self.trial, ns_per_weight, is_dear);
        }
    }
}

impl State {
    /// The search for this key; a new one begins with what is known of the most similar weight.
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

    /// All that was learned, if there is anything that the file does not have.
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
