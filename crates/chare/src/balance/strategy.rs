//! Strategies: they compute from the measurements where each element should be.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use raddle_topology::CpuId;

/// The measurements of an array since the last balancing.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadView {
    /// The number of workers.
    pub worker_count: usize,
    /// The CPU to which each worker is bound; empty if unknown.
    pub cpus: Vec<Option<CpuId>>,
    /// All elements, in the order of their numbers.
    pub elements: Vec<ElementLoad>,
    /// The messages between elements, in no order; empty unless the strategy needs them.
    pub traffic: Vec<Traffic>,
}

/// The measurements of one element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ElementLoad {
    /// The worker that has it.
    pub worker: usize,
    /// The run time of its entries.
    pub load: Duration,
}

/// The messages from one element to another of the same array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// The sender, by position in [`LoadView::elements`].
    pub from: usize,
    /// The receiver, likewise.
    pub to: usize,
    /// The number of messages.
    pub message_count: u64,
    /// The number of bytes of arguments, without the data behind pointers.
    pub bytes: u64,
}

/// Chooses the workers for the elements of an array.
pub trait Strategy: Send + Sync + 'static {
    /// Returns the name in reports.
    fn name(&self) -> &'static str;

    /// Returns a worker for each of [`LoadView::elements`].
    fn place(&self, view: &LoadView) -> Vec<usize>;

    /// Returns true if the strategy uses [`LoadView::traffic`], which takes time to measure.
    fn needs_traffic(&self) -> bool {
        false
    }

    /// Returns the sampling interval: one of this many runs of entries, chosen at random, is
    /// measured and counts for all. With 1, every run is measured.
    fn sampling(&self) -> u32 {
        1
    }

    /// Returns the time saved, over the measured period, by placing the elements on these workers:
    /// the reduction of the busiest worker's load.
    fn gain(&self, view: &LoadView, placed: &[usize]) -> Duration {
        let most = |loads: Vec<Duration>| loads.into_iter().max().unwrap_or_default();
        most(view.loads()).saturating_sub(most(view.loads_when(placed)))
    }

    /// Returns true if gains add up while elements stay, until they are worth the moves. This suits
    /// loads that continue as measured.
    fn is_patient(&self) -> bool {
        false
    }
}

impl LoadView {
    /// Returns the load of each worker.
    pub fn loads(&self) -> Vec<Duration> {
        let placed: Vec<_> = self.elements.iter().map(|element| element.worker).collect();
        self.loads_when(&placed)
    }

    /// Returns the load that each worker would have with the elements on these workers.
    ///
    /// # Panics
    /// If `placed` names a worker that does not exist.
    pub fn loads_when(&self, placed: &[usize]) -> Vec<Duration> {
        let mut loads = vec![Duration::ZERO; self.worker_count];
        for (element, &worker) in self.elements.iter().zip(placed) {
            loads[worker] += element.load;
        }
        loads
    }

    /// Returns the positions of the elements, those with the most load first.
    fn heaviest_first(&self) -> Vec<usize> {
        let mut order: Vec<_> = (0..self.elements.len()).collect();
        order.sort_by_key(|&at| (Reverse(self.elements[at].load), at));
        order
    }
}

/// Places the heaviest element first, and each one on the worker with the least load. The largest
/// load is at most 4/3 of the optimum, but many elements move.
///
/// Cost: O(n log n).
#[derive(Clone, Copy, Debug, Default)]
pub struct Greedy;

impl Strategy for Greedy {
    fn name(&self) -> &'static str {
        "greedy"
    }

    fn place(&self, view: &LoadView) -> Vec<usize> {
        let mut workers: BinaryHeap<_> = (0..view.worker_count)
            .map(|worker| Reverse((Duration::ZERO, worker)))
            .collect();
        let mut placed = vec![0; view.elements.len()];
        for at in view.heaviest_first() {
            let Some(Reverse((load, worker))) = workers.pop() else {
                return placed;
            };
            placed[at] = worker;
            workers.push(Reverse((load + view.elements[at].load, worker)));
        }
        placed
    }
}

