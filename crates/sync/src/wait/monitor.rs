//! Monitored waits: the processor monitors a word, and the thread issues no instruction until the
//! word is written.
//!
//! | instructions | processors | detected by |
//! | --- | --- | --- |
//! | UMONITOR, UMWAIT, TPAUSE | Intel since Tremont, Alder Lake, Sapphire Rapids | CPUID 7, ECX 5 |
//! | MONITORX, MWAITX | AMD since Excavator, Zen | CPUID 0x8000_0001, ECX 29 |
//! | LDAXR, WFE | AArch64 | always present |
//!
//! ECX 5 is the feature WAITPKG. Virtual machines often hide these features. A wait ends with a
//! write to the cache line of the word, with an interrupt, or after a time limit that is counted in
//! cycles and amounts to some microseconds. A waiting thread therefore checks again after each
//! wait, and waits again.
//!
//! # Source
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, UMONITOR, UMWAIT; AMD64
//! Architecture Programmer's Manual, volume 3, MONITORX, MWAITX; Arm Architecture Reference Manual
//! for A-profile, D1.6 (Wait for Event, and the event stream).

use std::fmt;

use crate::prim::AtomicU32;

#[cfg(all(target_arch = "aarch64", not(any(loom, shuttle, miri))))]
#[path = "monitor/aarch64.rs"]
mod processor;
#[cfg(any(
    loom,
    shuttle,
    miri,
    not(any(target_arch = "x86_64", target_arch = "aarch64"))
))]
#[path = "monitor/none.rs"]
mod processor;
#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
#[path = "monitor/x86_64.rs"]
mod processor;

/// The monitored wait of this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor(processor::Kind);

impl Monitor {
    /// Returns the monitored wait that the processor offers to user mode. Detected once.
    pub fn detect() -> Option<Self> {
        processor::detect().map(Self)
    }

    /// Returns the name of the instruction that waits.
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// Returns a short reason why the processor has no monitored wait. Names the missing features.
    pub const fn missing() -> &'static str {
        processor::MISSING
    }

    /// Waits for a write to the cache line of `word` while its value is `expected`, for some
    /// microseconds at most. May return at any time.
    pub fn wait(self, word: &AtomicU32, expected: u32) {
        self.0.wait(word, expected);
    }
}

impl fmt::Display for Monitor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
