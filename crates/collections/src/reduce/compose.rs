//! Reducers that consist of other reducers: none, an optional one, or several.

use super::error::Mismatch;
use super::reducer::{Monoid, Reducer};

/// A barrier: there is a result once every element has contributed.
impl Reducer for () {
    type Output = ();

    #[inline]
    fn merge(&mut self, (): Self) -> Result<(), Mismatch> {
        Ok(())
    }

    #[inline]
    fn finish(self) {}
}

impl Monoid for () {
    #[inline]
    fn identity() {}
}

/// An optional contribution: `None` contributes nothing.
///
/// It also gives an identity to reducers that have none.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{MinAt, Mismatch, Monoid, Reducer};
///
/// let mut least = Option::<MinAt<f64>>::identity();
/// least.merge(Some(MinAt::new(0.5).placed(7)))?;
/// least.merge(None)?;
/// assert_eq!(least.finish(), Some((0.5, 7)));
/// # Ok::<(), Mismatch>(())
/// ```
impl<R: Reducer> Reducer for Option<R> {
    type Output = Option<R::Output>;

    #[inline]
    fn placed(self, position: u64) -> Self {
        self.map(|reducer| reducer.placed(position))
    }

    #[inline]
    fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
        match (self.as_mut(), other) {
            (Some(reducer), Some(other)) => return reducer.merge(other),
            (None, other) => *self = other,
            (Some(_), None) => {}
        }
        Ok(())
    }

    #[inline]
    fn finish(self) -> Self::Output {
        self.map(R::finish)
    }
}

impl<R: Reducer + Clone> Monoid for Option<R> {
    #[inline]
    fn identity() -> Self {
        None
    }
}

/// Implements reducers for tuples, given the type and the index of each part.
macro_rules! tuples {
    ($(($($part:ident $number:tt),+))+) => {$(
        /// Several reductions that share one message.
        impl<$($part: Reducer),+> Reducer for ($($part,)+) {
            type Output = ($($part::Output,)+);

            #[inline]
            fn placed(self, position: u64) -> Self {
                ($(self.$number.placed(position),)+)
            }

            #[inline]
            fn merge(&mut self, other: Self) -> Result<(), Mismatch> {
                $(self.$number.merge(other.$number)?;)+
                Ok(())
            }

            #[inline]
            fn finish(self) -> Self::Output {
                ($(self.$number.finish(),)+)
            }
        }

        impl<$($part: Monoid),+> Monoid for ($($part,)+) {
            #[inline]
            fn identity() -> Self {
                ($($part::identity(),)+)
            }
        }
    )+};
}

tuples! {
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
}
