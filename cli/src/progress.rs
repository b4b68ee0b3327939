//! A progress bar for what takes longer than a moment, and only where somebody looks.

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// What is done sooner than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);
const TEMPLATE: &str = "{msg:<10} [{bar:32}] {percent:>3} %  {elapsed} elapsed, {eta} to go";

/// One phase of a command. The bar appears after half a second, on standard error, where that is a
/// terminal; it is gone when the phase is dropped.
#[derive(Debug)]
pub(crate) struct Phase {
    shown: bool,
    name: &'static str,
    began: Instant,
    done: Mutex<u64>,
    bar: Mutex<Option<ProgressBar>>,
}

impl Phase {
    /// Begins a phase; `quiet` keeps the bar away everywhere.
    pub(crate) fn begin(name: &'static str, quiet: bool) -> Self {
        Self {
            shown: !quiet && io::stderr().is_terminal(),
            name,
            began: Instant::now(),
            done: Mutex::new(0),
            bar: Mutex::new(None),
        }
    }

    /// Notes that one more of `total` equal parts is done; as [`at`](Self::at).
    pub(crate) fn one_more_of(&self, total: usize) {
        let done = match self.done.lock() {
            Ok(mut done) => {
                *done += 1;
                *done
            }
            // A worker that died while counting has told its caller; the bar may stand still.
            Err(_) => return,
        };
        self.at(done, total as u64);
    }

    /// Notes that `done` of `total` is done. May be called from any worker, as often as it likes.
    pub(crate) fn at(&self, done: u64, total: u64) {
        if !self.shown || self.began.elapsed() < PATIENCE {
            return;
        }
        // A worker that finds another one drawing has nothing to add.
        let Ok(mut slot) = self.bar.try_lock() else {
            return;
        };
        let bar = slot.get_or_insert_with(|| self.make_bar());
        bar.set_length(total);
        bar.set_position(done.min(total));
    }

    /// How long the phase has lasted.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn make_bar(&self) -> ProgressBar {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_message(self.name);
        bar.with_elapsed(self.began.elapsed())
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        if let Ok(Some(bar)) = self.bar.get_mut() {
            bar.finish_and_clear();
        }
    }
}
