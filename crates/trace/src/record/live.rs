//! Recording, in builds that record events.
//!
//! | module | contents |
//! |---|---|
//! | [`buffer`] | the segments of a thread's buffer, which other threads read |
//! | [`head`] | the first word of a record |
//! | [`off_cpu`] | finds times in which a thread with work was not on a CPU |
//! | [`recorder`] | the writing side: one per thread |
//! | [`stamps`] | decides which events get a time of their own |
//! | [`names`] | numbers for names |
//! | [`tracks`] | all threads that have recorded events |

pub(crate) mod buffer;
pub(crate) mod head;
pub(crate) mod names;
pub(crate) mod off_cpu;
pub(crate) mod recorder;
pub(crate) mod stamps;
pub(crate) mod tracks;

use raddle_sync::prim::{AtomicU32, Relaxed};

pub use names::ScopeName;
pub(super) use names::number_of;
pub(super) use recorder::{name, put, put_scope, set_worker};

/// The number of the recording under way, and of the window between two of its pauses; zero while
/// nothing is recorded.
static RECORDING: AtomicU32 = AtomicU32::new(0);

/// Returns the number of the recording under way, and of its window; zero while nothing is
/// recorded.
#[inline(always)]
pub(crate) fn recording() -> u32 {
    // Relaxed: a thread that sees a change late records a few events more or fewer.
    RECORDING.load(Relaxed)
}

/// Sets the number of the recording and of its window.
pub(crate) fn set_recording(number: u32) {
    // Relaxed: as above.
    RECORDING.store(number, Relaxed);
}

/// Returns true while events are recorded.
#[inline(always)]
pub fn is_on() -> bool {
    recording() != 0
}
