//! Short names of reducers for messages and traces.

use std::any;
use std::fmt;

/// The name of a type without its module path and those of its parameters.
///
/// It is computed only when it is written.
///
/// # Examples
/// ```
/// use raddle_collections::reduce::{Max, Name, Sum};
///
/// assert_eq!(Name::of::<(Sum<Vec<f64>>, Max<u8>)>().to_string(), "(Sum<Vec<f64>>, Max<u8>)");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Name(&'static str);

impl Name {
    /// Returns the name of `T`.
    #[must_use]
    pub fn of<T: ?Sized>() -> Self {
        Self(any::type_name::<T>())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // These characters separate paths. Keep the part of each path after its last `::`.
        let is_between = |character: char| "<>()[];,&* ".contains(character);
        for word in self.0.split_inclusive(is_between) {
            formatter.write_str(word.rsplit("::").next().unwrap_or(word))?;
        }
        Ok(())
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}
