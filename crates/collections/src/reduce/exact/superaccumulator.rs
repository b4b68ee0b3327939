//! A sum of floats that has not been rounded.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::super::error::Mismatch;
use super::super::operand::{Neutral, Operand, op};
use super::float::Float;
use super::limbs::Limbs;

/// An exact sum of `f32` or `f64`.
///
/// It takes 16 bytes while it has one term, and then also a box of 552 bytes (96 for `f32`). It can
/// hold at least 2^64 terms. [`SumExact`](super::SumExact), which reduces such sums, defines the
/// value.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::Superaccumulator;
///
/// let mut sum: Superaccumulator<f64> = [1e300, 1.0, 1e-300].into_iter().collect();
/// sum.add(-1e300);
/// sum.add(-1.0);
/// assert_eq!(sum.value(), 1e-300);
/// ```
#[derive(Clone)]
pub struct Superaccumulator<F: Float>(Terms<F>);

#[derive(Clone)]
enum Terms<F: Float> {
    /// One term, or [`Float::NOTHING`] if there are no terms.
    One(F),
    Many(Box<Limbs<F>>),
}

/// The serialized form of a sum: the bits of the only term, or the parts of [`Limbs`].
#[derive(Serialize, Deserialize)]
enum Written {
    One(u64),
    Many(Vec<i64>, u32, bool, u64),
}

impl<F: Float> Serialize for Superaccumulator<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let written = match &self.0 {
            Terms::One(term) => Written::One(term.into_bits()),
            Terms::Many(limbs) => {
                let (limbs, pending, has_terms, others) = limbs.parts();
                Written::Many(limbs.to_vec(), pending, has_terms, others)
            }
        };
        written.serialize(serializer)
    }
}

impl<'de, F: Float> Deserialize<'de> for Superaccumulator<F> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::One(bits) => Terms::One(F::from_bits(bits)),
            Written::Many(limbs, pending, has_terms, others) => {
                let limbs = Limbs::of_parts((&limbs, pending, has_terms, others));
                let limbs =
                    limbs.ok_or_else(|| D::Error::custom("invalid parts of an exact sum"))?;
                Terms::Many(Box::new(limbs))
            }
        }))
    }
}

impl<F: Float> Superaccumulator<F> {
    /// Creates an empty sum. Its value is -0, as that of an empty [`Iterator::sum`].
    #[must_use]
    #[inline]
    pub fn new() -> Self {
        Self(Terms::One(F::NOTHING))
    }

    /// Adds `term`, in a few nanoseconds. The second term allocates the box.
    #[inline]
    pub fn add(&mut self, term: F) {
        match &mut self.0 {
            Terms::Many(limbs) => limbs.add(term),
            Terms::One(only) if only.into_bits() == F::NOTHING.into_bits() => *only = term,
            Terms::One(only) => self.0 = Terms::Many(boxed(*only, term)),
        }
    }

    /// Adds all terms of `other`.
    pub fn add_sum(&mut self, other: Self) {
        match (&mut self.0, other.0) {
            (_, Terms::One(term)) => self.add(term),
            (Terms::Many(limbs), Terms::Many(others)) => limbs.merge(*others),
            (&mut Terms::One(term), others) => {
                self.0 = others;
                self.add(term);
            }
        }
    }

    /// Returns the float nearest to the sum, with ties to even. Takes about 0.1 µs.
    #[must_use]
    pub fn value(&self) -> F {
        match &self.0 {
            Terms::One(term) => term.with_one_nan(),
            Terms::Many(limbs) => Limbs::clone(limbs).round(),
        }
    }
}

#[cold]
fn boxed<F: Float>(first: F, second: F) -> Box<Limbs<F>> {
    let mut limbs = Box::new(Limbs::new());
    limbs.add(first);
    limbs.add(second);
    limbs
}

impl<F: Float> Default for Superaccumulator<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: Float> From<F> for Superaccumulator<F> {
    #[inline]
    fn from(term: F) -> Self {
        Self(Terms::One(term))
    }
}

impl<F: Float> Extend<F> for Superaccumulator<F> {
    fn extend<I: IntoIterator<Item = F>>(&mut self, terms: I) {
        terms.into_iter().for_each(|term| self.add(term));
    }
}

impl<F: Float> FromIterator<F> for Superaccumulator<F> {
    fn from_iter<I: IntoIterator<Item = F>>(terms: I) -> Self {
        let mut sum = Self::new();
        sum.extend(terms);
        sum
    }
}

impl<F: Float> Operand<op::Add> for Superaccumulator<F> {
    #[inline]
    fn combine(&mut self, other: Self) -> Result<(), Mismatch> {
        self.add_sum(other);
        Ok(())
    }
}

impl<F: Float> Neutral<op::Add> for Superaccumulator<F> {
    #[inline]
    fn neutral() -> Self {
        Self::new()
    }
}

/// Shows the value.
impl<F: Float> fmt::Debug for Superaccumulator<F> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Superaccumulator")
            .field(&self.value())
            .finish()
    }
}
