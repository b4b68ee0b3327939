//! Exact sums are the floats nearest to the true sum, in any order and grouping.
//!
//! The true sum is computed with big integers.

use std::fmt::Debug;

use crate::common::{in_random_order, results};
use num_bigint::BigInt;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use raddle_collections::reduce::{Monoid, Reducer, Sum, SumExact, Superaccumulator};

/// The operations of `f32` and `f64` that the tests use.
trait Real: Copy + Debug + 'static {
    /// Returns the float in halves of the smallest float.
    ///
    /// In this unit, the midpoint of two floats is an integer.
    fn in_halves(self) -> BigInt;
    fn negate(self) -> Self;
    fn is_nan(self) -> bool;
    fn is_finite(self) -> bool;
    fn is_negative(self) -> bool;
    fn is_negative_zero(self) -> bool;
    fn bits(self) -> u64;
    fn next_up(self) -> Self;
    /// Returns the sum with rounding after each addition.
    fn rounded_sum(terms: &[Self]) -> Self;
    fn exact_sums(terms: &[Self], seed: u64) -> [Self; 3];
}

macro_rules! real {
    ($($float:ident)+) => {$(
        impl Real for $float {
            fn in_halves(self) -> BigInt {
                let bits = self.to_bits();
                let fraction_bits = $float::MANTISSA_DIGITS - 1;
                let exponent = (bits << 1) >> (fraction_bits + 1);
                let fraction = BigInt::from(bits & ((1 << fraction_bits) - 1));
                let magnitude = match exponent {
                    0 => fraction << 1,
                    _ => (fraction + (BigInt::from(1) << fraction_bits)) << exponent,
                };
                if self.is_sign_negative() { -magnitude } else { magnitude }
            }
            fn negate(self) -> Self { -self }
            fn is_nan(self) -> bool { self.is_nan() }
            fn is_finite(self) -> bool { self.is_finite() }
            fn is_negative(self) -> bool { self.is_sign_negative() }
            fn is_negative_zero(self) -> bool { self == 0.0 && self.is_sign_negative() }
            fn bits(self) -> u64 { self.to_bits().into() }
            fn next_up(self) -> Self { self.next_up() }
            fn rounded_sum(terms: &[Self]) -> Self { terms.iter().sum() }
            fn exact_sums(terms: &[Self], seed: u64) -> [Self; 3] {
                results(|| terms.iter().copied().map(SumExact::new).collect(), seed)
            }
        }
    )+};
}

real!(f32 f64);

/// Returns the midpoint between a finite float and the next larger one, in halves.
fn middle_above<F: Real>(float: F) -> BigInt {
    let above = float.next_up();
    if above.is_finite() {
        (float.in_halves() + above.in_halves()) / 2
    } else {
        // The largest float: assume another one above it, at the distance of the one below it.
        let gap = float.in_halves() + float.negate().next_up().in_halves();
        float.in_halves() + gap / 2
    }
}

/// Checks that `sum` is the float nearest to the true sum of finite `terms`.
fn check_nearest<F: Real>(terms: &[F], sum: F) {
    let exact = terms.iter().map(|term| term.in_halves()).sum::<BigInt>();
    let zero = BigInt::from(0);
    let context = format!("{sum:?} is not nearest to the sum of {terms:?}");
    if exact == zero {
        assert_eq!(sum.in_halves(), zero, "{context}");
        let all_negative = terms.iter().all(|term| term.is_negative_zero());
        assert_eq!(sum.is_negative(), all_negative, "{context}");
        return;
    }
    // Check a negative sum as a positive one.
    let (sum, exact) = if exact < zero {
        (sum.negate(), -exact)
    } else {
        (sum, exact)
    };
    assert!(!sum.is_negative(), "{context}");
    if !sum.is_finite() {
        assert!(exact >= middle_above(largest(sum)), "{context}");
        return;
    }
    let above = middle_above(sum);
    let below = -middle_above(sum.negate());
    assert!(below <= exact && exact <= above, "{context}");
    if exact == below || exact == above {
        assert_eq!(sum.bits() % 2, 0, "{context}: a tie is rounded to even");
    }
}

/// Returns the largest finite float of the type of `infinity`.
fn largest<F: Real>(infinity: F) -> F {
    infinity.negate().next_up().negate()
}

