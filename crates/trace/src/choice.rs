//! What the pool that chooses itself has chosen, and why.

use std::fmt;

use serde::Serialize;

/// The choice at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The pool that gets new tasks.
    pub now: String,
    /// How often another pool turned out better.
    pub moves: u64,
    /// The pools that have had a turn.
    pub tried: Vec<Tried>,
}

/// What is known of one pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tried {
    /// Its name.
    pub pool: String,
    /// The part of the time in which it got the new tasks, from 0 to 1.
    pub share: f64,
    /// How many tasks it handed out when it was last compared, over those that the one in use did; none without a comparison.
    pub speed: Option<f64>,
}

impl Choice {
    /// So much is chosen.
    #[must_use]
    pub fn new(now: &str, moves: u64) -> Self {
        Self {
            now: now.to_owned(),
            moves,
            tried: Vec::new(),
        }
    }

    /// Adds a pool that has had a turn.
    pub fn add(&mut self, pool: &str, share: f64, speed: Option<f64>) {
        self.tried.push(Tried {
            pool: pool.to_owned(),
            share,
            speed,
        });
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "now {}, moved {} times", self.now, self.moves)?;
        for tried in &self.tried {
            let Tried { pool, share, speed } = tried;
            write!(formatter, "; {pool} {:.0} % of the time", 100.0 * share)?;
            if let Some(speed) = speed {
                write!(formatter, ", {speed:.2} times as fast")?;
            }
        }
        Ok(())
    }
}
