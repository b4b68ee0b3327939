//! How long an item takes, and what follows for the size of chunks and for splitting.
//!
//! Whether a split pays depends on who would take the other part.
//!
//! A worker that *searches* has it soon: within a fraction of a microsecond when the two share a cache, within more than
//! a microsecond when they are far apart. Which of the two it is today, a worker learns ([`Gains`](crate::worker::Gains)): both
//! whether to split, and how much more than half to keep, so that both parts end at the same time.
//!
//! A worker that *sleeps* must be woken, which costs the waker microseconds, and comes tens of microseconds later. A loop too
//! short for that is not split, but remembered: when many such loops come in a row, what they could have gained together
//! pays for a wake-up, and then for the sleeper's staying awake. This is ski rental again, as in the wait cell: at most
//! twice the cost of having known.
//!
//! All that is for items that are short. A long item leaves whoever asks to wait for its end, so before each the other half of
//! what is left is published, and half of the rest, and so on, asked for or not, as tasks would be. Each of these parts begins by
//! timing its own items: one long item says nothing about those far away.
//!
//! A part that was taken from beside a long item is *eager*: while other workers are without
//! work, it is cut before its first item is timed. Otherwise only one more worker would join the
//! loop for each long item. Its parts are eager only on a worker that has taken them. So a worker
//! cuts a part that it has taken about log2(items) times, not once for each item.

use crate::clock::{Instant, nanoseconds, reading_ns};
use crate::fork::join;
use crate::worker::{FEW_ITEMS, SPLIT_ASLEEP_NS, Worker, current_worker};

/// Between two looks at the gate lies an eighth of the loop, but no more and no less time than this.
const CHUNK_NS: (f32, f32) = (4_000.0, 16_000.0);
/// Between two steps of a chunk lies so much, at the pace of the items before.
const STEP_NS: f32 = 1_000.0;
/// A chunk that is likely to be the last is run in so many steps at least: its end is not to wait
/// behind one item that takes long after all.
const LAST_STEPS: usize = 2;
/// Loops with fewer items run one to learn how long it takes, longer ones several, for a better reading.
const LONG_LOOP: usize = 512;
/// Who asks during an item that takes longer would wait too long for the end of it: a part is given away beforehand.
const COARSE_NS: f32 = 20_000.0;

/// What a loop knows about its items.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// Nanoseconds an item, once a chunk has been timed.
    item_ns: Option<f32>,
    /// The end of the last chunk; none where other things were done since.
    now: Option<Instant>,
    /// Parts given away since the last chunk. Perhaps nobody has taken them yet, and who searches still is to have them.
    given: usize,
    /// Items may take long: the loop is cut for idle workers before one has been timed.
    is_eager: bool,
}

impl Pace {
    /// A loop begins.
    #[inline]
    pub(super) fn start() -> Self {
        Self {
            item_ns: None,
            now: None,
            given: 0,
            is_eager: false,
        }
    }

    /// A part begins that was taken from beside a long item.
    #[inline]
    pub(super) fn eager() -> Self {
        Self {
            is_eager: true,
            ..Self::start()
        }
    }

    /// For a part of the same loop, whose worker has just given away `given` other parts.
    #[inline]
    fn part(&self, given: usize) -> Self {
        Self {
            item_ns: self.item_ns,
            now: None,
            given,
            is_eager: self.is_eager,
        }
    }

    /// For a part that may be taken from the worker `giver`: it stays eager only there.
    #[inline]
    fn for_taker(self, giver: usize) -> Self {
        let is_taken = || current_worker().is_some_and(|taker| taker.index() != giver);
        Self {
            is_eager: self.is_eager && is_taken(),
            ..self
        }
    }

    /// The next chunk, when `len` items are left.
    #[inline]
    pub(super) fn begin_chunk(&mut self, len: usize, worker: &Worker) -> Chunk {
        let (left, step, watch) = match self.item_ns {
            None if len < LONG_LOOP => (1, 1, Watch::First),
            None => ((len / FEW_ITEMS).min(16), 1, Watch::First),
            Some(item_ns) if item_ns * len as f32 <= CHUNK_NS.0 => {
                let steps = (item_ns * len as f32 / STEP_NS) as usize;
                (len, len.div_ceil(steps.max(LAST_STEPS)), Watch::Nothing)
            }
            Some(item_ns) => {
                let chunk_ns = (item_ns * len as f32 / 8.0).clamp(CHUNK_NS.0, CHUNK_NS.1);
                let watch = if worker.forks().gates().are_closed() {
                    Watch::Clock
                } else {
                    Watch::Gate
                };
                let items = |ns: f32| ((ns / item_ns) as usize).max(1);
                (items(chunk_ns), items(STEP_NS), watch)
            }
        };
        Chunk {
            left: left.min(len),
            step,
            done: 0,
            watch,
            begun: match watch {
                Watch::Nothing => None,
                _ => Some(*self.now.get_or_insert_with(Instant::now)),
            },
        }
    }

