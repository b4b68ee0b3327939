//! The cost of waiting for another thread on the same core. Its speed is measured during waits and
//! alone, in turns.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicBool, AtomicU64, Relaxed};

use super::places::Beside;
use super::{Waits, WaitsError};
use crate::threads::spawn_in;

/// The time for which the bystander works alone, and then beside a waiting thread, in each round.
const SPELL: Duration = Duration::from_millis(100);
/// The number of steps of the random number generator in a piece of work: about a microsecond.
const STEPS: u32 = 500;

/// The speed of a bystander: a thread that works on the core of a waiting thread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bystander {
    /// The position of the bystander relative to the waiting thread.
    pub beside: Beside,
    /// The speed of the bystander while the other thread waits, relative to its speed alone: the
    /// median over the rounds.
    pub share: f64,
}

impl Waits<'_> {
    pub(super) fn measure_bystander(
        &self,
        rounds: usize,
        pause: Duration,
    ) -> Result<Option<Bystander>, WaitsError> {
        let Some((cpu, beside)) = self.places.bystander else {
            return Ok(None);
        };
        let work = Work::default();
        thread::scope(|scope| {
            let worker = spawn_in(scope, "bystander", || {
                let bound = self.topology.bind_this_thread(cpu);
                work.run();
                bound
            })?;
            let measured = self.rounds(rounds, pause, &work);
            // Relaxed: the flag publishes nothing else.
            work.is_over.store(true, Relaxed);
            worker.join().expect("the bystander never panics")?;
            Ok(Some(Bystander {
                beside,
                share: measured?,
            }))
        })
    }

    fn rounds(&self, rounds: usize, pause: Duration, work: &Work) -> Result<f64, WaitsError> {
        let mut shares = Vec::new();
        // This thread is not bound, and sleeps during both spells.
        for _ in 0..rounds.max(1) {
            let alone = work.rate(|| {
                thread::sleep(SPELL);
                Ok(())
            })?;
            let beside = work.rate(|| self.late_trips(u64::MAX, SPELL, pause).map(|_| ()))?;
            shares.push(beside / alone);
        }
        shares.sort_unstable_by(f64::total_cmp);
        Ok(shares[shares.len() / 2])
    }
}

/// Work without an end, and the number of pieces that are done.
#[derive(Debug, Default)]
struct Work {
    pieces: AtomicU64,
    is_over: AtomicBool,
}

impl Work {
    fn run(&self) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut pieces = 0;
        // Relaxed, here and below: the counter and the flag publish nothing else.
        while !self.is_over.load(Relaxed) {
            for _ in 0..STEPS {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
            }
            hint::black_box(state);
            pieces += 1;
            self.pieces.store(pieces, Relaxed);
        }
    }

    /// Returns the number of pieces per second while `spell` runs.
    fn rate(&self, spell: impl FnOnce() -> Result<(), WaitsError>) -> Result<f64, WaitsError> {
        let start = Instant::now();
        let before = self.pieces.load(Relaxed);
        spell()?;
        let done = self.pieces.load(Relaxed) - before;
        // Count at least one piece, so that the rate is not zero if the system did not run the
        // bystander at all.
        Ok(done.max(1) as f64 / start.elapsed().as_secs_f64())
    }
}
