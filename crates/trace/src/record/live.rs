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

use raddle_sync::prim::{AtomicU32, AtomicU64, Relaxed};

pub use names::ScopeName;
pub(super) use names::number_of;
pub(super) use recorder::{name, put, put_scope, set_worker};

/// The number of the recording under way, and of the window between two of its pauses; zero while
/// nothing is recorded.
static RECORDING: AtomicU32 = AtomicU32::new(0);

/// The number of messages to other nodes that were recorded.
static CROSSINGS: AtomicU64 = AtomicU64::new(0);
/// The bits of the number of such a message: those that count, and one that numbers of arrows
/// within a process do not have. Readers of JSON know all numbers of 53 bits.
const COUNT_BITS: u32 = 36;
const CROSSING: u64 = 1 << 52;

/// Returns a number for a message to another node, which no other message of the job has. It is not
/// zero. `process` is the number of this process
/// ([`JobNumbers::process`](crate::trace_file::JobNumbers::process)).
#[must_use]
pub fn next_crossing(process: u32) -> u64 {
    // Relaxed: only the number counts.
    let count = CROSSINGS.fetch_add(1, Relaxed) & ((1 << COUNT_BITS) - 1);
    CROSSING | u64::from(process & 0xffff) << COUNT_BITS | count
}

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
