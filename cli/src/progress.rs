//! A progress bar for long work, drawn only on a terminal.

use std::fmt::Write;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use raddle_sync::prim::{AtomicU64, Relaxed};
use raddle_sync::wait::WaitCell;
use raddle_trace::record::Scope;

/// The time after which a bar appears. Shorter work shows none.
const PATIENCE: Duration = Duration::from_millis(500);
/// The time from one drawing to the next.
const PERIOD: Duration = Duration::from_millis(100);
/// The share of the work that has to be done before the remaining time can be estimated.
const SHARE_MIN: f64 = 0.02;
const TEMPLATE_BAR: &str = "{msg:<10} [{bar:32}] {percent:>3} %  {times}";
const TEMPLATE_SPINNER: &str = "{msg:<10} {spinner}  {times}";

/// One phase of a command.
///
/// After half a second a thread draws a spinner on standard error if that is a terminal, and a bar
/// once it is known how much is done. Both disappear when the phase is dropped. In a recording, a
/// phase is a scope.
#[derive(Debug)]
pub(crate) struct Phase {
    began: Instant,
    count: Arc<Count>,
    drawer: Option<JoinHandle<()>>,
    _scope: Scope,
}

/// The counters that the drawing thread reads.
///
/// All accesses below are Relaxed: the numbers are only shown, and publish no other data.
#[derive(Debug, Default)]
struct Count {
    done: AtomicU64,
    /// The total of the work; zero while it is unknown.
    total: AtomicU64,
    /// The drawing thread waits here between drawings, until the phase ends.
    end: WaitCell,
}

impl Phase {
    /// Begins a phase; `quiet` disables the bar.
    pub(crate) fn begin(name: &'static str, quiet: bool) -> Self {
        let (began, count) = (Instant::now(), Arc::<Count>::default());
        let drawer = (!quiet && io::stderr().is_terminal()).then(|| {
            let count = Arc::clone(&count);
            let draw = move || count.draw(name, began);
            // If the thread cannot be started there is no bar; everything else works.
            thread::Builder::new()
                .name("progress".to_owned())
                .spawn(draw)
                .ok()
        });
        Self {
            began,
            count,
            drawer: drawer.flatten(),
            _scope: Scope::begin(name),
        }
    }

    /// Adds one of `total` equal parts to what is done. May be called from any worker.
    pub(crate) fn one_more_of(&self, total: usize) {
        self.more_of(1, total as u64);
    }

    /// Adds `more` of `total` to what is done. May be called from any worker.
    pub(crate) fn more_of(&self, more: u64, total: u64) {
        self.count.total.store(total, Relaxed);
        self.count.done.fetch_add(more, Relaxed);
    }

    /// Notes that at least `done` of `total` is done. May be called from any worker, at any rate.
    pub(crate) fn at(&self, done: u64, total: u64) {
        self.count.total.store(total, Relaxed);
        self.count.done.fetch_max(done, Relaxed);
    }

    /// Notes that at least a share from 0 to 1 is done. May be called from any worker.
    pub(crate) fn at_share(&self, share: f32) {
        const PARTS: u16 = 10_000;
        self.at((share * f32::from(PARTS)) as u64, PARTS.into());
    }

    /// Returns the time since the phase began.
    pub(crate) fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }
}

impl Drop for Phase {
    fn drop(&mut self) {
        let Some(drawer) = self.drawer.take() else {
            return;
        };
        // A drawing thread that is awake finds the token when it next waits.
        let _ = self.count.end.notify();
        // A drawing thread that panicked has printed its message; the work is not affected.
        let _panic = drawer.join();
    }
}

impl Count {
    /// Waits for [`PATIENCE`], then draws until the phase ends.
    fn draw(&self, name: &'static str, began: Instant) {
        let mut bar = None;
        let mut forecast = Forecast::default();
        let mut pause = PATIENCE;
        while !self.end.wait_timeout(pause) {
            pause = PERIOD;
            let bar = bar.get_or_insert_with(|| {
                ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_message(name)
            });
            self.show(bar, began.elapsed(), &mut forecast);
        }
        if let Some(bar) = bar {
            bar.finish_and_clear();
        }
    }

    /// Draws the bar once.
    fn show(&self, bar: &ProgressBar, elapsed: Duration, forecast: &mut Forecast) {
        let total = self.total.load(Relaxed);
        let done = self.done.load(Relaxed).min(total);
        let template = if total == 0 {
            TEMPLATE_SPINNER
        } else {
            TEMPLATE_BAR
        };
        let times = forecast.times(done as f64 / total.max(1) as f64, elapsed);
        if let Ok(style) = ProgressStyle::with_template(template) {
            let write_times = move |_: &ProgressState, out: &mut dyn Write| {
                // A bar that cannot be written is no failure of the command.
                let _ = out.write_str(&times);
            };
            bar.set_style(style.progress_chars("=> ").with_key("times", write_times));
        }
        bar.update(|state| {
            if total > 0 {
                state.set_len(total);
                state.set_pos(done);
            }
        });
    }
}

/// An estimate of the remaining time.
///
/// The pace is measured from the first share that was reported. What happened before, such as
/// reading a file header, is not part of the pace.
#[derive(Debug, Default)]
struct Forecast {
    /// The first share that was reported, and the time of that report.
    first: Option<(f64, Duration)>,
}

impl Forecast {
    /// Returns the elapsed time as text, followed by the remaining time once it can be estimated.
    fn times(&mut self, share: f64, elapsed: Duration) -> String {
        let mut times = format!("{:.0} s", elapsed.as_secs_f64());
        if share > 0.0 {
            let (first_share, first_elapsed) = *self.first.get_or_insert((share, elapsed));
            let done = share - first_share;
            if done >= SHARE_MIN {
                let rest = (elapsed - first_elapsed).mul_f64((1.0 - share) / done);
                times.push_str(&format!(", {:.0} s to go", rest.as_secs_f64().ceil()));
            }
        }
        times
    }
}

#[cfg(test)]
mod tests;
