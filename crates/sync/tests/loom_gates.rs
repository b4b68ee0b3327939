//! A model of the gates: an asker that goes to sleep is told, or the gates stay closed for it.

#![cfg(loom)]

use std::ptr;

use loom::sync::Arc;
use loom::thread;
use raddle_sync::gates::Gates;

/// G2, invariant 1: an owner whose gates follow its base does not undo an ask.
#[test]
fn gates_that_follow_the_base_do_not_undo_an_ask() {
    loom::model(|| {
        let gates: Arc<Gates<u8>> = Arc::new(Gates::new());
        let (end, base) = (
            ptr::without_provenance_mut(64),
            ptr::without_provenance_mut(8),
        );
        gates.open(end, base);
        let asker = {
            let gates = Arc::clone(&gates);
            thread::spawn(move || gates.close_and_wait(3))
        };
        gates.follow(end, ptr::without_provenance_mut(4), || false);
        asker.join().expect("no panic");
        assert!(gates.are_closed());
    });
}

/// G1, invariant 1: whenever the owner opens, it is before the asker closes, or it gets the bit.
#[test]
fn sleeping_asker_is_told_or_finds_the_gates_closed() {
    loom::model(|| {
        let gates: Arc<Gates<u8>> = Arc::new(Gates::new());
        let (end, base) = (
            ptr::without_provenance_mut(64),
            ptr::without_provenance_mut(8),
        );
        gates.open(end, base);
        let asker = {
            let gates = Arc::clone(&gates);
            thread::spawn(move || gates.close_and_wait(3))
        };
        let mut told = 0;
        for _ in 0..2 {
            if gates.are_closed() || !gates.lets_pop(base) {
                told |= gates.open_and_take(end, base);
            }
        }
        asker.join().expect("no panic");
        if told == 0 {
            assert!(gates.are_closed());
            told = gates.open_and_take(end, base);
        }
        assert_eq!(told, 1 << 3);
    });
}
