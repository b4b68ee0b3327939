//! Panics of which the program does not know yet.
//!
//! An entry to whose reply nothing waits can panic after all that the program waits for has come. The program must not end then as if all were
//! well. So the first such panic is kept until something reports it: what waits for anything of the runtime gets the [`Failure`], as a
//! value or a panic. What is left is reported at the end, by whatever comes first:
//!
//! - The runtime is dropped: that panics with the failure, unless the thread panics anyway.
//! - A [`Job`](crate::nodes::Job) ends: it returns the failure.
//! - The process ends with exit code 0, as one does that has used the default runtime: its exit code becomes 101 ([`raddle_sync::exit`]).

use raddle_sync::exit::Blemish;
use raddle_sync::prim::Mutex;

use crate::failure::Failure;

/// The first panic that is still to be reported.
#[derive(Debug, Default)]
pub(crate) struct Unreported(Mutex<Option<(Failure, Blemish)>>);

impl Unreported {
    fn first(&self) -> impl std::ops::DerefMut<Target = Option<(Failure, Blemish)>> {
        self.0.lock().expect("nothing panics under this lock")
    }

    /// Something has panicked.
    pub(crate) fn note(&self, failure: &Failure) {
        self.first().get_or_insert_with(|| {
            let text = format!("{failure}; nothing has waited for it until the end of the program");
            (failure.clone(), Blemish::new(text))
        });
    }

    /// Forgets the failure if `is_reported` says so of it.
    pub(crate) fn forget_if(&self, is_reported: impl FnOnce(&Failure) -> bool) {
        self.first().take_if(|first| is_reported(&first.0));
    }

    /// Takes the failure, to report it.
    pub(crate) fn take(&self) -> Option<Failure> {
        self.first().take().map(|(failure, _)| failure)
    }
}
