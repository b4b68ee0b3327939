//! The types of voxels.

use std::fmt;

use glam::Vec4;

use crate::memory::{self, NoMemory};

/// The type of a voxel: an integer or a float that an `f32` represents exactly.
pub trait Voxel:
    Copy + PartialOrd + Send + Sync + fmt::Debug + Into<f32> + sealed::Sealed + 'static
{
    /// The name of the type: `u8`, `i8`, `u16`, `i16` or `f32`.
    const NAME: &'static str;
    /// A value that is not smaller than any voxel.
    const HIGHEST: Self;
    /// A value that is not larger than any voxel.
    const LOWEST: Self;

    /// Returns the value as an `f64`.
    #[inline]
    #[must_use]
    fn value(self) -> f64 {
        let single: f32 = self.into();
        f64::from(single)
    }

    /// Returns the smallest voxel that is at least `value`; `None` if there is none.
    #[must_use]
    fn at_least(value: f64) -> Option<Self>;

    /// Returns a bit for each of four voxels: whether it is at least `threshold`.
    #[must_use]
    fn at_least_mask(voxels: [Self; 4], threshold: Self) -> u64;

    /// Reads a voxel from its bytes, the lowest byte first.
    ///
    /// # Panics
    /// Panics if there are fewer bytes than a voxel has.
    #[must_use]
    fn from_bytes(bytes: &[u8]) -> Self;

    /// Writes a voxel as bytes, the lowest byte first.
    ///
    /// # Panics
    /// Panics if there is space for fewer bytes than a voxel has.
    fn to_bytes(self, into: &mut [u8]);

    /// Returns the smaller of two voxels, in one instruction.
    #[inline]
    #[must_use]
    fn smaller(self, other: Self) -> Self {
        if other < self { other } else { self }
    }

    /// Returns the larger of two voxels, in one instruction.
    #[inline]
    #[must_use]
    fn larger(self, other: Self) -> Self {
        if other > self { other } else { self }
    }
}

mod sealed {
    /// Prevents other crates from adding types of voxels.
    pub trait Sealed {}
}

/// The type of the voxels of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub enum VoxelKind {
    /// Bytes.
    U8,
    /// Signed bytes.
    I8,
    /// 16-bit numbers.
    U16,
    /// Signed 16-bit numbers.
    I16,
    /// Floats.
    F32,
}

impl VoxelKind {
    /// Returns the number of bytes of a voxel.
    #[must_use]
    pub const fn bytes(self) -> usize {
        match self {
            Self::U8 | Self::I8 => 1,
            Self::U16 | Self::I16 => 2,
            Self::F32 => 4,
        }
    }

    /// Returns the name of the type: `u8`, `i8`, `u16`, `i16` or `f32`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::U8 => u8::NAME,
            Self::I8 => i8::NAME,
            Self::U16 => u16::NAME,
            Self::I16 => i16::NAME,
            Self::F32 => f32::NAME,
        }
    }
}

/// Voxels of any type, x fastest, then y, then z.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum Voxels {
    /// Bytes.
    U8(Vec<u8>),
    /// Signed bytes.
    I8(Vec<i8>),
    /// 16-bit numbers.
    U16(Vec<u16>),
    /// Signed 16-bit numbers.
    I16(Vec<i16>),
    /// Floats.
    F32(Vec<f32>),
}

/// Evaluates an expression with the list of voxels, of whichever type.
macro_rules! with_voxels {
    ($voxels:expr, $list:ident => $body:expr) => {
        match $voxels {
            $crate::volume::Voxels::U8($list) => $body,
            $crate::volume::Voxels::I8($list) => $body,
            $crate::volume::Voxels::U16($list) => $body,
            $crate::volume::Voxels::I16($list) => $body,
            $crate::volume::Voxels::F32($list) => $body,
        }
    };
}

pub(crate) use with_voxels;

impl Voxels {
    /// Returns the number of voxels.
    #[must_use]
    pub fn len(&self) -> usize {
        with_voxels!(self, list => list.len())
    }

    /// Returns true if there are no voxels.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the value of a voxel.
    ///
    /// # Panics
    /// Panics if `index` is not below [`len`](Self::len).
    #[must_use]
    pub fn value(&self, index: usize) -> f64 {
        with_voxels!(self, list => list[index].value())
    }

    /// Returns the type of the voxels.
    #[must_use]
    pub const fn kind(&self) -> VoxelKind {
        match self {
            Self::U8(_) => VoxelKind::U8,
            Self::I8(_) => VoxelKind::I8,
            Self::U16(_) => VoxelKind::U16,
            Self::I16(_) => VoxelKind::I16,
            Self::F32(_) => VoxelKind::F32,
        }
    }

    /// Returns the name of the type: `u8`, `i8`, `u16`, `i16` or `f32`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.kind().name()
    }

    /// Returns the number of bytes of all voxels.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        with_voxels!(self, list => size_of_val(list.as_slice()) as u64)
    }

    /// Appends voxels of the same type.
    pub(crate) fn append(&mut self, mut other: Self) -> Result<(), NoMemory> {
        fn join<T>(list: &mut Vec<T>, other: &mut Vec<T>) -> Result<(), NoMemory> {
            memory::grow(list, other.len())?;
            list.append(other);
            Ok(())
        }
        match (self, &mut other) {
            (Self::U8(list), Self::U8(other)) => join(list, other),
            (Self::I8(list), Self::I8(other)) => join(list, other),
            (Self::U16(list), Self::U16(other)) => join(list, other),
            (Self::I16(list), Self::I16(other)) => join(list, other),
            (Self::F32(list), Self::F32(other)) => join(list, other),
            (list, other) => unreachable!("{other:?} cannot follow {list:?}"),
        }
    }
}

