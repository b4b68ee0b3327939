//! What is decided from which losses.

use super::*;

/// Lets turns pass in which the current candidate loses what `loss` says; returns which candidates they were.
fn turns(judge: &mut Judge, count: usize, loss: impl Fn(usize) -> f64) -> Vec<usize> {
    let mut current = judge.chosen;
    (0..count)
        .map(|_| {
            current = judge.end_turn(loss(current));
            current
        })
        .collect()
}

#[test]
fn small_loss_asks_no_question() {
    let mut judge = Judge::new();
    assert!(
        turns(&mut judge, 1_000, |_| 0.01)
            .iter()
            .all(|&pool| pool == 0)
    );
    assert_eq!(judge.moves, 0);
}

#[test]
fn every_candidate_gets_a_turn_and_the_best_one_stays() {
    let mut judge = Judge::new();
    let first = turns(&mut judge, 40, |pool| if pool == 3 { 0.05 } else { 0.5 });
    for pool in 0..CANDIDATES.len() {
        assert!(first.contains(&pool), "{pool}");
    }
    assert_eq!((judge.chosen, judge.moves), (3, 1));
    assert_eq!(first.last(), Some(&3));
}

#[test]
fn loss_that_no_candidate_mends_is_asked_about_more_and_more_rarely() {
    let mut judge = Judge::new();
    let all = turns(&mut judge, 20_000, |_| 0.3);
    let elsewhere = all.iter().filter(|&&pool| pool != 0).count();
    assert_eq!(judge.moves, 0);
    // Six trials of others a question, and a dozen questions.
    assert!((6..=120).contains(&elsewhere), "{elsewhere} of 20000 turns");
}

#[test]
fn program_that_changes_is_followed() {
    let mut judge = Judge::new();
    turns(&mut judge, 500, |pool| if pool == 1 { 0.03 } else { 0.4 });
    assert_eq!(judge.chosen, 1);
    turns(&mut judge, 8_000, |pool| if pool == 2 { 0.03 } else { 0.4 });
    assert_eq!((judge.chosen, judge.moves), (2, 2));
    let told = judge.tell();
    assert_eq!((&*told.now, told.moves), ("DQ-TL-PRIV-C", 2));
    assert_eq!(told.tried.len(), CANDIDATES.len());
    let all: f64 = told.tried.iter().map(|tried| tried.share).sum();
    assert!((all - 1.0).abs() < 1e-9);
}
