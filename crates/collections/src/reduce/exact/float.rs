//! What a float is made of.
//!
//! The smallest positive float of a type is its *unit*. Every finite float is an integer below 2^(fraction bits + 1), the mantissa,
//! times a power of two, times the unit, with a sign. Its bits, from the highest, are the sign, the exponent field and the
//! fraction; the mantissa has one more bit than the fraction, which is 1 unless the exponent field is 0.
//!
//! # Source
//! IEEE 754-2019, sect. 3.4.

use std::fmt;
use std::ops;

/// `f32` or `f64`.
pub trait Float: ops::Add<Output = Self> + fmt::Debug + Copy + Send + 'static {
    /// Room for a sum: a limb for each 32 bits that the largest float has in units, and for 64 bits more.
    type Limbs: AsRef<[i64]> + AsMut<[i64]> + Clone + Send;

    /// A sum of nothing.
    const NO_LIMBS: Self::Limbs;
    /// How many bits the float has.
    const BITS: u32;
    /// How many of them are the fraction.
    const FRACTION_BITS: u32;
    /// How many bits a mantissa has at most.
    const MANTISSA_BITS: u32 = Self::FRACTION_BITS + 1;
    /// The bits of infinity; those of every NaN are larger, sign aside.
    const INFINITE: u64 = (1 << (Self::BITS - 1)) - (1 << Self::FRACTION_BITS);
    /// Zero.
    const ZERO: Self;
    /// What changes no float when it is added: -0.
    const NOTHING: Self;
    /// The NaN that stands for all.
    const NAN: Self;

    /// The float's bits, and zeroes above them.
    fn into_bits(self) -> u64;

    /// The float that has these bits, above which there are zeroes.
    fn from_bits(bits: u64) -> Self;

    /// The bits without the sign.
    #[inline]
    fn magnitude(self) -> u64 {
        self.into_bits() & ((1 << (Self::BITS - 1)) - 1)
    }

    /// [`NAN`](Self::NAN) for every NaN; everything else stays.
    #[inline]
    fn with_one_nan(self) -> Self {
        if self.magnitude() > Self::INFINITE {
            Self::NAN
        } else {
            self
        }
    }

    /// Takes a finite float apart; none if it is infinite or NaN.
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

    /// Puts a float together, infinity if it is too large. The mantissa may have one bit too many if all others are 0, which is
    /// what rounding up can make of it. The shift is 0 if the mantissa has too few.
    #[inline]
    fn encode(parts: Parts) -> Self {
        // Bits of the mantissa that have no room in the fraction count up the exponent, as they should.
        let magnitude = (u64::from(parts.shift) << Self::FRACTION_BITS) + parts.mantissa;
        let sign = u64::from(parts.is_negative) << (Self::BITS - 1);
        Self::from_bits(sign | magnitude.min(Self::INFINITE))
    }
}

/// A finite float in parts: the mantissa times 2^`shift` times the unit.
#[derive(Clone, Copy, Debug)]
pub struct Parts {
    /// Whether it is below 0, or -0.
    pub is_negative: bool,
    /// See the module.
    pub mantissa: u64,
    /// Not negative, for nothing is smaller than the unit.
    pub shift: u32,
}

macro_rules! float {
    ($float:ident as $bits:ident, $fraction_bits:literal bits of fraction, $limbs:literal limbs) => {
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

// The largest float has 2098 bits in units, or 277.
float!(f64 as u64, 52 bits of fraction, 67 limbs);
float!(f32 as u32, 23 bits of fraction, 10 limbs);
