//! Shares of a cell have the same results as a single task.

use proptest::prelude::*;
use raddle_collections::shared_vec::SharedVec;

use super::*;
use crate::intersect::Corners;
use crate::kdtree::cells::cell::Cell;
use crate::kdtree::cost::parameters::Parameters;
use crate::kdtree::cost::plane::Side;
use crate::kdtree::cost::sweep::{Scratch, cheapest_plane_along};
use crate::kdtree::phases::copy_triangles::tests::{Half, corners, split};

/// Cuts a list into chunks at the given fractions of its length.
fn chunked<T: Copy>(items: &[T], cuts: &[f64]) -> ChunkedArray<T> {
    let mut ends: Vec<usize> = cuts
        .iter()
        .map(|cut| (cut * items.len() as f64) as usize)
        .collect();
    ends.push(items.len());
    ends.sort_unstable();
    let mut begin = 0;
    ChunkedArray::from_chunks(ends.into_iter().map(|end| {
        let chunk = items[begin..end].to_vec();
        begin = end;
        chunk
    }))
}

fn shared(half: &Half, cuts: &[f64]) -> SharedCell {
    SharedCell {
        extent: half.extent,
        names: chunked(&half.names, cuts),
        events: half.events.each_ref().map(|events| chunked(events, cuts)),
        arena: Arc::clone(&half.arena),
        is_external: false,
    }
}

fn shares(count: usize) -> impl Iterator<Item = Share> + Clone {
    (0..count).map(move |index| Share { index, count })
}

/// The references and the events of both halves, combined from all shares.
type Output = (Halves<Vec<Reference>>, [Halves<Vec<Event>>; 3]);

fn split_by_shares(
    cell: &SharedCell,
    plane: &Plane,
    triangles: &[Corners],
    count: usize,
) -> Output {
    let (shorter, side) = shorter_side(&cell.events[plane.axis], plane);
    let split = Split {
        extent: &cell.extent,
        plane,
        shorter,
        triangles,
    };
    let mut marks = SharedMarks::default();
    marks.grow(cell.len());
    for share in shares(count) {
        mark(&cell.events[plane.axis], &side, share, &marks);
    }
    let mut share_names: Vec<ShareNames> = shares(count)
        .map(|share| {
            let capacity = || Vec::with_capacity(share.range(cell.len()).len());
            let take = |index: usize| marks.take(index);
            ShareNames::of(
                cell,
                share,
                &split,
                take,
                ([capacity(), capacity()], Vec::new()),
            )
        })
        .collect();
    // The marks are clear for the next cell.
    assert!((0..cell.len()).all(|index| marks.take(index) == 0));
    let routes = SharedVec::new(cell.len());
    let mut before = ShareCounts::default();
    for (share, share_names) in shares(count).zip(&mut share_names) {
        let share_counts = share_names.share_counts();
        let mut claim = routes.claim(share.range(cell.len()));
        share_names.renumber(&cell.arena, before, &mut claim);
        before = before + share_counts;
    }
    let names = Names::of(&cell.arena, share_names);
    let routes = routes.into_vec().unwrap();
    let routes = Routes {
        plane,
        routes: &routes,
        straddlers: &names.straddlers,
        added: &names.added,
    };
    let events = [0, 1, 2].map(|axis| {
        let mut all = Halves::<Vec<Event>>::default();
        for share in shares(count) {
            let events = &cell.events[axis];
            let capacity = |capacity: Counts| {
                let [below, above] = [capacity.below, capacity.above].map(Vec::with_capacity);
                TwoLists::new(below, above)
            };
            let lists = distribute_events(&routes, events, axis, share, capacity);
            let counted = distribute_events(&routes, events, axis, share, |_| Counts::default());
            assert_eq!(counted, Lists::<Event>::lens(&lists));
            let [below, above] = lists.into_spaces();
            all.below.extend(below);
            all.above.extend(above);
        }
        all
    });
    let references = |half: &ChunkedArray<Name>| {
        let look_up = |&name: &Name| names.arena.reference(name, triangles);
        half.iter().map(look_up).collect()
    };
    let references = Halves {
        below: references(&names.halves.below),
        above: references(&names.halves.above),
    };
    (references, events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn shares_have_the_results_of_a_single_task(
        triangles in prop_oneof![
            proptest::collection::vec(corners(), 1..30),
            proptest::collection::vec(corners(), 300..700),
        ],
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..4),
        (axis, pick, side) in (0_usize..3, 0_usize..2000, any::<bool>()),
        first_cut in proptest::option::of((0_usize..3, 0_usize..2000, any::<bool>())),
        count in 1_usize..6,
    ) {
        let mut half = Half::root(&triangles);
        if half.references.is_empty() {
            return Ok(());
        }
        // Cells with pieces of triangles are shared in the same way as cells with whole triangles.
        if let Some(plane) = first_cut {
            let (axis, pick, is_below) = plane;
            let position = half.events[axis][pick % half.events[axis].len()].position();
            let planar_side = Side::Below;
            let plane = Plane { axis, position, planar_side, counts: [0; 2], cost: 0.0 };
            let (below, above) = split(&half, &plane, &triangles, usize::MAX);
            half = if is_below { below } else { above };
            if half.references.is_empty() {
                return Ok(());
            }
        }
        let cell = shared(&half, &cuts);

        let counted: Vec<Counted> = shares(count).map(|share| Counted::of(&cell, share)).collect();
        for axis in 0..3 {
            let (mut lightest, mut before) = (Lightest::none(), [Passed::default(); 3]);
            for (share, counted) in shares(count).zip(&counted) {
                lightest = lightest.or(counted.lightest(&cell, share, before)[axis]);
                before[axis] = before[axis] + counted.passed[axis];
            }
            let ends = (half.events[axis][0], *half.events[axis].last().unwrap());
            let parameters = Parameters::default();
            let surface = Surface::new(&half.extent, axis);
            let found = surface.plane(lightest, ends, cell.len() as u32, &parameters);
            let whole = Cell {
                extent: half.extent,
                names: &half.names,
                events: half.events.each_ref().map(Vec::as_slice),
            };
            let expected = cheapest_plane_along(&whole, axis, &parameters, &mut Scratch::default());
            prop_assert_eq!(found, expected);
        }

        let plane = Plane {
            axis,
            position: half.events[axis][pick % half.events[axis].len()].position(),
            planar_side: if side { Side::Below } else { Side::Above },
            counts: [0; 2],
            cost: 0.0,
        };
        let (below, above) = split(&half, &plane, &triangles, usize::MAX);
        let (references, events) = split_by_shares(&cell, &plane, &triangles, count);
        prop_assert_eq!(&references.below, &below.references);
        prop_assert_eq!(&references.above, &above.references);
        let expected = below.events.iter().zip(&above.events);
        for (events, (below, above)) in events.iter().zip(expected) {
            prop_assert_eq!((&events.below, &events.above), (below, above));
        }
    }
}
