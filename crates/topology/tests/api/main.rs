//! Matrices and topologies from files, by the public interface; and bugs of the past.

#[path = "../matrix_support/mod.rs"]
mod matrix_support;

mod matrix_formats;
mod regress_matrix_formats;
mod regress_matrix_parties;
mod regress_topology_fuzz;
mod regress_xml_formats;
mod synthetic_shapes;
