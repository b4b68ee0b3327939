//! The time until an idle worker notices new work: `sleeping` and `spinning`.
//!
//! The time runs from just before the call that submits the work, on a thread outside the runtime,
//! to the first instruction of the work on the worker. In `sleeping`, the worker sleeps in the
//! kernel; the peer `futex` is a thread in a bare futex wait that is woken by a bare futex wake. In
//! `spinning`, the worker still spins; the peer `spin` is a thread that spins on a word.
//!
//! # Memory ordering
//! | label | release side               | acquire side               | what it publishes |
//! |-------|----------------------------|----------------------------|-------------------|
//! | K1    | either side changes `word` | the other side observes it | the noted time    |

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use raddle::{IdlePolicy, Runtime};
use raddle_sync::prim::{Acquire, Futex, Release, spin_loop};

use crate::error::BenchError;
use crate::harness::{Case, Contender, Local, Sample, Unit};
use crate::suites::Measurement;

/// The names of the cases.
pub(crate) const CASES: [&str; 2] = ["sleeping", "spinning"];

const REPETITIONS: [u64; 2] = [300, 2_000];
/// The times between two requests: long enough for a thread to fall asleep, or for a spinning one
/// to look at its word again.
const GAPS: [Duration; 2] = [Duration::from_micros(1_000), Duration::from_micros(20)];

/// The values of the peer's word: no request, a request, and the request to end.
const IDLE: u32 = 0;
const ASKED: u32 = 1;
const END: u32 = 2;

/// Runs the suite, always with one worker. The other side is a thread outside the runtime.
///
/// # Errors
/// Those of [`Measurement::compare`].
pub(crate) fn run(measurement: &mut Measurement<'_>) -> Result<(), BenchError> {
    measurement.workers = vec![2];
    for ((name, repetitions), gap) in CASES.into_iter().zip(REPETITIONS).zip(GAPS) {
        if measurement.wants(name) {
            compare(measurement, name, repetitions, gap)?;
        }
    }
    Ok(())
}

fn compare(
    measurement: &mut Measurement<'_>,
    name: &'static str,
    repetitions: u64,
    gap: Duration,
) -> Result<(), BenchError> {
    let case = Case {
        suite: "wake",
        name,
        unit: Unit::Microseconds,
        repetitions,
        file: None,
        expected: repetitions,
        tolerance: 0,
    };
    let sleeps = name == "sleeping";
    let mut raddle = Local::new("raddle", move |request| {
        let policy = if sleeps {
            IdlePolicy::Park
        } else {
            IdlePolicy::Spin
        };
        let runtime = Runtime::builder().workers(1).idle(policy).build();
        let runtime = runtime.map_err(|error| BenchError::contender("raddle", error))?;
        Ok(measure(request.repetitions, gap, || {
            runtime.install(Instant::now)
        }))
    });
    let peer = if sleeps { "futex" } else { "spin" };
    let mut peers: Vec<Box<dyn Contender>> = vec![Box::new(Local::new(peer, move |request| {
        let bare = Bare::start(sleeps);
        Ok(measure(request.repetitions, gap, || bare.ask()))
    }))];
    measurement.compare(&case, &mut raddle, &mut peers)
}

/// Adds up the times from a call of `ask` to the instant at which the other side began, which `ask`
/// returns.
fn measure(repetitions: u64, gap: Duration, mut ask: impl FnMut() -> Instant) -> Sample {
    let mut time = Duration::ZERO;
    let mut answers = 0;
    for _ in 0..repetitions {
        let pause = Instant::now();
        // This thread stays awake, so that the measured time contains no wake-up of it.
        while pause.elapsed() < gap {
            spin_loop();
        }
        let asked = Instant::now();
        time += ask().saturating_duration_since(asked);
        answers += 1;
    }
    Sample {
        time,
        result: answers,
    }
}

/// A thread that waits in a futex or spins, and notes the time of each request.
struct Bare {
    shared: Arc<Shared>,
    sleeps: bool,
    thread: Option<thread::JoinHandle<()>>,
}

struct Shared {
    futex: Futex,
    reached: Mutex<Instant>,
}

impl Bare {
    fn start(sleeps: bool) -> Self {
        let shared = Arc::new(Shared {
            futex: Futex::new(IDLE),
            reached: Mutex::new(Instant::now()),
        });
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || shared.serve(sleeps)
        });
        Self {
            shared,
            sleeps,
            thread: Some(thread),
        }
    }

    fn set(&self, word: u32) {
        // ORDERING(K1): Release; nothing is published in this direction.
        self.shared.futex.word().store(word, Release);
        if self.sleeps {
            self.shared.futex.wake_one();
        }
    }

    fn ask(&self) -> Instant {
        self.set(ASKED);
        // ORDERING(K1): Acquire, the time.
        while self.shared.futex.word().load(Acquire) == ASKED {
            spin_loop();
        }
        *self
            .shared
            .reached
            .lock()
            .expect("nothing panics under this lock")
    }
}

impl Drop for Bare {
    fn drop(&mut self) {
        self.set(END);
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the peer's thread does not panic");
        }
    }
}

impl Shared {
    fn serve(&self, sleeps: bool) {
        loop {
            // ORDERING(K1): Acquire, paired with the store in `set`.
            match self.futex.word().load(Acquire) {
                IDLE if sleeps => self.futex.wait(IDLE, None),
                IDLE => spin_loop(),
                ASKED => {
                    *self.reached.lock().expect("nothing panics under this lock") = Instant::now();
                    // ORDERING(K1): Release, the time.
                    self.futex.word().store(IDLE, Release);
                }
                _ => return,
            }
        }
    }
}
