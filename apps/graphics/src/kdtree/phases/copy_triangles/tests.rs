//! After any split, both halves contain what their references say, in order.

use proptest::prelude::*;

use std::sync::Arc;

use raddle_collections::two_lists::TwoLists;

use super::*;
use crate::kdtree::cells::event::Event;
use crate::kdtree::cost::plane::Side;
use crate::kdtree::cost::sweep::Passed;
use crate::kdtree::fork_join::OneThread;
use crate::kdtree::phases::copy_events::Routes;
use crate::kdtree::phases::lists::Slices;
use crate::kdtree::phases::mark;
use crate::kdtree::preparation::events::events_of;
use crate::kdtree::preparation::triangles::references_of;

pub(in crate::kdtree) fn corners() -> impl Strategy<Value = Corners> {
    let coordinate = || {
        prop_oneof![
            (0_i32..6).prop_map(|value| value as f32 * 0.5),
            0.0_f32..3.0
        ]
    };
    let corner = move || [coordinate(), coordinate(), coordinate()];
    [corner(), corner(), corner()]
}

/// A cell, and the references that its names resolve to.
#[derive(Debug)]
pub(in crate::kdtree) struct Half {
    pub(in crate::kdtree) extent: Extent,
    pub(in crate::kdtree) names: Vec<Name>,
    pub(in crate::kdtree) references: Vec<Reference>,
    pub(in crate::kdtree) events: [Vec<Event>; 3],
    pub(in crate::kdtree) arena: Arc<Arena>,
}

impl Half {
    /// Creates the cell of whole triangles.
    pub(in crate::kdtree) fn root(triangles: &[Corners]) -> Self {
        let (references, extent) = references_of(triangles, &OneThread);
        Self {
            extent,
            names: references.iter().map(Reference::name).collect(),
            events: events_of(&references, &OneThread),
            references,
            arena: Arc::default(),
        }
    }
}

/// Marks the triangles of a cell. Also returns an upper limit for the number of names of each half.
fn marked<'a>(
    cell: &'a Half,
    plane: &'a Plane,
    triangles: &'a [Corners],
) -> (Split<'a>, Vec<u8>, Counts) {
    let (shorter, side) = Shorter::side(&cell.events[plane.axis], plane);
    let mut marks = vec![0; cell.names.len()];
    mark::mark(side, &mut marks);
    let counts_max = shorter.counts(Passed::over(side), cell.names.len());
    let split = Split {
        extent: &cell.extent,
        plane,
        shorter,
        triangles,
    };
    (split, marks, counts_max)
}

/// Splits a cell by the functions under test. The names are processed in stretches of the given
/// length.
pub(in crate::kdtree) fn split(
    cell: &Half,
    plane: &Plane,
    triangles: &[Corners],
    stretch: usize,
) -> (Half, Half) {
    let (split, marks, counts_max) = marked(cell, plane, triangles);
    let (mut added, mut straddlers) = (Added::default(), Vec::new());
    let mut routes = vec![Route::default(); cell.names.len()];
    let mut arena = Arena::below(&cell.arena);
    let mut names = vec![Name::default(); counts_max.below + counts_max.above];
    let mut to = Slices::new(&mut names, counts_max.above);
    for (number, names) in cell.names.chunks(stretch).enumerate() {
        let first = number * stretch;
        let mut output = SplitOutput {
            routes: &mut routes[first..],
            straddlers: &mut straddlers,
            added: &mut added,
            arena: &mut arena,
        };
        to = split.distribute(names, first, |index| marks[first + index], to, &mut output);
    }
    let counts = to.lens();
    added.sort();
    let routes = Routes {
        plane,
        routes: &routes,
        straddlers: &straddlers,
        added: &added,
    };
    let events = [0, 1, 2].map(|axis| {
        let list = |count| Vec::with_capacity(2 * count);
        let to = TwoLists::new(list(counts.below), list(counts.above));
        routes
            .distribute(&cell.events[axis], axis, to)
            .into_spaces()
    });
    let arena = Arc::new(arena);
    let half = |extent, names: &[Name], events| Half {
        extent,
        names: names.to_vec(),
        references: names
            .iter()
            .map(|&name| arena.reference(name, triangles))
            .collect(),
        events,
        arena: Arc::clone(&arena),
    };
    let (below, above) = cell.extent.halves(plane.axis, plane.position);
    let [x, y, z] = events;
    let ([x_below, x_above], [y_below, y_above], [z_below, z_above]) = (x, y, z);
    (
        half(
            below,
            &names[counts_max.above..][..counts.below],
            [x_below, y_below, z_below],
        ),
        half(above, &names[..counts.above], [x_above, y_above, z_above]),
    )
}

