//! The types of individual settings of a runtime, the environment variables, and the errors.
//!
//! [`Builder`](crate::Builder) puts them together.

mod choice;
mod error;
mod idle;
mod seed;
mod settings;
mod task_memory;
mod variables;

pub(crate) use choice::choice;
pub use error::{BuildError, MoveError};
pub use idle::{IdlePolicy, UnknownIdlePolicy};
pub use seed::Seed;
pub use settings::Setting;
pub(crate) use settings::{Settings, from_environment};
pub use task_memory::{TaskMemory, UnknownTaskMemory};
pub use variables::{UnknownVariable, unknown_variables};
