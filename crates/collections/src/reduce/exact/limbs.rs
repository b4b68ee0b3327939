//! Sums of floats as integers, in units: a small superaccumulator.
//!
//! The integer is the sum of its limbs. The limb at index `i` counts 2^32i. A limb has 64 bits,
//! twice as many as it needs. So a float is added to two limbs without access to any other limb.
//! The bits that have accumulated above the lower halves are carried upwards only once in a
//! thousand additions.
//!
//! # Invariants
//! 1. The magnitude of each limb except the last is at most `pending` × 2^52. An addition increases
//!    it by less than 2^52: at most 52 of the 53 bits of a mantissa go to the upper limb.
//! 2. `pending` is at most [`PENDING_MAX`]. So the magnitude of each limb except the last is at
//!    most 2^62, and a carry into it fits as well.
//! 3. After [`carry`](Limbs::carry), every limb except the last is in `0..2^32`, and the last one
//!    has the sign of the integer.
//! 4. Only carries and other last limbs are added to the last limb. It counts 2^2112 for `f64`, and
//!    2^288 for `f32`. These are 14 and 11 bits above the largest float, so 2^64 of the largest
//!    floats do not fill it.
//!
//! # Source
//! - Neal: Fast Exact Summation Using Small and Large Superaccumulators. arXiv:1505.05571, 2015:
//!   the small superaccumulator has such limbs.
//! - Kulisch, Miranker: Computer Arithmetic in Theory and Practice. 1981, for the long accumulator.

use super::float::{Float, Parts};

/// The number of bits by which a limb is above the one before it.
const LIMB_BITS: u32 = 32;
const LIMB_MASK: i64 = (1 << LIMB_BITS) - 1;
/// The greatest number of additions to a limb between two carries.
const PENDING_MAX: u32 = 1 << 10;

/// A sum of up to 2^64 floats.
#[derive(Clone)]
pub(super) struct Limbs<F: Float> {
    /// The sum of the terms that are not zero, infinite or NaN.
    limbs: F::Limbs,
    /// An upper bound of the number of additions to a limb since the last carry, which counts as
    /// one addition.
    pending: u32,
    /// True if the limbs have terms, even if these cancel.
    has_terms: bool,
    /// The sum of all other terms, which is exact.
    others: F,
}

impl<F: Float> Limbs<F> {
    /// Returns an empty sum.
    #[inline]
    pub(super) fn new() -> Self {
        Self {
            limbs: F::NO_LIMBS,
            pending: 0,
            has_terms: false,
            others: F::NOTHING,
        }
    }

    /// Returns the sum as plain numbers: the limbs, the pending additions, whether the limbs have
    /// terms, and the bits of the sum of the other terms.
    pub(super) fn parts(&self) -> (&[i64], u32, bool, u64) {
        let (limbs, others) = (self.limbs.as_ref(), self.others.into_bits());
        (limbs, self.pending, self.has_terms, others)
    }

    /// Returns the sum with these [`parts`](Self::parts), or `None` if they are not valid.
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
        // All ones to negate, since -x is !x + 1, or else all zeroes. A branch would be slow, since
        // the signs of terms cannot be predicted.
        let sign = -i64::from(parts.is_negative);
        let limbs = self.limbs.as_mut();
        limbs[index] += (lower ^ sign) - sign;
        limbs[index + 1] += (upper ^ sign) - sign;
    }

    /// Adds another sum, with one addition for each limb.
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

    /// Moves the bits above the lower half of each limb to the next limb.
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

    /// Returns the float nearest to the sum, with ties to even.
    pub(super) fn round(mut self) -> F {
        // An infinity or NaN among the terms decides. If all terms are zeroes, their sum is exact.
        if self.others.decode().is_none() {
            return self.others.with_one_nan();
        }
        if !self.has_terms {
            return self.others;
        }
        // Make all limbs non-negative, and remember the sign.
        self.carry();
        let is_negative = *self.split_last_mut().0 < 0;
        if is_negative {
            for limb in self.limbs.as_mut() {
                *limb = -*limb;
            }
            self.carry();
        }
        // Take the highest bits as the mantissa, and round by the bits below.
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

/// Limbs in `0..2^32`, of which the last is in `0..2^63`.
struct Magnitude<'limbs>(&'limbs [i64]);

impl Magnitude<'_> {
    /// Returns the number of bits up to the highest bit that is 1.
    fn bit_count(&self) -> u32 {
        let highest = self.0.iter().rposition(|&limb| limb != 0);
        highest.map_or(0, |index| {
            index as u32 * LIMB_BITS + (i64::BITS - self.0[index].leading_zeros())
        })
    }

    /// Returns all bits from the one at `shift` upwards, which must fit into a mantissa.
    fn mantissa_above(&self, shift: u32) -> u64 {
        let index = (shift / LIMB_BITS) as usize;
        // With up to 31 bits below them, 53 bits extend over up to three limbs.
        let limbs = self.0[index..].iter().take(3).rev();
        let window = limbs.fold(0_u128, |window, &limb| (window << LIMB_BITS) + limb as u128);
        (window >> (shift % LIMB_BITS)) as u64
    }

    /// Returns true if the number is to be rounded up to `mantissa` + 1.
    ///
    /// `mantissa` is the number without the bits below `shift`. The number is rounded up if it is
    /// nearer to `mantissa` + 1, or if it is halfway between the two and `mantissa` is odd.
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
