//! Reducers return the result of a sequential fold, in any order and grouping of the merges.

use std::fmt::Debug;
use std::num::Wrapping;
use std::time::Duration;

use crate::common::{in_a_row, in_random_order, results};
use proptest::collection::vec;
use proptest::prelude::*;
use raddle_collections::reduce::{
    self, All, Any, BitAnd, BitOr, BitXor, Concat, Count, Gather, Max, MaxAt, Min, MinAt, Mismatch,
    Monoid, Neutral, Operand, Product, Reducer, Sum, SumExact, Xor, op,
};

/// Checks the results of contributions created from `items`.
fn check<T: Copy, R: Reducer<Output: PartialEq + Debug>>(
    items: &[T],
    seed: u64,
    contribution: impl Fn(T) -> R,
    expected: &R::Output,
) {
    for result in results(|| items.iter().copied().map(&contribution).collect(), seed) {
        assert_eq!(&result, expected, "{}", R::name());
    }
}

/// Generates floats of any magnitude, and some special ones.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => any::<f64>(),
        1 => prop::sample::select(vec![0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.0]),
    ]
}

fn bits(floats: &[f64]) -> Vec<u64> {
    floats.iter().map(|float| float.to_bits()).collect()
}

proptest! {
    #[test]
    fn reducers_of_integers_fold(items in vec(any::<i64>(), 1..40), seed: u64) {
        let wrapping = |items: &[i64]| items.iter().copied().map(Wrapping).collect::<Vec<_>>();
        let sum = items.iter().map(|&item| i128::from(item)).sum();
        check(&items, seed, |item| Sum(i128::from(item)), &sum);
        check(&items, seed, |item| Sum(Wrapping(item)), &wrapping(&items).iter().sum());
        check(&items, seed, |item| Product(Wrapping(item)), &wrapping(&items).iter().product());
        check(&items, seed, Min, items.iter().min().expect("some"));
        check(&items, seed, Max, items.iter().max().expect("some"));
        check(&items, seed, BitAnd, &items.iter().fold(-1, |a, b| a & b));
        check(&items, seed, BitOr, &items.iter().fold(0, |a, b| a | b));
        check(&items, seed, BitXor, &items.iter().fold(0, |a, b| a ^ b));
    }

    #[test]
    fn reducers_of_truth_values_fold(items in vec(any::<bool>(), 1..6), seed: u64) {
        let truths = items.iter().filter(|&&item| item).count();
        check(&items, seed, All, &(truths == items.len()));
        check(&items, seed, BitAnd, &(truths == items.len()));
        check(&items, seed, Any, &(truths > 0));
        check(&items, seed, BitOr, &(truths > 0));
        check(&items, seed, Xor, &(truths % 2 == 1));
        check(&items, seed, BitXor, &(truths % 2 == 1));
        check(&items, seed, Count::of, &(truths as u64));
        check(&items, seed, |_| Count::one(), &(items.len() as u64));
        check(&items, seed, |_| (), &());
    }

    #[test]
    fn extremes_of_floats_are_in_total_order(items in vec(float(), 1..20), seed: u64) {
        let mut sorted = items.clone();
        sorted.sort_by(f64::total_cmp);
        for result in results(|| items.iter().copied().map(Min).collect(), seed) {
            prop_assert_eq!(result.to_bits(), sorted[0].to_bits());
        }
        for result in results(|| items.iter().copied().map(Max).collect(), seed) {
            prop_assert_eq!(result.to_bits(), sorted[sorted.len() - 1].to_bits());
        }
    }

    #[test]
    fn a_single_nan_wins(
        mut items in vec(float(), 2..20),
        at: prop::sample::Index,
        negative: bool,
        seed: u64,
    ) {
        let at = at.index(items.len());
        items[at] = if negative { -f64::NAN } else { f64::NAN };
        for result in results(|| items.iter().copied().map(Min).collect(), seed) {
            prop_assert_eq!(result.to_bits(), f64::NAN.to_bits());
        }
        for result in results(|| items.iter().copied().map(Max).collect(), seed) {
            prop_assert_eq!(result.to_bits(), f64::NAN.to_bits());
        }
        for (value, position) in results(|| items.iter().copied().map(MinAt::new).collect(), seed) {
            prop_assert!(value.is_nan());
            prop_assert_eq!(position, at as u64);
        }
        for (value, position) in results(|| items.iter().copied().map(MaxAt::new).collect(), seed) {
            prop_assert!(value.is_nan());
            prop_assert_eq!(position, at as u64);
        }
    }

    #[test]
    fn the_first_extreme_is_found(items in vec(-3_i8..3, 1..20), seed: u64) {
        let position = |value| items.iter().position(|&item| item == value);
        let first = |value| position(value).expect("it is there") as u64;
        let least = items.iter().min().expect("some");
        let greatest = items.iter().max().expect("some");
        check(&items, seed, MinAt::new, &(*least, first(*least)));
        check(&items, seed, MaxAt::new, &(*greatest, first(*greatest)));
        // Zeroes are equal, and so are all values that do not compare with themselves.
        let floats = items.iter().map(|&item| if item < 0 { -0.0 } else { 0.0 });
        let floats = floats.collect::<Vec<f64>>();
        check(&floats, seed, MinAt::new, &(floats[0], 0));
        let nans = items.iter().map(|&item| if item < 0 { -f32::NAN } else { f32::NAN });
        let nans = nans.collect::<Vec<_>>();
        for (_, position) in results(|| nans.iter().copied().map(MaxAt::new).collect(), seed) {
            prop_assert_eq!(position, 0);
        }
    }

    #[test]
    fn items_are_collected_in_the_order_of_the_elements(
        parts in vec(vec(any::<u8>(), 0..4), 1..60),
        seed: u64,
    ) {
        for result in results(|| parts.iter().cloned().map(Concat::new).collect(), seed) {
            prop_assert_eq!(result, parts.concat());
        }
        for result in results(|| parts.iter().cloned().map(Gather::new).collect(), seed) {
            prop_assert_eq!(&result, &parts);
        }
    }

    #[test]
    fn reducers_with_a_function_fold(items in vec(any::<u32>(), 1..40), seed: u64) {
        let largest = |a: u32, b: u32| a.max(b);
        check(&items, seed, |item| reduce::with(item, largest), items.iter().max().expect("some"));
        // The function is neither commutative nor associative, so any mistake in the order shows.
        let mixed = |a: u32, b: u32| a.wrapping_mul(31).wrapping_sub(b);
        let expected = items.iter().copied().reduce(mixed).expect("some");
        check(&items, seed, |item| reduce::in_order(item, mixed), &expected);
    }

    #[test]
    fn arrays_and_vectors_are_reduced_element_by_element(
        items in vec(any::<[i32; 3]>(), 1..20),
        seed: u64,
    ) {
        let column = |place: usize| items.iter().map(move |item| item[place]);
        let least = [0, 1, 2].map(|place| column(place).min().expect("some"));
        let greatest = [0, 1, 2].map(|place| column(place).max().expect("some"));
        let sums = [0, 1, 2].map(|place| column(place).map(Wrapping).sum::<Wrapping<i32>>());
        let product = |place: usize| column(place).map(Wrapping).product::<Wrapping<i32>>();
        let products = [0, 1, 2].map(product);
        check(&items, seed, Min, &least);
        check(&items, seed, |item| Max(item.to_vec()), &greatest.to_vec());
        check(&items, seed, |item| Sum(item.map(Wrapping).to_vec()), &sums.to_vec());
        check(&items, seed, |item| Product(item.map(Wrapping)), &products);
        check(&items, seed, |item| Min(vec![item, item]), &vec![least, least]);
    }

    #[test]
    fn tuples_reduce_all_of_their_parts(items in vec(any::<i16>(), 1..20), seed: u64) {
        let wide = || items.iter().map(|&item| i64::from(item));
        let sum = wide().sum::<i64>();
        let (least, greatest) = (wide().min().expect("some"), wide().max().expect("some"));
        let at = wide().position(|item| item == greatest).expect("it is there") as u64;
        let expected = (sum, (greatest as i16, at));
        check(&items, seed, |item| (Sum(i64::from(item)), MaxAt::new(item)), &expected);
        let six = |item| {
            let wide = i64::from(item);
            (Sum(wide), Min(wide), Max(wide), Count::one(), (), Gather::new(item))
        };
        let expected = (sum, least, greatest, items.len() as u64, (), items.clone());
        check(&items, seed, six, &expected);
    }

    #[test]
    fn an_element_without_a_contribution_changes_nothing(
        items in vec(any::<Option<i8>>(), 1..20),
        seed: u64,
    ) {
        let expected = items.iter().flatten().map(|&item| i32::from(item)).reduce(|a, b| a + b);
        check(&items, seed, |item| item.map(|item| Sum(i32::from(item))), &expected);
        let first = items.iter().position(Option::is_some);
        let expected = first.map(|position| (0, position as u64));
        check(&items, seed, |item| item.map(|_| MinAt::new(0)), &expected);
    }

    #[test]
    fn an_identity_changes_nothing_on_either_side(
        int: i64,
        float in float(),
        flag: bool,
        list in vec(any::<u8>(), 0..4),
    ) {
        check_identity(&Sum(int), |&result| result);
        check_identity(&Product(int), |&result| result);
        check_identity(&(Min(int), Max(int)), |&result| result);
        check_identity(&(BitAnd(int), BitOr(int), BitXor(int)), |&result| result);
        check_identity(&(BitAnd(flag), BitOr(flag), BitXor(flag)), |&result| result);
        check_identity(&(All(flag), Any(flag), Xor(flag), Count::of(flag)), |&result| result);
        check_identity(&Sum([float, -0.0]), |result| bits(result));
        check_identity(&SumExact::new([float, -0.0]), |result| bits(result));
        check_identity(&Product([float, -0.0]), |result| bits(result));
        check_identity(&Min([float, -0.0]), |result| bits(result));
        check_identity(&Max([float, -0.0]), |result| bits(result));
        check_identity(&(Concat::new(list.clone()), Gather::new(list)).placed(7), Clone::clone);
        check_identity(&Some(MinAt::new(int).placed(3)), |&result| result);
        check_identity(&(), |&()| ());
    }
}

