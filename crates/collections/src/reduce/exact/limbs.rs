//! Sums of floats as integers, in units: a small superaccumulator.
//!
//! The integer is the sum of its limbs, the limb at `i` times 2^32i. A limb has 64 bits, twice what it needs: so a float is added to
//! two limbs without looking at any other, and what has piled up above their lower halves is carried upwards only once in a
//! thousand additions.
//!
//! # Invariants
//! 1. No limb but the last is larger than `pending` × 2^52 in magnitude. An addition makes it larger by less than 2^52: of
//!    at most 53 bits of a mantissa, those that go to the upper limb are at most 52.
//! 2. `pending` is at most [`PENDING_MAX`], so no limb but the last is larger than 2^62, and a carry into it fits too.
//! 3. After [`carry`](Limbs::carry) every limb but the last is in `0..2^32`, and the last has the sign of the integer.
//! 4. Into the last limb go only carries, and last limbs. It begins at 2^2112 for `f64`, 2^288 for `f32`, which are 14 and 11 bits above the largest
//!    float: 2^64 of these do not fill it.
//!
//! # Source
//! Neal: Fast Exact Summation Using Small and Large Superaccumulators. arXiv:1505.05571, 2015: the small one has such limbs.
//! Kulisch, Miranker: Computer Arithmetic in Theory and Practice. 1981, for the long accumulator.

use super::float::{Float, Parts};

/// By how many bits a limb lies above the one before it.
const LIMB_BITS: u32 = 32;
const LIMB_MASK: i64 = (1 << LIMB_BITS) - 1;
/// How many additions go into a limb between two carries.
const PENDING_MAX: u32 = 1 << 10;

/// A sum of any number of floats up to 2^64.
#[derive(Clone)]
pub(super) struct Limbs<F: Float> {
    /// The sum of the terms that are neither zero nor infinite nor NaN.
    limbs: F::Limbs,
    /// How many additions may have gone into one limb since the last carry, which counts as one.
    pending: u32,
    /// Whether there are any, which may cancel.
    has_terms: bool,
    /// The sum of all other terms, which is exact.
    others: F,
}

