//! Logical CPUs, identified by their numbers in the operating system, and sets of CPUs.
//!
//! A set is a dense bit field, because the numbers on one machine are small and close together.
//! Sets are printed and parsed in the list format of the Linux kernel, `0-3,8`.
//!
//! # Source
//! The list format: Linux kernel documentation, "CPU lists in command-line parameters".

#[cfg(test)]
mod tests;

use std::fmt;

use serde::{Serialize, Serializer};

/// One more than the highest CPU number that this crate accepts.
///
/// The limit bounds the memory that malicious input can make the crate allocate.
pub const CPU_NUMBER_LIMIT: u32 = 1 << 16;

const BLOCK_BITS: usize = u64::BITS as usize;

/// A logical CPU, identified by its number in the operating system.
///
/// # Examples
/// ```
/// use raddle_topology::CpuId;
/// assert_eq!(CpuId(3).to_string(), "3");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct CpuId(pub u32);

impl CpuId {
    /// Returns the number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl fmt::Display for CpuId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

/// A set of logical CPUs.
///
/// In JSON and in text, the set is a list such as `0-3,8`. The list of an empty set is empty.
///
/// # Examples
/// ```
/// use raddle_topology::{CpuId, CpuSet};
/// let set: CpuSet = [0, 1, 2, 5].into_iter().map(CpuId).collect();
/// assert_eq!(set.to_string(), "0-2,5");
/// assert!(set.contains(CpuId(5)) && !set.contains(CpuId(4)));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CpuSet {
    blocks: Vec<u64>,
}

impl CpuSet {
    /// Creates an empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self { blocks: Vec::new() }
    }

    /// Adds `cpu`. Returns true if the set did not contain it.
    ///
    /// # Panics
    /// Panics if the number of `cpu` is not below [`CPU_NUMBER_LIMIT`].
    pub fn insert(&mut self, cpu: CpuId) -> bool {
        assert!(
            cpu.0 < CPU_NUMBER_LIMIT,
            "CPU {cpu} is not below the limit of {CPU_NUMBER_LIMIT}"
        );
        let (block, bit) = split(cpu);
        if block >= self.blocks.len() {
            self.blocks.resize(block + 1, 0);
        }
        let absent = self.blocks[block] & bit == 0;
        self.blocks[block] |= bit;
        absent
    }

    /// Removes `cpu`. Returns true if the set contained it.
    pub fn remove(&mut self, cpu: CpuId) -> bool {
        let (block, bit) = split(cpu);
        let Some(word) = self.blocks.get_mut(block) else {
            return false;
        };
        let present = *word & bit != 0;
        *word &= !bit;
        present
    }

    /// Returns true if the set contains `cpu`.
    #[must_use]
    pub fn contains(&self, cpu: CpuId) -> bool {
        let (block, bit) = split(cpu);
        self.blocks.get(block).is_some_and(|word| word & bit != 0)
    }

    /// Returns the number of CPUs in the set. Cost: one step per 64 CPU numbers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.blocks
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Returns true if the set contains no CPU.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.blocks.iter().all(|word| *word == 0)
    }

    /// Iterates over the CPUs, lowest number first.
    pub fn iter(&self) -> impl Iterator<Item = CpuId> + '_ {
        self.blocks.iter().enumerate().flat_map(|(block, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    CpuId(u32::try_from(block * BLOCK_BITS + bit).unwrap_or(u32::MAX))
                })
            })
        })
    }

    /// Returns the CPU with the lowest number, if any.
    #[must_use]
    pub fn first(&self) -> Option<CpuId> {
        self.iter().next()
    }

    /// Returns the CPUs that are in both sets.
    #[must_use]
    pub fn intersection(&self, other: &Self) -> Self {
        let blocks = self.blocks.iter().zip(&other.blocks);
        Self {
            blocks: blocks.map(|(left, right)| left & right).collect(),
        }
    }

    /// Adds every CPU of `other`.
    pub fn extend_from(&mut self, other: &Self) {
        if other.blocks.len() > self.blocks.len() {
            self.blocks.resize(other.blocks.len(), 0);
        }
        for (word, more) in self.blocks.iter_mut().zip(&other.blocks) {
            *word |= more;
        }
    }

    /// Returns true if every CPU of `self` is in `other`.
    #[must_use]
    pub fn is_subset_of(&self, other: &Self) -> bool {
        self.intersection(other).len() == self.len()
    }
}

impl PartialEq for CpuSet {
    fn eq(&self, other: &Self) -> bool {
        // Sets that differ only in trailing empty blocks are equal.
        let block_count = self.blocks.len().max(other.blocks.len());
        (0..block_count).all(|block| {
            self.blocks.get(block).copied().unwrap_or(0)
                == other.blocks.get(block).copied().unwrap_or(0)
        })
    }
}

impl Eq for CpuSet {}

impl FromIterator<CpuId> for CpuSet {
    /// Collects the CPUs.
    ///
    /// # Panics
    /// Panics as [`CpuSet::insert`] does.
    fn from_iter<I: IntoIterator<Item = CpuId>>(cpus: I) -> Self {
        let mut set = Self::new();
        for cpu in cpus {
            set.insert(cpu);
        }
        set
    }
}

impl fmt::Display for CpuSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&number_list(self.iter().map(|cpu| cpu.0)))
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Formats numbers as a list in which each run of consecutive numbers is a range: `0,2,4-7`.
///
/// The order is kept, so the text parses to the same numbers in the same order.
pub(crate) fn number_list(numbers: impl IntoIterator<Item = u32>) -> String {
    let mut list = String::new();
    let mut run: Option<(u32, u32)> = None;
    for number in numbers {
        run = match run {
            Some((first, last)) if last.checked_add(1) == Some(number) => Some((first, number)),
            Some((first, last)) => {
                push_run(&mut list, first, last);
                Some((number, number))
            }
            None => Some((number, number)),
        };
    }
    if let Some((first, last)) = run {
        push_run(&mut list, first, last);
    }
    list
}

/// Appends the numbers from `first` to `last` to a list.
fn push_run(list: &mut String, first: u32, last: u32) {
    if !list.is_empty() {
        list.push(',');
    }
    list.push_str(&first.to_string());
    if last > first {
        list.push('-');
        list.push_str(&last.to_string());
    }
}

/// Returns the index of the block of a CPU, and the bit of the CPU in that block.
const fn split(cpu: CpuId) -> (usize, u64) {
    (cpu.index() / BLOCK_BITS, 1 << (cpu.index() % BLOCK_BITS))
}
