//! The pace of a loop: how long an item takes, and what follows for chunk sizes and splits.
//!
//! Whether a split pays off depends on the worker that would take the other part.
//!
//! A worker that *searches* has the part soon: within a fraction of a microsecond if the two
//! workers share a cache, within more than a microsecond if they are far apart. Each worker learns
//! which of these holds at the moment ([`Gains`](crate::worker::Gains)). It learns both whether to
//! split, and how much more than half to keep so that both parts end at the same time.
//!
//! A worker that *sleeps* must be woken. This costs the waking worker microseconds, and the woken
//! one starts tens of microseconds later. A loop that is too short for that is not split, but
//! remembered. When many such loops come in a row, the time that they could have saved together
//! pays for a wake-up, and then for keeping the woken worker awake. This is ski rental, as in the
//! wait cell: it costs at most twice as much as knowing the future would.
//!
//! The above is for short items. During a long item, a worker that asks for work waits until the
//! item ends. Therefore, before each long item, half of what is left is published, then half of the
//! rest, and so on, whether or not a worker asks, as with tasks. Each of these parts begins by
//! timing its own items: one long item says nothing about items far away.
//!
//! A part that was taken while a long item was running is *eager*: while other workers are without
//! work, it is split before its first item is timed. Otherwise only one more worker would join the
//! loop for each long item. The parts of an eager part are eager only on a worker that has taken
//! them. So a worker splits a part that it has taken about log2(items) times, not once per item.

use crate::clock::{Instant, nanoseconds};
use crate::fork::join_by;
use crate::worker::{FEW_ITEMS, SPLIT_ASLEEP_NS, Worker, current_worker};

/// The shortest and the longest time between two checks of the gate. Between these limits, it is an
/// eighth of the loop.
const CHUNK_NS: (f32, f32) = (4_000.0, 16_000.0);
/// The time between two steps of a chunk, at the pace of earlier items.
const STEP_NS: f32 = 1_000.0;
/// The minimum number of steps of a chunk that is likely to be the last one. Its end must not wait
/// behind a single item that takes unexpectedly long.
const LAST_STEPS: usize = 2;
/// Loops with fewer items than this run one item to learn how long it takes. Longer loops run
/// several, for a better measurement.
const LONG_LOOP: usize = 512;
/// Items that take longer than this are *coarse*. A worker that asks during such an item would wait
/// too long for its end, so a part is given away beforehand.
const COARSE_NS: f32 = 20_000.0;

/// The knowledge of a loop about its items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The nanoseconds per item, once a chunk has been timed.
    item_ns: Option<f32>,
    /// The end of the last chunk. `None` if the loop has done other things since.
    now: Option<Instant>,
    /// The number of parts given away since the last chunk. Perhaps no worker has taken them yet,
    /// so as many searching workers are about to be served.
    given: usize,
    /// Items may take long: the loop is split for idle workers before an item has been timed.
    is_eager: bool,
}

impl Pace {
    /// Creates the pace of a loop that begins.
    #[inline]
    pub(super) fn start() -> Self {
        Self {
            item_ns: None,
            now: None,
            given: 0,
            is_eager: false,
        }
    }

    /// Creates the pace of a part that was taken while a long item was running.
    #[inline]
    pub(super) fn eager() -> Self {
        Self {
            is_eager: true,
            ..Self::start()
        }
    }

    /// Returns the pace for a part of the same loop. The worker that begins the part has just given
    /// away `given` other parts.
    #[inline]
    fn part(&self, given: usize) -> Self {
        Self {
            item_ns: self.item_ns,
            now: None,
            given,
            is_eager: self.is_eager,
        }
    }

    /// Returns the pace for a part that may be taken from worker `giver`. The part stays eager only
    /// if it was taken.
    #[inline]
    fn for_taker(self, giver: usize) -> Self {
        let is_taken = || current_worker().is_some_and(|taker| taker.index() != giver);
        Self {
            is_eager: self.is_eager && is_taken(),
            ..self
        }
    }

