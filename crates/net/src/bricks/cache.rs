//! The cache of a node: which lines a brick may use, and which of them is refilled.
//!
//! If there is a line for each brick, the key is the index of its line. Otherwise keys are hashed.
//! Without a hash, the bricks of a regular volume would compete for few lines, because neighbours
//! in a volume have keys at regular distances.
//!
//! Lines are found without a lock. They are refilled under the lock of their shard (`loading`): all
//! lines that a key may use belong to the shard of that key.
//!
//! # Source
//! The clock: F. J. Corbató, A Paging Experiment with the Multics System, 1969. The mixing function
//! of the hash: D. Stafford, Better Bit Mixing, 2011 (variant 13, as in SplitMix64).

use std::fmt;

use raddle_sync::lines::{Lines, Pin, Refill, SharedPin};
use raddle_sync::prim::{AtomicBool, AtomicU32, Relaxed};

use super::error::StartError;

/// The lines of a set with [`Associativity::FourWay`].
const WAYS: usize = 4;
/// The largest number of shards. More threads than that rarely refill lines at the same time.
const SHARDS_MAX: usize = 64;
/// The end of a chain of lines with the same hash.
const NONE: u32 = u32::MAX;
/// The largest number of lines that a search without a lock follows. A chain changes meanwhile, so
/// that a search may be led to others.
const CHAIN_MAX: usize = 16;

/// The lines of the cache that a brick may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Associativity {
    /// One line: the cheapest search. This is how the study's program works.
    Direct,
    /// Four lines. One that was not used lately is refilled.
    #[default]
    FourWay,
    /// All lines. One that was not used since the hand of a clock passed it is refilled.
    Clock,
}

impl Associativity {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Direct, Self::FourWay, Self::Clock];

    /// Returns the name that a command line takes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::FourWay => "4-way",
            Self::Clock => "clock",
        }
    }
}

impl fmt::Display for Associativity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The bytes of a line.
pub(super) type Bytes = Box<[u8]>;

/// The lines, and the state by which they are found and refilled.
#[derive(Debug)]
pub(super) struct Cache {
    lines: Lines<Bytes>,
    /// For each line, whether it was used since it was filled, or since the hand passed it. Not
    /// with one line per key.
    used: Box<[AtomicBool]>,
    ways: Ways,
}

#[derive(Debug)]
enum Ways {
    /// There is a line for each brick.
    Each,
    Direct,
    FourWay {
        sets: usize,
        /// The way at which the next search for a line to refill begins, by set.
        hands: Box<[AtomicU32]>,
    },
    Clock(Clock),
}

/// An index of all lines by key, and a hand. Both change under the lock of the only shard.
#[derive(Debug)]
struct Clock {
    hand: AtomicU32,
    /// The first line of each chain.
    heads: Box<[AtomicU32]>,
    /// The next line of the chain of each line.
    next: Box<[AtomicU32]>,
}

impl Cache {
    /// Creates `line_count` empty lines for `brick_count` bricks: at most one for each brick, and
    /// with [`Associativity::FourWay`] a multiple of four.
    ///
    /// # Errors
    /// [`StartError::NoMemory`] if there is not enough memory.
    pub(super) fn new(
        associativity: Associativity,
        line_count: u64,
        brick_count: u64,
        brick_bytes: usize,
    ) -> Result<Self, StartError> {
        let line_count = line_count.clamp(1, brick_count.max(1));
        let all_bytes = line_count.saturating_mul(brick_bytes as u64);
        let no_memory = || StartError::NoMemory(all_bytes);
        let wanted = u32::try_from(line_count).ok().filter(|&it| it < NONE);
        let wanted = wanted.ok_or_else(no_memory)? as usize;
        // Fewer than four lines cannot be a set of four.
        let (count, ways) = match associativity {
            _ if line_count >= brick_count => (wanted, Ways::Each),
            Associativity::FourWay if wanted >= WAYS => {
                let sets = wanted / WAYS;
                let hands = (0..sets).map(|_| AtomicU32::new(0)).collect();
                (sets * WAYS, Ways::FourWay { sets, hands })
            }
            Associativity::Direct => (wanted, Ways::Direct),
            Associativity::FourWay | Associativity::Clock => {
                (wanted, Ways::Clock(Clock::new(wanted)))
            }
        };
        let mut values = Vec::new();
        values.try_reserve_exact(count).map_err(|_| no_memory())?;
        for _ in 0..count {
            let mut bytes = Vec::new();
            bytes
                .try_reserve_exact(brick_bytes)
                .map_err(|_| no_memory())?;
            bytes.resize(brick_bytes, 0);
            values.push(bytes.into_boxed_slice());
        }
        Ok(Self {
            lines: Lines::new(values),
            used: (0..count).map(|_| AtomicBool::new(false)).collect(),
            ways,
        })
    }

