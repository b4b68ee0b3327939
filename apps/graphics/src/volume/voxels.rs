//! The types of voxels.

use std::fmt;

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

    /// Returns the name of the type: `u8`, `i8`, `u16`, `i16` or `f32`.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        fn name<T: Voxel>(_: &[T]) -> &'static str {
            T::NAME
        }
        with_voxels!(self, list => name(list))
    }

    /// Returns the number of bytes of all voxels.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        with_voxels!(self, list => size_of_val(list.as_slice()) as u64)
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
    ($type:ident, $variant:ident, $lowest:expr, $highest:expr, $at_least:expr) => {
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
        }

        impl From<Vec<$type>> for Voxels {
            fn from(voxels: Vec<$type>) -> Self {
                Self::$variant(voxels)
            }
        }
    };
}

/// Makes an integer type a voxel.
macro_rules! integer_voxel {
    ($type:ident, $variant:ident) => {
        voxel!($type, $variant, $type::MIN, $type::MAX, |value| {
            // The conversion rounds up and clamps.
            let least = value.ceil();
            (least <= f64::from($type::MAX)).then_some(least as $type)
        });
    };
}

integer_voxel!(u8, U8);
integer_voxel!(i8, I8);
integer_voxel!(u16, U16);
integer_voxel!(i16, I16);

voxel!(f32, F32, f32::NEG_INFINITY, f32::INFINITY, |value| {
    let nearest = value as f32;
    let least = if f64::from(nearest) < value {
        nearest.next_up()
    } else {
        nearest
    };
    (least < f32::INFINITY).then_some(least)
});
