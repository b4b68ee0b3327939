//! Grain control: how finely work is cut into tasks.
//!
//! A few large tasks leave workers idle at the end, and many small tasks cost more than they gain.
//! The best grain between the two depends on the machine, the program and its input: in the study
//! below, a grain chosen without measuring lost 8 to 16 % on average, and up to 45 %. A program
//! that creates tasks recursively asks a [`Grain`] before each task whether to split further.
//!
//! | the grain is | made by |
//! |---|---|
//! | a number of tasks for each worker | [`Grain::per_worker`] |
//! | a maximum or minimum weight of a part | [`Grain::at_most`], [`Grain::at_least`] |
//! | the best one in earlier runs | [`GrainTuner`] |
//!
//! The weight of a part is any number that grows with its work: items, bytes, an estimated cost.
//!
//! # Examples
//! ```
//! use raddle_collections::Grain;
//!
//! fn sum(numbers: &[u64], grain: Grain) -> u64 {
//!     if !grain.splits(numbers.len()) {
//!         return numbers.iter().sum();
//!     }
//!     let (left, right) = numbers.split_at(numbers.len() / 2);
//!     let (left, right) = raddle_runtime::join(|| sum(left, grain), || sum(right, grain));
//!     left + right
//! }
//!
//! let numbers: Vec<u64> = (0..100_000).collect();
//! let grain = Grain::per_worker(numbers.len(), 8).but_at_least(1_000);
//! assert_eq!(sum(&numbers, grain), 4_999_950_000);
//! ```
//!
//! # Source
//! Jetley, Kalé: Optimizations for message driven applications on multicore architectures. HiPC
//! 2011, sect. V-A: the static grain. The tuning is not in the paper, which names it as future
//! work.

mod file;
mod quick;
mod search;
mod tuner;

pub use self::file::GrainFileError;
pub use self::tuner::{GrainRun, GrainTuner};

/// Decides how finely work is cut: whether a part is split further.
///
/// Tasks carry a copy along. A copy is one word, and an answer is one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grain {
    /// The maximum weight of a part that is not split.
    weight_max: usize,
}

impl Grain {
    /// Creates a grain that splits parts that weigh more than `weight`.
    #[must_use]
    pub const fn at_most(weight: usize) -> Self {
        Self { weight_max: weight }
    }

    /// Creates a grain that splits parts that are large enough for two parts of `weight` each.
    ///
    /// # Examples
    /// ```
    /// use raddle_collections::Grain;
    /// let grain = Grain::at_least(100);
    /// assert!(grain.splits(200) && !grain.splits(199));
    /// ```
    #[must_use]
    pub const fn at_least(weight: usize) -> Self {
        let doubled = weight.saturating_mul(2);
        Self::at_most(doubled.saturating_sub(1))
    }

    /// Creates a grain that cuts work of `total_weight` into about `task_count` parts.
    ///
    /// The number of parts is exact if splits halve and `task_count` is a power of two.
    ///
    /// # Panics
    /// When `task_count` is 0.
    #[must_use]
    pub const fn tasks(total_weight: usize, task_count: usize) -> Self {
        assert!(task_count > 0, "task_count is 0: work is at least one task");
        Self::at_most(total_weight.div_ceil(task_count))
    }

    /// Creates a grain that cuts work of `total_weight` into about `tasks_per_worker` parts for
    /// each worker of the current runtime.
    ///
    /// The study's tree construction was fastest with 3 tasks in all on 2 cores, and with 250 to
    /// 500 on 16.
    ///
    /// # Panics
    /// When `tasks_per_worker` is 0.
    #[must_use]
    pub fn per_worker(total_weight: usize, tasks_per_worker: usize) -> Self {
        let worker_count = raddle_runtime::worker_count();
        Self::tasks(total_weight, worker_count.saturating_mul(tasks_per_worker))
    }

    /// Returns the coarser of this grain and [`at_least(weight)`](Self::at_least).
    ///
    /// This avoids splitting parts that are too small for a task to pay off.
    #[must_use]
    pub const fn but_at_least(self, weight: usize) -> Self {
        let other = Self::at_least(weight);
        if self.weight_max < other.weight_max {
            other
        } else {
            self
        }
    }

    /// Returns `true` if a part of this weight should be split further.
    #[inline]
    #[must_use]
    pub const fn splits(self, weight: usize) -> bool {
        weight > self.weight_max
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
