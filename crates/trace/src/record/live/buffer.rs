//! The buffer of one thread: segments of a fixed size, of which the oldest is used again when no
//! more may be allocated.
//!
//! Its thread writes; any thread reads, also during the writing. A reader copies a segment, and
//! drops the copy if the owner began to overwrite the segment meanwhile.
//!
//! # Invariants
//! 1. Only the thread that has a segment stores into it.
//! 2. Segments are never freed: another recording uses them again.

use raddle_sync::log_segment::LogSegment;
use raddle_sync::prim::Mutex;

/// The size of a segment in words. With its head, a segment takes 64 KiB.
pub(crate) const SEGMENT_WORDS: usize = (1 << 13) - 8;

/// The bytes of a segment.
pub(crate) const SEGMENT_BYTES: usize = size_of::<Segment>();

/// A part of a buffer. Its number is that in the buffer, and the value at its begin the counter.
pub(crate) type Segment = LogSegment<SEGMENT_WORDS>;

/// Returns the words of a segment so far, for its owner.
pub(crate) fn words_so_far(segment: &Segment) -> Vec<u64> {
    (0..segment.len()).map(|at| segment.word(at)).collect()
}

/// The segments of all recordings.
#[derive(Debug)]
pub(crate) struct Store {
    free: Vec<&'static Segment>,
    /// The number of segments that may still be handed out in this recording.
    left: usize,
}

static STORE: Mutex<Store> = Mutex::new(Store {
    free: Vec::new(),
    left: 0,
});

/// Limits the segments of the recording that begins.
pub(crate) fn set_limit(segments: usize) {
    store().left = segments;
}

/// Takes a segment, if the limit allows it or `is_first`.
pub(crate) fn take(is_first: bool) -> Option<&'static Segment> {
    let mut store = store();
    if store.left == 0 && !is_first {
        return None;
    }
    store.left = store.left.saturating_sub(1);
    let free = store.free.pop();
    drop(store);
    Some(free.unwrap_or_else(allocate))
}

/// Returns the segments of a recording that is over.
pub(crate) fn give_back(segments: impl IntoIterator<Item = &'static Segment>) {
    let mut store = store();
    for segment in segments {
        segment.end();
        store.free.push(segment);
    }
}

fn allocate() -> &'static Segment {
    Box::leak(Box::default())
}

fn store() -> impl std::ops::DerefMut<Target = Store> {
    STORE.lock().expect("nothing panics under this lock")
}
