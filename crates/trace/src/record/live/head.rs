//! The first word of a record: its kind, the number of the words that follow, the ticks since the
//! record before, and an argument.

use crate::record::kind::Kind;

const LEN_SHIFT: u32 = 6;
const TICKS_SHIFT: u32 = 8;
/// The number of bits for the ticks.
pub(crate) const TICKS_BITS: u32 = 24;
const ARGUMENT_SHIFT: u32 = 32;

/// Returns the first word of a record.
#[inline(always)]
pub(crate) fn head(kind: Kind, len: usize, passed: u64, argument: u32) -> u64 {
    kind as u64
        | (len as u64) << LEN_SHIFT
        | passed << TICKS_SHIFT
        | u64::from(argument) << ARGUMENT_SHIFT
}

/// Returns the number of the kind of a record with this first word.
pub(crate) fn kind_of(head: u64) -> u64 {
    head & ((1 << LEN_SHIFT) - 1)
}

/// Returns the number of the words of a record that follow this first one.
pub(crate) fn len_of(head: u64) -> usize {
    (head >> LEN_SHIFT & ((1 << (TICKS_SHIFT - LEN_SHIFT)) - 1)) as usize
}

/// Returns the ticks since the record before a record with this first word; 0 if it has no reading.
pub(crate) fn ticks_of_head(head: u64) -> u64 {
    head >> TICKS_SHIFT & ((1 << TICKS_BITS) - 1)
}

/// Returns the argument of a record with this first word.
pub(crate) fn argument_of(head: u64) -> u32 {
    (head >> ARGUMENT_SHIFT) as u32
}
