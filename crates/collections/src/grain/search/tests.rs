//! Searches on made-up valleys with seeded noise: where they end, what they cost, and that they stay until something changes.

use super::*;

/// The cost of work on so many workers, cut into so many tasks.
type Valley = fn(worker_count: f64, task_count: f64) -> f64;

/// Tasks that cost little, and are of unequal length: many pay.
fn fine(worker_count: f64, task_count: f64) -> f64 {
    (1.0 + 2.0 * worker_count / task_count) / task_count.min(worker_count) + 2e-6 * task_count
}

/// Tasks that cost much: few are enough.
fn coarse(worker_count: f64, task_count: f64) -> f64 {
    (1.0 + 0.5 * worker_count / task_count) / task_count.min(worker_count)
        + 2e-3 * task_count / worker_count
}

/// Tasks that cost nothing: a valley without a far side.
fn flat(worker_count: f64, task_count: f64) -> f64 {
    (1.0 + 0.5 * worker_count / task_count) / task_count.min(worker_count)
}

/// Work for which no task pays.
fn sequential(_: f64, task_count: f64) -> f64 {
    1.0 + 0.5 * task_count
}

/// With the most by which what is found may be worse than the best. Where one task is the best, two are a third worse.
const VALLEYS: [(Valley, f64); 4] = [(fine, 0.1), (coarse, 0.1), (flat, 0.1), (sequential, 0.34)];

/// What a machine adds to the true cost.
#[derive(Clone, Copy, Debug)]
struct Noise {
    /// Standard deviation, as a part of the cost.
    deviation: f64,
    /// The part of runs that take another time altogether,
    strange: f64,
    /// and by what factor.
    factor: f64,
}

const SILENCE: Noise = noise(0.0, 0.0, 1.0);
const NOISES: [Noise; 5] = [
    SILENCE,
    noise(0.03, 0.0, 1.0),
    noise(0.1, 0.0, 1.0),
    noise(0.05, 0.1, 3.0),
    noise(0.05, 0.1, 0.5),
];

const fn noise(deviation: f64, strange: f64, factor: f64) -> Noise {
    Noise {
        deviation,
        strange,
        factor,
    }
}

/// A machine that runs work, noisily.
struct Machine {
    worker_count: usize,
    valley: Valley,
    noise: Noise,
    random: u64,
}

impl Machine {
    fn new(worker_count: usize, valley: Valley, noise: Noise, seed: u64) -> Self {
        Self {
            worker_count,
            valley,
            noise,
            random: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
        }
    }

    fn true_cost(&self, task_count: usize) -> f64 {
        (self.valley)(self.worker_count as f64, task_count as f64)
    }

    /// How much worse than the best of all candidates.
    fn loss(&self, search: &Search, task_count: usize) -> f64 {
        let best = (0..=search.last.0)
            .map(|number| self.true_cost(Candidate(number).task_count()))
            .fold(f64::INFINITY, f64::min);
        self.true_cost(task_count) / best - 1.0
    }

