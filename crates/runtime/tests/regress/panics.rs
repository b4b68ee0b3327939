//! Panics that ended too little or too much.
//!
//! - A panic in one part of a loop did not stop the other parts: a loop over `0..usize::MAX` never
//!   ended.
//! - A destructor of a result ended the process if it panicked when the other half of the join had
//!   panicked too.

use raddle_runtime::{for_each, for_each_piece, join, map, map_reduce};
use raddle_sync::prim::{AtomicUsize, SeqCst};

use crate::Bomb;
use crate::checks::panic_text;
use crate::common::runtime;

#[test]
fn panic_ends_all_parts_of_an_endless_loop() {
    for workers in [1, 2, 3] {
        let runtime = runtime(workers);
        for at in [0, 1, 1_000, 100_000] {
            let calls = AtomicUsize::new(0);
            let body = |_| {
                // SeqCst, here and below: the simplest ordering, as no time is measured.
                assert!(calls.fetch_add(1, SeqCst) != at, "enough");
            };
            let message = panic_text(|| runtime.install(|| for_each(0..usize::MAX, body)));
            assert_eq!(message, "enough");
        }
    }
}

#[test]
fn panic_ends_all_parts_of_every_kind_of_loop() {
    let runtime = runtime(2);
    let fails = |index| assert!(index != 7, "seven");
    let counts = |index| {
        fails(index);
        index
    };
    for _ in 0..10 {
        let pieces = |part: std::ops::Range<usize>| part.for_each(fails);
        let message = panic_text(|| runtime.install(|| for_each_piece(0..usize::MAX, pieces)));
        assert_eq!(message, "seven");
        let message = panic_text(|| {
            runtime.install(|| map_reduce(0..usize::MAX, || 0, counts, usize::wrapping_add));
        });
        assert_eq!(message, "seven");
        // A shorter range, because the results have to fit into memory.
        let message = panic_text(|| drop(runtime.install(|| map(0..1 << 20, counts))));
        assert_eq!(message, "seven");
    }
}

#[test]
fn panic_of_a_destructor_gives_way_to_the_panic_of_the_other_half() {
    let runtime = runtime(2);
    for _ in 0..100 {
        let fails = || -> () { panic!("half") };
        let message = panic_text(|| {
            runtime.install(|| drop(join(|| Bomb, fails)));
        });
        assert_eq!(message, "half");
        let message = panic_text(|| {
            runtime.install(|| drop(join(fails, || Bomb)));
        });
        assert_eq!(message, "half");
        let bomb = Bomb;
        let message = panic_text(|| {
            runtime.install(|| {
                join(fails, move || {
                    let _bomb = &bomb;
                })
            });
        });
        assert_eq!(message, "half");
    }
}