/// Checks the law of a [`Monoid`]. `seen` converts the results so that they can be compared.
fn check_identity<R: Monoid, S: PartialEq + Debug>(reducer: &R, seen: impl Fn(&R::Output) -> S) {
    let expected = seen(&reducer.clone().finish());
    let mut left = R::identity();
    left.merge(reducer.clone()).expect("an identity fits");
    assert_eq!(seen(&left.finish()), expected, "{}", R::name());
    let mut right = reducer.clone();
    right.merge(R::identity()).expect("an identity fits");
    assert_eq!(seen(&right.finish()), expected, "{}", R::name());
}

fn neutral<O, T: Neutral<O>>() -> T {
    T::neutral()
}

#[test]
fn a_negative_zero_is_less_than_a_zero() {
    for (a, b) in [(0.0_f64, -0.0_f64), (-0.0, 0.0)] {
        let both = [a, b].map(|zero| (Min([zero]), Max(zero as f32)));
        let (least, greatest) = in_a_row(both).expect("they fit together").finish();
        assert!(least[0].is_sign_negative());
        assert!(greatest.is_sign_positive());
        let both = [a, b].map(|zero| (Max([zero]), Min(zero as f32)));
        let (greatest, least) = in_a_row(both).expect("they fit together").finish();
        assert!(least.is_sign_negative());
        assert!(greatest[0].is_sign_positive());
    }
}

