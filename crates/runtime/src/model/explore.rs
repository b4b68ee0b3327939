//! Running a body under many schedules, each made from a seed that can be run again.
//!
//! A seed decides all: the pool, the number of workers, the idle policy, the scheduler, and the
//! schedules of its batch. Half of the seeds choose the next thread at random, half by priorities
//! that change at a few points (PCT), which finds what needs one thread to be slow for long.
//!
//! | variable | what it says | without it |
//! |---|---|---|
//! | `RADDLE_SCHEDULES_SEED` | the first seed | 1 |
//! | `RADDLE_SCHEDULES_COUNT` | seeds a test | one for every setting, or as many as the test says |
//!
//! # Source
//! Burckhardt, Kothari, Musuvathi, Nagarakatte: A randomized scheduler with probabilistic
//! guarantees of finding bugs. ASPLOS 2010.

use std::cell::RefCell;
use std::env;
use std::panic::{self, AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Once};

use raddle_sync::prim::{AtomicBool, SeqCst, thread, yield_now};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};

use super::Crowding;
use crate::{IdlePolicy, MailboxKind, Network, PoolKind, Runtime};

/// The number of schedules per seed. The first of a PCT batch only counts the steps.
const BATCH: usize = 12;
/// The largest number of steps of a schedule. It is far more than any body needs, so a body that
/// takes more stands still.
const STEPS_MAX: usize = 400_000;
const STACK_BYTES: usize = 1 << 18;
const WORKERS_MAX: usize = 3;
/// Idle policies, and the number of CPUs.
const IDLE: [(IdlePolicy, Crowding); 4] = [
    (IdlePolicy::Park, Crowding::Room),
    (IdlePolicy::Adaptive, Crowding::Room),
    (IdlePolicy::Adaptive, Crowding::Over),
    (IdlePolicy::Spin, Crowding::Full),
];
/// The number of combinations of `IDLE` with every pool (and each kind of mailbox in turn) and both
/// schedulers.
const SETTING_COUNT: usize = IDLE.len() * WORKERS_MAX * PoolKind::ALL.len() * 2;
/// The distance from one pool to the next, so that the first few are of different families. It has
/// no common divisor with the number of pools.
const POOL_STRIDE: usize = 7;
const _: () = assert!(
    PoolKind::ALL.len() % POOL_STRIDE != 0,
    "choose another prime number as the stride"
);

/// The settings of the runtimes of one batch of schedules.
#[derive(Clone, Copy, Debug)]
pub struct Scenario {
    /// The number of workers, at most three.
    pub worker_count: usize,
    /// The task pool.
    pub pool: PoolKind,
    /// The kind of mailboxes.
    pub mailbox: MailboxKind,
    /// The idle policy.
    pub idle: IdlePolicy,
    /// The number of CPUs, compared with the number of workers.
    pub crowding: Crowding,
    pct: bool,
    seed: u64,
}

impl Scenario {
    /// Derives the settings from a seed. Neighbouring seeds differ in the first settings here;
    /// seeds that are a full round of them apart differ in pools and mailboxes.
    fn of(seed: u64) -> Self {
        let position = seed as usize % SETTING_COUNT;
        let mut rest = position;
        let mut digit = |base| {
            let digit = rest % base;
            rest /= base;
            digit
        };
        let pct = digit(2) == 1;
        let (idle, crowding) = IDLE[digit(IDLE.len())];
        let worker_count = digit(WORKERS_MAX) + 1;
        let round = digit(PoolKind::ALL.len());
        debug_assert_eq!(rest, 0, "every setting has its seeds");
        Self {
            worker_count,
            pool: PoolKind::ALL[round * POOL_STRIDE % PoolKind::ALL.len()],
            mailbox: MailboxKind::ALL[(position + round) % MailboxKind::ALL.len()],
            idle,
            crowding,
            pct,
            seed,
        }
    }

    /// Returns one of `choices`, selected by the seed independently of the other settings.
    pub fn one_of<T: Copy>(&self, choices: &[T]) -> T {
        let mixed = self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
        choices[mixed as usize % choices.len()]
    }

    /// Starts a runtime with these settings.
    pub fn runtime(&self) -> Runtime {
        self.runtime_of(self.worker_count)
    }

    /// Starts a runtime with these settings, but another number of workers.
    pub fn runtime_of(&self, worker_count: usize) -> Runtime {
        self.runtime_on(worker_count, None)
    }

    /// Starts a runtime as [`runtime_of`](Self::runtime_of) does, for a node with workers that
    /// receive from `network`, if there is one.
    pub fn runtime_on(&self, worker_count: usize, network: Option<Arc<dyn Network>>) -> Runtime {
        let Self {
            pool,
            mailbox,
            idle,
            crowding,
            ..
        } = *self;
        super::runtime_on(worker_count, pool, mailbox, idle, crowding, network)
    }
}

