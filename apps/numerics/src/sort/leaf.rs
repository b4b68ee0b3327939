//! The last few items: their ranks are counted, all pairs at once, and each goes to its rank.
//!
//! Comparing every item with every other takes more comparisons than any clever way, but none of them decides where
//! the program goes on, and the compiler makes vector instructions of them. Equal items would get equal ranks; then the sum
//! of the ranks is too small, and insertion does the work.

/// At most so many items are sorted here.
pub(super) const LEAF_LEN_MAX: usize = 16;

/// Sorts up to [`LEAF_LEN_MAX`] items.
///
/// # Panics
/// With more of them.
#[inline]
pub(super) fn sort<T: Copy + Ord>(items: &mut [T]) {
    let len = items.len();
    if len < 2 {
        return;
    }
    // Beyond the items, copies of the last one: loops of constant length become vector code.
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

    /// Every word of that length over the letters 0 to `letters - 1`.
    fn words(letters: usize, len: usize) -> impl Iterator<Item = Vec<usize>> {
        (0..letters.pow(len as u32)).map(move |code| {
            (0..len)
                .map(|place| code / letters.pow(place as u32) % letters)
                .collect()
        })
    }

    #[test]
    fn every_short_word_is_sorted_with_and_without_equal_letters() {
        for len in 0..=6 {
            for word in words(len.max(2), len) {
                let mut expected = word.clone();
                expected.sort_unstable();
                let mut found = word.clone();
                sort(&mut found);
                assert_eq!(found, expected, "{word:?}");
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
