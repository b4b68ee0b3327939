//! Models of the lines of a cache: a pinned line keeps its key and value, and one thread at a time
//! refills a line.
//!
//! Weakening either side of K1, K2 or K3 makes a model fail.

use loom::thread;
use raddle_sync::lines::Lines;
use raddle_sync::prim::Tracked;

/// Returns one line with key and value 1.
fn line() -> Lines<Tracked> {
    let lines = Lines::new([Tracked::new(0)]);
    refill(&lines, 1);
    lines
}

/// Refills the line with a key, and the same value, if nothing keeps it.
fn refill(lines: &Lines<Tracked>, key: u32) -> bool {
    let Some(mut refill) = lines.try_refill(0) else {
        return false;
    };
    refill.value_mut().set(key);
    let pin = refill.publish(key.into());
    assert_eq!(pin.get(), key);
    true
}

/// Pins the line if it has a key, and checks its value.
fn check(lines: &Lines<Tracked>, key: u32) -> bool {
    let Some(pin) = lines.pin(0, key.into()) else {
        return false;
    };
    assert_eq!(pin.get(), key);
    true
}

/// Checks K1 and K2: a thread pins the line while another one refills it.
#[test]
fn a_pinned_value_belongs_to_its_key() {
    loom::model(|| {
        let lines = line();
        let other = {
            let lines = lines.clone();
            thread::spawn(move || refill(&lines, 2))
        };
        let found = [check(&lines, 1), check(&lines, 2)];
        let refilled = other.join().expect("no panic");
        assert!(refilled || !found[1]);
        assert_eq!(check(&lines, 2), refilled);
        assert_eq!(check(&lines, 1), !refilled);
    });
}

/// Checks K2: two readers, one of which keeps its pin longer, and a thread that refills.
#[test]
fn a_line_is_refilled_after_its_last_reader() {
    loom::model(|| {
        let lines = line();
        let pin = lines.pin(0, 1).expect("nothing else uses it").to_shared();
        let reader = {
            let lines = lines.clone();
            thread::spawn(move || check(&lines, 1))
        };
        let keeper = thread::spawn(move || {
            assert_eq!(pin.get(), 1);
            drop(pin);
        });
        let refilled = refill(&lines, 2);
        let _ = reader.join().expect("no panic");
        keeper.join().expect("no panic");
        assert_eq!(check(&lines, 2), refilled);
    });
}

/// Checks K1 and K3: two threads refill the line, one of which gives up.
#[test]
fn one_thread_at_a_time_refills() {
    loom::model(|| {
        let lines = Lines::new([Tracked::new(0)]);
        let other = {
            let lines = lines.clone();
            thread::spawn(move || {
                if let Some(mut refill) = lines.try_refill(0) {
                    refill.value_mut().set(9);
                }
            })
        };
        let refilled = refill(&lines, 2);
        let found = check(&lines, 2);
        other.join().expect("no panic");
        assert!(refilled || !found);
    });
}
