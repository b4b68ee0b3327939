//! Tests of the public interface.

mod cuts;
mod parts;
mod program;
mod round_trips;
