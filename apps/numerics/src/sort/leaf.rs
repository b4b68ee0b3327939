//! The sort of the last few items: it counts the rank of each item, and moves each to its rank.
//!
//! Comparing every item with every other takes more comparisons than other methods. However, no
//! branch depends on their results, and the compiler turns them into vector instructions. Equal
//! items would get equal ranks. In that case the sum of the ranks is too small, and the items are
//! sorted by insertion.

/// The largest number of items that are sorted here.
pub(super) const LEAF_LEN_MAX: usize = 16;

/// Sorts up to [`LEAF_LEN_MAX`] items.
///
/// # Panics
/// If there are more items.
#[inline]
pub(super) fn sort<T: Copy + Ord>(items: &mut [T]) {
    let len = items.len();
    if len < 2 {
        return;
    }
    // Pad with copies of the last item, so that the loops have a constant length and are
    // vectorised.
    let mut lanes = [items[len - 1]; LEAF_LEN_MAX];
    lanes[..len].copy_from_slice(items);
    let mut ranks = [0_u32; LEAF_LEN_MAX];
    for &item in &lanes[..len] {
        for (rank, &lane) in ranks.iter_mut().zip(&lanes) {
            *rank += u32::from(item < lane);
        }
    }
    let padding = (LEAF_LEN_MAX - len) as u32 * ranks[LEAF_LEN_MAX - 1];
    let sum = ranks.iter().sum::<u32>() - padding;
    if sum as usize != len * (len - 1) / 2 {
        sort_by_insertion(items);
        return;
    }
    for (&rank, &lane) in ranks[..len].iter().zip(&lanes) {
        items[rank as usize] = lane;
    }
}

#[cold]
fn sort_by_insertion<T: Copy + Ord>(items: &mut [T]) {
    for end in 1..items.len() {
        let item = items[end];
        let mut place = end;
        while place > 0 && item < items[place - 1] {
            items[place] = items[place - 1];
            place -= 1;
        }
        items[place] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every sequence of `len` numbers below `count`.
    fn sequences(count: usize, len: usize) -> impl Iterator<Item = Vec<usize>> {
        (0..count.pow(len as u32)).map(move |code| {
            (0..len)
                .map(|place| code / count.pow(place as u32) % count)
                .collect()
        })
    }

    #[test]
    fn every_short_sequence_is_sorted_with_and_without_equal_items() {
        for len in 0..=6 {
            for sequence in sequences(len.max(2), len) {
                let mut expected = sequence.clone();
                expected.sort_unstable();
                let mut found = sequence.clone();
                sort(&mut found);
                assert_eq!(found, expected, "{sequence:?}");
            }
        }
    }

    #[test]
    fn a_full_leaf_is_sorted() {
        for shift in 0..LEAF_LEN_MAX {
            let mut items: Vec<usize> = (0..LEAF_LEN_MAX)
                .map(|index| (index * 7 + shift) % LEAF_LEN_MAX)
                .collect();
            sort(&mut items);
            assert!(items.into_iter().eq(0..LEAF_LEN_MAX));
        }
    }
}
