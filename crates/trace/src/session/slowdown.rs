//! The slowdown of a program by its recording, as its own speed shows it.
//!
//! The cost of an event is more than its instructions: it takes memory from the system, and cache
//! lines from the program. So the speed of the program while it is recorded is compared to that in
//! the pauses: the tasks, messages and forks per time. From the ratio of the two follows a factor
//! for the cost that is expected from the numbers of events. A single comparison says little,
//! because the program changes its speed for reasons of its own; the factor is the mean of many.

/// The limits of the factor.
const FACTOR_MAX: f64 = 6.0;
const FACTOR_MIN: f64 = 1.0;
/// The weight of a comparison.
const WEIGHT: f64 = 0.15;
/// The smallest number of units of work, of the slower part, from which on speeds are compared.
const WORK_MIN: u64 = 500;

/// The work in a part of the time of a program.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Part {
    /// The number of tasks, messages and forks.
    pub(super) work: u64,
    /// The time, in any unit.
    pub(super) time: u64,
}

/// The factor by which recording costs more than expected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slowdown(f64);

impl Default for Slowdown {
    fn default() -> Self {
        Self(2.0)
    }
}

impl Slowdown {
    /// Returns the factor.
    pub(super) const fn factor(self) -> f64 {
        self.0
    }

    /// Learns from a part of the time that was recorded, and the pause after it. `share` is the
    /// expected share of recording in the time of the first.
    pub(super) fn learn(&mut self, recorded: Part, paused: Part, share: f64) {
        let is_enough = recorded.work.min(paused.work) >= WORK_MIN;
        if !is_enough || recorded.time == 0 || paused.time == 0 || !(0.001..1.0).contains(&share) {
            return;
        }
        let speed = |part: Part| part.work as f64 / part.time as f64;
        // The share of recording in the time in which it is on.
        let seen = 1.0 - speed(recorded) / speed(paused);
        let sample = (seen / share).clamp(0.0, 2.0 * FACTOR_MAX);
        self.0 = (self.0 + WEIGHT * (sample - self.0)).clamp(FACTOR_MIN, FACTOR_MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the factor after comparisons in which recording has this share, while 10 % are
    /// expected.
    fn learnt(share: f64, speeds: impl IntoIterator<Item = f64>) -> f64 {
        let mut slowdown = Slowdown::default();
        for speed in speeds {
            let part = |time: f64, speed: f64| Part {
                work: (time * speed) as u64,
                time: time as u64,
            };
            let recorded = part(1e6, speed * (1.0 - share));
            slowdown.learn(recorded, part(5e6, speed), 0.1);
        }
        slowdown.factor()
    }

    #[test]
    fn the_factor_becomes_that_of_the_seen_cost() {
        assert!((learnt(0.3, [0.01; 60]) - 3.0).abs() < 0.01);
        assert!((learnt(0.05, [0.01; 60]) - FACTOR_MIN).abs() < 0.01);
        assert!((learnt(0.9, [0.01; 60]) - FACTOR_MAX).abs() < 0.01);
    }

    #[test]
    fn few_units_of_work_say_nothing() {
        let usual = Slowdown::default().factor();
        assert!((learnt(0.9, [0.000_1; 60]) - usual).abs() < 1e-9);
    }
}
