//! Panics of which the program does not know yet.
//!
//! An entry whose reply nothing waits for can panic after all that the program waits for has come.
//! The program must not end then as if all were well. So the first such panic is kept until the
//! program is told: whatever waits for anything of the runtime gets the [`Failure`], as a value or
//! a panic. A program that has been told once knows that it has failed, and later panics add
//! nothing to that. Otherwise the panic is reported at the end, by whatever comes first:
//!
//! - The runtime is dropped: that panics with the failure, unless the thread panics anyway, or
//!   another thread is just about to return from a wait. Then it is left to that thread.
//! - A [`Job`](crate::nodes::Job) ends: it returns the failure.
//! - The process ends with exit code 0, as one does that has used the default runtime: its exit
//!   code becomes 101 ([`raddle_sync::exit`]). This also holds after the runtime has ended where
//!   nothing could be told, as after
//!   [`shutdown_background`](raddle_runtime::Runtime::shutdown_background).
//!
//! A panic that is still being printed when the process ends is waited for.
//!
//! Constructors count as entries here, and so do calls that follow reductions. Destructors do not,
//! nor do clones of what is sent.

use raddle_sync::exit::Blemish;
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
    Panicked(Failure, Blemish),
    Reported,
}

impl Unreported {
    fn lock(&self) -> impl std::ops::DerefMut<Target = Inner> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// Counts this thread as a reporter: it will call [`note_reported`](Self::note_told) if it gets a
    /// failure, and then [`end_report`](Self::end_report).
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

    /// Something has panicked.
    pub(crate) fn note(&self, failure: &Failure) {
        let state = &mut self.lock().state;
        if matches!(state, State::NoPanic) {
            let text = format!("{failure}; nothing has waited for it until the end of the program");
            *state = State::Panicked(failure.clone(), Blemish::new(text));
        }
    }

    /// The program gets a failure of this runtime, be it that of the panic or what comes of it.
    ///
    /// `knows_all` is true if the program knows by it that something has panicked or that the
    /// runtime has failed. Panics that are reported here later add nothing then, such as one of
    /// another node whose reply has brought it already.
    pub(crate) fn note_reported(&self, knows_all: bool) {
        let state = &mut self.lock().state;
        if knows_all || matches!(state, State::Panicked(..)) {
            *state = State::Reported;
        }
    }

    /// The panic that the program has not been told of; the caller tells it.
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
        if let State::Panicked(_, blemish) = std::mem::take(&mut self.lock().state) {
            // The program was not told, and cannot be told any more: only its exit code is left.
            std::mem::forget(blemish);
        }
    }
}
