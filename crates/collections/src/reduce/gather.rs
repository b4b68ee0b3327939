//! Reducers that collect all contributions in the order of the elements.

use std::mem;

use super::error::Mismatch;
use super::reducer::{Monoid, Reducer};

/// Collects one item of each element into a vector, in the order of the elements.
///
/// A merge moves the items of the smaller side, so n items are moved O(n log n) times in total, in
/// any order of merges. A merge of two single items allocates a vector. A merge of a single item
/// with many others allocates only if their vector grows. At the end, the items are sorted by
/// position, in O(n log n), or in O(n) if they were merged in order.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Gather, Mismatch, Reducer};
///
/// let mut names = Gather::new("two").placed(2);
/// names.merge(Gather::new("zero").placed(0))?;
/// names.merge(Gather::new("one").placed(1))?;
/// assert_eq!(names.finish(), ["zero", "one", "two"]);
/// # Ok::<(), Mismatch>(())
/// ```
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Gather<T>(Items<T>);

/// Items, each with the position of its element.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
enum Items<T> {
    One((u64, T)),
    Many(Vec<(u64, T)>),
}

impl<T> Items<T> {
    const NONE: Self = Self::Many(Vec::new());
}

impl<T: Send + 'static> Gather<T> {
    /// Creates the contribution of `item`.
    #[must_use]
    #[inline]
    pub fn new(item: T) -> Self {
        Self(Items::One((0, item)))
    }
}

impl<T: Send + 'static> Reducer for Gather<T> {
    type Output = Vec<T>;

    #[inline]
    fn placed(mut self, position: u64) -> Self {
        if let Items::One((at, _)) = &mut self.0 {
            *at = position;
        }
        self
    }

    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        let items = mem::replace(&mut self.0, Items::NONE);
        self.0 = Items::Many(match (items, other.0) {
            (Items::One(item), Items::One(other)) => vec![item, other],
            (Items::One(item), Items::Many(mut items))
            | (Items::Many(mut items), Items::One(item)) => {
                items.push(item);
                items
            }
            (Items::Many(mut items), Items::Many(mut others)) => {
                // The items are sorted at the end, so their order does not matter here.
                if others.len() > items.len() {
                    mem::swap(&mut items, &mut others);
                }
                items.append(&mut others);
                items
            }
        });
        Ok(())
    }

    fn finish(self) -> Vec<T> {
        match self.0 {
            Items::One((_, item)) => vec![item],
            Items::Many(mut items) => {
                items.sort_unstable_by_key(|&(position, _)| position);
                items.into_iter().map(|(_, item)| item).collect()
            }
        }
    }
}

impl<T: Clone + Send + 'static> Monoid for Gather<T> {
    fn identity() -> Self {
        Self(Items::NONE)
    }
}

/// Concatenates the vectors of all elements, of any length, in the order of the elements.
///
/// Merges cost as much as those of [`Gather`], since they move only the vectors. The items in the
/// vectors are moved once, at the end.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Concat, Mismatch, Reducer};
///
/// let mut all = Concat::new(vec![5, 6]).placed(2);
/// all.merge(Concat::new(vec![]).placed(1))?;
/// all.merge(Concat::new(vec![1, 2, 3]).placed(0))?;
/// assert_eq!(all.finish(), [1, 2, 3, 5, 6]);
/// # Ok::<(), Mismatch>(())
/// ```
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Concat<T>(Gather<Vec<T>>);

impl<T: Send + 'static> Concat<T> {
    /// Creates the contribution of `items`.
    #[must_use]
    #[inline]
    pub fn new(items: Vec<T>) -> Self {
        Self(Gather::new(items))
    }
}

impl<T: Send + 'static> Reducer for Concat<T> {
    type Output = Vec<T>;

    #[inline]
    fn placed(self, position: u64) -> Self {
        Self(self.0.placed(position))
    }

    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        self.0.merge(other.0)
    }

    fn finish(self) -> Vec<T> {
        let parts = self.0.finish();
        let mut all = Vec::with_capacity(parts.iter().map(Vec::len).sum());
        for part in parts {
            all.extend(part);
        }
        all
    }
}

impl<T: Clone + Send + 'static> Monoid for Concat<T> {
    fn identity() -> Self {
        Self(Gather::identity())
    }
}
