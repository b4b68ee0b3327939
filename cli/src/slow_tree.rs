//! A warning that rays through a tree are slow.

use raddle_graphics::kdtree::TESTS_SLOW;

use crate::{output, units};

/// Prints a warning if a ray tests more than [`TESTS_SLOW`] triangles on average.
pub(crate) fn warn(input_name: &str, tests_per_ray: f64, quiet: bool) {
    if quiet || tests_per_ray <= TESTS_SLOW {
        return;
    }
    let tests = units::grouped(tests_per_ray.round() as usize);
    output::warn(&format!(
        "{input_name}: rays will be slow: each tests about {tests} triangles, since many \
         triangles overlap that no plane separates"
    ));
}