#[test]
fn durations_add_up_and_compare() {
    let times = [3, 1, 2].map(Duration::from_millis);
    check(&times, 1, Sum, &Duration::from_millis(6));
    check(
        &times,
        1,
        |time| (Min(time), Max(time)),
        &(times[1], times[0]),
    );
    assert_eq!(neutral::<op::Add, Duration>(), Duration::ZERO);
    assert_eq!(neutral::<op::Least, Duration>(), Duration::MAX);
    assert_eq!(neutral::<op::Greatest, Duration>(), Duration::ZERO);
}

#[test]
fn different_lengths_are_an_error() {
    let lengths = |left, right| Mismatch::Lengths { left, right };
    let mismatch = |parts: Vec<Vec<f64>>| in_a_row(parts.into_iter().map(Sum)).unwrap_err();
    assert_eq!(mismatch(vec![vec![1.0; 3], vec![1.0; 4]]), lengths(3, 4));
    assert_eq!(mismatch(vec![vec![1.0; 2], vec![]]), lengths(2, 0));
    let exact = [vec![0.1_f32; 3], vec![]].map(SumExact::new);
    assert_eq!(in_a_row(exact).map(drop), Err(lengths(3, 0)));
    let nested = [vec![vec![1], vec![2]], vec![vec![1], vec![2, 3]]].map(Max);
    assert_eq!(in_a_row(nested), Err(lengths(1, 2)));
    let second = [vec![1], vec![]].map(|list| (Count::one(), Some(Min(list))));
    assert_eq!(in_a_row(second), Err(lengths(1, 0)));
    assert_eq!(
        lengths(3, 4).to_string(),
        "contributions of 3 and of 4 values do not fit together"
    );
}

