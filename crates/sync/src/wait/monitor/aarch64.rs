//! AArch64: an exclusive load arms the monitor, and WFE waits for it to be lost.

use std::arch::asm;

use crate::prim::AtomicU32;

pub(super) const MISSING: &str = "";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind;

/// Every AArch64 processor has WFE in user mode, and Linux' event stream ends it after 100 µs at the latest.
pub(super) fn detect() -> Option<Kind> {
    Some(Kind)
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        "WFE"
    }

    pub(super) fn watch(self, word: &AtomicU32, expected: u32) {
        // SAFETY: reads the word, which lives as long as its borrow, and waits; the exclusive monitor is cleared after it.
        unsafe {
            asm!(
                "ldaxr {found:w}, [{word}]",
                "cmp {found:w}, {expected:w}",
                "b.ne 2f",
                "wfe",
                "2:",
                "clrex",
                found = out(reg) _,
                word = in(reg) word.as_ptr(),
                expected = in(reg) expected,
                options(nostack),
            );
        }
    }
}
