//! After any split, both halves hold what their references say, and in order.

use proptest::prelude::*;

use super::super::build::{events_of, references_of};
use super::super::crew::Alone;
use super::super::deal;
use super::*;
use crate::intersect::Corners;

pub(in super::super) fn corners() -> impl Strategy<Value = Corners> {
    let coordinate = || {
        prop_oneof![
            (0_i32..6).prop_map(|value| value as f32 * 0.5),
            0.0_f32..3.0
        ]
    };
    let corner = move || [coordinate(), coordinate(), coordinate()];
    [corner(), corner(), corner()]
}

#[derive(Debug)]
pub(in super::super) struct Half {
    pub(in super::super) extent: Extent,
    pub(in super::super) references: Vec<Reference>,
    pub(in super::super) events: [Vec<Event>; 3],
}

/// Splits a cell by the functions under test, with its references in stretches of some length.
pub(in super::super) fn split(
    cell: &Half,
    plane: &Plane,
    triangles: &[Corners],
    stretch: usize,
) -> (Half, Half) {
    let mut added = Added::default();
    let mut routes = vec![Route::default(); cell.references.len()];
    let (mut below, mut above) = (Vec::new(), Vec::new());
    for (number, references) in cell.references.chunks(stretch).enumerate() {
        let first = number * stretch;
        let mut straddlers = Vec::new();
        let counts = classify(
            &cell.extent,
            references,
            first,
            plane,
            triangles,
            &mut straddlers,
        );
        let dealt = Counts {
            below: below.len(),
            above: above.len(),
        };
        below.resize(dealt.below + counts.below, Reference::EMPTY);
        above.resize(dealt.above + counts.above, Reference::EMPTY);
        deal_references(
            references,
            first,
            plane,
            &straddlers,
            &mut routes[first..],
            Dealt {
                below: &mut below[dealt.below..],
                above: &mut above[dealt.above..],
                first: dealt,
                added: &mut added,
            },
        );
    }
    added.sort();
    let events = [0, 1, 2].map(|axis| {
        let mut low = vec![Event::default(); 2 * below.len()];
        let mut high = vec![Event::default(); 2 * above.len()];
        let counts = deal::deal_to_slices(
            &cell.events[axis],
            axis,
            &routes,
            &added,
            &mut low,
            &mut high,
        );
        low.truncate(counts.below);
        high.truncate(counts.above);
        (low, high)
    });
    let (below_extent, above_extent) = cell.extent.halves(plane.axis, plane.position);
    let [x, y, z] = events;
    (
        Half {
            extent: below_extent,
            references: below,
            events: [x.0, y.0, z.0],
        },
        Half {
            extent: above_extent,
            references: above,
            events: [x.1, y.1, z.1],
        },
    )
}

fn check(half: &Half) -> Result<(), TestCaseError> {
    for axis in 0..3 {
        prop_assert_eq!(
            &half.events[axis],
            &events_of(&half.references, &Alone)[axis]
        );
        for Reference { extent, .. } in &half.references {
            prop_assert!(extent.low[axis] >= half.extent.low[axis]);
            prop_assert!(extent.low[axis] <= extent.high[axis]);
            prop_assert!(extent.high[axis] <= half.extent.high[axis]);
        }
    }
    prop_assert!(
        half.references
            .is_sorted_by_key(|reference| reference.triangle.triangle())
    );
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_events_of_the_halves_are_those_of_their_references(
        triangles in proptest::collection::vec(corners(), 1..30),
        cuts in proptest::collection::vec((0_usize..3, 0_usize..60, any::<bool>(), any::<bool>()), 1..6),
        stretch in 1_usize..40,
    ) {
        let (references, extent) = references_of(&triangles, &Alone);
        let events = events_of(&references, &Alone);
        let mut cell = Half { extent, references, events };
        for (axis, pick, side, go_below) in cuts {
            let Some(event) = cell.events[axis].get(pick % cell.events[axis].len().max(1)) else {
                break;
            };
            let plane = Plane {
                axis,
                position: event.position(),
                planar_side: if side { Side::Below } else { Side::Above },
                cost: 0.0,
            };
            let (below, above) = split(&cell, &plane, &triangles, stretch);
            check(&below)?;
            check(&above)?;
            let (whole_below, whole_above) = split(&cell, &plane, &triangles, usize::MAX);
            prop_assert_eq!(&below.references, &whole_below.references);
            prop_assert_eq!(&above.references, &whole_above.references);
            // Nobody gets lost, and nobody is in both halves without reaching over the plane.
            for reference in &cell.references {
                let held = |half: &Half| half.references.iter().any(|other| other.triangle.triangle() == reference.triangle.triangle());
                prop_assert!(held(&below) || held(&above));
                let straddles = reference.extent.low[axis] < plane.position && reference.extent.high[axis] > plane.position;
                prop_assert!(straddles || !(held(&below) && held(&above)));
            }
            cell = if go_below { below } else { above };
        }
    }
}

#[test]
fn planar_triangles_go_to_the_side_of_the_plane() {
    let triangles = [[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]; 3];
    let (references, extent) = references_of(&triangles, &Alone);
    let events = events_of(&references, &Alone);
    let cell = Half {
        extent,
        references,
        events,
    };
    for (planar_side, expected) in [(Side::Below, (3, 0)), (Side::Above, (0, 3))] {
        let plane = Plane {
            axis: 0,
            position: 1.0,
            planar_side,
            cost: 0.0,
        };
        let (below, above) = split(&cell, &plane, &triangles, 2);
        assert_eq!((below.references.len(), above.references.len()), expected);
    }
}
