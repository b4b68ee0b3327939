//! How a runtime is set up: the builder, the environment, and what can be wrong with them.

mod builder;
mod choice;
mod error;
mod idle;
pub(crate) mod place;
mod seeds;
mod task_memory;
mod variables;

pub use builder::{Builder, WORKER_COUNT_MAX};
pub(crate) use builder::{Handlers, Settled};
pub(crate) use choice::choice;
pub use error::{BuildError, MoveError};
pub use idle::{IdlePolicy, UnknownIdlePolicy};
pub(crate) use place::Placed;
pub use seeds::{SeedPolicy, UnknownSeedPolicy};
pub use task_memory::{TaskMemory, UnknownTaskMemory};
pub use variables::{UnknownVariable, unknown_variables};
