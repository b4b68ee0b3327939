//! Two ways in which safe code got data of `ordered` that it had no grant for.
//!
//! `split` added the lengths of the pieces without a check. In release builds the sum wraps, so
//! that lengths of 2⁶⁴ − 1 and 4 passed for 3 items, and the first piece reached over all of
//! memory.
//!
//! A handle of a whole asks in the FIFO of each piece. When one of them was full, `put_in` panicked
//! half-way, and left a handle that was granted as soon as the pieces in front of the full one
//! were. It then gave out the whole, while other handles had the other pieces.

#![cfg(not(any(loom, shuttle)))]

use std::panic::{AssertUnwindSafe, catch_unwind};

use raddle_sync::fifo::{REQUEST_COUNT_MAX, Standing};
use raddle_sync::ordered::{Handle, Read, Then, Write, split};

#[test]
fn lengths_whose_sum_wraps_are_refused() {
    for lens in [
        &[usize::MAX, 4][..],
        &[2, usize::MAX, 2],
        &[1 << 63, 1 << 63, 3],
    ] {
        let items = vec![1_u8, 2, 3].into_boxed_slice();
        let panic = catch_unwind(|| split(items, lens)).expect_err("the lengths are refused");
        let text = panic.downcast_ref::<String>().expect("a message");
        assert_eq!(
            text, "pieces of 3 items have that many together",
            "{lens:?}"
        );
    }
}

#[test]
fn whole_that_cannot_ask_everywhere_has_not_asked() {
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
        let mut piece = writer.enter(Then::GiveBack).expect("it came first");
        assert!(!all.is_in(), "it has asked in {full} of 3 pieces");
        assert!(all.enter(Then::GiveBack).is_none(), "a piece is lent");
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
