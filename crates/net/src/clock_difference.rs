//! The difference between the clocks of two machines, from readings that processes exchange.
//!
//! A reading that has arrived was taken before. In each round of an exchange, all processes read
//! their clocks, exchange the readings, and read their clocks again. A process then knows that
//! 1. the first node took its reading of a round before this process had received it;
//! 2. this process took its reading of a round before the first node began the next round, because
//!    no process leaves an exchange before all have entered it.
//!
//! Each is a bound of the difference, and all rounds together leave an interval. Source: Marzullo,
//! Owicki: Maintaining the time in a distributed system. PODC 1983.

/// The difference between the clock of the first node and that of this one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClockDifference {
    /// The time of the first node's clock minus that of this one, in nanoseconds.
    pub(crate) ahead_ns: i64,
    /// The largest error of that, in nanoseconds.
    pub(crate) error_ns: u64,
}

/// The readings of one round, in nanoseconds.
#[derive(Clone, Copy, Debug)]
#[cfg(any(feature = "mpi", test))]
pub(crate) struct Round {
    /// The reading of the first node.
    pub(crate) first_ns: u64,
    /// The reading of this process.
    pub(crate) own_ns: u64,
    /// The time of this process's clock after the exchange.
    pub(crate) received_ns: u64,
}

impl ClockDifference {
    /// The difference between two processes of one machine, which have one clock.
    pub(crate) const NONE: Self = Self {
        ahead_ns: 0,
        error_ns: 0,
    };

    /// Returns the difference that rounds of one exchange show. Clocks that may be the same count
    /// as the same.
    #[cfg(any(feature = "mpi", test))]
    pub(crate) fn of(rounds: &[Round]) -> Self {
        // The difference of two readings fits, because no machine has run for 292 years.
        let between = |one: u64, other: u64| one.wrapping_sub(other) as i64;
        let least = rounds
            .iter()
            .map(|round| between(round.first_ns, round.received_ns))
            .max();
        let most = rounds
            .windows(2)
            .map(|pair| between(pair[1].first_ns, pair[0].own_ns))
            .min();
        let (Some(least), Some(most)) = (least, most) else {
            return Self::NONE;
        };
        if (least..=most).contains(&0) {
            return Self {
                ahead_ns: 0,
                error_ns: least.unsigned_abs().max(most.unsigned_abs()),
            };
        }
        let width = most.abs_diff(least);
        Self {
            ahead_ns: least.midpoint(most),
            error_ns: width / 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns rounds of exchanges that take 10 us, between clocks with a difference.
    fn rounds(own_is_at: u64) -> Vec<Round> {
        let round = |number: u64| {
            let (begin, late) = (number * 10_000, number % 3 * 2_000);
            Round {
                first_ns: 1_000_000 + begin,
                own_ns: own_is_at + begin + late,
                received_ns: own_is_at + begin + 9_000,
            }
        };
        (0..8).map(round).collect()
    }

    #[test]
    fn the_difference_lies_within_its_error() {
        for (own_is_at, ahead_ns) in [
            (90_000_000, -89_000_000_i64),
            (100_000, 900_000),
            (5_000_000, -4_000_000),
        ] {
            let found = ClockDifference::of(&rounds(own_is_at));
            let off_ns = found.ahead_ns.abs_diff(ahead_ns);
            assert!(off_ns <= found.error_ns, "{found:?} for {ahead_ns}");
            assert!((1..=10_000).contains(&found.error_ns), "{found:?}");
        }
    }

    #[test]
    fn one_clock_has_no_difference() {
        let one = ClockDifference::of(&rounds(1_000_000));
        assert_eq!(one.ahead_ns, 0);
        assert!((1..=10_000).contains(&one.error_ns), "{one:?}");
        assert_eq!(ClockDifference::of(&[]), ClockDifference::NONE);
    }
}
