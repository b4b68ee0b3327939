//! What waiting costs a thread on the same core: its work beside a wait, and alone, in turns.

use std::hint;
use std::thread;
use std::time::{Duration, Instant};

use raddle_sync::prim::{AtomicBool, AtomicU64, Relaxed};

use super::places::Beside;
use super::{Waits, WaitsError};
use crate::threads::spawn_in;

/// How long it works alone, and how long beside a wait, in a round.
const SPELL: Duration = Duration::from_millis(100);
/// Steps of the generator in a piece of work: about a microsecond.
const STEPS: u32 = 500;

/// What a bystander got done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bystander {
    /// How close it was.
    pub beside: Beside,
    /// What it got done while another waited, as a share of what it gets done alone: the median over the rounds.
    pub share: f64,
}

impl Waits<'_> {
    pub(super) fn beside(
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
            // Relaxed: nothing else is told.
            work.is_over.store(true, Relaxed);
            worker.join().expect("the bystander panics nowhere")?;
            Ok(Some(Bystander {
                beside,
                share: measured?,
            }))
        })
    }

    fn rounds(&self, rounds: usize, pause: Duration, work: &Work) -> Result<f64, WaitsError> {
        let mut shares = Vec::new();
        // Unbound, this thread sleeps through both spells.
        for _ in 0..rounds.max(1) {
            let alone = work.rate(|| {
                thread::sleep(SPELL);
                Ok(())
            })?;
            let beside = work.rate(|| self.late_ones(u64::MAX, SPELL, pause).map(|_| ()))?;
            shares.push(beside / alone);
        }
        shares.sort_unstable_by(f64::total_cmp);
        Ok(shares[shares.len() / 2])
    }
}

/// Work that goes on and on, and how much of it is done.
#[derive(Debug, Default)]
struct Work {
    pieces: AtomicU64,
    is_over: AtomicBool,
}

impl Work {
    fn run(&self) {
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut pieces = 0;
        // Relaxed, here and below: a count, and that it is over; nothing hangs on them.
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

    /// Pieces a second while `spell` lasts.
    fn rate(&self, spell: impl FnOnce() -> Result<(), WaitsError>) -> Result<f64, WaitsError> {
        let start = Instant::now();
        let before = self.pieces.load(Relaxed);
        spell()?;
        let done = self.pieces.load(Relaxed) - before;
        // At least one piece, so that a spell in which the system ran others has a rate too.
        Ok(done.max(1) as f64 / start.elapsed().as_secs_f64())
    }
}
