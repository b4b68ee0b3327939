//! Numbers as people read them.

use super::*;

#[test]
fn numbers_are_grouped_by_three() {
    assert_eq!(grouped(7_u64), "7");
    assert_eq!(grouped(871_414_usize), "871,414");
    assert_eq!(grouped(1_000_000_u64), "1,000,000");
}

#[test]
fn times_and_sizes_keep_three_digits() {
    assert_eq!(time(Duration::from_micros(789)), "789 µs");
    assert_eq!(time(Duration::from_nanos(512)), "512 ns");
    assert_eq!(time(Duration::from_micros(45_600)), "45.6 ms");
    assert_eq!(time(Duration::from_millis(1_234)), "1.23 s");
    assert_eq!(large(7.0), "7.00");
    assert_eq!(large(12_345_678.0), "12.3 million");
    assert_eq!(large(4.56e9), "4.56 billion");
    assert_eq!(bytes(999), "999 B");
    assert_eq!(bytes(761_368), "761 kB");
    assert_eq!(bytes(1_200_000_000), "1.20 GB");
}

#[test]
fn values_stand_in_one_column() {
    let mut table = Table::default();
    table.row("a", "1").row("long name", "2");
    assert_eq!(table.text(), "a          1\nlong name  2\n");
}
