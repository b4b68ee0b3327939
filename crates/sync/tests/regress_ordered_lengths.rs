//! Regressions: two ways in which safe code got data of `ordered` that was not granted to it.
//!
//! `split` added the lengths of the pieces without a check. In release builds the sum wraps around,
//! so lengths of 2⁶⁴ − 1 and 4 were accepted for 3 items, and the first piece covered all of
//! memory.
//!
//! A handle of a whole puts a request into the FIFO of each piece. If one of them was full,
//! `put_in` panicked halfway, and left a handle that was granted as soon as the pieces before the
//! full one were. The handle then gave access to the whole, while other handles had the other
//! pieces.

#![cfg(not(any(loom, shuttle)))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_sync::fifo::{REQUEST_COUNT_MAX, Standing};
use raddle_sync::ordered::{Handle, Read, Then, Write, split};

#[test]
fn lengths_with_a_sum_that_wraps_are_refused() {
    for lens in [
        &[usize::MAX, 4][..],
        &[2, usize::MAX, 2],
        &[1 << 63, 1 << 63, 3],
    ] {
        let items = vec![1_u8, 2, 3].into_boxed_slice();
        let panic = catch_unwind(|| split(items, lens)).expect_err("the lengths are refused");
        let text = panic.downcast_ref::<String>().expect("a message");
        assert_eq!(
            text, "the lengths of the pieces do not add up to 3 items",
            "{lens:?}"
        );
    }
}

#[test]
fn a_whole_that_cannot_put_in_all_its_requests_puts_in_none() {
    for full in 0..3 {
        let (whole, pieces) = split(vec![0_u8; 3].into_boxed_slice(), &[1, 1, 1]);
        let mut writer = Handle::<_, Write>::new(&pieces[full]);
        writer.put_in();
        let others: Vec<_> = (1..REQUEST_COUNT_MAX)
            .map(|_| {
                let mut other = Handle::<_, Read>::new(&pieces[full]);
                other.put_in();
                other
            })
            .collect();
        let mut all = Handle::<_, Write>::new(&whole);
        assert!(catch_unwind(AssertUnwindSafe(|| all.put_in())).is_err());
        let mut piece = writer.enter(Then::GiveBack).expect("the writer was first");
        assert!(
            !all.is_in(),
            "it has requests, but {full} of 3 pieces was full"
        );
        assert!(all.enter(Then::GiveBack).is_none(), "a piece is in use");
        piece[0] = 7;
        drop(piece);
        drop(others);
        all.put_in();
        assert_eq!(all.standing(), Standing::Granted, "nothing was left behind");
        assert_eq!(all.enter(Then::GiveBack).expect("granted")[full], 7);
        for piece in &pieces {
            let mut reader = Handle::<_, Read>::new(piece);
            reader.put_in();
            assert_eq!(reader.standing(), Standing::Granted);
        }
    }
}
