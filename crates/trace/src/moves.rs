//! Counters of relocations at run time (of workers or objects), and the reasons for them.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// The relocations of one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moves {
    /// The kind of thing: `workers`, or the elements of an array.
    pub what: String,
    /// The number of times that the benefit of moving was evaluated.
    pub looks: u64,
    /// The number of evaluations that led to a move.
    pub moves: u64,
    /// The number of things moved, summed over all moves.
    pub moved: u64,
    /// The predicted savings in nanoseconds, over periods as long as those observed before.
    pub gain_ns: u64,
    /// The predicted cost in nanoseconds.
    pub price_ns: u64,
    /// The explanation of the last move; before the first move, that of the last evaluation.
    pub why: String,
}

impl Moves {
    /// Creates counters for things of kind `what`, all zero.
    #[must_use]
    pub fn of(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ..Self::default()
        }
    }

    /// Records an evaluation and its explanation.
    ///
    /// `moved` is the number of things moved, the predicted savings and the predicted cost; `None`
    /// if nothing moves.
    pub fn add(&mut self, moved: Option<(u64, Duration, Duration)>, why: impl Into<String>) {
        self.looks += 1;
        if let Some((count, gain, price)) = moved {
            self.moves += 1;
            self.moved += count;
            self.gain_ns = self.gain_ns.saturating_add(nanoseconds(gain));
            self.price_ns = self.price_ns.saturating_add(nanoseconds(price));
        }
        if moved.is_some() || self.moves == 0 {
            self.why = why.into();
        }
    }
}

impl fmt::Display for Moves {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            looks,
            moves,
            moved,
            why,
            ..
        } = self;
        write!(formatter, "{what}: looked {looks} times")?;
        if *moves == 0 {
            return write!(formatter, ", moved none; {why}");
        }
        let (gain, price) = (
            Duration::from_nanos(self.gain_ns),
            Duration::from_nanos(self.price_ns),
        );
        write!(
            formatter,
            ", moved {moved} in {moves} moves to save {gain:.1?} at {price:.1?}; last: {why}"
        )
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_the_last_move_and_not_later_evaluations() {
        let mut moves = Moves::of("workers");
        moves.add(None, "nothing to gain");
        assert_eq!(
            moves.to_string(),
            "workers: looked 1 times, moved none; nothing to gain"
        );
        let (gain, price) = (Duration::from_millis(20), Duration::from_millis(1));
        moves.add(Some((2, gain, price)), "a pair was apart");
        moves.add(None, "nothing to gain");
        assert_eq!(
            moves.to_string(),
            "workers: looked 3 times, moved 2 in 1 moves to save 20.0ms at 1.0ms; \
             last: a pair was apart"
        );
    }
}
