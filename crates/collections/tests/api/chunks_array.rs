//! A chunked array behaves as the `Vec` of its elements does, for any division into chunks.

use proptest::prelude::*;
use raddle_collections::ChunkedArray;

/// Generates empty, short and a few long chunks, and sequences of equal chunks.
fn chunks() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let len = prop_oneof![3 => 0..4_usize, 2 => 0..40_usize, 1 => 300..600_usize];
    let lens = prop_oneof![
        proptest::collection::vec(len, 0..30),
        (0..40_usize, 0..20_usize).prop_map(|(len, count)| vec![len; count]),
    ];
    lens.prop_map(|lens| {
        let mut numbers = 0..;
        let mut chunk = |len| {
            numbers
                .by_ref()
                .take(len)
                .map(|n: u32| n.wrapping_mul(0x9e37_79b9))
                .collect()
        };
        lens.into_iter().map(&mut chunk).collect()
    })
}

/// Generates a walk along an iterator: from the front or not, and the number of elements to skip.
fn walk() -> impl Strategy<Value = Vec<(bool, usize)>> {
    proptest::collection::vec((any::<bool>(), prop_oneof![Just(0), 0..70_usize]), 0..60)
}

/// Checks that both iterators return the same elements along the walk, and the same rest after it.
fn check_walk<I: DoubleEndedIterator + ExactSizeIterator>(
    mut ours: I,
    mut slice: impl DoubleEndedIterator<Item = I::Item> + ExactSizeIterator,
    walk: &[(bool, usize)],
) where
    I::Item: PartialEq + std::fmt::Debug,
{
    for &(front, count) in walk {
        match (front, count) {
            (true, 0) => assert_eq!(ours.next(), slice.next()),
            (true, _) => assert_eq!(ours.nth(count), slice.nth(count)),
            (false, 0) => assert_eq!(ours.next_back(), slice.next_back()),
            (false, _) => assert_eq!(ours.nth_back(count), slice.nth_back(count)),
        }
        assert_eq!(ours.len(), slice.len());
    }
    // `collect` uses `fold` for the rest.
    let (ours, slice): (Vec<_>, Vec<_>) = (ours.collect(), slice.collect());
    assert_eq!(ours, slice);
}

proptest! {
    #[test]
    fn an_index_returns_the_element_of_the_vec(chunks in chunks()) {
        let mut vec = chunks.concat();
        let mut array = ChunkedArray::from_chunks(chunks.clone());
        prop_assert_eq!(array.len(), vec.len());
        prop_assert_eq!(array.is_empty(), vec.is_empty());
        for index in 0..vec.len() {
            prop_assert_eq!(array[index], vec[index]);
            let (chunk, local) = array.locate(index).expect("there is such an element");
            prop_assert_eq!(chunks[chunk][local], vec[index]);
            prop_assert_eq!(array.global(chunk, local), Some(index));
            array[index] ^= 1;
            vec[index] ^= 1;
        }
        for beyond in [vec.len(), vec.len() + 1, 2 * vec.len() + 7, usize::MAX] {
            prop_assert_eq!(array.get(beyond), None);
            prop_assert_eq!(array.get_mut(beyond), None);
            prop_assert_eq!(array.locate(beyond), None);
        }
        for (chunk, items) in chunks.iter().enumerate() {
            prop_assert_eq!(array.global(chunk, items.len()), None);
            prop_assert_eq!(array.chunk(chunk).len(), items.len());
        }
        prop_assert_eq!(&array, &vec);
    }

    #[test]
    fn chunks_are_returned_unchanged(chunks in chunks()) {
        let mut array = ChunkedArray::from_chunks(chunks.clone());
        prop_assert_eq!(array.chunk_count(), chunks.len());
        prop_assert!(array.chunks().eq(chunks.iter().map(Vec::as_slice)));
        prop_assert!(array.chunks_mut().rev().eq(chunks.iter().rev().map(Vec::as_slice)));
        prop_assert_eq!(format!("{array:?}"), format!("{chunks:?}"));
        prop_assert_eq!(array.clone().into_chunks(), chunks);
    }

    #[test]
    fn arrays_are_equal_if_their_elements_are(chunks in chunks(), other in chunks()) {
        let array = ChunkedArray::from_chunks(chunks.clone());
        let whole = ChunkedArray::from(chunks.concat());
        prop_assert_eq!(&array, &whole);
        prop_assert_eq!(&whole, &array);
        prop_assert_eq!(&array, &chunks.concat());
        let others = ChunkedArray::from_chunks(other.clone());
        let are_equal = chunks.concat() == other.concat();
        prop_assert_eq!(array == others, are_equal);
        prop_assert_eq!(array == other.concat(), are_equal);
        prop_assert_eq!(array.to_vec(), chunks.concat());
        prop_assert_eq!(array.into_vec(), chunks.concat());
        prop_assert_eq!(Vec::from(whole), chunks.concat());
    }

    #[test]
    fn adding_chunks_one_by_one_gives_the_same_array(chunks in chunks(), split in 0..30_usize) {
        let at_once = ChunkedArray::from_chunks(chunks.clone());
        let split = split.min(chunks.len());
        let mut added = ChunkedArray::default();
        for chunk in &chunks[..split] {
            added.push_chunk(chunk.clone());
        }
        let mut others = ChunkedArray::new();
        for chunk in &chunks[split..] {
            others.extend(chunk.iter().copied());
        }
        added.append(others);
        prop_assert_eq!(&added, &at_once);
        for index in 0..=at_once.len() {
            prop_assert_eq!(added.get(index), at_once.get(index));
        }
    }

    #[test]
    fn iterators_return_the_same_as_those_of_a_slice(chunks in chunks(), walk in walk()) {
        let mut vec = chunks.concat();
        let mut array = ChunkedArray::from_chunks(chunks);
        check_walk(array.iter(), vec.iter(), &walk);
        check_walk(array.iter_mut(), vec.iter_mut(), &walk);
        check_walk(array.iter().rev(), vec.iter().rev(), &walk);
        check_walk(array.clone().into_iter(), vec.clone().into_iter(), &walk);
        prop_assert_eq!(array.iter().last(), vec.last());
        prop_assert_eq!(array.iter().count(), vec.len());
        let order = |sum: u64, n: &u32| sum.wrapping_mul(31).wrapping_add(u64::from(*n));
        prop_assert_eq!(array.iter().fold(7, order), vec.iter().fold(7, order));
        prop_assert_eq!(array.iter().rfold(7, order), vec.iter().rfold(7, order));
    }

    #[test]
    fn ranges_are_those_of_a_slice(
        chunks in chunks(),
        ends in any::<[prop::sample::Index; 2]>(),
        walk in walk(),
    ) {
        let mut vec = chunks.concat();
        let mut array = ChunkedArray::from_chunks(chunks);
        let [a, b] = ends.map(|end| end.index(vec.len() + 1));
        let (start, end) = (a.min(b), a.max(b));
        check_walk(array.range(start..end), vec[start..end].iter(), &walk);
        check_walk(array.range_mut(start..end), vec[start..end].iter_mut(), &walk);
        prop_assert!(array.slices(start..end).all(|slice| !slice.is_empty()));
        prop_assert_eq!(array.slices(start..end).collect::<Vec<_>>().concat(), &vec[start..end]);
        prop_assert!(array.range(start..).eq(&vec[start..]));
        prop_assert!(array.range(..end).eq(&vec[..end]));
        prop_assert!(array.range(..).eq(&vec[..]));
        if end < vec.len() {
            prop_assert!(array.range(start..=end).eq(&vec[start..=end]));
        }
        array.range_mut(start..end).for_each(|element| *element = 0);
        vec[start..end].fill(0);
        prop_assert_eq!(array, vec);
    }
}

