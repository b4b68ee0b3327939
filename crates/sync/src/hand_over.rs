//! Copying bytes to where another core reads them next.
//!
//! A plain copy brings each line that it writes into the writer's cache, where it takes it away from the core that read there before; and that core fetches it
//! back when it reads again. A *streaming* copy writes whole lines past the caches, and who reads them has them from memory, or from a cache that all share.
//! Which of the two is sooner depends on the processor, on how far the two cores are apart at the moment, and on the length. On a Zen 4, a round trip of
//! 3,456 bytes that are copied once each way takes 0.6 µs plainly and 1.3 µs by streaming between cores that share a cache, 3.9 and 1.8 µs between others; with
//! 64 KB it takes 15 and 8 µs, and 67 and 10 µs.
//!
//! So a [`Copier`] finds out: of the copies of each length, in powers of two, it times one of sixteen, now and then makes four the other way, and streams where that takes it so
//! much less time that what the reader loses by it, which is not seen from here, is little beside it (`PAYS_BELOW`).
//! Where nobody is about to read ([`Reader::Later`]) long copies are streamed in any case: they push nothing out of the caches.
//!
//! # Source
//! AMD64 Architecture Programmer's Manual, volume 2, section 7.4 (write combining), and volume 1, section 5.6 (streaming stores). That who sends says whether
//! the receiver's cache is the place: Parker, Efficient user-level event notification, section 3.4.1 and figure 4.

mod pace;
mod shared;
#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
mod streaming;

use std::ptr;

use self::pace::Pace;
pub use self::shared::copy_shared;

/// So many bytes are worth an instruction that waits: copies of fewer are not streamed, nor are they asked for at once.
const LONG_FROM: usize = 1024;
/// So many bytes are asked for at once when a message has come; what lies behind them the processor sees coming.
#[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
const FETCHED_MAX: usize = 4096;
/// Powers of two from there on that are told apart; longer copies are as the last.
const CLASSES: usize = 8;
/// Whether there is a streaming copy.
const CAN_STREAM: bool = cfg!(all(target_arch = "x86_64", not(any(loom, shuttle, miri))));

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

/// How many eighths of the time of a plain copy a streamed one takes the writer at most where it is worth it, by power of two: since the reader has to fetch from afar what was
/// streamed, it has to be far fewer while all the bytes are in caches that the two cores have for themselves.
///
/// | bytes | writer's ticks, cores near each other | round trip | cores far from each other | round trip |
/// | --- | --- | --- | --- | --- |
/// | 3,456 | 165 plain, 300 streamed | 0.62, 1.3 µs | 1,040–2,560, 330–620 | 3.9, 1.8 µs |
/// | 16 KB | 3,400, 1,900–4,300 | 3.2, 5.9 µs | 16,000, 6,000 | 16, 6.0 µs |
/// | 32 KB | 8,700, 5,900 | 7.5, 5.7 µs | 40,000, 7,500 | 33, 7.3 µs |
///
/// (Zen 4, two cores.)
const PAYS_BELOW: [u64; CLASSES] = [5, 5, 5, 4, 4, 7, 7, 7];

/// Copies bytes for one reader, and learns which way is the sooner one.
#[derive(Clone, Debug)]
pub struct Copier {
    paces: [Pace; CLASSES],
}

impl Default for Copier {
    fn default() -> Self {
        Self {
            paces: PAYS_BELOW.map(Pace::new),
        }
    }
}

/// How some bytes are to be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copying {
    is_streamed: bool,
    is_timed: bool,
}

impl Copying {
    const PLAIN: Self = Self {
        is_streamed: false,
        is_timed: false,
    };

    /// Past the caches: it is better not done to lines that the reader has just had.
    pub const fn is_streamed(self) -> bool {
        self.is_streamed
    }
}

impl Copier {
    /// How the next `len` bytes are to be copied. Cost: a few instructions.
    #[inline]
    pub fn choose(&mut self, len: usize, reader: Reader) -> Copying {
        if !CAN_STREAM || len < LONG_FROM {
            return Copying::PLAIN;
        }
        match reader {
            Reader::Here => Copying::PLAIN,
            Reader::Soon => self.paces[class_of(len)].next(),
            Reader::Later => Copying {
                is_streamed: true,
                is_timed: false,
            },
        }
    }

    /// Copies `bytes` to `to`, as was [chosen](Self::choose) for so many, for whoever is told of them by a store Release that follows.
    ///
    /// Cost: a copy; no call of the system, no allocation.
    ///
    /// # Safety
    /// So many bytes from `to` on can be written, nobody else touches them, and `bytes` are elsewhere.
    #[inline]
    pub unsafe fn copy(&mut self, copying: Copying, bytes: &[u8], to: *mut u8) {
        let plainly = |from: *const u8, to: *mut u8, len| {
            // SAFETY: as the caller says.
            unsafe { ptr::copy_nonoverlapping(from, to, len) }
        };
        // SAFETY: as the caller says; `bytes` can be read.
        unsafe { self.copy_by(copying, bytes.as_ptr(), to, bytes.len(), plainly) }
    }

