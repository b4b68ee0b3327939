//! The counters, read from made-up texts.

use super::*;

const STAT: &str = "cpu  100 10 50 9000 300 5 7 3 40 0\ncpu0 1 2 3\ncpu1 4 5 6\nintr 9\n";

#[test]
fn busy_ticks_leave_out_idle_iowait_and_guest() {
    assert_eq!(machine_ticks(STAT), 100 + 10 + 50 + 5 + 7 + 3);
    assert_eq!(cpu_count(STAT), 2);
}

#[test]
fn a_process_name_with_spaces_and_brackets_does_not_shift_the_fields() {
    let stat = "7 (a (b) c d) S 1 2 3 4 5 6 7 8 9 10 41 1 0 0 20";
    assert_eq!(process_ticks(stat), 42);
}

#[test]
fn unreadable_texts_count_as_no_load() {
    assert_eq!(machine_ticks(""), 0);
    assert_eq!(process_ticks("nonsense"), 0);
}

#[test]
fn the_share_is_of_all_cpus_and_ignores_two_ticks() {
    // One second of two CPUs is 200 ticks.
    let second = Duration::from_secs(1);
    assert_eq!(foreign_share(102, 100, second, 2), 0.0);
    assert!((foreign_share(122, 100, second, 2) - 0.10).abs() < 1e-12);
    assert_eq!(foreign_share(0, 50, second, 2), 0.0);
    assert_eq!(foreign_share(10_000, 0, second, 2), 1.0);
}

#[test]
fn a_busy_process_counts_its_own_time_as_own() {
    let before = LoadSnapshot::take(&[]);
    let mut sum = 0_u64;
    while LoadSnapshot::take(&[]).own_ticks < before.own_ticks + 3 {
        sum = std::hint::black_box(sum.wrapping_add(1));
    }
    let after = LoadSnapshot::take(&[]);
    assert!(after.own_ticks >= before.own_ticks + 3);
}

#[test]
fn descendants_count_as_part_of_their_family() {
    let processes = [(10, 1, 5), (12, 11, 7), (11, 10, 100), (20, 1, 1_000)];
    assert_eq!(ticks_of_families(&[10], &processes), 112);
    assert_eq!(ticks_of_families(&[11, 20], &processes), 1_107);
    assert_eq!(ticks_of_families(&[], &processes), 0);
    assert_eq!(parent_of("17 (a (b) c) S 4 17 0"), Some(4));
    assert_eq!(parent_of("17"), None);
}
