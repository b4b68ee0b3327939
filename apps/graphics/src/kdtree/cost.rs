//! The surface-area heuristic (SAH): its parameters, split planes, and the search for the cheapest
//! plane of a cell.

pub(in crate::kdtree) mod level;
pub(in crate::kdtree) mod parameters;
pub(in crate::kdtree) mod plane;
pub(in crate::kdtree) mod sweep;
