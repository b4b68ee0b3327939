//! Which pool pays, from how many tasks it hands out in a turn: decisions only, no clock and no threads.
//!
//! Now and then the pools that are not in use challenge the one that is, one after the other. A duel is pairs of turns of the two, now one
//! first and now the other, so that a program whose tasks change does not count for one alone; what counts is the median of the ratios,
//! and that nearly all speak for the challenger. Who loses two pairs is out.
//!
//! A bad pool costs time while it has its turn. What that was is added up, and the next question waits until it is a small part of all the
//! time that has passed: [`REGRET_MAX`].
//!
//! No question is asked while tasks take so long that what a pool costs cannot matter.

use super::super::PoolKind;
use super::HASTY;
use raddle_trace::Choice;

/// The pools to choose from, the one to begin with first; in a model, one of each family.
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

/// How long a turn is, at least.
pub(super) const TURN_NS: u64 = if HASTY { 100_000 } else { 1_000_000 };
/// A turn with fewer tasks goes on.
const TASKS_MIN: u64 = if HASTY { 0 } else { 64 };
/// A turn that took so many times as long was interrupted, and tells nothing.
const TURN_MAX: u64 = 4;
/// With tasks that keep a worker longer than this, a pool hardly matters.
const TASK_NS_MAX: u64 = if HASTY { u64::MAX } else { 20_000 };
/// Pairs of turns of a duel, and how many of them the challenger may lose.
const PAIRS: usize = if HASTY { 1 } else { 7 };
const DEFEATS_MAX: usize = if HASTY { 0 } else { 1 };
/// The challenger wins if it is so much faster.
const FASTER: f64 = if HASTY { 0.0 } else { 1.04 };
/// The part of the time that asking may cost.
const REGRET_MAX: f64 = 1.0 / 64.0;
/// The pause between two questions, at first and at most; it doubles while the answer stays the same.
const PAUSE_NS: [u64; 2] = if HASTY {
    [0, 0]
} else {
    [50_000_000, 6_400_000_000]
};
/// Interrupted turns in a row that end a question.
const INTERRUPTIONS_MAX: u32 = 8;

/// A turn that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) ns: u64,
    /// Tasks that were handed out, and workers that asked for them.
    pub(super) tasks: u64,
    pub(super) workers: u64,
}

/// What is known of the candidates, and what is going on.
#[derive(Debug)]
pub(super) struct Judge {
    chosen: usize,
    phase: Phase,
    pause_ns: u64,
    moves: u64,
    /// Time that every candidate has had.
    time_ns: [u64; CANDIDATES.len()],
    /// The speed in the last duel, over that of its champion.
    speeds: [Option<f64>; CANDIDATES.len()],
}

#[derive(Clone, Debug)]
enum Phase {
    /// The next question is asked after so much time.
    Rest(u64),
    Duel(Duel),
}

/// A challenger and the chosen one in turn.
#[derive(Clone, Debug)]
struct Duel {
    challenger: usize,
    /// Tasks per nanosecond in the first turn of a pair, when that is over.
    first: Option<f64>,
    ratios: Vec<f64>,
    regret_ns: f64,
    interruptions: u32,
    /// The chosen one is not the one that was chosen when the question was asked.
    has_moved: bool,
}

impl Duel {
    /// True when the challenger has the turn: the second of the first pair, the first of the second, and so on.
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

    /// True when a turn of this length, with so many tasks, may end.
    pub(super) fn may_end(turn: Turn) -> bool {
        turn.ns >= TURN_NS && turn.tasks >= TASKS_MIN
    }

    /// Who has the turn.
    pub(super) fn current(&self) -> usize {
        match &self.phase {
            Phase::Duel(duel) if duel.has_challenger() => duel.challenger,
            _ => self.chosen,
        }
    }

    /// Takes note of the turn of the current candidate.
    pub(super) fn end_turn(&mut self, turn: Turn) {
        self.time_ns[self.current()] += turn.ns;
        let task_ns = turn.ns.saturating_mul(turn.workers) / turn.tasks.max(1);
        let phase = std::mem::replace(&mut self.phase, Phase::Rest(0));
        self.phase = match phase {
            Phase::Rest(left_ns) if left_ns > turn.ns => Phase::Rest(left_ns - turn.ns),
            Phase::Rest(_) if task_ns > TASK_NS_MAX => Phase::Rest(0),
            Phase::Rest(_) => self.challenge(0, 0.0, false),
            Phase::Duel(duel) if turn.ns > TURN_MAX * TURN_NS && !HASTY => self.interrupt(duel),
            Phase::Duel(duel) if task_ns > TASK_NS_MAX => self.rest(&duel),
            Phase::Duel(duel) => self.go_on(duel, turn),
        };
    }

    /// The next duel after those with the candidates before `first`, or rest.
    fn challenge(&mut self, first: usize, regret_ns: f64, has_moved: bool) -> Phase {
        let duel = |challenger| Duel {
            challenger,
            first: None,
            ratios: Vec::with_capacity(PAIRS),
            regret_ns,
            interruptions: 0,
            has_moved,
        };
        let challenger = (first..CANDIDATES.len()).find(|&challenger| challenger != self.chosen);
        match challenger {
            Some(challenger) => Phase::Duel(duel(challenger)),
            None => self.rest(&duel(first)),
        }
    }

    /// A pair is begun again, or the question given up.
    fn interrupt(&mut self, mut duel: Duel) -> Phase {
        duel.interruptions += 1;
        duel.first = None;
        if duel.interruptions < INTERRUPTIONS_MAX {
            Phase::Duel(duel)
        } else {
            self.rest(&duel)
        }
    }

    fn go_on(&mut self, mut duel: Duel, turn: Turn) -> Phase {
        duel.interruptions = 0;
        let speed = turn.tasks as f64 / turn.ns.max(1) as f64;
        let is_challenger = duel.has_challenger();
        let Some(first) = duel.first.take() else {
            duel.first = Some(speed);
            return Phase::Duel(duel);
        };
        let (own, champion) = if is_challenger {
            (speed, first)
        } else {
            (first, speed)
        };
        let ratio = own / champion.max(f64::MIN_POSITIVE);
        duel.regret_ns += turn.ns as f64 * (1.0 - ratio).max(0.0);
        duel.ratios.push(ratio);
        let defeats = duel.ratios.iter().filter(|&&ratio| ratio < 1.0).count();
        let is_lost = !HASTY && defeats > DEFEATS_MAX;
        if duel.ratios.len() < PAIRS && !is_lost {
            return Phase::Duel(duel);
        }
        let median = median(&mut duel.ratios);
        self.speeds[duel.challenger] = Some(median);
        let wins = !is_lost && median >= FASTER;
        if wins {
            self.chosen = duel.challenger;
            self.moves += 1;
        }
        let has_moved = duel.has_moved || wins;
        self.challenge(duel.challenger + 1, duel.regret_ns, has_moved)
    }

    /// The question is answered, or given up.
    fn rest(&mut self, duel: &Duel) -> Phase {
        let [pause_min, pause_max] = PAUSE_NS;
        self.pause_ns = if duel.has_moved {
            pause_min
        } else {
            (2 * self.pause_ns).min(pause_max)
        };
        let pause_ns = (duel.regret_ns / REGRET_MAX) as u64;
        Phase::Rest(if HASTY {
            0
        } else {
            pause_ns.max(self.pause_ns)
        })
    }

    pub(super) fn tell(&self) -> Choice {
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