    pub(super) fn line_count(&self) -> usize {
        self.lines.len()
    }

    /// Returns the number of shards of which each has all lines of its keys.
    pub(super) fn shard_count(&self) -> usize {
        match &self.ways {
            Ways::Each | Ways::Direct => self.lines.len().min(SHARDS_MAX),
            Ways::FourWay { sets, .. } => (*sets).min(SHARDS_MAX),
            Ways::Clock(_) => 1,
        }
    }

    /// Returns the shard of a key.
    pub(super) fn shard_of(&self, key: u64) -> usize {
        let shards = self.shard_count();
        match &self.ways {
            Ways::Each => (key % shards as u64) as usize,
            Ways::Direct => share(key, self.lines.len()) % shards,
            Ways::FourWay { sets, .. } => share(key, *sets) % shards,
            Ways::Clock(_) => 0,
        }
    }

    /// Pins the line with a brick, if there is one. Takes no lock. May miss a brick that moves
    /// meanwhile.
    #[inline]
    pub(super) fn pin(&self, key: u64) -> Option<Pin<'_, Bytes>> {
        match &self.ways {
            Ways::Each => self.lines.pin(key as usize, key),
            Ways::Direct => self.lines.pin(share(key, self.lines.len()), key),
            Ways::FourWay { sets, .. } => {
                let first = WAYS * share(key, *sets);
                (first..first + WAYS).find_map(|line| self.pin_used(line, key))
            }
            Ways::Clock(clock) => {
                let found = clock.chain(key).take(CHAIN_MAX);
                found
                    .map(|line| self.pin_used(line, key))
                    .find_map(|pin| pin)
            }
        }
    }

    #[inline]
    fn pin_used(&self, line: usize, key: u64) -> Option<Pin<'_, Bytes>> {
        let pin = self.lines.pin(line, key)?;
        let used = &self.used[line];
        // Relaxed: a hint for the choice of a line. The load avoids writes to shared memory.
        if !used.load(Relaxed) {
            used.store(true, Relaxed);
        }
        Some(pin)
    }

    /// Pins the line with a brick, if there is one. The caller holds the lock of the shard, so no
    /// brick is missed.
    pub(super) fn pin_locked(&self, key: u64) -> Option<Pin<'_, Bytes>> {
        match &self.ways {
            Ways::Clock(clock) => {
                let mut found = clock.chain(key);
                found.find_map(|line| self.pin_used(line, key))
            }
            Ways::Each | Ways::Direct | Ways::FourWay { .. } => self.pin(key),
        }
    }

    /// Begins to refill a line that a key may use, unless all are pinned or being refilled. The
    /// caller holds the lock of the shard.
    pub(super) fn refill(&self, key: u64) -> Option<Refill<Bytes>> {
        match &self.ways {
            Ways::Each => self.lines.try_refill(key as usize),
            Ways::Direct => self.lines.try_refill(share(key, self.lines.len())),
            Ways::FourWay { sets, hands } => {
                let set = share(key, *sets);
                let ways = WAYS * set..WAYS * (set + 1);
                let (refill, hand) = self.refill_unused(&hands[set], ways)?;
                // Relaxed: changes under the lock.
                hands[set].store(hand, Relaxed);
                Some(refill)
            }
            Ways::Clock(clock) => {
                let all = 0..self.lines.len();
                let (refill, hand) = self.refill_unused(&clock.hand, all)?;
                // Relaxed: changes under the lock.
                clock.hand.store(hand, Relaxed);
                Some(refill)
            }
        }
    }

    /// Begins to refill the first line in a range, from a hand on, that was not used lately.
    /// Returns the new place of the hand, too.
    fn refill_unused(
        &self,
        hand: &AtomicU32,
        lines: std::ops::Range<usize>,
    ) -> Option<(Refill<Bytes>, u32)> {
        // Relaxed: changes under the lock.
        let start = hand.load(Relaxed) as usize;
        // In the second round, the lines that were used in the first one are candidates.
        for step in start..start + 2 * lines.len() {
            let line = lines.start + step % lines.len();
            // Relaxed: a hint, as in `pin_used`.
            if self.used[line].swap(false, Relaxed) {
                continue;
            }
            let key = self.lines.key(line);
            if let Some(refill) = self.lines.try_refill(line) {
                if let (Ways::Clock(clock), Some(key)) = (&self.ways, key) {
                    clock.remove(key, line);
                }
                // At most the number of lines, which fits.
                return Some((refill, ((step + 1) % lines.len()) as u32));
            }
        }
        None
    }

    /// Makes a refilled line ready, and finds it from now on. The caller holds the lock of the
    /// shard.
    pub(super) fn publish(&self, refill: Refill<Bytes>, key: u64) -> SharedPin<Bytes> {
        let line = refill.index();
        // A brick that is never used again is refilled before one that was. The hand has just
        // passed this line, so that it stays for a while.
        // Relaxed: a hint, as in `pin_used`.
        self.used[line].store(false, Relaxed);
        let pin = refill.publish(key);
        if let Ways::Clock(clock) = &self.ways {
            clock.insert(key, line);
        }
        pin
    }
}