/// Checks the sum of `terms` in three orders. Some terms may be infinite or NaN.
fn check_sum<F: Real>(terms: &[F], seed: u64) {
    let sums = F::exact_sums(terms, seed);
    for sum in sums {
        assert_eq!(sum.bits(), sums[0].bits(), "{terms:?}: {sums:?}");
    }
    if terms.iter().all(|term| term.is_finite()) {
        check_nearest(terms, sums[0]);
    } else {
        // Leave out the finite terms, since their rounded sum may overflow.
        let others = terms.iter().copied().filter(|term| !term.is_finite());
        let expected = F::rounded_sum(&others.collect::<Vec<_>>());
        assert_eq!(sums[0].is_nan(), expected.is_nan(), "{terms:?}");
        if !expected.is_nan() {
            assert_eq!(sums[0].bits(), expected.bits(), "{terms:?}");
        }
    }
}

macro_rules! strategies {
    ($float:ident, $of_bits:ident, $any:ident, $close:ident, $special:ident) => {
        /// Generates finite floats, with each exponent equally often.
        fn $any() -> impl Strategy<Value = $float> {
            any::<$of_bits>()
                .prop_map($float::from_bits)
                .prop_filter("finite", |float| float.is_finite())
        }

        /// Generates floats of up to three bits with close exponents, so that ties and cancellation
        /// are frequent.
        fn $close() -> impl Strategy<Value = $float> {
            let digits = $float::MANTISSA_DIGITS as i32;
            let exponents = select(vec![
                0,
                1,
                -1,
                digits,
                digits - 1,
                -digits,
                1 - digits,
                -digits - 1,
                -2 * digits,
            ]);
            (exponents, -7_i8..=7).prop_map(|(exponent, factor)| {
                $float::from(factor) * ($float::from(2_u8)).powi(exponent)
            })
        }

        /// Generates floats at the limits of the ranges of floats.
        fn $special() -> impl Strategy<Value = $float> {
            let half_gap = $float::MAX - $float::MAX.next_down();
            let smallest = $float::from_bits(1);
            let positive = select(vec![
                0.0,
                smallest,
                smallest * 3.0,
                $float::MIN_POSITIVE,
                $float::MIN_POSITIVE.next_down(),
                $float::MIN_POSITIVE * 1.5,
                1.0,
                $float::MAX,
                $float::MAX.next_down(),
                half_gap / 2.0,
                half_gap / 4.0,
                half_gap,
                (half_gap / 2.0).next_up(),
                (half_gap / 2.0).next_down(),
            ]);
            (positive, any::<bool>())
                .prop_map(|(float, negative)| if negative { -float } else { float })
        }
    };
}

strategies!(f64, u64, any_f64, close_f64, special_f64);
strategies!(f32, u32, any_f32, close_f32, special_f32);

