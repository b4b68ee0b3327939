//! How many bytes a value has that tasks pass to each other.

use std::sync::Arc;

/// How many bytes travel when a value is read or written by one task and then by another.
///
/// From it follows what tasks exchange, and where they are placed; nothing else does. An estimate will do.
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
    /// The number of bytes, those behind pointers included.
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

/// Types whose values lie where they are, and point nowhere.
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

/// Tuples have the bytes of their parts.
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
