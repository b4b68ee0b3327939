//! Message-driven objects on the workers of a runtime, and what belongs to programs made of them.
#![forbid(unsafe_code)]

extern crate self as raddle_chare;

mod array;
mod chares;
pub mod chunks;
mod collection;
mod cx;
mod directory;
mod entry;
mod failure;
pub mod grain;
mod group;
mod index;
mod local;
mod migration;
#[cfg(shuttle)]
#[doc(hidden)]
pub mod model;
mod node;
mod number;
mod outside;
mod parcel;
mod part;
mod priority;
mod proxy;
mod quiet;
pub mod reduce;
mod reduction;
mod reply;
mod scan;
mod section;
mod seeds;
mod spread;
mod suspended;
mod system;

pub use array::{Array, ArrayOptions};
pub use chares::Chares;
pub use chunks::{ChunkedArray, ChunkedArrayBuilder, MissingChunks};
pub use cx::Cx;
pub use entry::{AsyncEntry, Chare, Entry, Message};
pub use failure::Failure;
pub use grain::{Grain, GrainFileError, GrainRun, GrainTuner};
pub use group::Group;
pub use index::{Index, Key};
pub use node::NodeGroup;
pub use proxy::{All, One};
pub use raddle_macros::chare;
pub use reply::Reply;
pub use scan::{ScanForm, UnknownScanForm};
pub use section::{Section, SectionForm, UnknownSectionForm};
pub use seeds::{SeedPolicy, UnknownSeedPolicy};
