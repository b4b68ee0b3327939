//! Numbers for people, with the unit that a reader would choose.

use std::time::Duration;

/// Formats a whole number in groups of three digits: `871,414`.
pub(crate) fn grouped(number: impl TryInto<u64>) -> String {
    let digits = number.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns the singular or plural of a word that follows a number: `worker` after 1, `workers`
/// after 2.
pub(crate) fn plural(count: usize, word: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{word}{ending}")
}

/// Formats a number and the word for the counted items: `1 worker`, `2,000 workers`.
pub(crate) fn counted(count: usize, word: &str) -> String {
    format!("{} {}", grouped(count), plural(count, word))
}

/// Formats a time with three significant digits: `1.23 s`, `45.6 ms`, `789 µs`, `512 ns`.
pub(crate) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds >= 1.0 {
        format!("{} s", three_digits(seconds))
    } else if seconds >= 1e-3 {
        format!("{} ms", three_digits(seconds * 1e3))
    } else if seconds >= 1e-6 {
        format!("{} µs", three_digits(seconds * 1e6))
    } else {
        format!("{} ns", time.as_nanos())
    }
}

/// Formats a large number in words: `12.3 million`, `4.56 thousand`.
pub(crate) fn large(number: f64) -> String {
    let (factor, word) = match number {
        ..1e3 => (1.0, ""),
        1e3..1e6 => (1e-3, " thousand"),
        1e6..1e9 => (1e-6, " million"),
        _ => (1e-9, " billion"),
    };
    format!("{}{word}", three_digits(number * factor))
}

/// Formats a size in the unit that fits, by powers of ten: `761 kB`, `1.20 GB`.
pub(crate) fn bytes(bytes: u64) -> String {
    let number = bytes as f64;
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{} kB", three_digits(number / 1e3)),
        1_000_000..1_000_000_000 => format!("{} MB", three_digits(number / 1e6)),
        _ => format!("{} GB", three_digits(number / 1e9)),
    }
}

fn three_digits(number: f64) -> String {
    match number {
        ..10.0 => format!("{number:.2}"),
        10.0..100.0 => format!("{number:.1}"),
        _ => format!("{number:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_three_digits() {
        assert_eq!(grouped(7_u64), "7");
        assert_eq!(grouped(871_414_usize), "871,414");
        assert_eq!(grouped(1_000_000_u64), "1,000,000");
        assert_eq!(counted(1, "worker"), "1 worker");
        assert_eq!(counted(2_000, "worker"), "2,000 workers");
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
}
