//! The size in bytes of the values that tasks exchange.

use std::sync::Arc;

/// The number of bytes that move when one task uses a value after another task.
///
/// It is used only to compute the bytes that tasks exchange, and their placement. An estimate is
/// sufficient.
///
/// # Examples
/// ```
/// use raddle_orwl::Extent;
/// struct Image {
///     pixels: Vec<u8>,
/// }
/// impl Extent for Image {
///     fn bytes(&self) -> usize {
///         self.pixels.bytes()
///     }
/// }
/// assert_eq!(Image { pixels: vec![0; 640 * 480] }.bytes(), 307_200);
/// ```
pub trait Extent {
    /// Returns the number of bytes, including the bytes behind pointers.
    fn bytes(&self) -> usize;
}

/// Counts the items themselves, not what they point to.
impl<T> Extent for [T] {
    fn bytes(&self) -> usize {
        size_of_val(self)
    }
}

impl<T, const N: usize> Extent for [T; N] {
    fn bytes(&self) -> usize {
        self.as_slice().bytes()
    }
}

impl<T> Extent for Vec<T> {
    fn bytes(&self) -> usize {
        self.as_slice().bytes()
    }
}

impl Extent for str {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl Extent for String {
    fn bytes(&self) -> usize {
        self.len()
    }
}

impl<T: Extent + ?Sized> Extent for Box<T> {
    fn bytes(&self) -> usize {
        (**self).bytes()
    }
}

impl<T: Extent + ?Sized> Extent for Arc<T> {
    fn bytes(&self) -> usize {
        (**self).bytes()
    }
}

impl<T: Extent> Extent for Option<T> {
    fn bytes(&self) -> usize {
        self.as_ref().map_or(0, Extent::bytes)
    }
}

/// Implements [`Extent`] for types without pointers.
macro_rules! plain {
    ($($type:ty)*) => {
        $(impl Extent for $type {
            fn bytes(&self) -> usize {
                size_of::<Self>()
            }
        })*
    };
}

plain!(() bool char u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64);

/// Implements [`Extent`] for tuples: the sum over their parts.
macro_rules! tuple {
    ($($name:ident)*) => {
        impl<$($name: Extent),*> Extent for ($($name,)*) {
            #[expect(non_snake_case, reason = "a part has the name of its type")]
            fn bytes(&self) -> usize {
                let ($($name,)*) = self;
                0 $(+ $name.bytes())*
            }
        }
    };
}

tuple!(A);
tuple!(A B);
tuple!(A B C);
tuple!(A B C D);