// Relaxed, in all of this: the index leads to lines, and pinning a line checks its key. It changes
// under the lock of the only shard.
impl Clock {
    fn new(line_count: usize) -> Self {
        let nones = |count| (0..count).map(|_| AtomicU32::new(NONE)).collect();
        Self {
            hand: AtomicU32::new(0),
            heads: nones(2 * line_count),
            next: nones(line_count),
        }
    }

    fn head_of(&self, key: u64) -> &AtomicU32 {
        &self.heads[share(key, self.heads.len())]
    }

    /// Returns the lines of the chain of a key.
    fn chain(&self, key: u64) -> impl Iterator<Item = usize> + '_ {
        // Relaxed: see above.
        let line_of = |word: &AtomicU32| {
            let line = word.load(Relaxed);
            (line != NONE).then_some(line as usize)
        };
        std::iter::successors(line_of(self.head_of(key)), move |&line| {
            line_of(&self.next[line])
        })
    }

    fn insert(&self, key: u64, line: usize) {
        let head = self.head_of(key);
        // Relaxed: see above.
        self.next[line].store(head.load(Relaxed), Relaxed);
        // Below the number of lines, which fits.
        head.store(line as u32, Relaxed);
    }

    fn remove(&self, key: u64, line: usize) {
        let mut word = self.head_of(key);
        // Relaxed: see above.
        while word.load(Relaxed) as usize != line {
            let found = word.load(Relaxed);
            if found == NONE {
                return;
            }
            word = &self.next[found as usize];
        }
        // Relaxed, both: see above.
        let next = self.next[line].load(Relaxed);
        word.store(next, Relaxed);
    }
}

