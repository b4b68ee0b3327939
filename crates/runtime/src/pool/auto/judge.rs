//! Decides which candidate is the best one, from the number of tasks that each hands out in a turn.
//! This module only decides: it has no clock and no threads.
//!
//! Now and then, the champion (the chosen candidate) is compared with all others, one after the
//! other. Such a series is a *round*. A comparison consists of pairs of turns, one turn for the
//! champion and one for the challenger. The order alternates from pair to pair, so that a program
//! that changes over time favours neither side. The challenger wins if the median of the speed
//! ratios is high enough and nearly all pairs favour it. A comparison ends early when the
//! challenger has lost two pairs.
//!
//! A slow candidate costs time during its turns. These losses are added up, and the next round
//! starts only when the loss is a small fraction of all the time that has passed ([`REGRET_MAX`]).
//!
//! No round starts while tasks take so long that the overhead of a pool cannot matter.

use super::super::PoolKind;
use super::HASTY;
use raddle_trace::Choice;

/// The pools to choose from. The first one is the champion at the start. In a model, there is one
/// pool of each family.
pub(super) const CANDIDATES: &[PoolKind] = if HASTY {
    &[PoolKind::Deque, PoolKind::DqBlTlC, PoolKind::SqTl]
} else {
    &[
        PoolKind::Deque,
        PoolKind::DqBlTlC,
        PoolKind::DqTlPrivC,
        PoolKind::SqTl,
        PoolKind::DqBlSlC,
        PoolKind::DqSlPrivC,
        PoolKind::SqSl,
    ]
};

/// The minimum duration of a turn.
pub(super) const TURN_NS: u64 = if HASTY { 100_000 } else { 1_000_000 };
/// The minimum number of tasks in a turn. A turn with fewer tasks continues.
const TASKS_MIN: u64 = if HASTY { 0 } else { 64 };
/// A turn that took more than this many times [`TURN_NS`] was interrupted, and its speed means
/// nothing.
const TURN_MAX: u64 = 4;
/// If tasks take longer than this on average, the choice of the pool hardly matters.
const TASK_NS_MAX: u64 = if HASTY { u64::MAX } else { 20_000 };
/// The number of pairs of turns in a comparison.
const PAIRS: usize = if HASTY { 1 } else { 7 };
/// The number of these pairs that a winning challenger may lose.
const LOSSES_MAX: usize = if HASTY { 0 } else { 1 };
/// The challenger wins if its speed is at least this many times that of the champion.
const FASTER: f64 = if HASTY { 0.0 } else { 1.04 };
/// The fraction of the time that comparisons may cost.
const REGRET_MAX: f64 = 1.0 / 64.0;
/// The shortest and the longest pause between two rounds. The pause doubles while the champion
/// stays the same.
const PAUSE_NS: [u64; 2] = if HASTY {
    [0, 0]
} else {
    [50_000_000, 6_400_000_000]
};
/// A round ends after this many interrupted turns in a row.
const INTERRUPTIONS_MAX: u32 = 8;

/// A turn that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) ns: u64,
    /// The number of tasks that were handed out.
    pub(super) tasks: u64,
    /// The number of workers of the runtime.
    pub(super) workers: u64,
}

/// The measurements of all candidates, and the state of the current round.
#[derive(Debug)]
pub(super) struct Judge {
    chosen: usize,
    phase: Phase,
    pause_ns: u64,
    moves: u64,
    /// The total time of all turns of each candidate.
    time_ns: [u64; CANDIDATES.len()],
    /// The speed of each candidate in its last comparison, relative to the champion of that time.
    speeds: [Option<f64>; CANDIDATES.len()],
}

#[derive(Clone, Debug)]
enum Phase {
    /// No comparison. The next round starts after this many nanoseconds.
    Rest(u64),
    Compare(Comparison),
}

/// A comparison of a challenger with the champion.
#[derive(Clone, Debug)]
struct Comparison {
    challenger: usize,
    /// The speed in the first turn of the current pair, in tasks per nanosecond, once that turn is
    /// over.
    first: Option<f64>,
    /// The speed of the challenger relative to the champion, for each pair so far.
    ratios: Vec<f64>,
    /// The time that slow challengers have lost in this round so far.
    regret_ns: f64,
    /// The number of interrupted turns in a row.
    interruptions: u32,
    /// The champion has changed during this round.
    has_moved: bool,
}

impl Comparison {
    /// Returns true if the challenger has the turn: the second turn of the first pair, the first
    /// turn of the second pair, and so on.
    fn has_challenger(&self) -> bool {
        self.first.is_some() == self.ratios.len().is_multiple_of(2)
    }
}

impl Judge {
    pub(super) fn new() -> Self {
        let [pause_ns, _] = PAUSE_NS;
        Self {
            chosen: 0,
            phase: Phase::Rest(0),
            pause_ns,
            moves: 0,
            time_ns: [0; CANDIDATES.len()],
            speeds: [None; CANDIDATES.len()],
        }
    }

    /// Returns true if this turn has lasted long enough and may end.
    pub(super) fn may_end(turn: Turn) -> bool {
        turn.ns >= TURN_NS && turn.tasks >= TASKS_MIN
    }