impl<F: Float> Limbs<F> {
    /// The sum of nothing.
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            limbs: F::NO_LIMBS,
            pending: 0,
            has_terms: false,
            others: F::NOTHING,
        }
    }

    /// What it consists of, as plain numbers: limbs, how many additions they have had, whether there are terms, and the other terms.
    pub(super) fn parts(&self) -> (&[i64], u32, bool, u64) {
        let (limbs, others) = (self.limbs.as_ref(), self.others.into_bits());
        (limbs, self.pending, self.has_terms, others)
    }

    /// The reverse of [`parts`](Self::parts); none where no sum has such parts.
    pub(super) fn of_parts(parts: (&[i64], u32, bool, u64)) -> Option<Self> {
        let (limbs, pending, has_terms, others) = parts;
        let mut sum = Self::new();
        if limbs.len() != sum.limbs.as_ref().len()
            || pending > PENDING_MAX
            || others >> (F::BITS - 1) > 1
        {
            return None;
        }
        sum.limbs.as_mut().copy_from_slice(limbs);
        let others = F::from_bits(others);
        Some(Self {
            pending,
            has_terms,
            others,
            ..sum
        })
    }

    /// Adds a float: two additions of integers.
    #[inline]
    pub(super) fn add(&mut self, term: F) {
        match term.decode() {
            Some(parts) if parts.mantissa != 0 => {
                if self.pending == PENDING_MAX {
                    self.carry();
                }
                self.pending += 1;
                self.has_terms = true;
                self.add_parts(parts);
            }
            _ => self.others = self.others + term,
        }
    }

    #[inline]
    fn add_parts(&mut self, parts: Parts) {
        let index = (parts.shift / LIMB_BITS) as usize;
        let shift = parts.shift % LIMB_BITS;
        let lower = (parts.mantissa << shift) as i64 & LIMB_MASK;
        let upper = (parts.mantissa >> (LIMB_BITS - shift)) as i64;
        // All ones to negate, as -x is !x + 1, else all zeroes: signs of terms are not to be guessed.
        let sign = -i64::from(parts.is_negative);
        let limbs = self.limbs.as_mut();
        limbs[index] += (lower ^ sign) - sign;
        limbs[index + 1] += (upper ^ sign) - sign;
    }

    /// Adds another sum: an addition for every limb.
    pub(super) fn merge(&mut self, mut other: Self) {
        if self.pending + other.pending > PENDING_MAX {
            self.carry();
            other.carry();
        }
        for (limb, other) in self.limbs.as_mut().iter_mut().zip(other.limbs.as_ref()) {
            *limb += other;
        }
        self.pending += other.pending;
        self.has_terms |= other.has_terms;
        self.others = self.others + other.others;
    }

    /// Moves what does not belong into a limb up to the next one.
    #[cold]
    fn carry(&mut self) {
        let mut carry = 0;
        let (last, limbs) = self.split_last_mut();
        for limb in limbs {
            *limb += carry;
            carry = *limb >> LIMB_BITS;
            *limb &= LIMB_MASK;
        }
        *last += carry;
        self.pending = 1;
    }

    fn split_last_mut(&mut self) -> (&mut i64, &mut [i64]) {
        let limbs = self.limbs.as_mut().split_last_mut();
        limbs.expect("there are limbs for the exponents of a float")
    }

    /// The float next to the sum; of two that are equally near, the one whose mantissa is even.
    pub(super) fn round(mut self) -> F {
        if self.others.decode().is_none() {
            return self.others.with_one_nan();
        }
        if !self.has_terms {
            return self.others;
        }
        self.carry();
        let is_negative = *self.split_last_mut().0 < 0;
        if is_negative {
            for limb in self.limbs.as_mut() {
                *limb = -*limb;
            }
            self.carry();
        }
        let magnitude = Magnitude(self.limbs.as_ref());
        let bits = magnitude.bit_count();
        if bits == 0 {
            return F::ZERO;
        }
        let shift = bits.saturating_sub(F::MANTISSA_BITS);
        let mantissa = magnitude.mantissa_above(shift);
        let up = u64::from(magnitude.rounds_up(shift, mantissa));
        F::encode(Parts {
            is_negative,
            mantissa: mantissa + up,
            shift,
        })
    }
}

/// Limbs that are in `0..2^32`, the last of them in `0..2^63`.
struct Magnitude<'limbs>(&'limbs [i64]);

impl Magnitude<'_> {
    /// The number of bits up to the highest that is 1.
    fn bit_count(&self) -> u32 {
        let highest = self.0.iter().rposition(|&limb| limb != 0);
        highest.map_or(0, |index| {
            index as u32 * LIMB_BITS + (i64::BITS - self.0[index].leading_zeros())
        })
    }

    /// All bits from the one at `shift` upwards, of which there are at most as many as a mantissa has.
    fn mantissa_above(&self, shift: u32) -> u64 {
        let index = (shift / LIMB_BITS) as usize;
        // With up to 31 bits below them, 53 bits reach into three limbs.
        let limbs = self.0[index..].iter().take(3).rev();
        let window = limbs.fold(0_u128, |window, &limb| (window << LIMB_BITS) + limb as u128);
        (window >> (shift % LIMB_BITS)) as u64
    }

    /// Whether the number is nearer to `mantissa` + 1 than to `mantissa`, which is all of it from `shift` upwards, or halfway
    /// between them and `mantissa` is odd.
    fn rounds_up(&self, shift: u32, mantissa: u64) -> bool {
        let Some(half) = shift.checked_sub(1) else {
            return false;
        };
        let index = (half / LIMB_BITS) as usize;
        let bit = 1_i64 << (half % LIMB_BITS);
        let is_half = self.0[index] & bit != 0;
        let has_more =
            || self.0[index] & (bit - 1) != 0 || self.0[..index].iter().any(|&limb| limb != 0);
        is_half && (mantissa % 2 == 1 || has_more())
    }
}