    /// Copies `len` bytes from `from` to `to` as [`copy`](Self::copy) does, through memory that other threads and
    /// processes may read and write meanwhile, as [`copy_shared`] explains.
    ///
    /// # Safety
    /// `len` bytes from `from` on can be read, and as many from `to` on can be written. No reference to either is in use.
    #[inline]
    pub unsafe fn copy_shared(
        &mut self,
        copying: Copying,
        from: *const u8,
        to: *mut u8,
        len: usize,
    ) {
        let plainly = |from: *const u8, to: *mut u8, len| {
            // SAFETY: as the caller says.
            unsafe { copy_shared(from, to, len) }
        };
        // SAFETY: as the caller says.
        unsafe { self.copy_by(copying, from, to, len, plainly) }
    }

    /// Copies in the chosen way and times it where that was chosen; `plainly` makes a plain copy.
    ///
    /// # Safety
    /// As for [`copy_shared`](Self::copy_shared), and as `plainly` needs it.
    #[inline]
    unsafe fn copy_by(
        &mut self,
        copying: Copying,
        from: *const u8,
        to: *mut u8,
        len: usize,
        plainly: impl Fn(*const u8, *mut u8, usize),
    ) {
        let start = if copying.is_timed { ticks() } else { 0 };
        #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
        if copying.is_streamed {
            // SAFETY: as the caller says.
            unsafe { streaming::copy(from, to, len, plainly) };
        } else {
            plainly(from, to, len);
        }
        #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
        plainly(from, to, len);
        if copying.is_timed {
            let took = ticks().saturating_sub(start);
            self.paces[class_of(len)].observe(copying.is_streamed, took);
        }
    }
}

/// Asks for the first 4 KB of `bytes`, which another core has just written, all lines at once. Reads none of them.
///
/// Who copies them on finds each line missing as it comes, and no further than its stores are: they wait for lines, too, and then the loads for them. So nothing
/// that follows begins before all lines are asked for: stores that do compete with them. On a Zen 4 a round trip of 3,456 bytes, each time from where they came to
/// where the other reads them, takes 0.60 µs so, 0.75 where what follows begins at once, and 0.78 without.
///
/// Cost: an instruction for each line, and some nanoseconds; none of the lines that are here already is fetched again. Fewer than 1 KB are left as they are.
#[inline]
pub fn fetch(bytes: *const [u8]) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    if bytes.len() >= LONG_FROM {
        streaming::fetch(bytes.cast(), bytes.len().min(FETCHED_MAX));
    }
    let _ = bytes;
}

/// Which power of two.
#[inline]
fn class_of(len: usize) -> usize {
    ((len / LONG_FROM).max(1).ilog2() as usize).min(CLASSES - 1)
}

/// Ticks of a clock that takes no time to read.
fn ticks() -> u64 {
    #[cfg(all(target_arch = "x86_64", not(any(loom, shuttle, miri))))]
    return streaming::ticks();
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, shuttle, miri)))))]
    crate::prim::clock_ns()
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
            len in prop_oneof![0_usize..300, LONG_FROM - 70..LONG_FROM + 200, Just(9_000)],
            (is_streamed, is_timed, is_shared) in any::<(bool, bool, bool)>(),
        ) {
            let copying = Copying { is_streamed: is_streamed && CAN_STREAM, is_timed };
            let bytes: Vec<u8> = (0..skip + len).map(|index| (index * 31 + index / 251) as u8 | 1).collect();
            let mut place = vec![0_u8; begin + len + 100];
            let to = place.as_mut_ptr().wrapping_add(begin);
            let mut copier = Copier::default();
            if is_shared {
                // SAFETY: within `place` and `bytes`, which no other thread has.
                unsafe { copier.copy_shared(copying, bytes[skip..].as_ptr(), to, len) };
            } else {
                // SAFETY: as above.
                unsafe { copier.copy(copying, &bytes[skip..], to) };
            }
            prop_assert_eq!(&place[begin..begin + len], &bytes[skip..]);
            prop_assert!(place[..begin].iter().chain(&place[begin + len..]).all(|&byte| byte == 0));
        }
    }

    #[test]
    fn who_reads_here_has_a_plain_copy_and_who_reads_later_a_streamed_one() {
        let mut copier = Copier::default();
        for len in [0, LONG_FROM - 1, LONG_FROM, 1 << 20] {
            assert!(!copier.choose(len, Reader::Here).is_streamed());
            let is_long = len >= LONG_FROM;
            assert_eq!(
                copier.choose(len, Reader::Later).is_streamed(),
                is_long && CAN_STREAM
            );
        }
    }

    #[test]
    fn each_power_of_two_has_a_pace_of_its_own() {
        let classes = [1_024, 2_047, 2_048, 3_456, 4_096, 65_536, 131_072, 1 << 30].map(class_of);
        assert_eq!(classes, [0, 0, 1, 1, 2, 6, 7, 7]);
    }
}