/// Splits a cell into two leaves.
fn to_leaves(cell: &Half, plane: &Plane, triangles: &[Corners]) -> (Vec<Occurrence>, Counts) {
    let (split, marks, counts_max) = marked(cell, plane, triangles);
    let mut entries = Vec::new();
    let counts =
        split.distribute_to_leaves(&cell.names, &marks, counts_max, &cell.arena, &mut entries);
    (entries, counts)
}

fn check(half: &Half) -> Result<(), TestCaseError> {
    for axis in 0..3 {
        prop_assert_eq!(
            &half.events[axis],
            &events_of(&half.references, &OneThread)[axis]
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
        cuts in proptest::collection::vec(
            (0_usize..3, 0_usize..60, any::<bool>(), any::<bool>()),
            1..6,
        ),
        stretch in 1_usize..40,
    ) {
        let mut cell = Half::root(&triangles);
        for (axis, pick, side, go_below) in cuts {
            let Some(event) = cell.events[axis].get(pick % cell.events[axis].len().max(1)) else {
                break;
            };
            let plane = Plane {
                axis,
                position: event.position(),
                planar_side: if side { Side::Below } else { Side::Above },
                counts: [0; 2],
                cost: 0.0,
            };
            let (below, above) = split(&cell, &plane, &triangles, stretch);
            check(&below)?;
            check(&above)?;
            let (whole_below, whole_above) = split(&cell, &plane, &triangles, usize::MAX);
            prop_assert_eq!(&below.references, &whole_below.references);
            prop_assert_eq!(&above.references, &whole_above.references);
            // Leaves get the same triangles, with the same occurrence flags.
            let (entries, counts) = to_leaves(&cell, &plane, &triangles);
            let occurrence = |half: &Half| -> Vec<Occurrence> {
                half.references.iter().map(|reference| reference.triangle).collect()
            };
            prop_assert_eq!(&entries[..counts.below], occurrence(&below));
            prop_assert_eq!(&entries[counts.below..], occurrence(&above));
            // No triangle is lost, and a triangle is in both halves only if it straddles the plane.
            for reference in &cell.references {
                let triangle = reference.triangle.triangle();
                let held = |half: &Half| {
                    half.references.iter().any(|other| other.triangle.triangle() == triangle)
                };
                prop_assert!(held(&below) || held(&above));
                let straddles = reference.extent.low[axis] < plane.position
                    && reference.extent.high[axis] > plane.position;
                prop_assert!(straddles || !(held(&below) && held(&above)));
            }
            cell = if go_below { below } else { above };
        }
    }
}

#[test]
fn planar_triangles_go_to_the_side_of_the_plane() {
    let triangles = [[[1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [1.0, 0.0, 1.0]]; 3];
    let cell = Half::root(&triangles);
    for (planar_side, expected) in [(Side::Below, (3, 0)), (Side::Above, (0, 3))] {
        let plane = Plane {
            axis: 0,
            position: 1.0,
            planar_side,
            counts: [0; 2],
            cost: 0.0,
        };
        let (below, above) = split(&cell, &plane, &triangles, 2);
        assert_eq!((below.references.len(), above.references.len()), expected);
    }
}
