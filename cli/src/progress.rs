//! A progress bar for what takes longer than a moment, and only where somebody looks.

use std::io::{self, IsTerminal};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use raddle_sync::prim::{AtomicU64, Relaxed};

/// What is done sooner than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
/// From one drawing to the next.
const PERIOD: Duration = Duration::from_millis(100);
/// Before so much is done nobody can say how long the rest takes.
const SHARE_MIN: f64 = 0.02;
const TEMPLATE_BAR: &str = "{msg:<10} [{bar:32}] {percent:>3} %  {elapsed} elapsed{prefix}";
const TEMPLATE_SPINNER: &str = "{msg:<10} {spinner} {elapsed} elapsed";

/// One phase of a command. After half a second a thread draws a spinner on standard error, where that is a
/// terminal, and a bar once it is known how much is done; both are gone when the phase is dropped.
#[derive(Debug)]
pub(crate) struct Phase {
    began: Instant,
    count: Arc<Count>,
    drawer: Option<JoinHandle<()>>,
}

/// What the drawer looks at.
#[derive(Debug, Default)]
struct Count {
    done: AtomicU64,
    /// Zero as long as nobody knows.
    total: AtomicU64,
    ended: Mutex<bool>,
    end: Condvar,
}

impl Phase {
    /// Begins a phase; `quiet` keeps the bar away everywhere.
    pub(crate) fn begin(name: &'static str, quiet: bool) -> Self {
        let (began, count) = (Instant::now(), Arc::<Count>::default());
        let drawer = (!quiet && io::stderr().is_terminal()).then(|| {
            let count = Arc::clone(&count);
            let draw = move || count.draw(name, began);
            // Without a thread for it there is no bar, and everything else works.
            thread::Builder::new()
                .name("progress".to_owned())
                .spawn(draw)
                .ok()
        });
        Self {
            began,
            count,
            drawer: drawer.flatten(),
        }
    }

    /// Notes that one more of `total` equal parts is done; as [`at`](Self::at).
    pub(crate) fn one_more_of(&self, total: usize) {
        self.more_of(1, total as u64);
    }

    /// Notes that `more` of `total` is done; as [`at`](Self::at).
    pub(crate) fn more_of(&self, more: u64, total: u64) {
        self.count.total.store(total, Relaxed);
        self.count.done.fetch_add(more, Relaxed);
    }

    /// Notes that `done` of `total` is done, or more. May be called from any worker, as often as it likes.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.count.total.store(total, Relaxed);
        self.count.done.fetch_max(done, Relaxed);
    }

    /// Notes that a share from 0 to 1 is done; as [`at`](Self::at).
    pub(crate) fn at_share(&self, share: f32) {
        const PARTS: u16 = 10_000;
        self.at((share * f32::from(PARTS)) as u64, PARTS.into());
    }

    /// How long the phase has lasted.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        let Some(drawer) = self.drawer.take() else {
            return;
        };
        *self
            .count
            .ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = true;
        self.count.end.notify_all();
        // A drawer that panicked has said so; the work that it drew is not concerned.
        let _panic = drawer.join();
    }
}

impl Count {
    /// Waits out the patience, then draws until the phase ends.
    fn draw(&self, name: &'static str, began: Instant) {
        let mut bar = None;
        let mut pause = PATIENCE;
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            ended = self
                .end
                .wait_timeout_while(ended, pause, |ended| !*ended)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            if *ended {
                break;
            }
            pause = PERIOD;
            let bar = bar.get_or_insert_with(|| {
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10))
                    .with_message(name)
                    .with_elapsed(began.elapsed())
            });
            self.show(bar, began.elapsed());
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    fn show(&self, bar: &ProgressBar, elapsed: Duration) {
        let total = self.total.load(Relaxed);
        let done = self.done.load(Relaxed).min(total);
        // The look first: whatever is set after it may draw.
        let template = if total == 0 {
            TEMPLATE_SPINNER
        } else {
            TEMPLATE_BAR
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(to_go(done, total, elapsed));
        if total > 0 {
            bar.set_length(total);
            bar.set_position(done);
        }
        bar.tick();
    }
}

/// What is said about the time that is left: nothing before enough is done to tell.
fn to_go(done: u64, total: u64, elapsed: Duration) -> String {
    let share = done as f64 / total.max(1) as f64;
    if share < SHARE_MIN {
        return String::new();
    }
    let rest = elapsed.mul_f64((1.0 - share) / share);
    format!(", {} s to go", rest.as_secs_f64().ceil())
}

#[cfg(test)]
mod tests;
