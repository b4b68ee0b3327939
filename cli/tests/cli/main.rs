//! The program `raddle`, as its users call it: help, results, errors, and bugs of the past.

mod browser;
mod common;
mod processes;

mod dirt;
mod errors;
mod help;
mod kdtree;
mod meshes;
mod model;
mod mpi;
mod nodes;
mod place;
mod programs;
mod regress_environment;
mod regress_file_sizes;
mod regress_ignored;
mod regress_json;
mod regress_nodes;
mod regress_options;
mod report;
mod results;
mod top;
mod trace;
mod view;
mod volumes;
