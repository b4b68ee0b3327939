//! Programs with a planted problem, which the report about their recording has to name.

mod recorded;

use std::hint::black_box;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use raddle::prelude::*;
use raddle::{Array, Reply};
use raddle_analysis::Recording;
use raddle_analysis::findings::{Finding, FindingKind};
use raddle_analysis::summary::Summary;

use recorded::{is_recorded, record, runtime};

/// Returns the findings about the program of a test, without the overview.
fn findings(test: &str) -> Vec<Finding> {
    let (status, timeline) = record(test, &[]);
    assert_eq!(status.code(), Some(0));
    let recording = Recording::new(timeline.expect("a file")).expect("a recording");
    let mut findings = Summary::of(&recording).findings;
    assert_eq!(findings.remove(0).kind, FindingKind::Overview);
    findings
}

/// Checks that the findings have one of a kind, and that its sentence has these words.
#[track_caller]
fn names(findings: &[Finding], kind: FindingKind, words: &[&str]) {
    let finding = findings.iter().find(|finding| finding.kind == kind);
    let Some(finding) = finding else {
        panic!("{kind:?} is missing in {findings:#?}");
    };
    for word in words {
        assert!(finding.text.contains(word), "{word}: {}", finding.text);
    }
}

/// Uses the processor for a time.
fn work(time: Duration) {
    let begun = Instant::now();
    while begun.elapsed() < time {
        black_box(0);
    }
}

static LOCK: Mutex<u64> = Mutex::new(0);

struct Account;

#[chare]
impl Account {
    /// Holds a lock that all elements share for nearly its whole time.
    #[entry]
    fn deposit(&mut self, count: u32) -> u32 {
        for _ in 0..count {
            let mut sum = LOCK.lock().unwrap_or_else(PoisonError::into_inner);
            work(Duration::from_micros(400));
            *sum += 1;
        }
        count
    }
}

#[test]
fn a_lock_in_a_hot_entry() {
    if is_recorded() {
        let runtime = runtime(2);
        let accounts: Array<Account> = runtime.array(8, |_| Account);
        for _ in 0..10 {
            let replies: Vec<Reply<u32>> = (0..8).map(|at| accounts.at(at).deposit(5)).collect();
            for reply in replies {
                assert_eq!(reply.wait(), 5);
            }
        }
        return;
    }
    let findings = findings("a_lock_in_a_hot_entry");
    names(
        &findings,
        FindingKind::Blocked,
        &["Account::deposit", "lock"],
    );
}

#[test]
fn a_grain_of_a_hundred_nanoseconds() {
    if is_recorded() {
        runtime(2).install(|| {
            for _ in 0..200 {
                raddle::scope(|scope| {
                    for number in 0..1_000_u64 {
                        scope.spawn(move || {
                            black_box(number);
                        });
                    }
                });
            }
        });
        return;
    }
    let findings = findings("a_grain_of_a_hundred_nanoseconds");
    names(&findings, FindingKind::Grain, &["too fine", "combine"]);
}

#[test]
fn all_load_on_one_worker() {
    if is_recorded() {
        let runtime = runtime(2);
        let (done, all) = std::sync::mpsc::channel();
        for _ in 0..100 {
            let done = done.clone();
            runtime.post().send(1, move || {
                work(Duration::from_millis(1));
                done.send(()).expect("the test waits");
            });
        }
        assert_eq!(all.iter().take(100).count(), 100);
        return;
    }
    let findings = findings("all_load_on_one_worker");
    names(&findings, FindingKind::Imbalance, &["worker 1", "uneven"]);
}
