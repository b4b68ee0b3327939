//! Tests of the wait cell on real threads, and of what the spin budget learns.

use super::*;
use std::sync::Arc;

#[test]
fn token_left_before_the_wait_is_taken_at_once() {
    let cell = WaitCell::new();
    assert_eq!(cell.notify(), Notified::Awake);
    cell.wait(Duration::ZERO);
    assert!(!cell.try_take());
}

#[test]
fn two_tokens_that_nobody_took_are_one() {
    let cell = WaitCell::new();
    let _ = cell.notify();
    let _ = cell.notify();
    assert!(cell.try_take());
    assert!(!cell.try_take());
}

#[test]
fn sleeper_is_woken_every_time() {
    let there = Arc::new(WaitCell::new());
    let back = Arc::new(WaitCell::new());
    let other = std::thread::spawn({
        let (there, back) = (Arc::clone(&there), Arc::clone(&back));
        move || {
            for _ in 0..2_000 {
                there.wait(Duration::ZERO);
                let _ = back.notify();
            }
        }
    });
    for _ in 0..2_000 {
        let _ = there.notify();
        back.wait(Duration::ZERO);
    }
    other.join().expect("the other side panics nowhere");
}

#[test]
fn timeout_ends_the_wait_without_a_token() {
    let cell = WaitCell::new();
    assert!(!cell.wait_timeout(Duration::from_millis(1)));
    let _ = cell.notify();
    assert!(cell.wait_timeout(Duration::from_secs(60)));
}

#[test]
fn budget_shrinks_on_long_gaps_and_grows_on_short_ones() {
    let mut budget = SpinBudget::default();
    for _ in 0..64 {
        budget.observe(Duration::from_millis(10));
    }
    let low = budget.spin();
    assert!(low <= Duration::from_micros(2));
    budget.observe(Duration::from_micros(20));
    assert!(budget.spin() >= Duration::from_micros(40));
}
