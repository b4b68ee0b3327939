//! Streaming on x86-64: stores that write whole lines past the caches.

use std::arch::x86_64::{
    _MM_HINT_T0, _mm_lfence, _mm_loadu_si128, _mm_prefetch, _mm_sfence, _mm_stream_si128, _rdtsc,
};
use std::ptr;

const LINE: usize = 64;
/// What one instruction stores.
const PIECE: usize = 16;

/// The time stamp counter.
pub(super) fn ticks() -> u64 {
    // SAFETY: reads a counter.
    unsafe { _rdtsc() }
}

/// Asks for all lines of `bytes`, before anything that follows.
#[inline]
pub(super) fn fetch(bytes: &[u8]) {
    // The first and the last may be whole or not.
    let before = bytes.as_ptr().addr() % LINE;
    for at in (0..before + bytes.len()).step_by(LINE) {
        let line = bytes.as_ptr().wrapping_sub(before).wrapping_add(at);
        // SAFETY: asks for a line of which a byte may be read, and reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    // A prefetch is done with when it has been asked for; this waits for that.
    // SAFETY: every x86-64 has it.
    unsafe { _mm_lfence() };
}

/// Copies whole lines by streaming, and what lies before and behind them plainly.
///
/// # Safety
/// As [`Copier::copy`](super::Copier::copy).
pub(super) unsafe fn copy(bytes: &[u8], to: *mut u8) {
    let before = to.align_offset(LINE).min(bytes.len());
    let (head, rest) = bytes.split_at(before);
    let (lines, tail) = rest.split_at(rest.len() / LINE * LINE);
    // SAFETY: as the caller says, for the first of these bytes,
    unsafe { ptr::copy_nonoverlapping(head.as_ptr(), to, head.len()) };
    let mut at = to.wrapping_add(before);
    for piece in lines.chunks_exact(PIECE) {
        // SAFETY: a piece has as many bytes as are loaded, wherever it lies.
        let piece = unsafe { _mm_loadu_si128(piece.as_ptr().cast()) };
        // SAFETY: as the caller says, for these; they begin with a line, and pieces divide it.
        unsafe { _mm_stream_si128(at.cast(), piece) };
        at = at.wrapping_add(PIECE);
    }
    // SAFETY: as the caller says, for the last of them.
    unsafe { ptr::copy_nonoverlapping(tail.as_ptr(), at, tail.len()) };
    // Streaming stores are not ordered by a store Release: they are out before it.
    // SAFETY: every x86-64 has it.
    unsafe { _mm_sfence() };
}
