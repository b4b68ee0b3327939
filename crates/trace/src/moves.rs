//! What was moved while it ran (workers, objects), and why.

use std::fmt;
use std::time::Duration;

use serde::Serialize;

/// What was moved of one kind of thing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Moves {
    /// What it is: `workers`, or the elements of some array.
    pub what: String,
    /// How often somebody looked whether moving pays.
    pub looks: u64,
    /// How often it did.
    pub moves: u64,
    /// How many were moved, all moves together.
    pub moved: u64,
    /// What that was predicted to save, over times as long as had been observed before.
    pub gain_ns: u64,
    /// What it was predicted to cost.
    pub price_ns: u64,
    /// What was said at the last move; before the first, at the last look.
    pub why: String,
}

impl Moves {
    /// Nothing was looked at yet.
    #[must_use]
    pub fn of(what: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            ..Self::default()
        }
    }

    /// Somebody looked and found this; `moved` is none where nobody moves, else how many, what it saves and what it costs.
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
    fn the_last_move_is_told_not_the_looks_after_it() {
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
            "workers: looked 3 times, moved 2 in 1 moves to save 20.0ms at 1.0ms; last: a pair was apart"
        );
    }
}
