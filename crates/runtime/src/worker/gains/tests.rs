//! Tests of what a worker learns from short loops. The times are invented; no clock is read.

use super::*;

#[test]
fn unprofitable_splits_stop_and_are_tried_again_later() {
    let gains = Gains::default();
    assert!(!gains.allow_split(SPLIT_AWAKE_NS / 2.0));
    assert!(gains.allow_split(1_000.0));
    let lessons = (1..100).find(|_| {
        gains.learn(1_000.0, 1_200.0);
        !gains.allow_split(1_000.0)
    });
    assert!(
        (2..20).contains(&lessons.expect("it gives up")),
        "{lessons:?}"
    );
    assert!(!gains.allow_split(1_000.0));
    let refused = (1..).take_while(|_| !gains.allow_split(1_000.0)).count();
    assert!((500..10_000).contains(&refused), "{refused}");
}

#[test]
fn profitable_splits_lower_the_limit_again() {
    let gains = Gains::default();
    while gains.allow_split(20_000.0) {
        gains.learn(20_000.0, 20_000.0);
    }
    assert!(!gains.allow_split(25_000.0));
    gains.learn(31_000.0, 16_000.0);
    gains.learn(9_000.0, 5_000.0);
    assert!(gains.allow_split(9_500.0));
}

#[test]
fn dense_loops_pay_for_a_wake_up_and_scattered_ones_do_not() {
    let gains = Gains::default();
    let mut now = Instant::now();
    let dense = (1..1_000)
        .find(|_| {
            now = now + std::time::Duration::from_nanos(2_000);
            gains.allow_wake(2_000.0, now)
        })
        .expect("a thousand loops of two microseconds are worth it");
    assert!((40..100).contains(&dense), "{dense}");
    let scattered = (0..1_000).any(|_| {
        now = now + std::time::Duration::from_millis(1);
        gains.allow_wake(2_000.0, now)
    });
    assert!(!scattered);
}

/// Reproduces a bug: the limit came down only while a worker was searching. After a period of
/// unprofitable splits, at the end of which the other worker went to sleep, short loops ran alone
/// for seconds.
#[test]
fn splits_are_tried_again_when_the_other_workers_sleep() {
    let gains = Gains::default();
    while gains.allow_split(2_000.0) {
        gains.learn(2_000.0, 4_000.0);
    }
    let mut now = Instant::now();
    let refused = (1..10_000).find(|_| {
        now = now + std::time::Duration::from_nanos(2_000);
        gains.allow_wake(2_000.0, now)
    });
    assert!(refused.is_some(), "{gains:?}");
}

#[test]
fn loops_of_few_items_split_at_once_unless_such_loops_were_too_short() {
    let gains = Gains::default();
    assert!(gains.allow_split_of_few(30));
    gains.remember_few(30, 100.0);
    assert!(!gains.allow_split_of_few(30));
    assert!(!gains.allow_split_of_few(16), "16 to 31 items are alike");
    assert!(gains.allow_split_of_few(15));
    assert!(gains.allow_split_of_few(FEW_ITEMS - 1));
    gains.remember_few(20, 50_000.0);
    assert!(gains.allow_split_of_few(30));
}

#[test]
fn worker_that_ends_first_gets_more_of_the_next_loop() {
    let gains = Gains::default();
    let own = Instant::now();
    let late = |ns| own + std::time::Duration::from_nanos(ns);
    // The other worker begins 1,000 ns later. It is late by this time, less the handover that is
    // known already.
    for _ in 0..500 {
        let unknown_ns = 1_000.0 - gains.handover_ns();
        gains.learn_handover(own, late(unknown_ns as u64));
    }
    assert!((950.0..1_050.0).contains(&gains.handover_ns()), "{gains:?}");
    gains.learn_handover(own, late(50_000_000));
    assert!(
        gains.handover_ns() < 1_100.0,
        "an interrupt moves it little"
    );
    for _ in 0..500 {
        gains.learn_handover(late(1_000), own);
    }
    assert_eq!(gains.handover_ns(), 0.0);
}
