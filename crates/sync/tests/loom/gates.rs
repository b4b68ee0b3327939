//! A model of the gates: an asker that goes to sleep is notified, or the gates stay closed for it.

use std::ptr;

use loom::sync::Arc;
use loom::thread::{self, JoinHandle};
use raddle_sync::gates::Gates;

/// Creates open gates of a stack with this end and base, and starts worker 3, which closes them and
/// goes to sleep.
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

/// Checks G2 and invariant 1: an owner that updates the gates after a change of the base does not
/// undo a request.
#[test]
fn updating_the_gates_does_not_undo_a_request() {
    loom::model(|| {
        let (gates, [end, _], asker) = open_with_an_asker();
        // SAFETY: this thread is the owner.
        unsafe { gates.follow(end, ptr::without_provenance_mut(4), || false) };
        asker.join().expect("no panic");
        assert!(gates.are_closed());
    });
}

/// Checks G1 and invariant 1: at whatever moment the owner opens the gates, either the asker closes
/// them afterwards, or the owner gets its bit.
#[test]
fn a_sleeping_asker_is_notified_or_the_gates_stay_closed() {
    loom::model(|| {
        let (gates, [end, base], asker) = open_with_an_asker();
        let mut askers = 0;
        for _ in 0..2 {
            if gates.are_closed() || !gates.lets_pop(base) {
                // SAFETY: this thread is the owner.
                askers |= unsafe { gates.open_and_take(end, base) };
            }
        }
        asker.join().expect("no panic");
        if askers == 0 {
            assert!(gates.are_closed());
            // SAFETY: this thread is the owner.
            askers = unsafe { gates.open_and_take(end, base) };
        }
        assert_eq!(askers, 1 << 3);
    });
}
