//! Compares the sweep with an evaluation of every candidate plane.

use proptest::prelude::*;

use super::*;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cells::names::{Name, Occurrence, Reference};
use crate::kdtree::fork_join::OneThread;
use crate::kdtree::preparation::events::events_of;

/// Generates references with extents on a coarse grid, so that there are many ties and planar
/// triangles.
fn references() -> impl Strategy<Value = Vec<Reference>> {
    let edge = || (0_i32..12, 0_i32..4);
    proptest::collection::vec([edge(), edge(), edge()], 1..24).prop_map(|extents| {
        extents
            .into_iter()
            .enumerate()
            .map(|(index, edges)| Reference {
                extent: Extent {
                    low: edges.map(|(low, _)| low as f32 * 0.1),
                    high: edges.map(|(low, len)| (low + len) as f32 * 0.1),
                },
                triangle: Occurrence::first(index as u32),
            })
            .collect()
    })
}

/// Computes the cost by its definition, from counts by their definition.
fn cost_by_definition(
    cell: &Extent,
    references: &[Reference],
    (axis, position, side): (usize, f32, Side),
    parameters: &Parameters,
) -> f64 {
    let (mut below, mut above) = (0, 0);
    for Reference { extent, .. } in references {
        let planar = extent.low[axis] == position && extent.high[axis] == position;
        below += usize::from(extent.low[axis] < position || (planar && side == Side::Below));
        above += usize::from(extent.high[axis] > position || (planar && side == Side::Above));
    }
    let (first, second) = cell.halves(axis, position);
    let weight = first.half_area() * below as f64 + second.half_area() * above as f64;
    let cost = parameters.traversal_cost + parameters.intersection_cost * weight / cell.half_area();
    let cuts_empty =
        (below == 0 && position > cell.low[axis]) || (above == 0 && position < cell.high[axis]);
    if cuts_empty {
        cost * parameters.empty_bonus
    } else {
        cost
    }
}

/// Returns all candidate planes, in the order in which ties are broken.
fn candidates(references: &[Reference]) -> Vec<(usize, f32, Side)> {
    let mut all = Vec::new();
    for axis in 0..3 {
        let mut positions: Vec<f32> = references
            .iter()
            .flat_map(|reference| [reference.extent.low[axis], reference.extent.high[axis]])
            .collect();
        positions.sort_by(f32::total_cmp);
        positions.dedup();
        for position in positions {
            all.push((axis, position, Side::Above));
            all.push((axis, position, Side::Below));
        }
    }
    all
}

fn with_cell<T>(extent: Extent, references: &[Reference], body: impl FnOnce(&Cell<'_>) -> T) -> T {
    let events: [Vec<Event>; 3] = events_of(references, &OneThread);
    let names: Vec<Name> = references.iter().map(Reference::name).collect();
    body(&Cell {
        extent,
        names: &names,
        events: events.each_ref().map(Vec::as_slice),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn no_plane_is_cheaper_than_the_cheapest(
        references in references(),
        margin in 0_i32..2,
        empty_bonus in prop_oneof![Just(1.0), Just(0.8), Just(0.2)],
    ) {
        let extents = references.iter().map(|reference| reference.extent);
        let mut extent = extents.reduce(|all, one| all.union(&one)).unwrap();
        extent.high = extent.high.map(|high| high + margin as f32 * 0.5);
        let parameters = Parameters { empty_bonus, ..Parameters::default() };
        let plane = with_cell(extent, &references, |cell| {
            cheapest_plane(cell, &parameters, &mut Scratch::default())
        });
        let Some(plane) = plane else {
            prop_assert_eq!(extent.half_area(), 0.0);
            return Ok(());
        };
        let own = (plane.axis, plane.position, plane.planar_side);
        let own_cost = cost_by_definition(&extent, &references, own, &parameters);
        prop_assert!((own_cost - plane.cost).abs() <= 1e-12 * own_cost);
        for candidate in candidates(&references) {
            let cost = cost_by_definition(&extent, &references, candidate, &parameters);
            prop_assert!(
                plane.cost <= cost * (1.0 + 1e-12),
                "{:?} costs {}, {:?} {}", plane, plane.cost, candidate, cost
            );
        }
    }
}

#[test]
fn a_flat_cell_across_two_axes_has_no_plane() {
    let extent = Extent {
        low: [0.0; 3],
        high: [1.0, 0.0, 0.0],
    };
    let references = [Reference {
        extent,
        triangle: Occurrence::first(0),
    }];
    assert_eq!(
        with_cell(extent, &references, |cell| cheapest_plane(
            cell,
            &Parameters::default(),
            &mut Scratch::default()
        )),
        None
    );
}

#[test]
fn an_empty_cell_has_no_plane() {
    let extent = Extent {
        low: [0.0; 3],
        high: [1.0; 3],
    };
    assert_eq!(
        with_cell(extent, &[], |cell| cheapest_plane(
            cell,
            &Parameters::default(),
            &mut Scratch::default()
        )),
        None
    );
}

#[test]
fn the_first_axis_and_position_win_among_equally_cheap_planes() {
    // Two points at opposite corners of a cube: every axis has planes that cut off the same empty
    // space.
    let at = |corner: f32, triangle| Reference {
        extent: Extent {
            low: [corner; 3],
            high: [corner; 3],
        },
        triangle: Occurrence::first(triangle),
    };
    let references = [at(0.0, 0), at(1.0, 1)];
    let extent = Extent {
        low: [0.0; 3],
        high: [1.0; 3],
    };
    let plane = with_cell(extent, &references, |cell| {
        cheapest_plane(cell, &Parameters::default(), &mut Scratch::default())
    })
    .unwrap();
    assert_eq!(
        (plane.axis, plane.position, plane.planar_side),
        (0, 0.0, Side::Below)
    );
}

#[test]
fn planar_triangles_go_where_they_are_cheaper() {
    // A sheet at x = 1 in a cell from 0 to 4, and one triangle far above it.
    let sheet = Extent {
        low: [1.0, 0.0, 0.0],
        high: [1.0, 4.0, 4.0],
    };
    let far = Extent {
        low: [3.9, 0.0, 0.0],
        high: [4.0, 0.1, 0.1],
    };
    let references: Vec<_> = [sheet, sheet, sheet, far]
        .into_iter()
        .zip(0..)
        .map(|(extent, triangle)| Reference {
            extent,
            triangle: Occurrence::first(triangle),
        })
        .collect();
    let extent = Extent {
        low: [0.0; 3],
        high: [4.0; 3],
    };
    let parameters = Parameters {
        traversal_cost: 0.01,
        ..Parameters::default()
    };
    let plane = with_cell(extent, &references, |cell| {
        cheapest_plane(cell, &parameters, &mut Scratch::default())
    })
    .unwrap();
    assert_eq!((plane.axis, plane.position), (0, 1.0));
    assert_eq!(plane.planar_side, Side::Below);
}