    /// Returns the candidate that has the turn.
    pub(super) fn current(&self) -> usize {
        match &self.phase {
            Phase::Compare(comparison) if comparison.has_challenger() => comparison.challenger,
            _ => self.chosen,
        }
    }

    /// Evaluates a turn of the current candidate, which has ended.
    pub(super) fn end_turn(&mut self, turn: Turn) {
        self.time_ns[self.current()] += turn.ns;
        let task_ns = turn.ns.saturating_mul(turn.workers) / turn.tasks.max(1);
        let phase = std::mem::replace(&mut self.phase, Phase::Rest(0));
        self.phase = match phase {
            Phase::Rest(left_ns) if left_ns > turn.ns => Phase::Rest(left_ns - turn.ns),
            Phase::Rest(_) if task_ns > TASK_NS_MAX => Phase::Rest(0),
            Phase::Rest(_) => self.challenge(0, 0.0, false),
            Phase::Compare(comparison) if turn.ns > TURN_MAX * TURN_NS && !HASTY => {
                self.interrupt(comparison)
            }
            Phase::Compare(comparison) if task_ns > TASK_NS_MAX => self.rest(&comparison),
            Phase::Compare(comparison) => self.go_on(comparison, turn),
        };
    }

    /// Starts the comparison with the first challenger from `first` on. Ends the round if there is
    /// none.
    fn challenge(&mut self, first: usize, regret_ns: f64, has_moved: bool) -> Phase {
        let comparison = |challenger| Comparison {
            challenger,
            first: None,
            ratios: Vec::with_capacity(PAIRS),
            regret_ns,
            interruptions: 0,
            has_moved,
        };
        let challenger = (first..CANDIDATES.len()).find(|&challenger| challenger != self.chosen);
        match challenger {
            Some(challenger) => Phase::Compare(comparison(challenger)),
            None => self.rest(&comparison(first)),
        }
    }

    /// Drops an interrupted turn: starts the current pair again, or ends the round after too many
    /// interruptions.
    fn interrupt(&mut self, mut comparison: Comparison) -> Phase {
        comparison.interruptions += 1;
        comparison.first = None;
        if comparison.interruptions < INTERRUPTIONS_MAX {
            Phase::Compare(comparison)
        } else {
            self.rest(&comparison)
        }
    }

    /// Records a turn of a comparison, and decides when the comparison is over.
    fn go_on(&mut self, mut comparison: Comparison, turn: Turn) -> Phase {
        comparison.interruptions = 0;
        let speed = turn.tasks as f64 / turn.ns.max(1) as f64;
        let is_challenger = comparison.has_challenger();
        let Some(first) = comparison.first.take() else {
            // The pair is complete after the next turn.
            comparison.first = Some(speed);
            return Phase::Compare(comparison);
        };
        let (own, champion) = if is_challenger {
            (speed, first)
        } else {
            (first, speed)
        };
        // The pair is complete. Add its ratio, and go on until the last pair or a clear loss.
        let ratio = own / champion.max(f64::MIN_POSITIVE);
        comparison.regret_ns += turn.ns as f64 * (1.0 - ratio).max(0.0);
        comparison.ratios.push(ratio);
        let losses = comparison
            .ratios
            .iter()
            .filter(|&&ratio| ratio < 1.0)
            .count();
        let is_lost = !HASTY && losses > LOSSES_MAX;
        if comparison.ratios.len() < PAIRS && !is_lost {
            return Phase::Compare(comparison);
        }
        // The comparison is over. The challenger becomes the champion if it has won.
        let median = median(&mut comparison.ratios);
        self.speeds[comparison.challenger] = Some(median);
        let wins = !is_lost && median >= FASTER;
        if wins {
            self.chosen = comparison.challenger;
            self.moves += 1;
        }
        let has_moved = comparison.has_moved || wins;
        self.challenge(comparison.challenger + 1, comparison.regret_ns, has_moved)
    }

    /// Ends the round. The pause until the next one is at least as long as the lost time requires.
    fn rest(&mut self, comparison: &Comparison) -> Phase {
        let [pause_min, pause_max] = PAUSE_NS;
        self.pause_ns = if comparison.has_moved {
            pause_min
        } else {
            (2 * self.pause_ns).min(pause_max)
        };
        let pause_ns = (comparison.regret_ns / REGRET_MAX) as u64;
        Phase::Rest(if HASTY {
            0
        } else {
            pause_ns.max(self.pause_ns)
        })
    }

    /// Returns the choices and measurements so far.
    pub(super) fn choice(&self) -> Choice {
        let all: u64 = self.time_ns.iter().sum();
        let mut choice = Choice::new(CANDIDATES[self.chosen].name(), self.moves);
        for ((kind, time_ns), speed) in CANDIDATES.iter().zip(self.time_ns).zip(self.speeds) {
            if time_ns > 0 {
                choice.add(kind.name(), time_ns as f64 / all as f64, speed);
            }
        }
        choice
    }
}

fn median(ratios: &mut [f64]) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