#[test]
fn a_vector_of_another_length_changes_nothing() {
    let mut sum = Sum(vec![1, 2]);
    assert!(sum.merge(Sum(vec![10, 20, 30])).is_err());
    assert_eq!(sum.finish(), [1, 2]);
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "overflow"))]
fn integers_overflow_as_in_rust() {
    let sum = in_a_row([Sum(u8::MAX), Sum(1)]).expect("numbers fit together");
    // There is a result only if overflow is not checked.
    assert_eq!(sum.finish(), 0);
}

#[test]
#[should_panic(expected = "a reduction has no result if its function has panicked")]
fn a_function_that_has_panicked_leaves_no_result() {
    let zero = |_: u32, _: u32| -> u32 { panic!("on purpose") };
    let mut reducer = reduce::with(1, zero);
    let merge = std::panic::AssertUnwindSafe(|| reducer.merge(reduce::with(2, zero)));
    assert!(std::panic::catch_unwind(merge).is_err());
    reducer.finish();
}

#[test]
fn names_have_no_module_paths() {
    fn largest(a: u32, b: u32) -> u32 {
        a.max(b)
    }
    fn name<R: Reducer>(_: &R) -> String {
        R::name().to_string()
    }
    assert_eq!(Sum::<f64>::name().to_string(), "Sum<f64>");
    assert_eq!(format!("{:?}", <()>::name()), "()");
    assert_eq!(
        <(Max<Vec<u8>>, Option<MinAt<f32>>, SumExact<[f64; 3]>)>::name().to_string(),
        "(Max<Vec<u8>>, Option<MinAt<f32>>, SumExact<[f64; 3]>)"
    );
    assert_eq!(name(&reduce::with(1, largest)), "With<u32, largest>");
    assert_eq!(
        name(&reduce::in_order(1, |a: u32, _| a)),
        "InOrder<u32, {{closure}}>"
    );
}

#[test]
fn a_custom_operand_is_reduced() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    struct Modulo7(u32);

    impl Operand<op::Mul> for Modulo7 {
        fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
            self.0 = self.0 * other.0 % 7;
            Ok(())
        }
    }

    let powers = in_random_order([[Modulo7(3), Modulo7(2)]; 6].map(Product), 5);
    // Fermat: 3^6 and 2^6 are 1 modulo 7.
    assert_eq!(powers, Ok(Product([Modulo7(1), Modulo7(1)])));
}
