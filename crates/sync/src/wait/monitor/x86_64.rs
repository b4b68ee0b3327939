//! x86-64: UMWAIT of Intel's, MWAITX of AMD's.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _rdtsc};
use std::sync::OnceLock;

use crate::prim::{AtomicU32, Relaxed};

pub(super) const MISSING: &str =
    "this processor, or the virtual machine, offers neither UMWAIT (WAITPKG) nor MWAITX (MONITORX)";

/// How long a watch takes at most: five to ten microseconds. The kernel may set less for UMWAIT.
const CYCLES_MAX: u32 = 20_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Umwait,
    Mwaitx,
}

pub(super) fn detect() -> Option<Kind> {
    static KIND: OnceLock<Option<Kind>> = OnceLock::new();
    *KIND.get_or_init(|| {
        const WAITPKG: u32 = 1 << 5;
        const MONITORX: u32 = 1 << 29;
        let leaf_max = __cpuid(0).eax;
        let extended_max = __cpuid(0x8000_0000).eax;
        if leaf_max >= 7 && __cpuid_count(7, 0).ecx & WAITPKG != 0 {
            Some(Kind::Umwait)
        } else if extended_max >= 0x8000_0001 && __cpuid(0x8000_0001).ecx & MONITORX != 0 {
            Some(Kind::Mwaitx)
        } else {
            None
        }
    })
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Umwait => "UMWAIT",
            Self::Mwaitx => "MWAITX",
        }
    }

    pub(super) fn watch(self, word: &AtomicU32, expected: u32) {
        match self {
            Self::Umwait => umwait(word, expected),
            Self::Mwaitx => mwaitx(word, expected),
        }
    }
}

/// The word is looked at once more between arming and waiting: a write before the arming would wake nobody.
fn umwait(word: &AtomicU32, expected: u32) {
    // SAFETY: CPUID says that it is there; it arms a watch of a word that we may read, and touches nothing.
    unsafe { asm!("umonitor {}", in(reg) word.as_ptr(), options(nostack, preserves_flags)) };
    // Relaxed: a watch publishes nothing.
    if word.load(Relaxed) != expected {
        return;
    }
    /// The lighter of two states: wakes sooner.
    const C0_1: u32 = 1;
    // SAFETY: reads a counter.
    let until = unsafe { _rdtsc() } + u64::from(CYCLES_MAX);
    // SAFETY: as above; it waits.
    unsafe {
        asm!(
            "umwait {state:e}",
            state = in(reg) C0_1,
            in("eax") until as u32,
            in("edx") (until >> 32) as u32,
            options(nostack),
        );
    }
}

/// As [`umwait`]. The compiler keeps RBX for itself, so it is lent for the time limit and given back.
fn mwaitx(word: &AtomicU32, expected: u32) {
    // SAFETY: CPUID says that it is there; it arms a watch of a word that we may read, and touches nothing.
    unsafe {
        asm!(
            "monitorx",
            in("rax") word.as_ptr(),
            in("ecx") 0,
            in("edx") 0,
            options(nostack, preserves_flags),
        );
    }
    // Relaxed: a watch publishes nothing.
    if word.load(Relaxed) != expected {
        return;
    }
    /// The lightest state: bits 7:4 say one less than its number, so all ones say C0.
    const C0: u32 = 0xF0;
    const HAS_TIME_LIMIT: u32 = 1 << 1;
    // SAFETY: as above; it waits.
    unsafe {
        asm!(
            "xchg {limit:r}, rbx",
            "mwaitx",
            "xchg {limit:r}, rbx",
            limit = inout(reg) u64::from(CYCLES_MAX) => _,
            in("eax") C0,
            in("ecx") HAS_TIME_LIMIT,
            options(nostack, preserves_flags),
        );
    }
}