/// Moves elements from the most to the least loaded worker, until no worker has more than
/// `tolerance` above the average. Few elements move.
///
/// Cost: O(n log n) for the order, and the number of moves times n / workers.
#[derive(Clone, Copy, Debug)]
pub struct Refine {
    /// The tolerated excess over the average: 0.05 is 5 %.
    pub tolerance: f64,
}

impl Default for Refine {
    fn default() -> Self {
        Self { tolerance: 0.05 }
    }
}

impl Strategy for Refine {
    fn name(&self) -> &'static str {
        "refine"
    }

    fn place(&self, view: &LoadView) -> Vec<usize> {
        let mut placed: Vec<_> = view.elements.iter().map(|element| element.worker).collect();
        let mut loads = view.loads();
        if loads.is_empty() {
            return placed;
        }
        // The elements of each worker, the heaviest first.
        let mut on: Vec<Vec<usize>> = vec![Vec::new(); view.worker_count];
        for at in view.heaviest_first() {
            on[placed[at]].push(at);
        }
        let average = loads.iter().sum::<Duration>() / loads.len() as u32;
        let limit = average.mul_f64(1.0 + self.tolerance.max(0.0));
        loop {
            let extreme = |worker: &usize| (loads[*worker], *worker);
            let (Some(most), Some(least)) = (
                (0..view.worker_count).max_by_key(extreme),
                (0..view.worker_count).min_by_key(extreme),
            ) else {
                return placed;
            };
            let gap = loads[most].saturating_sub(loads[least]);
            // Move the heaviest element of at most half the gap; without one, the lightest that
            // still brings the two loads nearer to each other.
            let fits = |&&at: &&usize| {
                view.elements[at].load < gap && view.elements[at].load > Duration::ZERO
            };
            let half = |&&at: &&usize| view.elements[at].load <= gap / 2;
            let best = on[most].iter().find(|at| fits(at) && half(at));
            let best = best.or_else(|| on[most].iter().rfind(fits));
            let Some(&at) = best.filter(|_| loads[most] > limit) else {
                return placed;
            };
            // Move it, and keep the order of the receiving worker's elements.
            on[most].retain(|&other| other != at);
            let place = on[least]
                .partition_point(|&other| view.elements[other].load >= view.elements[at].load);
            on[least].insert(place, at);
            loads[most] -= view.elements[at].load;
            loads[least] += view.elements[at].load;
            placed[at] = least;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(worker_count: usize, loads: &[(usize, u64)]) -> LoadView {
        LoadView {
            worker_count,
            elements: loads
                .iter()
                .map(|&(worker, load)| ElementLoad {
                    worker,
                    load: Duration::from_micros(load),
                })
                .collect(),
            ..LoadView::default()
        }
    }

    fn most(view: &LoadView, placed: &[usize]) -> u128 {
        view.loads_when(placed)
            .iter()
            .max()
            .expect("there are workers")
            .as_micros()
    }

    #[test]
    fn greedy_is_never_far_from_the_best() {
        let view = view(3, &[(0, 7), (0, 7), (0, 6), (0, 6), (0, 5), (0, 5), (0, 4)]);
        assert!(most(&view, &Greedy.place(&view)) <= 40_u128.div_ceil(3) * 4 / 3);
    }

    #[test]
    fn refine_moves_little_and_helps() {
        let view = view(2, &[(0, 10), (0, 10), (0, 10), (0, 10), (1, 1), (1, 1)]);
        let placed = Refine::default().place(&view);
        let moved = placed
            .iter()
            .zip(&view.elements)
            .filter(|(to, element)| **to != element.worker);
        assert!(moved.count() <= 3);
        assert!(most(&view, &placed) <= 22, "{placed:?}");
    }

    #[test]
    fn balanced_elements_stay() {
        let view = view(2, &[(0, 10), (1, 10), (0, 5), (1, 5)]);
        assert_eq!(Refine::default().place(&view), [0, 1, 0, 1]);
    }

    #[test]
    fn one_heavy_element_is_not_passed_round() {
        let view = view(3, &[(1, 100)]);
        assert_eq!(Refine::default().place(&view), [1]);
        assert!(Refine::default().place(&LoadView::default()).is_empty());
        assert!(Greedy.place(&LoadView::default()).is_empty());
    }
}
