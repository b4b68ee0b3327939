//! Copying bytes to where another core reads them next.
//!
//! A plain copy brings each line that it writes into the writer's cache, where it takes it away from the core that read there before; and that core fetches it
//! back when it reads again. A *streaming* copy writes whole lines past the caches, and who reads them has them from memory, or from a cache that all share.
//! Which of the two is sooner, writing and reading together, is the processor's business: on AMD's Zen 4 a round trip of 64 KB that is copied once each way
//! takes 7 µs instead of 15, and 2.4 instead of 4.0 with 16 KB; below 8 KB the plain copy is the quicker one. On processors of Intel's, where what has been streamed
//! is fetched from memory, copies are plain.
//!
//! Where nobody is about to read ([`Reader::Later`]) long copies are streamed on every processor that can: they push nothing out of the caches.
//!
//! # Source
//! AMD64 Architecture Programmer's Manual, volume 2, section 7.4 (write combining), and volume 1, section 5.6 (streaming stores). That who sends says whether
//! the receiver's cache is the place: Parker, Efficient user-level event notification, section 3.4.1 and figure 4.

#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
mod streaming;

/// From so many bytes on a copy may be streamed: for fewer, the wait at its end costs more than it saves.
const STREAMED_FROM: usize = 8 * 1024;

/// When the bytes are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reader {
    /// Soon, and by the thread that copies, or one that shares its caches.
    Here,
    /// As soon as they are there, by another core.
    #[default]
    Soon,
    /// Not soon: no cache need have them.
    Later,
}

/// Copies `bytes` to `to`, for whoever is told of them by a store Release that follows.
///
/// Cost: a copy; no call of the system, no allocation.
///
/// # Safety
/// So many bytes from `to` on can be written, nobody else touches them, and `bytes` are elsewhere.
#[inline]
pub unsafe fn hand_over(bytes: &[u8], to: *mut u8, reader: Reader) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    if bytes.len() >= STREAMED_FROM && is_streamed(reader) {
        // SAFETY: as the caller says.
        return unsafe { streaming::copy(bytes, to) };
    }
    let _ = reader;
    // SAFETY: as the caller says.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) }
}

#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
fn is_streamed(reader: Reader) -> bool {
    match reader {
        Reader::Here => false,
        Reader::Soon => streaming::pays(),
        Reader::Later => true,
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_bytes_arrive_and_no_others_are_touched(
            begin in 0_usize..200,
            skip in 0_usize..40,
            len in prop_oneof![0_usize..300, STREAMED_FROM - 70..STREAMED_FROM + 200],
            reader in prop_oneof![Just(Reader::Here), Just(Reader::Soon), Just(Reader::Later)],
        ) {
            let bytes: Vec<u8> = (0..skip + len).map(|index| (index * 31 + index / 251) as u8 | 1).collect();
            let mut place = vec![0_u8; begin + len + 100];
            // SAFETY: within `place`, which is nobody else's.
            unsafe { hand_over(&bytes[skip..], place.as_mut_ptr().wrapping_add(begin), reader) };
            prop_assert_eq!(&place[begin..begin + len], &bytes[skip..]);
            prop_assert!(place[..begin].iter().chain(&place[begin + len..]).all(|&byte| byte == 0));
        }
    }
}
