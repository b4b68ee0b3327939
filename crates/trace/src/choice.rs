//! The decisions of the self-choosing pool, and the measurements behind them.

use std::fmt;

use serde::Serialize;

/// A snapshot of the decisions of the self-choosing pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Choice {
    /// The name of the pool that receives new tasks.
    pub now: String,
    /// The number of times that another pool proved better and took over.
    pub moves: u64,
    /// The pools that were tried.
    pub tried: Vec<Tried>,
}

/// The measurements of one pool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Tried {
    /// The name of the pool.
    pub pool: String,
    /// The fraction of the time during which the pool received new tasks, from 0 to 1.
    pub share: f64,
    /// The pool's throughput relative to the pool in use, as of the last comparison.
    ///
    /// The throughput is the number of tasks handed out. `None` if there was no comparison.
    pub speed: Option<f64>,
}

impl Choice {
    /// Creates a choice of pool `now` after `moves` changes, without tried pools.
    #[must_use]
    pub fn new(now: &str, moves: u64) -> Self {
        Self {
            now: now.to_owned(),
            moves,
            tried: Vec::new(),
        }
    }

    /// Adds a pool that was tried.
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
