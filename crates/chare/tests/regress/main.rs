//! Bugs of the past, and programs that were written to find some: a file each, with its story.

#![cfg(not(any(loom, shuttle)))]

mod arguments;
mod bombs;
mod common;
mod ends;
mod forks;
mod hostile;
mod insertion;
mod keys;
mod moves;
mod node_end;
mod sections;
mod told;
mod unreceived;
mod who_waits;