    /// Begins the next chunk when `len` items are left.
    #[inline]
    pub(super) fn begin_chunk(&mut self, len: usize, worker: &Worker) -> Chunk {
        let (left, step, check) = match self.item_ns {
            None if len < LONG_LOOP => (1, 1, PaceCheck::First),
            None => ((len / FEW_ITEMS).min(16), 1, PaceCheck::First),
            Some(item_ns) if item_ns * len as f32 <= CHUNK_NS.0 => {
                let steps = (item_ns * len as f32 / STEP_NS) as usize;
                (len, len.div_ceil(steps.max(LAST_STEPS)), PaceCheck::Nothing)
            }
            Some(item_ns) => {
                let chunk_ns = (item_ns * len as f32 / 8.0).clamp(CHUNK_NS.0, CHUNK_NS.1);
                let check = if worker.forks().gates().are_closed() {
                    PaceCheck::Clock
                } else {
                    PaceCheck::Gate
                };
                let items = |ns: f32| ((ns / item_ns) as usize).max(1);
                (items(chunk_ns), items(STEP_NS), check)
            }
        };
        Chunk {
            left: left.min(len),
            step,
            done: 0,
            check,
            begun: match check {
                PaceCheck::Nothing => None,
                _ => Some(*self.now.get_or_insert_with(Instant::now)),
            },
        }
    }

    /// Ends a chunk that has been run, perhaps in part, and learns from it how long an item takes.
    /// `len` is the number of items that were left when the chunk began.
    #[inline]
    pub(super) fn end_chunk(&mut self, chunk: &Chunk, len: usize, worker: &Worker) {
        let Some(begun) = chunk.begun else {
            return;
        };
        let now = Instant::now();
        self.now = Some(now);
        self.given = 0;
        self.is_eager = false;
        let ns = nanoseconds(now - begun) - Instant::reading_ns();
        let item_ns = ns / chunk.done as f32;
        if self.item_ns.is_none() && len < FEW_ITEMS {
            worker.gains().remember_few(len, item_ns * len as f32);
        }
        // The latest chunk counts half, because bodies change along a loop. The value is never
        // zero, so that chunks stay bounded.
        let item_ns = self
            .item_ns
            .map_or(item_ns, |before| f32::midpoint(before, item_ns));
        self.item_ns = Some(item_ns.max(0.01));
    }

    /// Returns where to split a loop of `len` items for the worker that asked `worker` for work.
    /// Returns `None` if a split does not pay off.
    #[inline]
    pub(super) fn cut(&self, len: usize, worker: &Worker) -> Option<Cut> {
        if len > 1 && (worker.forks().gates().are_closed() || self.is_coarse() || self.is_eager) {
            self.cut_slow(len, worker)
        } else {
            None
        }
    }

    /// Returns false if the next chunk is likely to be over within microseconds. Such a chunk need
    /// not check first whether the loop has ended: the check could save only microseconds.
    #[inline]
    pub(super) fn may_take_long(&self) -> bool {
        self.item_ns.is_none_or(|item_ns| item_ns >= COARSE_NS)
    }

    #[inline]
    fn is_coarse(&self) -> bool {
        self.item_ns.is_some_and(|item_ns| item_ns >= COARSE_NS)
    }

    #[cold]
    fn cut_slow(&self, len: usize, worker: &Worker) -> Option<Cut> {
        let halves = Cut {
            len,
            left: len.div_ceil(2),
            teaches: false,
        };
        // No item has been timed yet: split for idle workers if the part is eager, or if the loop
        // has few items and such loops were long enough lately.
        let Some(item_ns) = self.item_ns else {
            let idle = worker.shared().idle();
            if self.is_eager && (idle.anyone_sleeps() || idle.anyone_searches()) {
                worker.forks().gates().close();
                return Some(halves);
            }
            return (len < FEW_ITEMS && worker.gains().allow_split_of_few(len)).then_some(halves);
        };
        if self.is_coarse() {
            if worker.is_alone() {
                return None;
            }
            // Close the gate as if a worker had asked: the fork is published at once.
            worker.forks().gates().close();
            return Some(halves);
        }
        // Items are short. Compare the time that is left with the cost for the workers that would
        // take the other part: searching ones first, then sleeping ones.
        let left_ns = item_ns * len as f32;
        let searching = worker.shared().idle().searching();
        if searching > self.given {
            let handover_ns = worker.gains().handover_ns();
            let head_start = ((handover_ns / item_ns) as usize).min(len - 2);
            let left = len.div_ceil(2) + head_start / 2;
            let cut = Cut {
                len,
                left,
                teaches: left_ns < SPLIT_ASLEEP_NS,
            };
            worker.gains().allow_split(left_ns).then_some(cut)
        } else if searching == 0 {
            let now = self.now.unwrap_or_else(Instant::now);
            let pays = left_ns >= SPLIT_ASLEEP_NS || worker.gains().allow_wake(left_ns, now);
            pays.then_some(halves)
        } else {
            None
        }
    }

