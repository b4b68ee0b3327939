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
    /// The part of their time that workers lately spent in it or without work, from 0 to 1.
    pub loss: f64,
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
    pub fn add(&mut self, pool: &str, share: f64, loss: f64) {
        self.tried.push(Tried {
            pool: pool.to_owned(),
            share,
            loss,
        });
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "now {}, moved {} times", self.now, self.moves)?;
        for Tried { pool, share, loss } in &self.tried {
            let (share, loss) = (100.0 * share, 100.0 * loss);
            write!(
                formatter,
                "; {pool} {share:.0} % of the time, {loss:.1} % lost"
            )?;
        }
        Ok(())
    }
}