/// Adds the opposites of some terms, so that the sum is far smaller than the terms.
fn cancelling<F: Real>(terms: Vec<F>, opposites: usize) -> Vec<F> {
    let opposites = terms.iter().take(opposites).map(|term| term.negate());
    opposites.chain(terms.iter().copied()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn sums_of_f64_are_nearest(
        terms in vec(any_f64(), 1..40),
        opposites in 0_usize..40,
        seed: u64,
    ) {
        check_sum(&cancelling(terms, opposites), seed);
    }

    #[test]
    fn sums_of_f32_are_nearest(
        terms in vec(any_f32(), 1..40),
        opposites in 0_usize..40,
        seed: u64,
    ) {
        check_sum(&cancelling(terms, opposites), seed);
    }

    #[test]
    fn ties_of_f64_are_rounded_to_even(terms in vec(close_f64(), 1..12), seed: u64) {
        check_sum(&terms, seed);
    }

    #[test]
    fn ties_of_f32_are_rounded_to_even(terms in vec(close_f32(), 1..12), seed: u64) {
        check_sum(&terms, seed);
    }

    #[test]
    fn sums_at_the_limits_of_f64_are_nearest(terms in vec(special_f64(), 1..12), seed: u64) {
        check_sum(&terms, seed);
    }

    #[test]
    fn sums_at_the_limits_of_f32_are_nearest(terms in vec(special_f32(), 1..12), seed: u64) {
        check_sum(&terms, seed);
    }

    #[test]
    fn infinities_and_nan_win(
        finite in vec(special_f64(), 0..6),
        others in vec(select(vec![f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]), 1..3),
        seed: u64,
    ) {
        let terms = [finite, others].concat();
        check_sum(&terms, seed);
        check_sum(&terms.iter().map(|&term| term as f32).collect::<Vec<_>>(), seed);
    }

    #[test]
    fn arrays_are_summed_element_by_element(
        terms in vec((any_f64(), any_f32()), 1..10),
        seed: u64,
    ) {
        let doubles = terms.iter().map(|term| term.0).collect::<Vec<_>>();
        let singles = terms.iter().map(|term| term.1).collect::<Vec<_>>();
        let arrays = || terms.iter().map(|&(double, single)| {
            (SumExact::new([double, -double]), SumExact::new(vec![vec![single], vec![]]))
        });
        let double = f64::exact_sums(&doubles, seed)[0];
        let single = f32::exact_sums(&singles, seed)[0];
        let opposite = if double == 0.0 { double } else { -double };
        for (doubles, singles) in results(|| arrays().collect(), seed) {
            prop_assert_eq!(doubles[0].to_bits(), double.to_bits());
            prop_assert_eq!(doubles[1], opposite);
            prop_assert_eq!(singles, vec![vec![single], vec![]]);
        }
    }

    #[test]
    fn terms_may_be_distributed_in_any_way(
        terms in vec(any_f64(), 1..60),
        cuts in vec(any::<u8>(), 60),
        seed: u64,
    ) {
        let sum = f64::exact_sums(&terms, seed)[0];
        let mut parts = vec![Superaccumulator::new(); 5];
        for (&term, &cut) in terms.iter().zip(&cuts) {
            parts[usize::from(cut) % 5].add(term);
        }
        let merged = in_random_order(parts.into_iter().map(SumExact::from), seed);
        let merged = merged.expect("sums fit together").finish();
        prop_assert_eq!(merged.to_bits(), sum.to_bits());
    }
}

#[test]
fn a_sum_overflows_only_if_the_true_sum_does() {
    const COUNT: usize = 1 << 20;
    let mut sum = Superaccumulator::new();
    sum.extend(std::iter::repeat_n(1e308, COUNT));
    assert_eq!(sum.value(), f64::INFINITY);
    // No bits are lost far beyond the range.
    sum.add(0.1);
    sum.extend(std::iter::repeat_n(-1e308, COUNT));
    assert_eq!(sum.value(), 0.1);
    sum.extend(std::iter::repeat_n(-f64::MAX, COUNT));
    sum.extend(std::iter::repeat_n(f64::MAX, COUNT - 1));
    assert_eq!(sum.value(), -f64::MAX);

    let mut reduction = SumExact::identity();
    for _ in 0..COUNT {
        reduction
            .merge(SumExact::new(f32::MAX))
            .expect("floats fit together");
    }
    assert_eq!(reduction.clone().finish(), f32::INFINITY);
    for _ in 1..COUNT {
        reduction
            .merge(SumExact::new(-f32::MAX))
            .expect("floats fit together");
    }
    assert_eq!(reduction.finish(), f32::MAX);
}

#[test]
fn limbs_are_carried_before_they_overflow() {
    // All bits of the mantissa are ones, at every position in a limb and in every limb. No other
    // terms fill the limbs sooner.
    let mantissa = ((1_u64 << 53) - 1) as f64;
    for exponent in (-1074..971).step_by(31) {
        // Multiply in two steps, since one step would leave the range.
        let term = mantissa * 2_f64.powi(exponent / 2) * 2_f64.powi(exponent - exponent / 2);
        let terms = vec![term; 5_000];
        let halves = [&terms[..2_000], &terms[2_000..], &[-term; 4_999]];
        let mut all = Superaccumulator::new();
        for half in halves {
            all.add_sum(half.iter().copied().collect());
        }
        assert_eq!(all.value(), term, "{term:e}");
        let negative = terms
            .iter()
            .map(|term| -term)
            .collect::<Superaccumulator<_>>();
        check_nearest(
            &terms.iter().map(|term| -term).collect::<Vec<_>>(),
            negative.value(),
        );
    }
}

#[test]
fn a_merged_sum_may_be_merged_into_another() {
    // The growing sum is on the right each time. Its pending additions must be counted there, too.
    let term = f64::MAX;
    let two = || [term, term].into_iter().collect::<Superaccumulator<_>>();
    let mut all = two();
    for _ in 0..10_000 {
        let mut next = two();
        next.add_sum(all);
        all = next;
    }
    all.extend(std::iter::repeat_n(-term, 20_001));
    assert_eq!(all.value(), term);
}

#[test]
fn sums_that_are_merged_many_times_do_not_overflow() {
    // Multiply by 2^40 with 40 merges.
    let mut sum = Superaccumulator::from(1.5_f64);
    for _ in 0..40 {
        sum.add_sum(sum.clone());
    }
    assert_eq!(sum.value(), 1.5 * 2_f64.powi(40));
    // Subtract 2^61 - 1 times the largest float from 2^61 times that float.
    let mut large = Superaccumulator::from(f64::MAX);
    let mut opposite = Superaccumulator::from(-f64::MAX);
    opposite.add(f64::MAX);
    for _ in 0..61 {
        large.add_sum(large.clone());
        opposite.add_sum(opposite.clone());
        opposite.add(-f64::MAX);
    }
    assert_eq!(large.value(), f64::INFINITY);
    large.add_sum(opposite);
    assert_eq!(large.value(), f64::MAX);
}

#[test]
fn order_changes_a_rounded_sum_but_not_an_exact_one() {
    let terms = (1..1_000)
        .map(|number| 1.0 / f64::from(number))
        .collect::<Vec<_>>();
    let backwards = terms.iter().rev().copied().collect::<Vec<_>>();
    let sum = |terms: &[f64]| {
        let [in_a_row, ..] = results(|| terms.iter().copied().map(Sum).collect(), 1);
        in_a_row
    };
    assert_ne!(sum(&terms), sum(&backwards));
    let exact = f64::exact_sums(&terms, 1)[0];
    assert_eq!(exact.to_bits(), f64::exact_sums(&backwards, 2)[0].to_bits());
    check_nearest(&terms, exact);
}

#[test]
fn a_zero_has_the_same_sign_as_in_a_rounded_sum() {
    let sum = |terms: &[f64]| {
        terms
            .iter()
            .copied()
            .collect::<Superaccumulator<_>>()
            .value()
    };
    let is_negative = |terms: &[f64]| sum(terms) == 0.0 && sum(terms).is_sign_negative();
    assert!(is_negative(&[]));
    assert!(is_negative(&[-0.0]));
    assert!(is_negative(&[-0.0, -0.0]));
    for terms in [
        &[0.0] as &[f64],
        &[0.0, -0.0],
        &[-0.0, 0.0],
        &[1.0, -1.0],
        &[-0.0, -1.0, 1.0, -0.0],
    ] {
        assert_eq!(sum(terms).to_bits(), 0, "{terms:?}");
    }
}

#[test]
fn known_sums_are_right() {
    let sum = |terms: &[f64]| {
        terms
            .iter()
            .copied()
            .collect::<Superaccumulator<_>>()
            .value()
    };
    assert_eq!(sum(&[0.1; 10]), 1.0);
    // Half a gap above 1, and the smallest float more: rounding considers all bits.
    assert_eq!(sum(&[1.0, f64::EPSILON / 2.0]), 1.0);
    assert_eq!(
        sum(&[1.0, f64::EPSILON / 2.0, f64::from_bits(1)]),
        1.0 + f64::EPSILON
    );
    assert_eq!(sum(&[1.0, f64::EPSILON / 2.0, -f64::from_bits(1)]), 1.0);
    assert_eq!(
        sum(&[1.0, 3.0 * (f64::EPSILON / 2.0)]),
        1.0 + 2.0 * f64::EPSILON
    );
    // Rounding up can give the next power of two, or a normal float from a subnormal one.
    assert_eq!(sum(&[2.0 - f64::EPSILON, f64::EPSILON / 2.0]), 2.0);
    assert_eq!(
        sum(&[f64::MIN_POSITIVE.next_down(), f64::from_bits(1)]),
        f64::MIN_POSITIVE
    );
    // An `f32` is rounded from the exact sum, and not from an `f64` that was rounded to a tie.
    let half = f32::EPSILON / 2.0;
    let singles = [1.0_f32, half, half * 2_f32.powi(-40)]
        .into_iter()
        .collect::<Superaccumulator<_>>();
    assert_eq!(singles.value(), 1.0 + f32::EPSILON);
}
