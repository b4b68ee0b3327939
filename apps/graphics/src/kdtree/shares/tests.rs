//! Shares of a cell find and make what one alone does.

use proptest::prelude::*;
use raddle::ChunkedArray;
use raddle_sync::shared_vec::SharedVec;

use super::super::Parameters;
use super::super::build::{events_of, references_of};
use super::super::cell::Cell;
use super::super::crew::Alone;
use super::super::split::tests::{Half, corners, split};
use super::super::sweep::{Side, cheapest_plane_along};
use super::*;

/// Cuts a list into chunks at some of its indices.
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
        references: chunked(&half.references, cuts),
        events: half.events.each_ref().map(|events| chunked(events, cuts)),
    }
}

fn shares(count: usize) -> impl Iterator<Item = Share> + Clone {
    (0..count).map(move |index| Share { index, count })
}

/// Splits by shares that each make a chunk, with numbers of their own.
fn split_to_chunks(
    cell: &SharedCell,
    plane: &Plane,
    triangles: &[Corners],
    count: usize,
    unit_log2: u32,
) -> (Vec<Reference>, Vec<Reference>, [Halves<Vec<Event>>; 3]) {
    let routes = SharedVec::new(cell.len());
    let ranges = shares(count).map(|share| share.range(cell.len(), 1 << unit_log2));
    let (mut below, mut above) = (Vec::new(), Vec::new());
    let (mut dealt, mut added) = (Vec::new(), Added::default());
    for range in ranges.clone() {
        let mut halves = Halves::<Vec<Reference>>::default();
        let mut own = Added::default();
        let to = DealtShare {
            halves: &mut halves,
            routes: &mut routes.claim(range.clone()),
            first: Counts::default(),
            added: &mut own,
        };
        let counts = mark_and_deal(cell, range, plane, triangles, to);
        assert_eq!(
            (counts.below, counts.above),
            (halves.below.len(), halves.above.len())
        );
        added.append(
            own,
            Counts {
                below: below.len(),
                above: above.len(),
            },
        );
        below.extend(halves.below);
        above.extend(halves.above);
        dealt.push(counts);
    }
    added.sort();
    let bases = Bases::new(ranges.map(|range| range.len()).zip(dealt), unit_log2);
    let dealing = Dealing {
        cell,
        routes: &routes.into_vec().unwrap(),
        bases: &bases,
        added: &added,
    };
    (
        below,
        above,
        [0, 1, 2].map(|axis| deal_all(&dealing, axis, count)),
    )
}

fn deal_all(dealing: &Dealing<'_>, axis: usize, count: usize) -> Halves<Vec<Event>> {
    let mut all = Halves::<Vec<Event>>::default();
    for share in shares(count) {
        let range = share.range(dealing.cell.events[axis].len(), 1);
        let before = (all.below.len(), all.above.len());
        let counts = dealing.count(axis, range.clone());
        dealing.deal(axis, range, &mut all);
        let after = (all.below.len(), all.above.len());
        assert_eq!(
            (counts.below, counts.above),
            (after.0 - before.0, after.1 - before.1)
        );
    }
    all
}

/// Splits by shares that write to one array for each half, at places that they know beforehand.
fn split_to_arrays(
    cell: &SharedCell,
    plane: &Plane,
    triangles: &[Corners],
    count: usize,
) -> (Vec<Reference>, Vec<Reference>, [Halves<Vec<Event>>; 3]) {
    let ranges = shares(count).map(|share| share.range(cell.len(), 1));
    let marked: Vec<Marked> = ranges
        .clone()
        .map(|range| Marked::of(cell, range, plane, triangles))
        .collect();
    let total = marked
        .iter()
        .fold(Counts::default(), |sum, marked| sum + marked.counts);
    let (below, above) = (SharedVec::new(total.below), SharedVec::new(total.above));
    let routes = SharedVec::new(cell.len());
    let (mut first, mut added) = (Counts::default(), Added::default());
    for (range, marked) in ranges.zip(&marked) {
        let end = first + marked.counts;
        let mut own = Added::default();
        let to = DealtShare {
            halves: &mut Halves {
                below: below.claim(first.below..end.below),
                above: above.claim(first.above..end.above),
            },
            routes: &mut routes.claim(range.clone()),
            first,
            added: &mut own,
        };
        marked.deal(cell, range, plane, to);
        added.append(own, Counts::default());
        first = end;
    }
    added.sort();
    let dealing = Dealing {
        cell,
        routes: &routes.into_vec().unwrap(),
        bases: &Bases::NONE,
        added: &added,
    };
    let events = [0, 1, 2].map(|axis| deal_all(&dealing, axis, count));
    (below.into_vec().unwrap(), above.into_vec().unwrap(), events)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn shares_do_what_one_alone_does(
        triangles in prop_oneof![
            proptest::collection::vec(corners(), 1..30),
            proptest::collection::vec(corners(), 300..700),
        ],
        cuts in proptest::collection::vec(0.0_f64..1.0, 0..4),
        (axis, pick, side) in (0_usize..3, 0_usize..2000, any::<bool>()),
        (count, unit_log2) in (1_usize..6, 0_u32..7),
    ) {
        let (references, extent) = references_of(&triangles, &Alone);
        let events = events_of(&references, &Alone);
        let half = Half { extent, references, events };
        let cell = shared(&half, &cuts);
        if half.references.is_empty() {
            return Ok(());
        }

        let counted: Vec<Counted> = shares(count).map(|share| Counted::of(&cell, share)).collect();
        for axis in 0..3 {
            let (mut lightest, mut before) = (Lightest::none(), [Passed::default(); 3]);
            for (share, counted) in shares(count).zip(&counted) {
                lightest = lightest.or(counted.lightest(&cell, share, before)[axis]);
                before[axis] = before[axis] + counted.passed[axis];
            }
            let ends = (half.events[axis][0], *half.events[axis].last().unwrap());
            let parameters = Parameters::default();
            let found = Surface::new(&extent, axis).plane(lightest, ends, cell.len() as u32, &parameters);
            let whole = Cell {
                extent,
                references: &half.references,
                events: half.events.each_ref().map(Vec::as_slice),
            };
            prop_assert_eq!(found, cheapest_plane_along(&whole, axis, &parameters, &mut Vec::new()));
        }

        let plane = Plane {
            axis,
            position: half.events[axis][pick % half.events[axis].len()].position(),
            planar_side: if side { Side::Below } else { Side::Above },
            cost: 0.0,
        };
        let (below, above) = split(&half, &plane, &triangles, usize::MAX);
        for (made_below, made_above, events) in [
            split_to_chunks(&cell, &plane, &triangles, count, unit_log2),
            split_to_arrays(&cell, &plane, &triangles, count),
        ] {
            prop_assert_eq!(&made_below, &below.references);
            prop_assert_eq!(&made_above, &above.references);
            let expected = below.events.iter().zip(&above.events);
            for (events, (below, above)) in events.iter().zip(expected) {
                prop_assert_eq!((&events.below, &events.above), (below, above));
            }
        }
    }
}
