//! Tests of nodes in one process. The header of each `regress_*` file describes its bug.

mod bricks;
mod events;
mod gets;
mod malformed;
mod nodes;
mod regress_close;
mod regress_huge_segment;
mod regress_views;
