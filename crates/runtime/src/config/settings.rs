//! Settings that come from environment variables, and settings that programming models add to a
//! runtime.
//!
//! The runtime knows only its own settings. A programming model that is built on it, such as
//! chares, defines a type that implements [`Setting`]. A program gives a value to
//! [`Builder::setting`](crate::Builder::setting), and the model reads it with
//! [`Runtime::setting`](crate::Runtime::setting).

use std::any::Any;
use std::env;
use std::str::FromStr;
use std::sync::Arc;

use super::BuildError;

/// A setting of a programming model.
///
/// # Examples
/// ```
/// use raddle_runtime::{Runtime, Setting};
///
/// #[derive(Clone, Debug, Default, PartialEq)]
/// struct Depth(usize);
///
/// impl std::str::FromStr for Depth {
///     type Err = std::num::ParseIntError;
///     fn from_str(text: &str) -> Result<Self, Self::Err> {
///         text.parse().map(Self)
///     }
/// }
///
/// impl Setting for Depth {
///     const VARIABLE: &'static str = "MY_MODEL_DEPTH";
///     const EXPECTED: &'static str = "a number";
/// }
///
/// let runtime = Runtime::builder().workers(1).setting(Depth(3)).build()?;
/// assert_eq!(runtime.setting::<Depth>()?, Depth(3));
/// # Ok::<(), raddle_runtime::BuildError>(())
/// ```
pub trait Setting: Any + Clone + Default + FromStr + Send + Sync {
    /// The environment variable that is read if the program gives no value.
    const VARIABLE: &'static str;

    /// The values that the variable takes, for the error message.
    const EXPECTED: &'static str;

    /// Reads the environment variable. Returns `None` if it is unset or empty.
    ///
    /// # Errors
    /// [`BuildError::Environment`] if the value is invalid.
    fn from_environment() -> Result<Option<Self>, BuildError> {
        from_environment(Self::VARIABLE, Self::EXPECTED)
    }
}

/// The settings that a program has given for programming models, at most one of each type.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings(Vec<Arc<dyn Any + Send + Sync>>);

impl Settings {
    /// Stores a value in place of an earlier one of the same type.
    pub(crate) fn set<S: Setting>(&mut self, value: S) {
        self.0.retain(|other| !other.is::<S>());
        self.0.push(Arc::new(value));
    }

    /// Returns the stored value, otherwise that of the environment, otherwise the default.
    pub(crate) fn get<S: Setting>(&self) -> Result<S, BuildError> {
        match self.0.iter().find_map(|value| value.downcast_ref::<S>()) {
            Some(value) => Ok(value.clone()),
            None => Ok(S::from_environment()?.unwrap_or_default()),
        }
    }
}

/// Reads an environment variable. Returns `None` if it is unset or empty.
pub(crate) fn from_environment<T>(
    name: &'static str,
    expected: &str,
) -> Result<Option<T>, BuildError>
where
    T: FromStr,
{
    let Some(value) = env::var_os(name).filter(|value| !value.is_empty()) else {
        return Ok(None);
    };
    value
        .to_str()
        .and_then(|text| text.trim().parse().ok())
        .map(Some)
        .ok_or_else(|| BuildError::Environment {
            name,
            reason: format!("found {value:?}; expected {expected}"),
        })
}
