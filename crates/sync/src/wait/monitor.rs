//! Monitored waits: the processor watches a word, and the thread issues nothing until it is written.
//!
//! | instructions | processors | told by |
//! |---|---|---|
//! | UMONITOR, UMWAIT, TPAUSE | Intel from Tremont and Alder Lake / Sapphire Rapids on | CPUID leaf 7, ECX bit 5 (WAITPKG) |
//! | MONITORX, MWAITX | AMD from Excavator and Zen on | CPUID leaf 0x8000_0001, ECX bit 29 |
//! | LDAXR, WFE | AArch64 | always there |
//!
//! Virtual machines often hide them. A watch ends with a write to the word's cache line, with an interrupt, or with a time that is
//! counted in cycles and is some microseconds: whoever watches looks again, and watches again.
//!
//! # Source
//! Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, UMONITOR, UMWAIT; AMD64 Architecture Programmer's Manual, volume 3,
//! MONITORX, MWAITX; Arm Architecture Reference Manual for A-profile, D1.6 (Wait for Event, and the event stream).

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
    /// What the processor says that it has for user mode, asked once.
    pub fn detect() -> Option<Self> {
        processor::detect().map(Self)
    }

    /// The name of the instruction that waits.
    pub const fn name(self) -> &'static str {
        self.0.name()
    }

    /// What was asked for and is not there: why the processor has none, in a few words.
    pub const fn missing() -> &'static str {
        processor::MISSING
    }

    /// Waits for a write to the cache line of `word` while it is `expected`, for some microseconds at most; may come back at any time.
    pub fn watch(self, word: &AtomicU32, expected: u32) {
        self.0.watch(word, expected);
    }
}

impl fmt::Display for Monitor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}