    /// Runs a loop in two parts, each with its own pace, and learns from it. `left` runs here, and
    /// `right` on the worker that takes it. Returns both results.
    pub(super) fn split<L: Send, R: Send>(
        self,
        cut: Cut,
        worker: &Worker,
        left: impl FnOnce(Self) -> L + Send,
        right: impl FnOnce(Self) -> R + Send,
    ) -> (L, R) {
        let left_pace = self.part(self.given + 1);
        let right_pace = if self.is_coarse() {
            Self::eager()
        } else {
            self.part(0)
        };
        let giver = worker.index();
        let is_lesson = cut.teaches && worker.gains().is_lesson();
        let start = is_lesson.then(Instant::now);
        // Not `join`, which also has code for threads that are no workers: this function is
        // compiled for each loop of a program.
        let ((left, left_times), (right, right_times)) = join_by::<false, _, _, _, _>(
            || Times::of(is_lesson, || left(left_pace)),
            |_| Times::of(is_lesson, || right(right_pace.for_taker(giver))),
            true,
            |_, _| unreachable!("loops run on workers"),
        );
        if let (Some(start), Some(left), Some(right)) = (start, left_times, right_times) {
            cut.teach(worker, start, left, right);
        }
        (left, right)
    }
}

/// The start and the end of one part of a loop.
#[derive(Clone, Copy)]
struct Times {
    begun: Instant,
    end: Instant,
}

impl Times {
    /// Runs a part. Returns its result, and its times if `is_timed`.
    #[inline]
    fn of<R>(is_timed: bool, part: impl FnOnce() -> R) -> (R, Option<Self>) {
        let begun = is_timed.then(Instant::now);
        let result = part();
        let times = begun.map(|begun| Self {
            begun,
            end: Instant::now(),
        });
        (result, times)
    }
}

/// A number of items that are run step by step.
#[derive(Debug)]
pub(super) struct Chunk {
    /// The number of items still to be run.
    left: usize,
    /// The number of items in the next step, after which `check` is made.
    step: usize,
    /// The number of items that have been run since `begun`.
    done: usize,
    check: PaceCheck,
    /// The start of the chunk. `None` for the last chunk, which is not timed.
    begun: Option<Instant>,
}

/// The check after each step that may end a chunk early: items may turn out longer than earlier
/// ones.
#[derive(Clone, Copy, Debug)]
enum PaceCheck {
    /// End after the first item if it takes long enough to be timed alone. Otherwise time the items
    /// behind it.
    First,
    /// End when another worker asks for work.
    Gate,
    /// End at a time: a worker asked earlier and got nothing.
    Clock,
    /// Check nothing, because the chunk is short.
    Nothing,
}

impl Chunk {
    /// Returns the number of items to run now.
    #[inline]
    pub(super) fn step(&self) -> usize {
        self.step.min(self.left)
    }

    /// Records that `count` items have been run. Returns true if the chunk has ended.
    #[inline]
    pub(super) fn is_over(&mut self, count: usize, worker: &Worker) -> bool {
        self.done += count;
        self.left -= count;
        self.left == 0
            || match self.check {
                PaceCheck::First => {
                    self.step = self.left;
                    let now = Instant::now();
                    let is_long = self.has_taken(CHUNK_NS.0, now);
                    if !is_long {
                        // The first item has also loaded the data that all items read.
                        (self.done, self.begun) = (0, Some(now));
                    }
                    is_long
                }
                PaceCheck::Gate => worker.forks().gates().are_closed(),
                PaceCheck::Clock => self.has_taken(2.0 * CHUNK_NS.1, Instant::now()),
                PaceCheck::Nothing => false,
            }
    }

    /// Returns true if the chunk has taken longer than `ns` nanoseconds.
    fn has_taken(&self, ns: f32, now: Instant) -> bool {
        self.begun
            .is_some_and(|begun| nanoseconds(now - begun) > ns)
    }
}

/// The place where a loop is split in two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// The number of items of the loop.
    len: usize,
    /// The number of items that stay: somewhat more than half, so that both parts end at the same
    /// time although the other one begins later.
    pub(super) left: usize,
    /// The loop is short, and a worker was searching: the time that the loop takes says whether
    /// such loops should be split.
    teaches: bool,
}

impl Cut {
    /// Teaches `worker` from the times of the two parts of a loop that it split at `start`.
    fn teach(&self, worker: &Worker, start: Instant, left: Times, right: Times) {
        // Measured from the start of the left part: a loop that is not split does not pay for the
        // fork.
        let own_ns = nanoseconds(left.end - left.begun);
        let alone_ns = own_ns * self.len as f32 / self.left as f32;
        let gains = worker.gains();
        gains.learn(alone_ns, nanoseconds(start.elapsed()));
        // Otherwise this worker has run the right part itself, or a thief came too late.
        if right.begun < left.end {
            gains.learn_handover(left.end, right.end);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
