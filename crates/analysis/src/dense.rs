//! Maps from indexes to indexes, as plain arrays: most events and strands have an entry, so a hash
//! table would take more memory, and several times as long.

/// No index.
const NONE: u32 = u32::MAX;

/// A map from indexes, which are dense, to indexes below 2³² − 1. The events of a timeline and
/// their strands have such indexes.
#[derive(Debug, Default)]
pub(crate) struct Dense(Vec<u32>);

impl Dense {
    /// Sets an entry, also one that exists.
    pub(crate) fn insert(&mut self, key: usize, value: usize) {
        if self.0.len() <= key {
            self.0.resize(key + 1, NONE);
        }
        debug_assert!(value < NONE as usize, "fewer than 2^32 events and strands");
        self.0[key] = value as u32;
    }

    /// Returns an entry, if it exists.
    pub(crate) fn get(&self, key: usize) -> Option<usize> {
        let value = self.0.get(key).copied();
        value
            .filter(|value| *value != NONE)
            .map(|value| value as usize)
    }

    /// Returns all entries in the order of their keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, usize)> {
        let entries = self.0.iter().enumerate();
        entries.filter_map(|(key, value)| (*value != NONE).then_some((key, *value as usize)))
    }
}
