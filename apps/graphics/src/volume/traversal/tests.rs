//! Tests of the DDA against the planes of a grid, for any ray.

use proptest::prelude::*;

use super::*;
use crate::volume::occupancy::Occupancy;

/// The number of cells along the axes of the grid.
const SIZE: [usize; 3] = [19, 7, 70];

type Visit = ([usize; 3], Span);

fn clipped(ray: &GridRay) -> Option<Span> {
    ray.clip(SIZE, 0.0, f64::INFINITY)
}

/// Visits all cells of the grid in one walk.
fn walk(ray: &GridRay) -> Vec<Visit> {
    let mut visits = Vec::new();
    if let Some(span) = clipped(ray) {
        let _ = ray.walk::<0, ()>([[0; 3], SIZE], span, |cell, span| {
            visits.push((cell, span));
            ControlFlow::Continue(())
        });
    }
    visits
}

/// Visits all cells of the grid level by level.
fn walk_levels(ray: &GridRay) -> Vec<Visit> {
    let leaf_size = SIZE.map(|len| len.div_ceil(4));
    let all = Occupancy::of_leaves(leaf_size, |_| true);
    let mut visits = Vec::new();
    if let Some(span) = clipped(ray) {
        let _ = ray.leaves(&all, span, &mut 0, |leaf, span| {
            let first = leaf.map(|index| 4 * index);
            let end = [0, 1, 2].map(|axis: usize| SIZE[axis].min(first[axis] + 4));
            ray.walk::<0, ()>([first, end], span, |cell, span| {
                visits.push((cell, span));
                ControlFlow::Continue(())
            })
        });
    }
    visits
}

/// Leaves out the cells that a ray only touches, up to a rounding error.
fn with_length(visits: Vec<Visit>) -> Vec<Visit> {
    visits
        .into_iter()
        .filter(|(_, span)| span.t_out - span.t_in > 1e-9)
        .collect()
}

fn rays() -> impl Strategy<Value = GridRay> {
    let place = || [-20.0..90.0, -20.0..90.0, -20.0..90.0];
    // Some components are zero, and some places are on planes.
    let whole = prop::array::uniform3(any::<bool>());
    (place(), place(), whole, prop::array::uniform3(0..5)).prop_map(|(from, to, whole, zero)| {
        let from: DVec3 = from.map(f64::from).into();
        let to: DVec3 = to.map(f64::from).into();
        let round = |axis: usize| {
            if whole[axis] {
                from[axis].round()
            } else {
                from[axis]
            }
        };
        let from = DVec3::new(round(0), round(1), round(2));
        let mut direction = to - from;
        for axis in 0..3 {
            if zero[axis] == 0 && direction.to_array().iter().filter(|it| **it == 0.0).count() < 2 {
                direction[axis] = 0.0;
            }
        }
        GridRay::new(from, direction)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn spans_follow_each_other_and_lie_in_their_cells(ray in rays()) {
        let visits = walk(&ray);
        let Some(span) = clipped(&ray) else {
            prop_assert!(visits.is_empty());
            return Ok(());
        };
        prop_assert_eq!(visits[0].1.t_in, span.t_in);
        let last = visits[visits.len() - 1].1;
        prop_assert!((last.t_out - span.t_out).abs() < 1e-9);
        for two in visits.windows(2) {
            prop_assert!(two[1].1.t_in >= two[0].1.t_out);
            prop_assert!(two[1].1.t_in - two[0].1.t_out < 1e-9);
            prop_assert_eq!(two[1].1.faces_in, two[0].1.faces_out);
        }
        for (cell, span) in visits {
            for axis in 0..3 {
                for t in [span.t_in, span.t_out] {
                    let place = ray.at(axis, t) - cell[axis] as f64;
                    prop_assert!((-1e-9..=1.0 + 1e-9).contains(&place), "{cell:?} {place}");
                }
                // A face is exactly at the distance of its plane.
                if span.faces_out.0[axis] {
                    let upper = usize::from(ray.direction[axis] > 0.0);
                    let plane = (cell[axis] + upper) as f64;
                    prop_assert_eq!(ray.distance(axis, plane), span.t_out);
                }
            }
        }
    }

    #[test]
    fn the_span_in_a_cell_is_that_of_the_walk(ray in rays()) {
        let Some(whole) = clipped(&ray) else { return Ok(()) };
        for (cell, span) in with_length(walk(&ray)) {
            let alone = ray.span_in(cell, &whole).expect("a way through the cell");
            prop_assert_eq!([alone.t_in, alone.t_out], [span.t_in, span.t_out]);
            prop_assert_eq!(alone.faces_out, span.faces_out);
        }
    }

    #[test]
    fn levels_do_not_change_the_cells_or_their_spans(ray in rays()) {
        let (plain, levels) = (with_length(walk(&ray)), with_length(walk_levels(&ray)));
        prop_assert_eq!(plain.len(), levels.len());
        for (mut a, b) in plain.into_iter().zip(levels) {
            // A ray that starts on a plane may begin with a cell that it only touches.
            if a.1.t_in == 0.0 {
                a.1.faces_in = b.1.faces_in;
            }
            prop_assert_eq!(a, b);
        }
    }
}

#[test]
fn a_ray_along_an_axis_visits_a_row() {
    for (direction, cells) in [(1.0, [0, 1, 2]), (-1.0, [18, 17, 16])] {
        let start = if direction > 0.0 { -5.0 } else { 50.0 };
        let ray = GridRay::new(DVec3::new(start, 3.0, 4.5), DVec3::new(direction, 0.0, 0.0));
        let visits = walk(&ray);
        assert_eq!(visits.len(), SIZE[0]);
        for (visit, x) in visits.iter().zip(cells) {
            assert_eq!(visit.0, [x, 3, 4]);
            assert_eq!(visit.1.faces_in, Faces([true, false, false]));
        }
    }
}

#[test]
fn a_ray_beside_or_behind_the_grid_visits_nothing() {
    let along_x = DVec3::new(1.0, 0.0, 0.0);
    for (from, direction) in [
        (DVec3::new(-1.0, 7.0, 4.0), along_x),
        (DVec3::new(-1.0, -0.5, 4.0), along_x),
        (DVec3::new(20.0, 3.0, 4.0), along_x),
        (DVec3::new(-1.0, -1.0, 4.0), DVec3::new(-1.0, 1.0, 0.0)),
    ] {
        assert_eq!(walk(&GridRay::new(from, direction)), []);
    }
}

#[test]
fn a_walk_ends_when_the_visitor_says_so() {
    let ray = GridRay::new(DVec3::new(-1.0, 3.5, 4.5), DVec3::X);
    let span = clipped(&ray).expect("the ray meets the grid");
    let mut count = 0;
    let outcome = ray.walk::<0, [usize; 3]>([[0; 3], SIZE], span, |cell, _| {
        count += 1;
        if count == 5 {
            ControlFlow::Break(cell)
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(outcome, ControlFlow::Break([4, 3, 4]));
}