    fn cost(&mut self, trial: Trial) -> f64 {
        let normal = (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0;
        let strange = if self.uniform() < self.noise.strange {
            self.noise.factor
        } else {
            1.0
        };
        self.true_cost(trial.task_count()) * strange * (1.0 + self.noise.deviation * normal)
    }

    /// Between 0 and 1 (xorshift64*).
    fn uniform(&mut self) -> f64 {
        self.random ^= self.random >> 12;
        self.random ^= self.random << 25;
        self.random ^= self.random >> 27;
        (self.random.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Runs until the search has found something; the numbers of tasks that were tried.
    fn settle(&mut self, search: &mut Search) -> Vec<usize> {
        let mut tried = Vec::new();
        while search.found().is_none() {
            let trial = search.next();
            search.learn(trial, self.cost(trial));
            tried.push(trial.task_count());
            assert!(tried.len() < 1_000, "no end: {search:?}");
        }
        tried
    }

    fn run(&mut self, search: &mut Search, times: usize) {
        for _ in 0..times {
            let trial = search.next();
            search.learn(trial, self.cost(trial));
        }
    }
}

fn found(search: &Search) -> usize {
    search.found().expect("the search is over").0
}

#[test]
fn searches_end_within_a_few_percent_of_the_best() {
    let seeds = 1..=20;
    for (valley, loss_max) in VALLEYS {
        for worker_count in [1, 2, 16, 64] {
            for noise in NOISES {
                let mut losses = Vec::new();
                for seed in seeds.clone() {
                    let mut machine = Machine::new(worker_count, valley, noise, seed);
                    let mut search = Search::new(worker_count, 20, None);
                    let tried = machine.settle(&mut search);
                    assert!(tried.len() <= 250, "{} runs under {noise:?}", tried.len());
                    // A winner by luck alone is found out.
                    machine.run(&mut search, WINDOW);
                    machine.settle(&mut search);
                    losses.push(machine.loss(&search, found(&search)));
                }
                let mean = losses.iter().sum::<f64>() / losses.len() as f64;
                assert!(mean < 0.02, "{noise:?}, {worker_count} workers: {losses:?}");
                let worst = losses.into_iter().fold(0.0, f64::max);
                assert!(
                    worst < loss_max,
                    "{noise:?}, {worker_count} workers: {worst}"
                );
            }
        }
    }
}

#[test]
fn without_noise_the_best_is_found_in_some_dozens_of_runs() {
    for (valley, _) in VALLEYS {
        for worker_count in [1, 2, 16, 64] {
            let mut machine = Machine::new(worker_count, valley, SILENCE, 1);
            let mut search = Search::new(worker_count, 20, None);
            let tried = machine.settle(&mut search);
            assert!(machine.loss(&search, found(&search)) < 0.01, "{search:?}");
            assert!(tried.len() <= 50, "{} runs", tried.len());
        }
    }
}

#[test]
fn nothing_is_tried_beyond_the_first_that_is_clearly_worse() {
    for seed in 1..=50 {
        let mut machine = Machine::new(16, fine, NOISES[1], seed);
        let mut search = Search::new(16, 20, None);
        let tried = machine.settle(&mut search);
        let (least, most) = (tried.iter().min(), tried.iter().max());
        // At 16 tasks the work takes more than twice as long as at best, and at 32 half as long again; at 16384 as well.
        assert!(least >= Some(&32), "{least:?}");
        assert!(most <= Some(&16_384), "{most:?}");
    }
}

#[test]
fn what_was_found_stays_under_noise() {
    for noise in NOISES {
        for seed in 1..=20 {
            let mut machine = Machine::new(16, coarse, noise, seed);
            let mut search = Search::new(16, 20, None);
            machine.settle(&mut search);
            let before = found(&search);
            for _ in 0..1_000 {
                machine.run(&mut search, 1);
                assert_eq!(
                    search.found().map(|it| it.0),
                    Some(before),
                    "{noise:?}, seed {seed}"
                );
            }
        }
    }
}

#[test]
fn a_change_of_times_opens_the_search_again() {
    for noise in NOISES {
        for seed in 1..=20 {
            let mut machine = Machine::new(16, fine, noise, seed);
            let mut search = Search::new(16, 20, None);
            machine.settle(&mut search);
            machine.run(&mut search, 2 * WINDOW);
            // Tasks have become a thousand times dearer.
            machine.valley = coarse;
            machine.run(&mut search, 2 * WINDOW);
            machine.settle(&mut search);
            let loss = machine.loss(&search, found(&search));
            assert!(loss < 0.12, "{loss} under {noise:?}, seed {seed}");
        }
    }
}

#[test]
fn work_that_becomes_quicker_opens_the_search_again() {
    let mut machine = Machine::new(4, fine, SILENCE, 1);
    let mut search = Search::new(4, 20, None).found_before(64, 2.0 * fine(4.0, 64.0));
    machine.run(&mut search, WINDOW - 1);
    assert_eq!(found(&search), 64);
    machine.run(&mut search, 1);
    assert_eq!(search.found(), None);
    machine.settle(&mut search);
    assert!(machine.loss(&search, found(&search)) < 0.01);
}

#[test]
fn what_was_found_before_needs_no_search() {
    let mut machine = Machine::new(4, fine, NOISES[1], 1);
    let mut search = Search::new(4, 20, None).found_before(1024, fine(4.0, 1024.0));
    machine.run(&mut search, 500);
    assert_eq!(found(&search), 1024);
}

#[test]
fn the_first_window_corrects_the_cost_and_not_the_number() {
    let mut machine = Machine::new(16, coarse, SILENCE, 1);
    let mut search = Search::new(16, 20, None);
    machine.settle(&mut search);
    let (task_count, lucky) = search.found().expect("the search is over");
    for run in 1..=WINDOW {
        let is_news = search.learn(search.next(), 1.2 * lucky);
        assert_eq!(is_news, run == WINDOW);
    }
    assert_eq!(search.found(), Some((task_count, 1.2 * lucky)));
    // Too far from what the search believed, and near to what is believed now.
    assert!((0..WINDOW).all(|_| !search.learn(search.next(), 1.4 * lucky)));
    assert_eq!(search.found(), Some((task_count, 1.2 * lucky)));
}

#[test]
fn a_winner_by_luck_alone_is_found_out() {
    let mut machine = Machine::new(16, coarse, SILENCE, 1);
    let mut search = Search::new(16, 20, None);
    machine.settle(&mut search);
    let (_, lucky) = search.found().expect("the search is over");
    for _ in 0..WINDOW {
        search.learn(search.next(), 1.3 * lucky);
    }
    assert_eq!(search.found(), None);
}

#[test]
fn runs_that_end_after_their_search_teach_nothing() {
    let mut machine = Machine::new(4, sequential, SILENCE, 1);
    let mut search = Search::new(4, 10, None);
    let late = search.next();
    machine.settle(&mut search);
    assert_ne!(late.task_count(), found(&search));
    assert!((0..2 * WINDOW).all(|_| !search.learn(late, 1e9)));
    assert_eq!(found(&search), 1);
    // A run of the last search, with the number that is tried first in the next.
    machine.run(&mut search, WINDOW);
    let winner = search.next();
    machine.valley = |_, task_count| 10.0 * task_count;
    machine.run(&mut search, WINDOW);
    assert_eq!(search.found(), None);
    let costs = search.costs.clone();
    assert!(!search.learn(winner, 1e-9));
    assert_eq!(search.costs, costs);
}

#[test]
fn there_are_no_more_tasks_than_the_work_has_weight() {
    for weight_log2 in 0..12 {
        let mut machine = Machine::new(2, |_, task_count| 1.0 / task_count, SILENCE, 1);
        let mut search = Search::new(2, weight_log2, Some(1 << 40));
        let tried = machine.settle(&mut search);
        assert!(
            tried
                .iter()
                .all(|&task_count| task_count <= 1 << weight_log2)
        );
        assert_eq!(
            found(&search),
            (1 << weight_log2).min(2 << TASKS_PER_WORKER_LOG2_MAX)
        );
    }
}

#[test]
fn candidates_are_octaves_and_half_octaves() {
    let task_counts: Vec<usize> = [0, 2, 3, 4, 5, 6, 7, 20]
        .map(|it| Candidate(it).task_count())
        .into();
    assert_eq!(task_counts, [1, 2, 3, 4, 6, 8, 11, 1024]);
    for number in (0..60).filter(|&number| number != 1) {
        assert_eq!(
            Candidate::nearest(Candidate(number).task_count()),
            Candidate(number)
        );
    }
    assert_eq!(Candidate::nearest(0), Candidate(0));
    let beside: Vec<_> = [0, 2, 3]
        .map(|it| Candidate(it).beside(1).map(|it| it.0).collect::<Vec<_>>())
        .into();
    assert_eq!(beside, [vec![], vec![3], vec![2, 4]]);
}

#[test]
fn dear_runs_are_eight_and_end_near_the_best() {
    // One task that pays less than one run in a hundred may be off by is found by luck alone.
    for (valley, allowed) in VALLEYS {
        for worker_count in [1, 2, 4, 16, 64] {
            for seed in 0..20 {
                let mut machine = Machine::new(worker_count, valley, noise(0.01, 0.0, 1.0), seed);
                let mut search = Search::new(worker_count, 20, None);
                let mut runs = 0;
                while search.found().is_none() {
                    let trial = search.next();
                    // The first is cold.
                    let cold = if runs == 0 { 1.5 } else { 1.0 };
                    search.learn_expensive(trial, cold * machine.cost(trial));
                    runs += 1;
                }
                assert_eq!(runs, 8);
                let loss = machine.loss(&search, found(&search));
                assert!(
                    loss <= allowed + 0.03,
                    "{worker_count} workers, seed {seed}: {} tasks cost {loss} more",
                    found(&search)
                );
            }
        }
    }
}

#[test]
fn dear_runs_that_change_are_searched_anew() {
    let mut search = Search::new(2, 20, None);
    while search.found().is_none() {
        search.learn_expensive(search.next(), 1.0);
    }
    let is_open = (0..2 * WINDOW).any(|_| {
        search.learn_expensive(search.next(), 2.5);
        search.found().is_none()
    });
    assert!(is_open);
    for _ in 0..8 {
        search.learn_expensive(search.next(), 2.5);
    }
    assert!(search.found().is_some());
}

/// The search hands on the least of few costs: on a machine where runs are often disturbed it began anew after every window, since the
/// median lay above that.
#[test]
fn dear_runs_that_are_often_disturbed_are_not_searched_anew() {
    let mut search = Search::new(2, 20, None);
    for run in 0..20 * WINDOW {
        let cost = if run % 3 == 0 { 1.0 } else { 1.5 };
        search.learn_expensive(search.next(), cost);
        assert!(run < 8 || search.found().is_some(), "anew in run {run}");
    }
}
