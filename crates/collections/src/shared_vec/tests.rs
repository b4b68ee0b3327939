//! Claims of one thread and of several; vectors that are not full, and ranges claimed twice.

use super::*;

#[test]
fn threads_fill_a_vector() {
    let len = if raddle_sync::prim::LIGHT { 64 } else { 10_000 };
    let vector = SharedVec::new(len);
    std::thread::scope(|scope| {
        for part in 0..8 {
            let mut claim = vector.claim(part * len / 8..(part + 1) * len / 8);
            scope.spawn(move || {
                while claim.left() > 0 {
                    claim.extend_from_slice(&[claim.left.start]);
                }
            });
        }
    });
    assert!(vector.into_vec().unwrap().into_iter().eq(0..len));
}

#[test]
fn a_vector_with_a_gap_is_not_full() {
    let vector = SharedVec::new(5);
    vector.claim(0..2).extend_from_slice(&[1, 2]);
    let mut rest = vector.claim(2..5);
    rest.extend_from_slice(&[3]);
    let also = vector.clone();
    assert_eq!(also.into_vec(), Err(NotFull::Shared));
    drop(rest);
    assert_eq!(vector.into_vec(), Err(NotFull::Missing { count: 2 }));
}

#[test]
fn the_memory_of_a_vector_is_reused() {
    let memory: Vec<u8> = Vec::with_capacity(100);
    let (place, capacity) = (memory.as_ptr(), memory.capacity());
    let vector = SharedVec::within(memory, 2);
    vector.claim(0..2).extend_from_slice(&[1, 2]);
    let filled = vector.into_vec().unwrap();
    assert_eq!(filled, [1, 2]);
    assert_eq!((filled.as_ptr(), filled.capacity()), (place, capacity));
    assert_eq!(SharedVec::within(filled, 1000).len(), 1000);
}

#[test]
fn an_empty_vector_is_full() {
    let vector = SharedVec::<u8>::new(0);
    drop(vector.claim(0..0));
    assert!(vector.is_empty());
    assert_eq!(vector.into_vec(), Ok(Vec::new()));
}

#[test]
fn zero_sized_elements_are_counted() {
    let vector = SharedVec::new(3);
    vector.claim(0..3).extend_from_slice(&[(); 3]);
    assert_eq!(vector.into_vec().unwrap().len(), 3);
}

#[test]
fn claiming_an_index_twice_panics() {
    for (first, second) in [
        (0..4, 3..5),
        (3..5, 0..4),
        (1..3, 2..3),
        (2..3, 1..4),
        (0..1, 0..1),
    ] {
        let attempt = std::panic::catch_unwind(|| {
            let vector = SharedVec::<u8>::new(6);
            let _claim = vector.claim(first.clone());
            drop(vector.claim(second.clone()));
        });
        let panic = attempt.expect_err("an overlap");
        let message = panic.downcast_ref::<String>().expect("a message");
        assert!(
            message.contains("overlaps"),
            "{first:?}, {second:?}: {message}"
        );
    }
}

#[test]
fn a_range_stays_claimed_after_its_claim_is_dropped() {
    let vector = SharedVec::new(2);
    vector.claim(0..1).extend_from_slice(&[7]);
    assert!(std::panic::catch_unwind(|| drop(vector.claim(0..1))).is_err());
    drop(vector.claim(1..1));
}

#[test]
#[should_panic(expected = "2 elements do not fit where 1 are left of a claim")]
fn writing_more_than_was_claimed_panics() {
    SharedVec::new(3).claim(0..1).extend_from_slice(&[1, 2]);
}

#[test]
#[should_panic(expected = "the range 2..4 does not lie in a shared vector of 3 elements")]
fn claiming_beyond_the_end_panics() {
    drop(SharedVec::<u8>::new(3).claim(2..4));
}
