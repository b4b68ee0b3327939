//! The workloads, compared with known answers.

use super::*;

#[test]
fn fib_follows_its_definition() {
    let first: Vec<u64> = (0..10).map(|n| Fib(n).run(&mut Plain)).collect();
    assert_eq!(first, [0, 1, 1, 2, 3, 5, 8, 13, 21, 34]);
}

#[test]
fn twelve_queens_have_14200_solutions() {
    assert_eq!(Queens::new().run(&mut Plain), 14_200);
}

#[test]
fn a_tree_of_depth_d_has_two_to_the_d_minus_one_nodes_and_sums_them() {
    let mut next = 0;
    let tree = Node::tree(11, &mut next);
    assert_eq!(next, (1 << 11) - 1);
    assert_eq!(Sum(&tree).run(&mut Plain), (0..next).sum::<u64>());
}

#[test]
fn every_runtime_agrees_with_the_plain_function() {
    let mut next = 0;
    let tree = Node::tree(10, &mut next);
    let pool = chili::ThreadPool::new();
    let mut scope = pool.scope();
    assert_eq!(Fib(15).run(&mut Raddle), 610);
    assert_eq!(Fib(15).run(&mut Rayon), 610);
    assert_eq!(Fib(15).run(&mut scope), 610);
    let expected = Sum(&tree).run(&mut Plain);
    assert_eq!(Sum(&tree).run(&mut Raddle), expected);
    assert_eq!(Sum(&tree).run(&mut Rayon), expected);
    assert_eq!(Sum(&tree).run(&mut scope), expected);
}

#[track_caller]
fn check_sort(fork: &mut impl Fork) {
    let mut items = vec![0; 50_000];
    raddle_numerics::random::fill(&mut items, 1);
    Quicksort(Part::whole(&mut items)).run(fork);
    assert!(items.is_sorted());
}

#[test]
fn every_runtime_sorts() {
    let pool = chili::ThreadPool::new();
    check_sort(&mut Plain);
    check_sort(&mut Raddle);
    check_sort(&mut Rayon);
    check_sort(&mut pool.scope());
}

#[test]
fn the_checksum_differs_after_one_wrong_bit() {
    let mut values: Vec<u64> = (0..100).map(loop_body).collect();
    let right = checksum(&values);
    values[41] ^= 1;
    assert_ne!(checksum(&values), right);
}
