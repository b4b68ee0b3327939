//! The ideal speed of a quicksort in which each part is partitioned by one worker: equations (1)
//! and (2) of the study.
//!
//! Both equations count compared items. On the first ⌈log p⌉ levels there are fewer parts than
//! workers, so each level takes as long as one of its parts. On the later levels, all workers have
//! work. Every split is assumed to be even. Measured speeds may be better, because the equations
//! ignore locality, and because [`sort`](super::sort) lets several workers partition one part.
//!
//! # Source
//! R. Hoffmann, M. Korch, T. Rauber: Performance evaluation of task pools based on hardware
//! synchronization. SC 2004, section 3.

/// Returns T_par(N, p) of equation (1): the number of items that the busiest worker compares.
///
/// `2 N (1 − 2^−⌈log p⌉) + N / p · (log N − ⌈log p⌉)`, with logarithms to the base 2; 0 for fewer
/// than two items. If there are more workers than items, only as many workers as items count.
///
/// # Panics
/// If `worker_count` is 0.
///
/// # Examples
/// ```
/// use raddle_numerics::sort::ideal;
/// // 2 · 16 · (1 − 1/4) + 16/4 · (4 − 2)
/// assert_eq!(ideal::parallel_time(16, 4), 32.0);
/// ```
pub fn parallel_time(len: u64, worker_count: u64) -> f64 {
    assert!(worker_count > 0, "a sort on {worker_count} workers");
    if len < 2 {
        return 0.0;
    }
    let workers = worker_count.min(len);
    let n = len as f64;
    let scarce_levels = f64::from(workers.next_power_of_two().ilog2());
    let scarce = 2.0 * n * (1.0 - (-scarce_levels).exp2());
    // With almost as many workers as items, the last of these levels is below the leaves.
    let ample_levels = (n.log2() - scarce_levels).max(0.0);
    scarce + n / workers as f64 * ample_levels
}

/// Returns the ideal speedup of equation (2): S_ideal(N, p) = N log N / T_par(N, p); 1 for fewer
/// than two items.
///
/// # Panics
/// If `worker_count` is 0.
///
/// # Examples
/// ```
/// use raddle_numerics::sort::ideal;
/// let speedup = ideal::speedup(100_000_000, 8);
/// assert!((speedup - 5.66).abs() < 0.005);
/// ```
pub fn speedup(len: u64, worker_count: u64) -> f64 {
    let parallel = parallel_time(len, worker_count);
    if parallel == 0.0 {
        return 1.0;
    }
    let n = len as f64;
    n * n.log2() / parallel
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() <= 0.005 * expected.abs().max(1.0),
            "{found} instead of {expected}"
        );
    }

    #[test]
    fn values_equal_those_computed_by_hand() {
        // 1,024 items have 10 levels. Two workers: 2 · 1024 · 1/2 + 512 · 9.
        near(parallel_time(1_024, 2), 5_632.0);
        // Four: 2 · 1024 · 3/4 + 256 · 8.
        near(parallel_time(1_024, 4), 3_584.0);
        // Three workers need two scarce levels, like four: 1,536 + 1024/3 · 8.
        near(parallel_time(1_024, 3), 1_536.0 + 8_192.0 / 3.0);
        near(speedup(1_024, 2), 10_240.0 / 5_632.0);
    }

    #[test]
    fn values_equal_those_of_the_study() {
        near(speedup(100_000_000, 8), 5.66);
        // "The theoretical maximum speedup is 10.2": on 32 workers.
        near(speedup(100_000_000, 32), 10.2);
    }

    #[test]
    fn one_worker_has_no_speedup_and_all_speedups_are_finite() {
        near(speedup(100_000_000, 1), 1.0);
        for len in [0, 1, 2, 3, 10, u64::MAX] {
            for workers in [1, 2, 3, 16, 5_000, u64::MAX >> 1] {
                let speedup = speedup(len, workers);
                assert!(
                    speedup.is_finite() && (0.5..100.0).contains(&speedup),
                    "{len} items, {workers} workers: {speedup}"
                );
            }
        }
    }
}
