//! Streaming copies on x86-64: stores that write whole lines past the caches.

use std::arch::asm;
use std::arch::x86_64::{
    __m128i, _MM_HINT_T0, _mm_lfence, _mm_prefetch, _mm_sfence, _mm_stream_si128,
};

const LINE: usize = 64;
/// The number of bytes that one instruction stores.
const PIECE: usize = 16;

/// Prefetches all lines of `len` bytes from `bytes` on, before any code that follows.
#[inline]
pub(super) fn fetch(bytes: *const u8, len: usize) {
    // The first and the last line may be incomplete.
    let before = bytes.addr() % LINE;
    for at in (0..before + len).step_by(LINE) {
        let line = bytes.wrapping_sub(before).wrapping_add(at);
        // SAFETY: a prefetch reads nothing, and has no effect for an unreadable line.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.cast()) };
    }
    // A prefetch instruction is complete when the line has been requested. The fence waits for
    // that.
    // SAFETY: every x86-64 processor has this instruction.
    unsafe { _mm_lfence() };
}

/// Copies whole lines by streaming, and the bytes before and behind them by `plainly`.
///
/// # Safety
/// The contract of [`Copier::copy_shared`](super::Copier::copy_shared), and that of `plainly`.
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
        // SAFETY: by the contract of this function; the piece is within the bytes.
        let piece = unsafe { load(from) };
        // SAFETY: by the contract of this function; pieces divide a line, so the piece is aligned.
        unsafe { _mm_stream_si128(to.cast(), piece) };
    }
    let (from, to) = (from.wrapping_add(lines_end), to.wrapping_add(lines_end));
    plainly(from, to, len - lines_end);
    // A Release store does not order streaming stores, so the fence completes them before it.
    // SAFETY: every x86-64 processor has this instruction.
    unsafe { _mm_sfence() };
}

/// Loads a piece at any alignment. In assembly, because other threads may write the piece
/// meanwhile: a plain load would promise the compiler that no thread does.
///
/// # Safety
/// The piece is readable.
#[inline]
unsafe fn load(from: *const u8) -> __m128i {
    let piece;
    // SAFETY: by the contract of this function.
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
