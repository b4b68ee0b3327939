//! All threads that have recorded events.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use raddle_sync::clock::ticks;
use raddle_sync::log_segment::LogCopy;
use raddle_sync::prim::{AtomicU64, Mutex, Relaxed};

use super::buffer::{self, Segment};

/// The largest number of threads that record events. Further ones record nothing.
const TRACKS_MAX: usize = 4_096;

/// The events of one thread in one recording.
#[derive(Debug)]
pub(crate) struct Track {
    pub(crate) label: Label,
    segments: Mutex<Vec<&'static Segment>>,
    /// The number of segments that were begun, including those that were overwritten.
    begun: AtomicU64,
    /// The counter when the thread ended; zero before.
    ended: AtomicU64,
}

/// The track of the thread that has this, which ends with it.
#[derive(Debug)]
pub(crate) struct OwnTrack(Arc<Track>);

impl Drop for OwnTrack {
    fn drop(&mut self) {
        // Relaxed: a recording that ends at this moment may not see it.
        self.0.ended.store(ticks(), Relaxed);
    }
}

impl Deref for OwnTrack {
    type Target = Track;

    fn deref(&self) -> &Track {
        &self.0
    }
}

/// The label of a thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Label {
    /// A worker, by the number of its runtime and its index; true for a compensating thread.
    Worker(u32, usize, bool),
    /// Any other thread, by its name.
    Other(String),
}

#[derive(Debug, Default)]
struct Tracks {
    all: Vec<Arc<Track>>,
    /// The number of threads that were refused.
    refused: u64,
}

static TRACKS: Mutex<Tracks> = Mutex::new(Tracks {
    all: Vec::new(),
    refused: 0,
});

fn tracks() -> impl DerefMut<Target = Tracks> {
    TRACKS.lock().expect("nothing panics under this lock")
}

/// Adds the track of the calling thread. Returns `None` if there are too many.
pub(crate) fn add(label: Label) -> Option<OwnTrack> {
    let mut tracks = tracks();
    if tracks.all.len() >= TRACKS_MAX {
        tracks.refused += 1;
        return None;
    }
    let track = Arc::new(Track {
        label,
        segments: Mutex::new(Vec::new()),
        begun: AtomicU64::new(0),
        ended: AtomicU64::new(0),
    });
    tracks.all.push(Arc::clone(&track));
    Some(OwnTrack(track))
}

/// Returns all tracks, and the number of threads without one.
pub(crate) fn all() -> (Vec<Arc<Track>>, u64) {
    let tracks = tracks();
    (tracks.all.clone(), tracks.refused)
}

/// Forgets all tracks of the recording that is over.
pub(crate) fn clear() {
    let all = {
        let mut tracks = tracks();
        tracks.refused = 0;
        std::mem::take(&mut tracks.all)
    };
    for track in all {
        buffer::give_back(std::mem::take(&mut *track.segments()));
    }
}

impl Track {
    fn segments(&self) -> impl DerefMut<Target = Vec<&'static Segment>> + '_ {
        self.segments
            .lock()
            .expect("nothing panics under this lock")
    }

    /// Begins the next segment, for the owner: a new one, or the oldest.
    pub(crate) fn next_segment(&self, ticks: u64) -> &'static Segment {
        // Relaxed, here and below: only the owner changes it.
        let number = self.begun.load(Relaxed) + 1;
        self.begun.store(number, Relaxed);
        let mut segments = self.segments();
        let has_wrapped = number > segments.len() as u64 + 1;
        let new = (!has_wrapped).then(|| buffer::take(segments.is_empty()));
        if let Some(new) = new.flatten() {
            segments.push(new);
        }
        // Segments are used in turn, so this is the new one, or the oldest.
        let next = segments[((number - 1) % segments.len() as u64) as usize];
        next.begin(number, ticks);
        next
    }

    /// Returns the counter when the thread ended, if it has ended.
    pub(crate) fn ended(&self) -> Option<u64> {
        // Relaxed: see above.
        Some(self.ended.load(Relaxed)).filter(|ended| *ended > 0)
    }

    /// Copies the segments, oldest first. Returns them and the number of segments that were
    /// overwritten.
    pub(crate) fn copy(&self) -> (Vec<LogCopy>, u64) {
        let segments = self.segments().clone();
        let mut copies: Vec<LogCopy> = segments.into_iter().filter_map(Segment::copy).collect();
        copies.sort_unstable_by_key(|copied| copied.number);
        let begun = self.begun.load(Relaxed);
        let lost = begun.saturating_sub(copies.len() as u64);
        (copies, lost)
    }
}
