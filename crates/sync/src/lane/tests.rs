//! Tests of lanes: against a plain queue, between threads, and with invalid slots.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::prim::Release;

fn message(number: usize, short: usize, long: usize) -> (Vec<u8>, Vec<u8>) {
    let byte = |index: usize| (number * 31 + index * 7) as u8;
    (
        (0..short).map(byte).collect(),
        (0..long).map(byte).collect(),
    )
}

#[test]
fn a_lane_takes_one_message_per_slot_and_no_more() {
    let (mut sender, mut receiver) = Lane::pair();
    for number in 0..SLOTS {
        assert_eq!(sender.send(&[&[number as u8]], &[]), Ok(()));
    }
    assert_eq!(sender.send(&[&[0]], &[]), Err(Full));
    for number in 0..SLOTS {
        let found = receiver.receive(|message| message.short[0]);
        assert_eq!(found, Ok(Some(number as u8)));
    }
    assert_eq!(receiver.receive(|_| ()), Ok(None));
    // The receiver has given back every slot.
    for number in 0..SLOTS {
        assert_eq!(sender.send(&[&[number as u8]], &[]), Ok(()));
    }
    assert_eq!(sender.send(&[&[0]], &[]), Err(Full));
}

#[test]
fn the_longest_part_fits_after_parts_of_any_length() {
    let longest = vec![7; LONG_MAX];
    for before in [0, 1, 64, LONG_MAX - 1, LONG_MAX] {
        let (mut sender, mut receiver) = Lane::pair();
        for _ in 0..5 {
            assert_eq!(sender.send(&[], &longest[..before]), Ok(()));
            assert!(
                receiver
                    .receive(|message| assert_eq!(message.long.len(), before))
                    .is_ok()
            );
            assert_eq!(sender.send(&[], &longest), Ok(()));
            let found = receiver.receive(|message| message.long == longest);
            assert_eq!(found, Ok(Some(true)));
        }
    }
}

proptest! {
    #[test]
    fn a_lane_is_a_queue(
        steps in prop::collection::vec((any::<bool>(), 0..=SHORT_MAX, 0..LONG_MAX), 1..200),
    ) {
        let (mut sender, mut receiver) = Lane::pair();
        let mut queue = VecDeque::new();
        for (number, (sends, short, long)) in steps.into_iter().enumerate() {
            if sends {
                let (short, long) = message(number, short, long);
                let pieces: [&[u8]; 2] = [&short[..short.len() / 3], &short[short.len() / 3..]];
                if sender.send(&pieces, &long).is_ok() {
                    queue.push_back((short, long));
                } else {
                    prop_assert!(!queue.is_empty(), "an empty lane has space");
                }
            } else {
                let found = receiver.receive(|found| (found.short.to_vec(), found.long.to_vec()));
                prop_assert_eq!(found, Ok(queue.pop_front()));
            }
        }
    }

    #[test]
    fn an_invalid_slot_is_reported_and_no_byte_outside_is_read(
        short_len: u32,
        long_len: u32,
        long_at: u32,
    ) {
        let mut receiver = Lane::pair().1;
        let slot = Slot::of(receiver.lane(), 0);
        let head = Head { short_len, long_len, long_at };
        // SAFETY: no thread reads the slot yet.
        slot.content.with_mut(|content| unsafe { (*content).head = head });
        slot.turn.store(1, Release);
        let found = receiver.receive(|found| (found.short.len(), found.long.len()));
        let is_valid = short_len as usize <= SHORT_MAX
            && (long_at as usize).is_multiple_of(LONG_ALIGN)
            && long_at as usize <= LONG_BYTES
            && long_len as usize <= LONG_MAX.min(LONG_BYTES - long_at as usize);
        if is_valid {
            prop_assert_eq!(found, Ok(Some((short_len as usize, long_len as usize))));
        } else {
            prop_assert_eq!(found, Err(BrokenLane { short_len, long_len }));
        }
    }
}

#[test]
fn a_million_messages_arrive_in_order_and_whole() {
    let count = if LIGHT { 100 } else { 1_000_000 };
    let (mut sender, mut receiver) = Lane::pair();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            for number in 0..count {
                let (short, long) = message(number, number % 40, number % 97);
                while sender.send(
                    &[&short[..short.len() / 3], &short[short.len() / 3..]],
                    &long,
                ) == Err(Full)
                {
                    std::thread::yield_now();
                }
            }
        });
        for number in 0..count {
            let expected = message(number, number % 40, number % 97);
            loop {
                let found = receiver.receive(|found| {
                    assert_eq!(
                        (found.short, found.long),
                        (&expected.0[..], &expected.1[..])
                    );
                });
                match found.expect("no slot is broken") {
                    Some(()) => break,
                    None => std::thread::yield_now(),
                }
            }
        }
    });
}
