//! Products with locations agree with the plain loops, within the bound of rounding.

use proptest::prelude::*;

use super::*;
use crate::common::runtime;
use crate::lk23::Form;

#[test]
fn the_reference_computes_a_product_of_two_by_two() {
    let input = Input {
        rows: 2,
        inner: 2,
        columns: 2,
        seed: 7,
    };
    let c = reference(&input);
    let expected = input.a(1, 0) * input.b(0, 0) + input.a(1, 1) * input.b(1, 0);
    assert_eq!(c[2].to_bits(), expected.to_bits());
}

#[test]
fn a_wrong_entry_is_found() {
    let input = Input {
        rows: 5,
        inner: 9,
        columns: 4,
        seed: 1,
    };
    let mut c = reference(&input);
    assert!(difference(&input, &c).is_allowed());
    assert!(
        difference(&input, &c).bound > 0.0,
        "there is a bound even if the products are equal"
    );
    c[7] += 1e-10;
    let difference = difference(&input, &c);
    assert!(!difference.is_allowed());
    assert_eq!(difference.at, (1, 3));
    c[7] = f64::NAN;
    assert!(!super::difference(&input, &c).is_allowed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn the_program_computes_the_product(
        rows in 1_usize..90,
        inner in 1_usize..90,
        columns in 1_usize..90,
        tasks in 1_usize..12,
        workers in 1_usize..4,
        has_threads in prop::bool::weighted(0.2),
    ) {
        let input = Input { rows, inner, columns, seed: 3 };
        let runtime = runtime(workers);
        let form = if has_threads { Form::Thread } else { Form::Future };
        let product = Product::new(&runtime, &input, tasks, form, |_| ());
        let ran = product.run_on(&runtime).expect("no operation panics");
        let c = ran.values().expect("no location is broken");
        let difference = difference(&input, &c);
        prop_assert!(difference.is_allowed(), "{difference:?}");
    }
}

#[test]
fn the_sketch_has_the_dependencies_of_the_program() {
    let input = Input {
        rows: 50,
        inner: 31,
        columns: 43,
        seed: 3,
    };
    let runtime = runtime(1);
    for tasks in [1, 2, 7] {
        let product = Product::new(&runtime, &input, tasks, Form::Future, |_| ());
        let sketch = Product::sketch(&input, tasks, Product::CORE_GFLOPS);
        assert_eq!(product.program.dependencies(), sketch.dependencies());
    }
}
