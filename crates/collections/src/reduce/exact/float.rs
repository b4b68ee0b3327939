//! The parts of a float.
//!
//! The smallest positive float of a type is its *unit*. Every finite float is the product of a
//! sign, a mantissa, a power of two and the unit. The bits of a float, from the highest, are the
//! sign, the exponent field and the fraction. The mantissa is an integer that has one bit more than
//! the fraction. That bit is 1 unless the exponent field is 0.
//!
//! # Source
//! IEEE 754-2019, sect. 3.4.

use std::fmt;
use std::ops;

/// The float types `f32` and `f64`.
pub trait Float: ops::Add<Output = Self> + fmt::Debug + Copy + Send + 'static {
    /// The limbs of a sum: one for each 32 bits of the largest float in units, and of 64 more bits.
    type Limbs: AsRef<[i64]> + AsMut<[i64]> + Clone + Send;

    /// The limbs of an empty sum.
    const NO_LIMBS: Self::Limbs;
    /// The number of bits of the float.
    const BITS: u32;
    /// The number of bits of the fraction.
    const FRACTION_BITS: u32;
    /// The greatest number of bits of a mantissa.
    const MANTISSA_BITS: u32 = Self::FRACTION_BITS + 1;
    /// The bits of infinity. Those of every NaN are larger, apart from the sign.
    const INFINITE: u64 = (1 << (Self::BITS - 1)) - (1 << Self::FRACTION_BITS);
    /// Zero.
    const ZERO: Self;
    /// The identity of addition: -0.
    const NOTHING: Self;
    /// The canonical NaN.
    const NAN: Self;

    /// Returns the bits of the float, zero-extended.
    fn into_bits(self) -> u64;

    /// Returns the float that has these zero-extended bits.
    fn from_bits(bits: u64) -> Self;

    /// Returns the bits without the sign.
    #[inline]
    fn magnitude(self) -> u64 {
        self.into_bits() & ((1 << (Self::BITS - 1)) - 1)
    }

    /// Replaces any NaN by [`NAN`](Self::NAN).
    #[inline]
    fn with_one_nan(self) -> Self {
        if self.magnitude() > Self::INFINITE {
            Self::NAN
        } else {
            self
        }
    }

    /// Returns the parts of a finite float, or `None` if it is infinite or NaN.
    #[inline]
    fn decode(self) -> Option<Parts> {
        let magnitude = self.magnitude();
        if magnitude >= Self::INFINITE {
            return None;
        }
        let hidden = 1 << Self::FRACTION_BITS;
        let fraction = magnitude & (hidden - 1);
        let exponent = (magnitude >> Self::FRACTION_BITS) as u32;
        let (mantissa, shift) = match exponent {
            0 => (fraction, 0),
            _ => (fraction | hidden, exponent - 1),
        };
        Some(Parts {
            is_negative: magnitude != self.into_bits(),
            mantissa,
            shift,
        })
    }

    /// Returns the float with these parts, or infinity if it is too large.
    ///
    /// The mantissa may be 2^[`MANTISSA_BITS`](Self::MANTISSA_BITS), which can result from rounding
    /// up. If the mantissa has fewer than `MANTISSA_BITS` bits, the shift must be 0.
    #[inline]
    fn encode(parts: Parts) -> Self {
        // The bits of the mantissa above the fraction are added to the exponent field, which gives
        // the right exponent: the field is `shift + 1` if the highest bit of the mantissa is 1.
        let magnitude = (u64::from(parts.shift) << Self::FRACTION_BITS) + parts.mantissa;
        let sign = u64::from(parts.is_negative) << (Self::BITS - 1);
        Self::from_bits(sign | magnitude.min(Self::INFINITE))
    }
}

/// The parts of a finite float: the mantissa times 2^`shift` times the unit.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// True if the float is below 0, or -0.
    pub is_negative: bool,
    /// The mantissa; see the module.
    pub mantissa: u64,
    /// The exponent. It is not negative, since no positive float is smaller than the unit.
    pub shift: u32,
}

macro_rules! float {
    (
        $float:ident as $bits:ident,
        $fraction_bits:literal bits of fraction,
        $limbs:literal limbs
    ) => {
        impl Float for $float {
            type Limbs = [i64; $limbs];

            const NO_LIMBS: [i64; $limbs] = [0; $limbs];
            const BITS: u32 = $bits::BITS;
            const FRACTION_BITS: u32 = $fraction_bits;
            const ZERO: Self = 0.0;
            const NOTHING: Self = -0.0;
            const NAN: Self = Self::NAN;

            #[inline]
            fn into_bits(self) -> u64 {
                self.to_bits().into()
            }

            #[inline]
            fn from_bits(bits: u64) -> Self {
                Self::from_bits(bits as $bits)
            }
        }
    };
}

// In units, the largest `f64` has 2098 bits, and the largest `f32` has 277.
float!(f64 as u64, 52 bits of fraction, 67 limbs);
float!(f32 as u32, 23 bits of fraction, 10 limbs);
