//! Streaming on x86-64: stores that write whole lines past the caches.

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, _MM_HINT_T0, _mm_lfence, _mm_prefetch, _mm_sfence, _mm_stream_si128, _rdtsc,
};

const LINE: usize = 64;
/// What one instruction stores.
const PIECE: usize = 16;

/// The time stamp counter.
pub(super) fn ticks() -> u64 {
    // SAFETY: reads a counter.
    unsafe { _rdtsc() }
}

/// Asks for all lines of `len` bytes from `bytes` on, before anything that follows.
#[inline]
pub(super) fn fetch(bytes: *const u8, len: usize) {
    // The first and the last may be whole or not.
    let before = bytes.addr() % LINE;
    for at in (0..before + len).step_by(LINE) {
        let line = bytes.wrapping_sub(before).wrapping_add(at);
        // SAFETY: asks for a line, and reads nothing; of a line that cannot be read nothing comes.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    // A prefetch is done with when it has been asked for; this waits for that.
    // SAFETY: every x86-64 has it.
    unsafe { _mm_lfence() };
}

/// Copies whole lines by streaming, and what lies before and behind them by `plainly`.
///
/// # Safety
/// As [`Copier::copy_shared`](super::Copier::copy_shared), and as `plainly` needs it.
pub(super) unsafe fn copy(
    from: *const u8,
    to: *mut u8,
    len: usize,
    plainly: impl Fn(*const u8, *mut u8, usize),
) {
    let head = to.align_offset(LINE).min(len);
    let lines_end = head + (len - head) / LINE * LINE;
    plainly(from, to, head);
    for at in (head..lines_end).step_by(PIECE) {
        let (from, to) = (from.wrapping_add(at), to.wrapping_add(at));
        // SAFETY: as the caller says, for these bytes.
        let piece = unsafe { load(from) };
        // SAFETY: as the caller says, for these; they begin with a line, and pieces divide it.
        unsafe { _mm_stream_si128(to.cast(), piece) };
    }
    let (from, to) = (from.wrapping_add(lines_end), to.wrapping_add(lines_end));
    plainly(from, to, len - lines_end);
    // Streaming stores are not ordered by a store Release: they are out before it.
    // SAFETY: every x86-64 has it.
    unsafe { _mm_sfence() };
}

/// Loads a piece, wherever it lies. In assembly, since other threads may write it meanwhile: to the compiler a plain
/// load promises that none does.
///
/// # Safety
/// It can be read.
#[inline]
unsafe fn load(from: *const u8) -> __m128i {
    let piece;
    // SAFETY: as the caller says.
    unsafe {
        asm!(
            "movups {piece}, [{from}]",
            piece = out(xmm_reg) piece,
            from = in(reg) from,
            options(readonly, nostack, preserves_flags),
        );
    }
    piece
}
