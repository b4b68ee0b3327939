//! Tests of the judge's decisions after sequences of turns.

use super::*;

/// Returns a turn in which two workers run tasks that take a microsecond with a pool of speed 1.
fn turn(speed: f64) -> Turn {
    Turn {
        ns: TURN_NS,
        tasks: (speed * TURN_NS as f64 / 1_000.0) as u64,
        workers: 2,
    }
}

/// Ends `count` turns in which each candidate is as fast as `speed` says. Returns the candidates
/// that had them.
fn turns(judge: &mut Judge, count: usize, speed: impl Fn(usize) -> f64) -> Vec<usize> {
    let pass = |_| {
        let current = judge.current();
        judge.end_turn(turn(speed(current)));
        current
    };
    (0..count).map(pass).collect()
}

#[test]
fn no_round_starts_while_tasks_are_long() {
    let mut judge = Judge::new();
    let long = Turn {
        ns: TURN_NS,
        tasks: 80,
        workers: 2,
    };
    for _ in 0..10_000 {
        judge.end_turn(long);
        assert_eq!(judge.current(), 0);
    }
}

#[test]
fn fastest_candidate_becomes_and_stays_the_champion() {
    let mut judge = Judge::new();
    let all = turns(&mut judge, 100, |pool| if pool == 3 { 1.2 } else { 1.0 });
    for pool in 0..CANDIDATES.len() {
        assert!(all.contains(&pool), "{pool}");
    }
    assert_eq!((judge.chosen, judge.moves), (3, 1));
    assert_eq!(all.last(), Some(&3));
}

#[test]
fn slightly_faster_candidate_does_not_win() {
    let mut judge = Judge::new();
    turns(&mut judge, 50_000, |pool| 1.0 + 0.005 * pool as f64);
    assert_eq!((judge.chosen, judge.moves), (0, 0));
}

#[test]
fn comparisons_cost_a_small_fraction_of_the_time_however_slow_the_others_are() {
    for bad in [0.9, 0.5, 0.1] {
        let mut judge = Judge::new();
        let speed = |pool| if pool == 0 { 1.0 } else { bad };
        let all = turns(&mut judge, 20_000, speed);
        let lost: f64 = all.iter().map(|&pool| 1.0 - speed(pool)).sum();
        assert!(
            lost / (all.len() as f64) < 1.2 * REGRET_MAX,
            "{bad}: {lost}"
        );
        assert_eq!(judge.moves, 0);
    }
}

#[test]
fn champion_changes_when_the_program_changes() {
    let mut judge = Judge::new();
    turns(&mut judge, 500, |pool| if pool == 1 { 1.5 } else { 1.0 });
    assert_eq!(judge.chosen, 1);
    turns(&mut judge, 8_000, |pool| if pool == 2 { 1.5 } else { 1.0 });
    assert_eq!((judge.chosen, judge.moves), (2, 2));
    let choice = judge.choice();
    assert_eq!((&*choice.now, choice.moves), ("DQ-TL-PRIV-C", 2));
    assert_eq!(choice.tried.len(), CANDIDATES.len());
    let all: f64 = choice.tried.iter().map(|tried| tried.share).sum();
    assert!((all - 1.0).abs() < 1e-9);
}

/// Simulates fifty seconds of equally fast pools, with interruptions and noise of ten percent.
#[test]
fn noise_hardly_ever_changes_the_champion() {
    let mut judge = Judge::new();
    let mut state = 1_u64;
    let mut moved = 0;
    for _ in 0..50_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let noise = ((state >> 33) % 1_000) as f64 / 1_000.0;
        let mut noisy = turn(0.95 + 0.1 * noise);
        if state >> 60 == 0 {
            noisy.ns *= 20;
        }
        let before = judge.chosen;
        judge.end_turn(noisy);
        moved += usize::from(judge.chosen != before);
    }
    assert!(moved <= 5, "{moved}");
}
