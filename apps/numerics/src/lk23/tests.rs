//! The kernel with locations agrees with the plain loop to the last bit.

use std::num::NonZeroUsize;

use proptest::prelude::*;
use raddle::Runtime;

use super::*;
use crate::common::runtime;

fn same(found: &[f64], expected: &[f64]) -> bool {
    found.len() == expected.len()
        && found
            .iter()
            .zip(expected)
            .all(|(a, b)| a.to_bits() == b.to_bits())
}

fn plan(
    rows: usize,
    columns: usize,
    turns: u64,
    block: (usize, usize),
    depth: Option<usize>,
) -> Plan {
    let some = |number| NonZeroUsize::new(number).expect("the number is not 0");
    let wanted = Wanted {
        block: Some((some(block.0.min(rows)), some(block.1.min(columns)))),
        depth: depth.map(some),
        ..Wanted::default()
    };
    Plan::new(rows, columns, turns, &wanted).expect("the plan is possible")
}

fn input(rows: usize, columns: usize) -> Input {
    Input {
        rows,
        columns,
        seed: 23,
    }
}

fn by_program(runtime: &Runtime, input: &Input, plan: &Plan, form: Form) -> Vec<f64> {
    let program = Lk23::new(runtime, input, plan, form, |_| ());
    let ran = program.run_on(runtime).expect("no operation panics");
    ran.values().expect("no location is broken")
}

#[test]
fn the_first_point_follows_the_formula() {
    let input = input(1, 1);
    let za = reference(&input, 1);
    let [zr, zb, zu, zv, zz] = input.coefficients(1, 1);
    let value = |row, column| input.value(row, column);
    let qa = value(2, 1) * zr + value(0, 1) * zb + value(1, 2) * zu + value(1, 0) * zv + zz;
    let own = value(1, 1);
    assert_eq!(za[4].to_bits(), (own + 0.175 * (qa - own)).to_bits());
}

#[test]
fn impossible_blocks_are_refused() {
    let some = NonZeroUsize::new;
    let wanted = |block: (usize, usize), depth| Wanted {
        block: some(block.0).zip(some(block.1)),
        depth: some(depth),
        ..Wanted::default()
    };
    let plan = |wanted: &Wanted| {
        Plan::new(20, 30, 5, wanted)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        plan(&wanted((21, 4), 1)),
        "blocks of 21 rows in a matrix of 20; expected at most 20"
    );
    assert_eq!(
        plan(&wanted((5, 6), 6)),
        "6 sweeps in a turn, with blocks of 5 rows; expected at most 5"
    );
    assert!(matches!(
        Plan::new(0, 3, 1, &Wanted::default()),
        Err(PlanError::Size { .. })
    ));
    assert!(matches!(
        Plan::new(usize::MAX, 3, 1, &Wanted::default()),
        Err(PlanError::Size { .. })
    ));
}

#[test]
fn an_inner_block_has_nine_operations() {
    let runtime = runtime(1);
    let plan = plan(12, 12, 1, (4, 4), None);
    let program = Lk23::new(&runtime, &input(12, 12), &plan, Form::Future, |_| ()).program;
    let matrix = program.dependencies();
    let names = matrix.names();
    let of = |block: &str| names.iter().filter(|name| name.starts_with(block)).count();
    assert_eq!(of("block 1,1/"), 9);
    assert_eq!(of("block 0,0/"), 4);
    assert_eq!(of("block 0,1/"), 6);
}

#[test]
fn rows_are_dealt_out_to_the_workers_one_by_one() {
    let runtime = runtime(3);
    let (input, plan) = (input(28, 28), plan(28, 28, 5, (4, 4), Some(2)));
    let mut program = Lk23::new(&runtime, &input, &plan, Form::Future, |_| ());
    let placement = program.deal(&runtime);
    for place in &placement.places {
        let row = place
            .operation
            .strip_prefix("block ")
            .and_then(|name| name.split(',').next());
        let row: usize = row.and_then(|row| row.parse().ok()).expect("a row");
        assert_eq!(place.worker_index, row % 3, "{}", place.operation);
    }
    assert!(placement.cost > 0.0);
    let ran = program.run_on(&runtime).expect("no operation panics");
    assert!(same(
        &ran.values().expect("no location is broken"),
        &reference(&input, 5)
    ));
}

#[test]
fn a_single_block_and_blocks_of_one_point_give_the_reference_result() {
    let runtime = runtime(2);
    for (rows, columns, block, depth) in [
        (1, 1, (1, 1), None),
        (9, 7, (9, 7), None),
        (5, 6, (1, 1), Some(1)),
        (1, 40, (1, 8), Some(1)),
        (40, 1, (8, 1), Some(1)),
    ] {
        let (input, plan) = (input(rows, columns), plan(rows, columns, 9, block, depth));
        let expected = reference(&input, 9);
        assert!(
            same(
                &by_program(&runtime, &input, &plan, Form::Future),
                &expected
            ),
            "{plan:?}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn all_ways_agree_to_the_last_bit(
        rows in 1_usize..70,
        columns in 1_usize..70,
        turns in 0_u64..20,
        block in (1_usize..40, 1_usize..40),
        share in 0_usize..5,
        workers in 1_usize..4,
        has_threads in prop::bool::weighted(0.15),
    ) {
        let block = if has_threads { (block.0.max(15), block.1.max(15)) } else { block };
        // Depth 1, the largest possible depth, or a depth in between.
        let side = |block: usize, len: usize| {
            let parts = len / block.min(len);
            if parts == 1 { 16 } else { len / parts }
        };
        let most = side(block.0, rows).min(side(block.1, columns));
        let depth = (share < 4).then(|| (most * share / 3).max(1));
        let (input, plan) = (input(rows, columns), plan(rows, columns, turns, block, depth));
        let expected = reference(&input, turns);
        let mut blocks = Blocks::new(&input, &plan);
        let mut points = 0;
        blocks.run(|more| points += more);
        prop_assert_eq!(points, plan.points() * turns);
        prop_assert!(same(&blocks.values(), &expected), "one thread: {:?}", plan);
        let runtime = runtime(workers);
        let form = if has_threads { Form::Thread } else { Form::Future };
        let values = by_program(&runtime, &input, &plan, form);
        prop_assert!(same(&values, &expected), "{:?}: {:?}", form, plan);
    }
}

#[test]
fn the_sketch_has_the_dependencies_of_the_program() {
    let runtime = runtime(1);
    for (block, depth) in [((70, 50), 1), ((20, 15), 1), ((20, 15), 4), ((70, 10), 2)] {
        let (input, plan) = (input(70, 50), plan(70, 50, 8, block, Some(depth)));
        let program = Lk23::new(&runtime, &input, &plan, Form::Future, |_| ()).program;
        let sketch = Lk23::sketch(&plan, Lk23::CORE_GFLOPS);
        assert_eq!(program.dependencies(), sketch.dependencies(), "{plan:?}");
    }
}
