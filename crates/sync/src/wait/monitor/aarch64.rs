//! The monitored wait of AArch64: an exclusive load arms the monitor, and WFE waits until it is
//! lost.

use std::arch::asm;

use crate::prim::AtomicU32;

pub(super) const MISSING: &str = "";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind;

/// Returns the monitored wait. Every AArch64 processor has WFE in user mode, and the event stream
/// of Linux ends a wait after at most 100 µs.
pub(super) fn detect() -> Option<Kind> {
    Some(Kind)
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        "WFE"
    }

    pub(super) fn wait(self, word: &AtomicU32, expected: u32) {
        // SAFETY: reads the word, which outlives the borrow, and waits; clears the exclusive
        // monitor afterwards.
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
