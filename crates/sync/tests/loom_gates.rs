//! A model of the gates: an asker that goes to sleep is told, or the gates stay closed for it.

#![cfg(loom)]

use std::ptr;

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use raddle_sync::gates::Gates;

/// Gates open over a stack with that end and base, and worker 3, who closes them and goes to sleep.
fn open_with_an_asker() -> (Arc<Gates<u8>>, [*mut u8; 2], JoinHandle<()>) {
    let gates = Arc::new(Gates::new());
    let [end, base] = [64, 8].map(ptr::without_provenance_mut);
    // SAFETY: this thread is the owner.
    unsafe { gates.open(end, base) };
    let asker = {
        let gates = Arc::clone(&gates);
        thread::spawn(move || gates.close_and_wait(3))
    };
    (gates, [end, base], asker)
}

/// G2, invariant 1: an owner whose gates follow its base does not undo an ask.
#[test]
fn gates_that_follow_the_base_do_not_undo_an_ask() {
    loom::model(|| {
        let (gates, [end, _], asker) = open_with_an_asker();
        // SAFETY: this thread is the owner.
        unsafe { gates.follow(end, ptr::without_provenance_mut(4), || false) };
        asker.join().expect("no panic");
        assert!(gates.are_closed());
    });
}

/// G1, invariant 1: whenever the owner opens, it is before the asker closes, or it gets the bit.
#[test]
fn sleeping_asker_is_told_or_finds_the_gates_closed() {
    loom::model(|| {
        let (gates, [end, base], asker) = open_with_an_asker();
        let mut told = 0;
        for _ in 0..2 {
            if gates.are_closed() || !gates.lets_pop(base) {
                // SAFETY: this thread is the owner.
                told |= unsafe { gates.open_and_take(end, base) };
            }
        }
        asker.join().expect("no panic");
        if told == 0 {
            assert!(gates.are_closed());
            // SAFETY: this thread is the owner.
            told = unsafe { gates.open_and_take(end, base) };
        }
        assert_eq!(told, 1 << 3);
    });
}
