//! The warning that rays through a tree are slow.

use std::io::{self, Write};

use raddle_graphics::kdtree::TESTS_SLOW;

use crate::table;

/// Prints a warning to standard error if rays test more triangles than [`TESTS_SLOW`] on average.
pub(crate) fn warn(input_name: &str, tests_per_ray: f64, quiet: bool) {
    if quiet || tests_per_ray <= TESTS_SLOW {
        return;
    }
    let tests = table::grouped(tests_per_ray.round() as usize);
    let warning = format!(
        "warning: {input_name}: rays will be slow: each tests about {tests} triangles, since many \
         triangles overlap that no plane tells apart"
    );
    // With the error stream gone the result still appears.
    let _unheard = writeln!(io::stderr(), "{warning}");
}