#[test]
fn elements_of_tiny_chunks_beside_a_huge_one_are_found() {
    let chunks = (0..500).map(|n| vec![n]).chain([(500..100_000).collect()]);
    let array = ChunkedArray::from_chunks(chunks.chain((100_000..100_500).map(|n| vec![n])));
    assert!((0..array.len()).all(|index| array[index] == index));
}

#[test]
fn zero_sized_elements_are_counted_up_to_usize_max() {
    let half = usize::MAX / 2;
    let mut array = ChunkedArray::from_chunks([vec![(); half], vec![(); half]]);
    array.push_chunk(vec![()]);
    assert_eq!(array.locate(usize::MAX - 1), Some((2, 0)));
    assert_eq!(array.locate(usize::MAX - 2), Some((1, half - 1)));
    assert_eq!(array.get(usize::MAX), None);
    assert_eq!(array.iter().len(), usize::MAX);
    assert_eq!(array.range(half - 1..=half).count(), 2);
}

#[test]
fn a_single_vec_is_returned_without_moving_its_elements() {
    let vec = vec![1, 2, 3];
    let address = vec.as_ptr();
    let array = ChunkedArray::from_chunks([vec![], vec, vec![]]);
    let vec = array.into_vec();
    assert_eq!(vec.as_ptr(), address);
}

#[test]
#[should_panic(expected = "index 3 is out of bounds: the array has 3 elements")]
fn an_index_beyond_the_end_panics_with_the_index() {
    let _ = ChunkedArray::from_chunks([vec![1, 2], vec![3]])[3];
}

#[test]
#[should_panic(expected = "index 0 is out of bounds: the array has 0 elements")]
fn the_first_index_of_an_empty_array_panics() {
    ChunkedArray::<u8>::new()[0] = 1;
}

#[test]
#[should_panic(expected = "there is no chunk 2: the array has 2")]
fn a_chunk_beyond_the_end_panics_with_its_number() {
    let _ = ChunkedArray::from_chunks([vec![1, 2], vec![3]]).chunk(2);
}

#[test]
#[should_panic(expected = "the range 2..4 does not lie in an array of 3 elements")]
fn a_range_beyond_the_end_panics_with_the_range() {
    let _ = ChunkedArray::from_chunks([vec![1, 2], vec![3]]).range(2..4);
}

#[test]
#[should_panic(expected = "a usize cannot count them")]
fn more_elements_than_usize_max_are_refused() {
    let _ = ChunkedArray::from_chunks([vec![(); usize::MAX], vec![()]]);
}
