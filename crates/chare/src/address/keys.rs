//! A table of the keys of elements and their numbers, which never calls the program's code.
//!
//! The program's `Hash` and `Eq` of its keys can do anything: send messages, look into the same
//! array, panic. So a lookup hashes the key first, copies the entries with that hash, and compares
//! keys only after the table's lock has been released.

use std::collections::HashMap;

use crate::address::index::Key;
use crate::address::number::Number;

/// The numbers of elements, by their keys.
pub(crate) struct Keys<K> {
    by_hash: HashMap<u64, Alike<K>>,
    /// The size at which entries without an element are searched for ([`Keys::put_tidily`]).
    tidy_at: usize,
}

/// The entries with the same hash: nearly always one.
#[derive(Clone)]
pub(crate) struct Alike<K> {
    first: (K, Number),
    more: Vec<(K, Number)>,
}

impl<K> Default for Keys<K> {
    fn default() -> Self {
        Self {
            by_hash: HashMap::new(),
            tidy_at: Self::FEW,
        }
    }
}

impl<K> Keys<K> {
    /// Tables smaller than this are not searched for entries without an element.
    const FEW: usize = 64;
}

impl<K: Key> Alike<K> {
    fn iter(&self) -> impl Iterator<Item = &(K, Number)> {
        std::iter::once(&self.first).chain(&self.more)
    }

    /// Returns the number of `key`; `None` if no entry has that key. Calls the program's `Eq`.
    #[inline]
    pub(crate) fn number_of(&self, key: K) -> Option<Number> {
        let mut all = self.iter();
        all.find(|entry| entry.0 == key).map(|entry| entry.1)
    }

    fn has_same_numbers(&self, other: &Self) -> bool {
        self.iter()
            .map(|entry| entry.1)
            .eq(other.iter().map(|entry| entry.1))
    }
}

impl<K: Key> Keys<K> {
    /// Returns a copy of the entries with this hash.
    #[inline]
    pub(crate) fn alike(&self, hash: u64) -> Option<Alike<K>> {
        self.by_hash.get(&hash).cloned()
    }

    pub(crate) fn put(&mut self, hash: u64, key: K, number: Number) {
        let entry = (key, number);
        self.by_hash
            .entry(hash)
            .and_modify(|alike| alike.more.push(entry))
            .or_insert_with(|| Alike {
                first: entry,
                more: Vec::new(),
            });
    }

    /// Inserts a key if the entries with its hash are still those of `seen`, which must not contain
    /// the key. Returns false, without inserting, if the entries have changed.
    #[must_use]
    pub(crate) fn put_beside(
        &mut self,
        seen: Option<&Alike<K>>,
        hash: u64,
        key: K,
        number: Number,
    ) -> bool {
        let are_same = match (self.by_hash.get(&hash), seen) {
            (None, None) => true,
            (Some(alike), Some(seen)) => alike.has_same_numbers(seen),
            _ => false,
        };
        if are_same {
            self.put(hash, key, number);
        }
        are_same
    }

    /// Inserts a key like [`put`](Self::put), for a caller that never removes keys: searches the
    /// table from time to time for keys of ended elements, and removes them.
    pub(crate) fn put_tidily(
        &mut self,
        hash: u64,
        key: K,
        number: Number,
        is_alive: impl Fn(Number) -> bool,
    ) {
        if self.by_hash.len() >= self.tidy_at {
            self.by_hash
                .retain(|_, alike| alike.iter().any(|entry| is_alive(entry.1)));
            self.tidy_at = Self::FEW.max(2 * self.by_hash.len());
        }
        self.put(hash, key, number);
    }

    /// Removes the key with this hash and this number.
    pub(crate) fn remove(&mut self, hash: u64, number: Number) {
        let Some(alike) = self.by_hash.get_mut(&hash) else {
            return;
        };
        alike.more.retain(|entry| entry.1 != number);
        if alike.first.1 == number {
            match alike.more.pop() {
                Some(entry) => alike.first = entry,
                None => {
                    self.by_hash.remove(&hash);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_one_hash_are_distinguished() {
        let mut keys = Keys::default();
        let number = |index| Number::new(0, 0, index);
        let find = |keys: &Keys<u32>, key| keys.alike(7)?.number_of(key);
        for key in 0..4 {
            let seen = keys.alike(7);
            assert!(keys.put_beside(seen.as_ref(), 7, key, number(key)));
            assert!(!keys.put_beside(seen.as_ref(), 7, key, number(9)));
        }
        for gone in [2, 0, 3, 1] {
            assert_eq!(find(&keys, gone), Some(number(gone)));
            keys.remove(7, number(gone));
            assert_eq!(find(&keys, gone), None);
        }
        assert!(keys.alike(7).is_none());
    }

    #[test]
    fn keys_of_ended_elements_are_forgotten() {
        let mut keys = Keys::default();
        for key in 0..10_000_u32 {
            keys.put_tidily(u64::from(key), key, Number::new(0, 0, key), |number| {
                number.index() < 10
            });
        }
        assert!(keys.by_hash.len() <= Keys::<u32>::FEW + 10);
        assert!((0..10_u32).all(|key| keys.alike(u64::from(key)).is_some()));
    }
}
