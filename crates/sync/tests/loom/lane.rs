//! Models of a lane: both parts of each message are there when its turn is stored, no part is
//! overwritten while it is read, and the doorbell wakes a sleeping receiver.

use std::time::Duration;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::lane::{Full, Lane, LaneReceiver};
use raddle_sync::wait::{WaitCell, Way};

fn expect(receiver: &mut LaneReceiver, number: u8) -> bool {
    let found = receiver.receive(|found| {
        assert_eq!(found.short, [number]);
        assert_eq!(found.long, [number; 3]);
    });
    found.expect("no slot is broken").is_some()
}

/// Checks L1 and L2 with more messages than slots, so that a slot and its long bytes are reused.
#[test]
fn parts_are_complete_and_slots_are_reused() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(|| {
        let (mut sender, mut receiver) = Lane::pair();
        let sends = thread::spawn(move || {
            for number in 0..4 {
                while sender.send(&[&[number]], &[number; 3]) == Err(Full) {
                    thread::yield_now();
                }
            }
        });
        for number in 0..4 {
            while !expect(&mut receiver, number) {
                thread::yield_now();
            }
        }
        sends.join().expect("no panic");
    });
}

/// Checks that a sleeping receiver is woken by a ring after the message, or sees the message before
/// it sleeps.
#[test]
fn the_doorbell_wakes_a_sleeping_receiver() {
    for way in Way::ALL {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound = Some(3);
        builder.check(move || {
            let (mut sender, mut receiver) = Lane::pair();
            let cell = Arc::new(WaitCell::new_shared());
            let sends = {
                let cell = Arc::clone(&cell);
                thread::spawn(move || {
                    for number in 0..2 {
                        sender
                            .send(&[&[number]], &[number; 3])
                            .expect("there are two slots");
                        let _ = cell.ring();
                    }
                })
            };
            for number in 0..2 {
                let _ = cell.wait_until(way, Duration::ZERO, || receiver.has_message());
                assert!(expect(&mut receiver, number));
            }
            sends.join().expect("no panic");
        });
    }
}
