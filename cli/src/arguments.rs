//! The options that several commands share, and the parsers of values.
//!
//! The arguments of one command alone are declared with the command, in [`crate::commands`].

mod colour;
mod content;
mod input;
pub(crate) mod model;
pub(crate) mod nodes;
mod options;
mod program;
mod reading;
mod surfaces;
pub(crate) mod values;
mod view;
mod volume;

pub(crate) use self::colour::Colour;
pub(crate) use self::content::{ContentArguments, ContentInput};
pub(crate) use self::input::InputArguments;
pub(crate) use self::model::{MachineArguments, ScenarioArguments};
pub(crate) use self::options::{
    MailboxOptions, Options, OutputOptions, Running, TaskAndMailboxOptions, TaskOptions,
    WorkOptions, WorkerOptions,
};
pub(crate) use self::program::{ProgramArguments, sides};
pub(crate) use self::reading::ReadArguments;
pub(crate) use self::surfaces::SurfaceArguments;
pub(crate) use self::view::ViewArguments;
pub(crate) use self::volume::VolumeArguments;