/// Returns the place of a key among `count` places, by its hash.
#[inline]
fn share(key: u64, count: usize) -> usize {
    let mixed = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    let mixed = mixed ^ mixed >> 31;
    // Below `count`.
    ((u128::from(mixed) * count as u128) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Loads a brick as one thread does, and returns true if it was in the cache.
    fn load(cache: &Cache, key: u64) -> bool {
        if let Some(pin) = cache.pin(key) {
            assert_eq!(pin[..], key.to_le_bytes());
            return true;
        }
        let mut refill = cache.refill(key).expect("nothing is pinned");
        refill.value_mut().copy_from_slice(&key.to_le_bytes());
        drop(cache.publish(refill, key));
        false
    }

    fn all(line_count: u64) -> impl Iterator<Item = Cache> {
        let new = move |kind| Cache::new(kind, line_count, u64::MAX, 8).expect("memory");
        Associativity::ALL.into_iter().map(new)
    }

    #[test]
    fn a_cache_with_enough_lines_keeps_all_bricks() {
        for cache in all(4_096) {
            let missed = (0..2).map(|_| (0..400).filter(|&key| !load(&cache, key)).count());
            let missed: Vec<_> = missed.collect();
            assert_eq!(missed[0], 400);
            // Two keys may share the only line that they can use.
            let conflicts = match cache.ways {
                Ways::Direct => 60,
                _ => 0,
            };
            assert!(missed[1] <= conflicts, "{:?}: {}", cache.ways, missed[1]);
        }
    }

    #[test]
    fn every_brick_can_be_loaded_into_a_cache_of_any_size() {
        for line_count in [1, 2, 3, 4, 5, 7, 64] {
            for cache in all(line_count) {
                assert!(cache.line_count() as u64 <= line_count);
                for key in (0..500).chain([u64::MAX, 0, 1 << 40]) {
                    load(&cache, key);
                    assert!(load(&cache, key), "just loaded");
                    assert!(cache.shard_of(key) < cache.shard_count());
                }
            }
        }
    }

    #[test]
    fn a_cache_for_all_bricks_has_a_line_for_each() {
        for kind in Associativity::ALL {
            let cache = Cache::new(kind, 1 << 20, 300, 8).expect("memory");
            assert_eq!(cache.line_count(), 300);
            for key in 0..300 {
                assert!(!load(&cache, key));
                assert!(cache.shard_of(key) < cache.shard_count());
            }
            assert!((0..300).all(|key| load(&cache, key)), "{kind}");
        }
    }

    #[test]
    fn pinned_lines_are_not_refilled() {
        for cache in all(4) {
            let mut pins = Vec::new();
            for key in 0..100 {
                if let Some(mut refill) = cache.refill(key) {
                    refill.value_mut().copy_from_slice(&key.to_le_bytes());
                    pins.push((key, cache.publish(refill, key)));
                }
            }
            assert_eq!(pins.len(), 4);
            for (key, pin) in pins {
                assert_eq!(pin[..], key.to_le_bytes());
            }
            assert!(cache.refill(7).is_some());
        }
    }

    // With one hot brick and a stream of others, the hot one stays.
    #[test]
    fn a_brick_that_is_used_often_stays() {
        for cache in all(64) {
            let misses = (0..10_000_u64).filter(|turn| {
                load(&cache, 1_000_000 + turn);
                !load(&cache, 5)
            });
            let misses = misses.count();
            let most = match cache.ways {
                Ways::Direct => 10_000 / 32,
                _ => 1,
            };
            assert!(misses <= most, "{:?}: {misses}", cache.ways);
        }
    }

    // The keys of a column of bricks have regular distances.
    #[test]
    fn regular_distances_spread_over_all_lines() {
        for distance in [1, 2, 33, 64, 1_024, 241 * 241] {
            let mut found = [0; 256];
            for key in 0..2_560 {
                found[share(key * distance, 256)] += 1;
            }
            let most = found.iter().max().expect("some");
            assert!(*most < 30, "{distance}: {most} of 10 on average");
        }
    }
}
