//! The monitored waits of x86-64: UMWAIT of Intel and MWAITX of AMD.

use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _rdtsc};
use std::sync::OnceLock;

use crate::prim::{AtomicU32, Relaxed};

pub(super) const MISSING: &str =
    "this processor, or the virtual machine, offers neither UMWAIT (WAITPKG) nor MWAITX (MONITORX)";

/// The maximum duration of one wait, in cycles: 5 to 10 µs. The kernel may set a lower limit for
/// UMWAIT.
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

    pub(super) fn wait(self, word: &AtomicU32, expected: u32) {
        match self {
            Self::Umwait => umwait(word, expected),
            Self::Mwaitx => mwaitx(word, expected),
        }
    }
}

/// Waits with UMWAIT. Checks the word once more between arming and waiting, because a write before
/// the arming would not end the wait.
fn umwait(word: &AtomicU32, expected: u32) {
    // SAFETY: CPUID reports the instruction. It arms the monitor for a readable word and changes
    // no memory.
    unsafe { asm!("umonitor {}", in(reg) word.as_ptr(), options(nostack, preserves_flags)) };
    // Relaxed: the wait publishes nothing.
    if word.load(Relaxed) != expected {
        return;
    }
    /// The lighter of the two sleep states, which wakes sooner.
    const C0_1: u32 = 1;
    // SAFETY: reads a counter.
    let until = unsafe { _rdtsc() } + u64::from(CYCLES_MAX);
    // SAFETY: CPUID reports the instruction, which only waits.
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

/// Waits with MWAITX, like [`umwait`]. The compiler reserves RBX, so the code exchanges RBX with
/// the time limit and restores it afterwards.
fn mwaitx(word: &AtomicU32, expected: u32) {
    // SAFETY: CPUID reports the instruction. It arms the monitor for a readable word and changes
    // no memory.
    unsafe {
        asm!(
            "monitorx",
            in("rax") word.as_ptr(),
            in("ecx") 0,
            in("edx") 0,
            options(nostack, preserves_flags),
        );
    }
    // Relaxed: the wait publishes nothing.
    if word.load(Relaxed) != expected {
        return;
    }
    /// The lightest state. Bits 7:4 contain its number minus one, so all ones mean C0.
    const C0: u32 = 0xF0;
    const HAS_TIME_LIMIT: u32 = 1 << 1;
    // SAFETY: CPUID reports the instruction, which only waits; RBX is restored.
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