    /// The chunk has been run, or a part of it, and `len` items were left when it began: learns how
    /// long an item takes.
    #[inline]
    pub(super) fn end_chunk(&mut self, chunk: &Chunk, len: usize, worker: &Worker) {
        let Some(begun) = chunk.begun else {
            return;
        };
        let now = Instant::now();
        self.now = Some(now);
        self.given = 0;
        self.is_eager = false;
        let ns = nanoseconds(now - begun) - reading_ns();
        let item_ns = ns / chunk.done as f32;
        if self.item_ns.is_none() && len < FEW_ITEMS {
            worker.gains().remember_few(len, item_ns * len as f32);
        }
        // The latest chunk counts for half: bodies change along a loop. Never zero, so that chunks stay bounded.
        let item_ns = self
            .item_ns
            .map_or(item_ns, |before| f32::midpoint(before, item_ns));
        self.item_ns = Some(item_ns.max(0.01));
    }

    /// Where to cut a loop of `len` items for whoever asked `worker` for work; nowhere if it does not pay.
    #[inline]
    pub(super) fn cut(&self, len: usize, worker: &Worker) -> Option<Cut> {
        if len > 1 && (worker.forks().gates().are_closed() || self.is_coarse() || self.is_eager) {
            self.cut_slow(len, worker)
        } else {
            None
        }
    }

    /// Returns false if the next chunk is likely to be over within microseconds. Such a part of a
    /// loop need not look first whether the loop has ended: the flag lies among what another worker
    /// writes all the time.
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
        let Some(item_ns) = self.item_ns else {
            let idle = &worker.shared().idle;
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
            // Asks in the name of whoever will: the fork is published as soon as it is there.
            worker.forks().gates().close();
            return Some(halves);
        }
        let left_ns = item_ns * len as f32;
        let searching = worker.shared().idle.searching();
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

    /// Runs a loop in two parts, `left` here and `right` where it is taken, each with a pace of its own, and learns from
    /// it. Returns what they return.
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
        let right = || right(right_pace.for_taker(giver));
        if !(cut.teaches && worker.gains().is_lesson()) {
            return join(|| left(left_pace), right);
        }
        let start = Instant::now();
        let (left, right) = join(|| Timed::run(|| left(left_pace)), || Timed::run(right));
        // From the start of the left part: a loop that is not split does not pay for the fork.
        let own_ns = nanoseconds(left.end - left.begun);
        let alone_ns = own_ns * cut.len as f32 / cut.left as f32;
        let gains = worker.gains();
        gains.learn(alone_ns, nanoseconds(start.elapsed()));
        // Otherwise this worker has run the right part itself, or a thief came too late.
        if right.begun < left.end {
            gains.learn_handover(left.end, right.end);
        }
        (left.result, right.result)
    }
}

/// The result of one part of a loop, with its start and its end.
struct Timed<R> {
    result: R,
    begun: Instant,
    end: Instant,
}

impl<R> Timed<R> {
    fn run(part: impl FnOnce() -> R) -> Self {
        let begun = Instant::now();
        let result = part();
        Self {
            result,
            begun,
            end: Instant::now(),
        }
    }
}

/// Some items, run step by step.
#[derive(Debug)]
pub(super) struct Chunk {
    /// Items that are still to be run,
    left: usize,
    /// so many of them before the next look at `watch`,
    step: usize,
    /// and items that have been run since `begun`.
    done: usize,
    watch: Watch,
    /// The start of the chunk. `None` for the last chunk, which is not timed.
    begun: Option<Instant>,
}

/// What ends a chunk before its time: items may turn out longer than those before them.
#[derive(Clone, Copy, Debug)]
enum Watch {
    /// The first item, when it alone tells enough. Otherwise those behind it are timed.
    First,
    /// Somebody asks.
    Gate,
    /// Somebody has asked before, in vain: the clock.
    Clock,
    /// The chunk is short.
    Nothing,
}

impl Chunk {
    /// Items to run now.
    #[inline]
    pub(super) fn step(&self) -> usize {
        self.step.min(self.left)
    }

    /// These have been run; true when the chunk is at its end.
    #[inline]
    pub(super) fn is_over(&mut self, count: usize, worker: &Worker) -> bool {
        self.done += count;
        self.left -= count;
        self.left == 0
            || match self.watch {
                Watch::First => {
                    self.step = self.left;
                    let now = Instant::now();
                    let is_long = self.has_taken(CHUNK_NS.0, now);
                    if !is_long {
                        // The first one has also brought in what all items read.
                        (self.done, self.begun) = (0, Some(now));
                    }
                    is_long
                }
                Watch::Gate => worker.forks().gates().are_closed(),
                Watch::Clock => self.has_taken(2.0 * CHUNK_NS.1, Instant::now()),
                Watch::Nothing => false,
            }
    }

    fn has_taken(&self, ns: f32, now: Instant) -> bool {
        self.begun
            .is_some_and(|begun| nanoseconds(now - begun) > ns)
    }
}

/// Where a loop is cut in two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Items of the loop.
    len: usize,
    /// Items that stay: somewhat more than half, so that both end at the same time although the other begins later.
    pub(super) left: usize,
    /// The loop is short, and somebody searched: how long it takes says whether such loops shall be split.
    teaches: bool,
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;