impl fmt::Debug for Voxels {
    /// Prints type and number, but not the voxels, of which there are millions.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "{} voxels of type {}",
            self.len(),
            self.type_name()
        )
    }
}

/// Makes a type a voxel.
macro_rules! voxel {
    ($type:ident, $variant:ident, $lowest:expr, $highest:expr, $at_least:expr, $mask:expr) => {
        impl sealed::Sealed for $type {}

        impl Voxel for $type {
            const NAME: &'static str = stringify!($type);
            const HIGHEST: Self = $highest;
            const LOWEST: Self = $lowest;

            #[inline]
            fn at_least(value: f64) -> Option<Self> {
                let at_least: fn(f64) -> Option<Self> = $at_least;
                at_least(value)
            }

            #[inline(always)]
            fn at_least_mask(voxels: [Self; 4], threshold: Self) -> u64 {
                let mask: fn([Self; 4], Self) -> u64 = $mask;
                mask(voxels, threshold)
            }

            #[inline(always)]
            fn from_bytes(bytes: &[u8]) -> Self {
                let bytes = bytes.first_chunk().expect("the bytes of a voxel");
                Self::from_le_bytes(*bytes)
            }

            #[inline(always)]
            fn to_bytes(self, into: &mut [u8]) {
                let place = into.first_chunk_mut().expect("space for a voxel");
                *place = self.to_le_bytes();
            }
        }

        impl From<Vec<$type>> for Voxels {
            fn from(voxels: Vec<$type>) -> Self {
                Self::$variant(voxels)
            }
        }
    };
}

/// Makes an integer type a voxel. The four voxels of a mask are compared as the lanes of a `$word`:
/// `$flip` makes their order that of unsigned numbers.
macro_rules! integer_voxel {
    ($type:ident, $unsigned:ident, $word:ident, $variant:ident, $flip:expr) => {
        voxel!(
            $type,
            $variant,
            $type::MIN,
            $type::MAX,
            |value| {
                // The conversion rounds up and clamps.
                let least = value.ceil();
                (least <= f64::from($type::MAX)).then_some(least as $type)
            },
            |voxels, threshold| {
                const BITS: u32 = $unsigned::BITS;
                const HIGH: $word = $word::MAX / ($unsigned::MAX as $word) << (BITS - 1);
                let lane = |voxel: $type| (voxel as $unsigned ^ $flip) as $word;
                let [a, b, c, d] = voxels.map(lane);
                let all = a | b << BITS | c << (2 * BITS) | d << (3 * BITS);
                let threshold = lane(threshold) * (HIGH >> (BITS - 1));
                // Without the highest bits, no lane borrows from the next one.
                let difference = (all | HIGH) - (threshold & !HIGH);
                let is_least = (all & !threshold | !(all ^ threshold) & difference) & HIGH;
                // Lane i is moved to bit i of the last lane.
                let gather = 1 << 3 | 1 << (BITS + 2) | 1 << (2 * BITS + 1) | 1 << (3 * BITS);
                let gathered = (is_least >> (BITS - 1)).wrapping_mul(gather);
                u64::from(gathered >> (3 * BITS) & 0xF)
            }
        );
    };
}

integer_voxel!(u8, u8, u32, U8, 0);
integer_voxel!(i8, u8, u32, I8, 0x80);
integer_voxel!(u16, u16, u64, U16, 0);
integer_voxel!(i16, u16, u64, I16, 0x8000);

voxel!(
    f32,
    F32,
    f32::NEG_INFINITY,
    f32::INFINITY,
    |value| {
        let nearest = value as f32;
        let least = if f64::from(nearest) < value {
            nearest.next_up()
        } else {
            nearest
        };
        (least < f32::INFINITY).then_some(least)
    },
    |voxels, threshold| {
        let voxels = Vec4::from_array(voxels);
        u64::from(voxels.cmpge(Vec4::splat(threshold)).bitmask())
    }
);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agrees<T: Voxel>(voxels: [T; 4], threshold: T) -> bool {
        let expected = (0..4).fold(0, |mask, at| {
            mask | u64::from(voxels[at] >= threshold) << at
        });
        T::at_least_mask(voxels, threshold) == expected
    }

    proptest! {
        #[test]
        fn masks_are_those_of_comparisons(bits: [u16; 4], threshold: u16) {
            prop_assert!(agrees(bits, threshold));
            prop_assert!(agrees(bits, bits[0]));
            prop_assert!(agrees(bits.map(|it| it as i16), threshold as i16));
            prop_assert!(agrees(bits.map(|it| it as i16), bits[1] as i16));
            prop_assert!(agrees(bits.map(|it| it as u8), threshold as u8));
            prop_assert!(agrees(bits.map(|it| it as u8), bits[2] as u8));
            prop_assert!(agrees(bits.map(|it| it as i8), threshold as i8));
            prop_assert!(agrees(bits.map(|it| it as i8), bits[3] as i8));
            prop_assert!(agrees(bits.map(f32::from), f32::from(threshold)));
        }
    }
}
