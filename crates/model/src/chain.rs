//! The number of threads that run on a core: a birth-death chain, and a chain with a handler.
//!
#![doc = include_str!(concat!(env!("OUT_DIR"), "/chain.md"))]

use crate::error::{DomainError, above_zero};
use crate::units::{Nanoseconds, Speed};

/// Weights that exceed this limit are scaled down.
const WEIGHT_MAX: f64 = 1e200;

/// Identical threads that alternate between work and waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LikeThreads {
    /// The number of threads.
    pub threads: usize,
    /// The work between two waits: the time that it takes a thread alone.
    pub work: Nanoseconds,
    /// The time of a wait.
    pub wait: Nanoseconds,
}

impl LikeThreads {
    /// Returns the shares of time in which 0, 1, … of the threads run, in linear time.
    ///
    /// `speeds[n]` is the speed of each of `n` running threads, for `n` from 0 to all of them.
    ///
    /// # Errors
    /// [`DomainError`] if a time or speed is not a finite number above 0, or there are too few
    /// speeds.
    pub fn probabilities(self, speeds: &[Speed]) -> Result<Vec<f64>, DomainError> {
        let odds = above_zero("work", self.work.0)? / above_zero("wait", self.wait.0)?;
        check_speeds(speeds, self.threads)?;
        let mut weights = Weights::from(1.0, self.threads + 1);
        weights.rise(self.threads, odds, &speeds[1..]);
        Ok(weights.shares())
    }
}

/// Identical renderers and one handler.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RenderersAndHandler {
    /// The number of renderers, `N_r`.
    pub renderers: usize,
    /// The work of a renderer between two misses, `T_r`: the time that it takes a thread alone.
    pub render: Nanoseconds,
    /// The time that a renderer waits for a miss, `T_c`.
    pub miss: Nanoseconds,
    /// The work of the handler for a miss, `T_h`.
    pub handle: Nanoseconds,
    /// The time that the handler waits for the next miss, `T_m`.
    pub idle: Nanoseconds,
}

/// The shares of time by which threads run, and the resulting speeds.
#[derive(Clone, Debug, PartialEq)]
pub struct Occupancy {
    /// The share of time in which `i` renderers run and the handler does not, `p_i`.
    pub without_handler: Vec<f64>,
    /// The share of time in which `i` renderers run, and the handler too, `p_ic`.
    pub with_handler: Vec<f64>,
    /// The mean speed of a renderer while it runs, `S_r`.
    pub renderer_speed: Speed,
    /// The mean speed of the handler while it runs, `S_h`.
    pub handler_speed: Speed,
}

impl RenderersAndHandler {
    /// Solves the chain, in time linear in the number of renderers.
    ///
    /// `speeds[n]` is the speed of each of `n` running threads, for `n` from 0 to all renderers and
    /// the handler.
    ///
    /// # Errors
    /// [`DomainError`] if there is no renderer, a time or speed is not a finite number above 0, or
    /// there are too few speeds.
    pub fn solve(self, speeds: &[Speed]) -> Result<Occupancy, DomainError> {
        above_zero("renderers", self.renderers as f64)?;
        let odds = above_zero("T_r", self.render.0)? / above_zero("T_c", self.miss.0)?;
        let handler_odds = above_zero("T_h", self.handle.0)? / above_zero("T_m", self.idle.0)?;
        check_speeds(speeds, self.renderers + 1)?;
        let mut all = Weights::from(1.0, self.renderers + 1);
        all.rise(self.renderers, odds, &speeds[1..]);
        let mut beside_handler = Weights::from(handler_odds / speeds[1].0, self.renderers + 1);
        beside_handler.rise(self.renderers, odds, &speeds[2..]);
        all.append(beside_handler);
        let mut without_handler = all.shares();
        let with_handler = without_handler.split_off(self.renderers + 1);
        Ok(Occupancy::of(without_handler, with_handler, speeds))
    }
}

impl Occupancy {
    /// Computes the mean speeds over all running renderers, and of the running handler, from shares
    /// of time.
    pub(crate) fn of(without_handler: Vec<f64>, with_handler: Vec<f64>, speeds: &[Speed]) -> Self {
        let mut work = 0.0;
        let mut running = 0.0;
        let mut handled = 0.0;
        for (count, (without, with)) in without_handler.iter().zip(&with_handler).enumerate() {
            work += count as f64 * (without * speeds[count].0 + with * speeds[count + 1].0);
            running += count as f64 * (without + with);
            handled += with * speeds[count + 1].0;
        }
        let handling: f64 = with_handler.iter().sum();
        Self {
            without_handler,
            with_handler,
            renderer_speed: Speed(work / running),
            handler_speed: Speed(handled / handling),
        }
    }

    /// Returns the share of time in which the handler runs.
    #[must_use]
    pub fn handler_share(&self) -> f64 {
        self.with_handler.iter().sum()
    }
}

fn check_speeds(speeds: &[Speed], threads: usize) -> Result<(), DomainError> {
    if speeds.len() <= threads {
        let expected = format!("a speed for each number of threads from 0 to {threads}");
        return Err(DomainError::new("speeds", speeds.len() as f64, expected));
    }
    for speed in &speeds[..=threads] {
        above_zero("speeds", speed.0)?;
    }
    Ok(())
}

/// The weights of states, each computed from the one before it and scaled so that none overflows.
struct Weights {
    weights: Vec<f64>,
    /// The logarithm of the factor by which all weights have been divided.
    scale: f64,
}

impl Weights {
    fn from(first: f64, capacity: usize) -> Self {
        let mut weights = Vec::with_capacity(capacity);
        weights.push(first);
        Self {
            weights,
            scale: 0.0,
        }
    }

    /// Adds the states with 1, 2, … of `threads` threads running, at these speeds. `odds` is work
    /// over wait.
    fn rise(&mut self, threads: usize, odds: f64, speeds: &[Speed]) {
        for (waiting, speed) in (1..=threads).rev().zip(speeds) {
            let running = threads - waiting + 1;
            self.times(waiting as f64 / running as f64 * odds / speed.0);
        }
    }

    /// Adds a state. Its weight is that of the last one times `factor`.
    fn times(&mut self, factor: f64) {
        let next = self.weights[self.weights.len() - 1] * factor;
        self.weights.push(next);
        if next > WEIGHT_MAX {
            self.weights.iter_mut().for_each(|weight| *weight /= next);
            self.scale += next.ln();
        }
    }

    /// Appends the states of another chain.
    fn append(&mut self, other: Self) {
        let scale = self.scale.max(other.scale);
        let (own, others) = ((self.scale - scale).exp(), (other.scale - scale).exp());
        self.weights.iter_mut().for_each(|weight| *weight *= own);
        self.weights
            .extend(other.weights.iter().map(|weight| weight * others));
        self.scale = scale;
    }

    /// Returns the weights divided by their sum.
    fn shares(self) -> Vec<f64> {
        let sum: f64 = self.weights.iter().sum();
        self.weights
            .into_iter()
            .map(|weight| weight / sum)
            .collect()
    }
}

#[cfg(test)]
mod tests;
