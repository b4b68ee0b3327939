//! Panics that have not been reported to the program yet.
//!
//! An entry without an awaited reply can panic after everything that the program waits for has
//! arrived. The program must not end then as if it had succeeded. So the first such panic is kept
//! until it is reported: every wait for anything of the runtime returns the [`Failure`], as a value
//! or a panic. After one report the program knows that it has failed, and later panics add nothing.
//! Otherwise the panic is reported at the end, by the first of these:
//!
//! - The runtime is dropped: the drop panics with the failure, unless the thread is panicking
//!   already, or another thread is about to return from a wait. In that case that thread reports
//!   the panic.
//! - A [`Job`](crate::nodes::Job) ends: it returns the failure.
//! - The process ends with exit code 0, as a process does that has used the default runtime: its
//!   exit code becomes 101 ([`raddle_sync::exit`]). This also applies after a runtime has ended
//!   without a way to report, as after
//!   [`shutdown_background`](raddle_runtime::Runtime::shutdown_background).
//!
//! A panic that is still being printed when the process ends is waited for.
//!
//! Constructors count as entries here, and so do calls that follow reductions. Destructors do not,
//! nor do clones of what is sent.

use raddle_sync::exit::UnreportedFailure;
use raddle_sync::prim::Mutex;

use crate::failure::Failure;

/// The first panic, until it is reported.
#[derive(Debug, Default)]
pub(crate) struct Unreported(Mutex<Inner>);

#[derive(Debug, Default)]
struct Inner {
    state: State,
    /// The number of threads that are about to return what they waited for, and report the panic
    /// if that is a failure. The end of the runtime leaves the panic to them.
    reporters: usize,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    NoPanic,
    Panicked(Failure, UnreportedFailure),
    Reported,
}

impl Unreported {
    fn lock(&self) -> impl std::ops::DerefMut<Target = Inner> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// Counts this thread as a reporter: it will call [`note_reported`](Self::note_reported) if it
    /// gets a failure, and then [`end_report`](Self::end_report).
    pub(crate) fn begin_report(&self) {
        self.lock().reporters += 1;
    }

    /// Ends what [`begin_report`](Self::begin_report) began.
    pub(crate) fn end_report(&self) {
        self.lock().reporters -= 1;
    }

    /// Returns true while some thread is about to report.
    pub(crate) fn has_reporters(&self) -> bool {
        self.lock().reporters > 0
    }

    /// Notes a panic.
    pub(crate) fn note(&self, failure: &Failure) {
        let state = &mut self.lock().state;
        if matches!(state, State::NoPanic) {
            let text = format!("{failure}; nothing has waited for it until the end of the program");
            *state = State::Panicked(failure.clone(), UnreportedFailure::new(text));
        }
    }

    /// Notes that the program gets a failure of this runtime: the panic or a consequence of the
    /// panic.
    ///
    /// `knows_all` is true if this tells the program that something has panicked or that the
    /// runtime has failed. Panics that are noted here later add nothing then. An example is a panic
    /// on another node that a reply has already reported.
    pub(crate) fn note_reported(&self, knows_all: bool) {
        let state = &mut self.lock().state;
        if knows_all || matches!(state, State::Panicked(..)) {
            *state = State::Reported;
        }
    }

    /// Takes the panic that has not been reported to the program; the caller must report it.
    pub(crate) fn report(&self) -> Option<Failure> {
        let state = &mut self.lock().state;
        match std::mem::replace(state, State::Reported) {
            State::Panicked(failure, _) => Some(failure),
            before => {
                *state = before;
                None
            }
        }
    }
}

impl Drop for Unreported {
    fn drop(&mut self) {
        if let State::Panicked(_, unreported) = std::mem::take(&mut self.lock().state) {
            // The panic can no longer be reported to the program: only the exit code is left.
            std::mem::forget(unreported);
        }
    }
}