/// Runs `body` under the schedules of all seeds, with all settings.
///
/// # Panics
/// If a schedule makes `body` panic or stand still; the message names the seed.
pub fn explore(body: impl Fn(Scenario) + Send + Sync + 'static) {
    explore_some(SETTING_COUNT, body);
}

/// Runs `body` as [`explore`] does, for `seed_count` seeds. 96 seeds cover every mailbox with every
/// number of workers, idle policy and scheduler, and a few pools of different families.
///
/// # Panics
/// As for [`explore`].
pub fn explore_some(seed_count: usize, body: impl Fn(Scenario) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let first = variable("RADDLE_SCHEDULES_SEED").unwrap_or(1);
    let count = variable("RADDLE_SCHEDULES_COUNT").unwrap_or(seed_count as u64);
    record_panics();
    for seed in first..first + count {
        let setting = Scenario::of(seed);
        let body = Arc::clone(&body);
        let batch = AssertUnwindSafe(|| {
            match setting.pct {
                true => run(PctScheduler::new_from_seed(seed, 4, BATCH), setting, body),
                false => run(RandomScheduler::new_from_seed(seed, BATCH), setting, body),
            }
            if let Some(panic) = SEEN.take() {
                panic!("a panic was not reported: {panic}");
            }
        });
        if let Err(panic) = catch_unwind(batch) {
            let what = match (panic.downcast_ref::<String>(), panic.downcast_ref::<&str>()) {
                (Some(text), _) => text.as_str(),
                (None, Some(text)) => text,
                (None, None) => resume_unwind(panic),
            };
            panic!(
                "seed {seed}, {setting:?}: {what}\n\
                 again: RADDLE_SCHEDULES_SEED={seed} RADDLE_SCHEDULES_COUNT=1"
            );
        }
    }
}

std::thread_local! {
    /// The first panic of the schedules that this thread runs, whether it was caught or not.
    static SEEN: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Records panics. Workers catch the panics of user code, so a failed assertion in a message would
/// go unnoticed otherwise.
fn record_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let hook = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            SEEN.with_borrow_mut(|seen| {
                seen.get_or_insert_with(|| panic.to_string());
            });
            hook(panic);
        }));
    });
    panics_were_meant();
}

/// Forgets the panics of this schedule so far, because they were intended.
pub fn panics_were_meant() {
    SEEN.take();
}

fn run(
    scheduler: impl Scheduler + 'static,
    setting: Scenario,
    body: Arc<impl Fn(Scenario) + Send + Sync + 'static>,
) {
    let mut config = Config::new();
    config.stack_size = STACK_BYTES;
    config.max_steps = MaxSteps::FailAfter(STEPS_MAX);
    config.silence_warnings = true;
    Runner::new(scheduler, config).run(move || body(setting));
}

fn variable(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().expect("the variable holds a number"))
}

/// Panics with a number, without calling the panic hook, which takes every panic for the end of the
/// schedule.
///
/// # Panics
/// Always.
pub fn fail_with(number: u32) -> ! {
    resume_unwind(Box::new(number))
}

/// Returns the number with which `call` fails, or 0 if it does not fail.
///
/// # Panics
/// With any other panic of `call`.
pub fn number_of_failure<R>(call: impl FnOnce() -> R) -> u32 {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(_) => 0,
        Err(panic) => match panic.downcast::<u32>() {
            Ok(number) => *number,
            Err(other) => resume_unwind(other),
        },
    }
}

/// An event that happens once, and for which a task may block.
#[derive(Debug, Default)]
pub struct Flag(AtomicBool);

impl Flag {
    /// Raises the flag.
    pub fn raise(&self) {
        // ORDERING: schedules model no other.
        self.0.store(true, SeqCst);
    }

    /// Returns true once the flag is up.
    pub fn is_up(&self) -> bool {
        // ORDERING: as above.
        self.0.load(SeqCst)
    }

    /// Blocks until the flag is up, without running other work.
    pub fn await_up(&self) {
        while !self.is_up() {
            yield_now();
        }
    }
}

/// Calls `outside` on a thread that is no worker and, at the same time, `here`. Returns both
/// results.
///
/// # Panics
/// If one of the calls panics.
pub fn beside<R: Send + 'static, S>(
    outside: impl FnOnce() -> R + Send + 'static,
    here: impl FnOnce() -> S,
) -> (R, S) {
    let other = thread::spawn(outside);
    let own = here();
    (other.join().expect("the other thread does not panic"), own)
}
