//! Tests of generated volumes against their formulas.

use super::*;
use crate::volume::Macrocells;
use crate::volume::isosurface::extract;

#[test]
fn blocks_are_parts_of_the_whole() {
    let size = [13, 9, 11];
    for formula in [Formula::Spheres, Formula::MarschnerLobb] {
        let whole = formula.volume(size).expect("a small volume");
        let (first, len) = ([3, 0, 5], [4, 9, 2]);
        let block = formula.block(size, first, len).expect("a part");
        assert_eq!(block.len(), 4 * 9 * 2);
        for index in 0..block.len() {
            let at = [index % 4 + 3, index / 4 % 9, index / 36 + 5];
            assert_eq!(block.value(index), whole.value(at));
        }
    }
}

#[test]
fn the_surface_of_spheres_has_the_radius_of_the_closed_form() {
    let edge = 65;
    let volume = Formula::Spheres.volume([edge; 3]).expect("a small volume");
    let isovalue = 1000.0;
    let mesh = extract(&volume, &Macrocells::of(&volume), isovalue).expect("a mesh");
    assert!(mesh.triangles.len() > 1000);
    let spheres = spheres();
    for position in &mesh.positions {
        let at = position.as_dvec3() / (edge - 1) as f64;
        // Interpolation errs by a share of the curvature, and more where two spheres meet.
        let found = f64::from(sphere_voxel(&spheres, at));
        assert!((found - isovalue).abs() < 900.0, "{found} at {at}");
    }
}

#[test]
fn sizes_out_of_range_are_errors() {
    let error = |size: [usize; 3]| {
        Formula::Spheres
            .volume(size)
            .expect_err("an error")
            .to_string()
    };
    assert!(error([1, 2, 2]).contains("; expected 2 to"));
    assert!(error([1 << 40, 2, 2]).contains("; expected 2 to"));
    assert!(error([1 << 24; 3]).contains("no memory for"));
    let block = Formula::Spheres.block([4; 3], [2, 0, 0], [3, 1, 1]);
    assert!(
        block
            .expect_err("an error")
            .to_string()
            .contains("expected a part of")
    );
    assert_eq!("spheres".parse(), Ok(Formula::Spheres));
    assert!("cubes".parse::<Formula>().is_err());
}
